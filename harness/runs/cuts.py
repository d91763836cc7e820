"""Cuts the corpora of a data set by one chunker, with the embedder that it may need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.chunk_vectors import ChunkVectors, counter
from harness.chunking import ChunkedCorpus, cut

if TYPE_CHECKING:
    from chunkers.loading import LoadedChunker
    from harness.embedding import Embedder
    from harness.runs.context import Watch
    from harness.runs.prepare import Prepared
    from harness.store import VectorStore

UNITS = "embedding units"
"""The phase of embedding what a chunker asks for; progress counts it to `chunking`."""


@dataclass(frozen=True)
class Cut:
    """The cut corpora, and what cutting cost.

    Attributes:
        corpora: In order of the corpora, and of masked files.
        seconds: Wall time, embedding left out.
        texts: Distinct texts whose vectors the chunker asked for; None where it needs none.
        embedding: Seconds that embedding them took, whenever that was; None where nobody knows.
        computed: How many of them the store lacked, if they were embedded for this call.
    """

    corpora: list[ChunkedCorpus]
    seconds: float
    texts: int | None = None
    embedding: float | None = None
    computed: int = 0


class Cuts:
    """The cuts of one data set by one chunker, each made at most once."""

    def __init__(
        self, prepared: Prepared, chunker: LoadedChunker, store: VectorStore, *, keep_blank: bool
    ) -> None:
        self._prepared = prepared
        self._chunker = chunker
        self._store = store
        self._keep_blank = keep_blank
        self._made: dict[str, Cut] = {}

    def by(self, helper: Embedder | None, watch: Watch) -> Cut:
        """The cut with an embedder's tokens and vectors; without one where none is needed.

        Raises:
            OutOfMemoryError: A batch of texts did not fit.
            InputError: The embedder cannot be used here.
        """
        name = "" if helper is None else helper.fingerprint()
        if name in self._made:
            return replace(self._made[name], computed=0)
        self._made[name] = self._make(helper, watch)
        return self._made[name]

    def _make(self, helper: Embedder | None, watch: Watch) -> Cut:
        chunker, files = self._chunker, self._prepared.files
        count = None if helper is None else counter(helper)
        vectors = None
        with watch.phase("chunking") as told:
            if helper is not None and chunker.embeds:
                vectors = ChunkVectors(helper, self._store, told)
                vectors.prepare(files, chunker, count)
            corpora = [
                cut(one, chunker, count, told, keep_blank=self._keep_blank, embed=vectors)
                for one in files
            ]
        if helper is None or vectors is None:
            return Cut(corpora, watch.seconds["chunking"])
        watch.seconds["chunking"] -= vectors.spent
        watch.seconds[UNITS] += vectors.spent
        seconds = None if helper.limit is None else round(vectors.seconds, 3)
        return Cut(corpora, watch.seconds["chunking"], vectors.texts, seconds, vectors.computed)
