"""Vectors that a chunker asks for: those of all files embedded at once, and served from memory."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

import numpy as np

from chunkers.processes.pool import Task
from chunkers.source import Services
from harness.chunking.cutters import cutter, limits_of
from harness.embedding.text_vectors import embed_texts, unit_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from chunkers.plugins.loading import LoadedChunker
    from chunkers.processes.isolation import Limits
    from harness.embedding.embedder import Embedder
    from harness.embedding.vector_store import VectorStore
    from harness.model import Corpus


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
        """Unit vectors, shape (n, d); zeros where the model gives none.

        Raises:
            InputError: The embedder cannot be used here.
            OutOfMemoryError: A batch did not fit.
        """
        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if missing:
            self._add(missing)
        rows = [self._rows[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def _add(self, texts: Sequence[str]) -> None:
        started = time.perf_counter()
        try:
            found = embed_texts(texts, self._embedder, self._store, "document", self._progress)
        finally:
            self.spent += time.perf_counter() - started
        self._rows.update(zip(texts, unit_vectors(found.values)[0], strict=True))
        self.seconds += float(found.share.sum())
        self.computed += found.computed

    def prepare(
        self,
        corpora: Sequence[Corpus],
        chunker: LoadedChunker,
        count_tokens: Callable[[str], int] | None,
        limits: Limits | None = None,
    ) -> None:
        """Embed what a chunker will ask for, so that full batches are made of many small files.

        Raises:
            InputError: The embedder cannot be used here.
            OutOfMemoryError: A batch did not fit.
        """
        if chunker.texts is None:
            return
        tasks = [Task(source, one.name) for one in corpora for source in one.sources]
        wanted: dict[str, None] = {}
        with cutter(chunker, Services(self, count_tokens), limits or limits_of()) as cutting:
            for texts in cutting.texts(tasks):
                wanted.update(dict.fromkeys(texts or ()))
        self(list(wanted))
