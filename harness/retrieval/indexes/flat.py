"""Exact search over all vectors, by FAISS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.lazy import np
from harness.retrieval.vector_index import SPARE, Neighbours, float32_bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 16  # rows that are searched at once


@dataclass(frozen=True)
class FlatSearch:
    """Unit vectors, which are searched where they lie, block by block.

    Attributes:
        rows: Shape (n, d).
    """

    rows: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Size of the vectors, in bytes."""
        return int(self.rows.nbytes)

    def search(self, queries: NDArray[np.float32], count: int) -> Neighbours:
        """The nearest rows by float32 similarity; near ties are among the spare ones."""
        import faiss

        count = min(len(self.rows), count + SPARE)
        best = np.full((len(queries), 0), -np.inf, dtype=np.float32)
        numbers = np.full((len(queries), 0), -1, dtype=np.int64)
        for start in range(0, len(self.rows), _BLOCK):
            block = self.rows[start : start + _BLOCK]
            scores, nearest = faiss.knn(
                queries, block, min(count, len(block)), metric=faiss.METRIC_INNER_PRODUCT
            )
            best = np.concatenate((best, scores), axis=1)
            numbers = np.concatenate((numbers, nearest + start), axis=1)
            if best.shape[1] > count:
                kept = np.argpartition(-best, count - 1, axis=1)[:, :count]
                best = np.take_along_axis(best, kept, axis=1)
                numbers = np.take_along_axis(numbers, kept, axis=1)
        bounds = float32_bound(best.min(axis=1).astype(np.float64), queries.shape[1])
        return Neighbours(numbers, np.where(count == len(self.rows), -np.inf, bounds))


@dataclass(frozen=True)
class Flat:
    """The index `flat`."""

    version: str = ""

    def build(self, rows: NDArray[np.float32]) -> FlatSearch:
        """Search the vectors where they lie."""
        return FlatSearch(rows)


def make() -> Flat:
    """All vectors are compared with the query; the best are scored again in float64."""
    return Flat()
