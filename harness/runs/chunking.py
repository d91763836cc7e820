"""Chunks the files of a query set by one chunker, with the embedder that it may need."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chunkers.source import Services
from harness.chunking.corpus import ChunkedCorpus, chunk_corpora
from harness.chunking.cutters import cutter, limits_of, tasks_of
from harness.chunking.limits import TooManyFailuresError
from harness.embedding.text_vectors import embed_texts, unit_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from chunkers.plugins.loading import LoadedChunker
    from chunkers.processes.isolation import Limits
    from harness.embedding.embedder import Embedder
    from harness.embedding.vector_store import VectorStore
    from harness.model import Corpus
    from harness.runs.engine import Engine
    from harness.runs.pipeline import PhaseTimer
    from harness.runs.query_set import QuerySet


def counter(embedder: Embedder) -> Callable[[str], int]:
    """What counts the tokens of a text, and remembers texts: `services.count_tokens`."""

    @functools.lru_cache(maxsize=1 << 17)
    def count(text: str) -> int:
        return int(embedder.count_tokens([text])[0])

    return count


class ChunkVectors:
    """Turns texts into unit vectors: called as `services.embed`.

    `seconds` is what embedding took when each text was embedded, perhaps by an earlier run; `spent`
    is wall time of embedding and of the store now; `computed` are texts that the store lacked.
    """

    def __init__(
        self,
        embedder: Embedder,
        store: VectorStore,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._embedder = embedder
        self._store = store
        self._progress = progress
        self._rows: dict[str, NDArray[np.float32]] = {}
        self.seconds = 0.0
        self.spent = 0.0
        self.computed = 0

    @property
    def texts(self) -> int:
        """Distinct texts so far."""
        return len(self._rows)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (n, d); zeros where the model gives none."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if missing:
            self._add(missing)
        rows = [self._rows[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def _add(self, texts: Sequence[str]) -> None:
        started = time.perf_counter()
        try:
            embedded = embed_texts(texts, self._embedder, self._store, "document", self._progress)
        finally:
            self.spent += time.perf_counter() - started
        self._rows.update(zip(texts, unit_vectors(embedded.values)[0], strict=True))
        self.seconds += float(embedded.share.sum())
        self.computed += embedded.computed

    def prepare(
        self,
        corpora: Sequence[Corpus],
        chunker: LoadedChunker,
        count_tokens: Callable[[str], int] | None,
        limits: Limits | None = None,
    ) -> None:
        """Embed what a chunker will ask for, so that full batches are made of many small files."""
        if chunker.texts is None:
            return
        # Equal files of several corpora want the same texts.
        tasks = dict.fromkeys(task for corpus in corpora for task in tasks_of(corpus, chunker))
        wanted: dict[str, None] = {}
        with cutter(chunker, Services(self, count_tokens), limits or limits_of()) as cutting:
            for texts in cutting.texts([*tasks]):
                wanted.update(dict.fromkeys(texts or ()))
        self(list(wanted))


UNITS = "embedding units"
"""The phase that embeds the texts a chunker asks for; progress counts it as `chunking`."""


@dataclass(frozen=True)
class ChunkedFiles:
    """The chunked files of a query set, and the cost of chunking.

    `corpora` are in the order of `QuerySet.files`; `seconds` is wall time without embedding.
    `texts` counts the distinct texts that the chunker wanted vectors for, and `embedding` the
    seconds that these took, possibly in an earlier run; both may be None. `computed` were embedded
    by this call.
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
    engine: Engine

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
                make_cutter=self.engine.cutter,
            )
        if helper is None or vectors is None:
            return ChunkedFiles(corpora, timer.seconds["chunking"])
        timer.seconds["chunking"] -= vectors.spent
        timer.seconds[UNITS] += vectors.spent
        seconds = None if helper.limit is None else round(vectors.seconds, 3)
        return ChunkedFiles(
            corpora, timer.seconds["chunking"], vectors.texts, seconds, vectors.computed
        )
