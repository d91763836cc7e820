"""Chunks the files of a query set by one chunker, with the embedder that it may need."""

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
"""The phase that embeds the texts a chunker asks for; progress counts it as `chunking`."""


@dataclass(frozen=True)
class ChunkedFiles:
    """The chunked files of a query set, and the cost of chunking.

    Attributes:
        corpora: In the order of `QuerySet.files`.
        seconds: Wall time without embedding.
        texts: Distinct texts that the chunker wanted vectors for; None if it needs no vectors.
        embedding: Seconds that embedding them took, possibly in an earlier run; None if unknown.
        computed: Number of texts that were embedded by this call.
    """

    corpora: list[ChunkedCorpus]
    seconds: float
    texts: int | None = None
    embedding: float | None = None
    computed: int = 0


@dataclass
class ChunkingCache:
    """The chunks of one query set by one chunker, computed once for each embedder.

    `keep_blank` makes chunks of spans of white space alone; `most` is how many files may fail.
    """

    query_set: QuerySet
    chunker: LoadedChunker
    store: VectorStore
    keep_blank: bool
    limits: Limits
    most: int

    def __post_init__(self) -> None:
        self._results: dict[str, ChunkedFiles | TooManyFailuresError] = {}

    def get(self, helper: Embedder | None, timer: PhaseTimer) -> ChunkedFiles:
        """The chunks by the tokens and vectors of an embedder, if the chunker needs one.

        Raises:
            OutOfMemoryError: A batch of texts did not fit into memory.
            InputError: The embedder or the chunker cannot be used.
            TooManyFailuresError: The chunker failed on too many files.
        """
        key = "" if helper is None else helper.fingerprint()
        if key not in self._results:
            try:
                fresh = self._chunk(helper, timer)
            except TooManyFailuresError as error:
                self._results[key] = error
                raise
            self._results[key] = replace(fresh, computed=0)
            return fresh
        result = self._results[key]
        if isinstance(result, TooManyFailuresError):
            raise result
        return result

    def _chunk(self, helper: Embedder | None, timer: PhaseTimer) -> ChunkedFiles:
        count = None if helper is None else counter(helper)
        vectors = None
        with timer.phase("chunking") as progress:
            if helper is not None and self.chunker.embeds:
                vectors = ChunkVectors(helper, self.store, progress)
                vectors.prepare(self.query_set.files, self.chunker, count, self.limits)
            corpora = chunk_corpora(
                self.query_set.files,
                self.chunker,
                Services(vectors, count),
                progress,
                keep_blank=self.keep_blank,
                limits=self.limits,
                most=self.most,
            )
        if helper is None or vectors is None:
            return ChunkedFiles(corpora, timer.seconds["chunking"])
        timer.seconds["chunking"] -= vectors.spent
        timer.seconds[UNITS] += vectors.spent
        seconds = None if helper.limit is None else round(vectors.seconds, 3)
        return ChunkedFiles(
            corpora, timer.seconds["chunking"], vectors.texts, seconds, vectors.computed
        )
