"""Approximate indexes of FAISS: built alike on any machine, and searched once for each query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from chunkers.errors import InputError
from harness.retrieval.options import require_range
from harness.retrieval.vector_index import Neighbours

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


@dataclass(frozen=True, kw_only=True)
class FaissIndex(ABC):
    """An approximate index of FAISS; its other fields are options with a range.

    Attributes:
        nearest: Vectors that a search returns.
    """

    name: ClassVar[str]
    """As in `--index`."""
    ranges: ClassVar[Mapping[str, tuple[int, int]]]
    """The least and greatest value of each option, `nearest` aside."""

    nearest: int

    def __post_init__(self) -> None:
        """Refuse an option that is out of its range; None is a default.

        Raises:
            InputError: One is.
        """
        for option, (low, high) in {**self.ranges, "nearest": (1, 100_000)}.items():
            value = getattr(self, option)
            if value is not None:
                require_range(f"{self.name}: {option}", value, low, high)

    @property
    def version(self) -> str:
        """Of the index, with what it depends on: FAISS, and the processor's instructions."""
        import faiss

        return f"1 (faiss {faiss.__version__}, {faiss.SIMDConfig.get_level_name()})"

    def build(self, rows: NDArray[np.float32]) -> ApproximateSearch:
        """Index the rows in their order.

        Raises:
            InputError: They are in a file, since they pass the limit of memory: FAISS copies them
                to memory.
        """
        if isinstance(rows, np.memmap):
            raise InputError(
                f"index {self.name} keeps {rows.nbytes:,} bytes of vectors in memory, which "
                "--memory does not allow; choose flat or pgvector"
            )
        with _one_thread():
            index, nbytes = self.filled(rows)
        return ApproximateSearch(index, self.nearest, rows.nbytes + nbytes)

    @abstractmethod
    def filled(self, rows: NDArray[np.float32]) -> tuple[Any, int]:
        """The index with the rows, and its size in bytes besides them."""


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let FAISS build on one thread: a graph depends on the order in which rows are added."""
    import faiss

    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)
