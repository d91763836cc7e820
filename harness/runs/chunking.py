"""ChunkingCache the corpora of a data set by one chunker, with the embedder that it may need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chunkers.source import Services
from harness.chunking.chunk_vectors import ChunkVectors, counter
from harness.chunking.corpus import ChunkedCorpus, TooManyFailuresError, chunk_corpora

if TYPE_CHECKING:
    from chunkers.plugins.loading import LoadedChunker
    from chunkers.processes.isolation import Limits
    from harness.embedding.embedder import Embedder
    from harness.embedding.vector_store import VectorStore
    from harness.runs.pipeline import PhaseTimer
    from harness.runs.query_set import QuerySet

UNITS = "embedding units"
"""The phase of embedding what a chunker asks for; progress counts it to `chunking`."""


@dataclass(frozen=True)
class ChunkedFiles:
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


class ChunkingCache:
    """The cuts of one data set by one chunker, each made at most once.

    Args:
        prepared: What is cut.
        chunker: By what.
        store: Where vectors are kept.
        keep_blank: Whether spans of white space alone become chunks.
        limits: What a file may take.
        most: How many files may fail.
    """

    def __init__(
        self,
        prepared: QuerySet,
        chunker: LoadedChunker,
        store: VectorStore,
        *,
        keep_blank: bool,
        limits: Limits,
        most: int,
    ) -> None:
        self._prepared = prepared
        self._chunker = chunker
        self._store = store
        self._keep_blank = keep_blank
        self._limits, self._most = limits, most
        self._made: dict[str, ChunkedFiles | TooManyFailuresError] = {}

    def by(self, helper: Embedder | None, watch: PhaseTimer) -> ChunkedFiles:
        """The cut with an embedder's tokens and vectors; without one where none is needed.

        Raises:
            OutOfMemoryError: A batch of texts did not fit.
            InputError: The embedder cannot be used here, or other processes cannot load the
                chunker.
            TooManyFailuresError: The chunker failed on too many files.
        """
        name = "" if helper is None else helper.fingerprint()
        found = self._made.get(name)
        if isinstance(found, TooManyFailuresError):
            raise found
        if found is not None:
            return replace(found, computed=0)
        try:
            made = self._make(helper, watch)
        except TooManyFailuresError as error:
            self._made[name] = error
            raise
        self._made[name] = made
        return made

    def _make(self, helper: Embedder | None, watch: PhaseTimer) -> ChunkedFiles:
        chunker, files, limits = self._chunker, self._prepared.files, self._limits
        count = None if helper is None else counter(helper)
        vectors = None
        with watch.phase("chunking") as told:
            if helper is not None and chunker.embeds:
                vectors = ChunkVectors(helper, self._store, told)
                vectors.prepare(files, chunker, count, limits)
            corpora = chunk_corpora(
                files,
                chunker,
                Services(vectors, count),
                told,
                keep_blank=self._keep_blank,
                limits=limits,
                most=self._most,
            )
        if helper is None or vectors is None:
            return ChunkedFiles(corpora, watch.seconds["chunking"])
        watch.seconds["chunking"] -= vectors.spent
        watch.seconds[UNITS] += vectors.spent
        seconds = None if helper.limit is None else round(vectors.seconds, 3)
        return ChunkedFiles(
            corpora, watch.seconds["chunking"], vectors.texts, seconds, vectors.computed
        )
