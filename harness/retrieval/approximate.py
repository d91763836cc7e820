"""Approximate indexes of FAISS: built alike on any machine, and searched once for each query."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

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
