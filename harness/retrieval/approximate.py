"""Approximate indexes of FAISS: built alike on any machine, and searched once for each query."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import InputError
from harness.retrieval.vector_index import Neighbours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True)
class ApproximateSearch:
    """A FAISS index whose search returns a fixed number of rows.

    Attributes:
        index: The FAISS index.
        nearest: Rows that a search returns, at most.
        nbytes: Size of the index, in bytes.
    """

    index: Any
    nearest: int
    nbytes: int

    def search(self, queries: NDArray[np.float32], count: int) -> Neighbours:
        """The rows that the index finds. No others count, however many are asked for.

        A search that was repeated for more rows would find better ones than a service that asks
        once, and hide what the approximation costs.
        """
        del count
        _, rows = self.index.search(queries, min(self.nearest, self.index.ntotal))
        return Neighbours(rows.astype(np.int64), np.full(len(queries), -np.inf))


def faiss_version() -> str:
    """What an index depends on besides vectors: FAISS, and the processor's instructions."""
    import faiss

    return f"1 (faiss {faiss.__version__}, {faiss.SIMDConfig.get_level_name()})"


def refuse_files(rows: NDArray[np.float32], name: str) -> None:
    """Refuse vectors that are not in memory: these indexes copy them there.

    Raises:
        InputError: They are in a file, since they pass the limit of memory.
    """
    if isinstance(rows, np.memmap):
        raise InputError(
            f"index {name} keeps {rows.nbytes:,} bytes of vectors in memory, which --memory does "
            "not allow; choose flat or pgvector"
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """Let FAISS build on one thread: a graph depends on the order in which rows are added."""
    import faiss

    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)
