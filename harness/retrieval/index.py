"""Exact nearest neighbours: FAISS finds candidates, a fixed-order float64 dot ranks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.support.arrays import fixed_order_dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPARE = 32


@dataclass(frozen=True)
class VectorIndex:
    """Unit vectors of distinct texts in a flat inner-product index.

    Attributes:
        rows: Unit vectors, shape (n, d).
        flat: The FAISS index over them, or None without rows.
    """

    rows: NDArray[np.float32]
    flat: Any

    @classmethod
    def build(cls, rows: NDArray[np.float32]) -> VectorIndex:
        """Index unit vectors, shape (n, d); zero and non-finite ones must not be among them."""
        if len(rows) == 0:
            return cls(rows, None)
        import faiss

        flat = faiss.IndexFlatIP(rows.shape[1])
        flat.add(np.ascontiguousarray(rows))
        return cls(rows, flat)

    @property
    def nbytes(self) -> int:
        """Size of the vectors in the index, in bytes."""
        return int(self.rows.nbytes)

    def search(
        self, query: NDArray[np.float32], count: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
        """The nearest rows.

        Args:
            query: A unit vector, shape (d,).
            count: How many rows FAISS is asked for, at least.

        Returns:
            Row numbers (in no order) and their float64 scores, and a bound that no row outside
            the answer can pass: -inf where the answer holds every row.
        """
        if self.flat is None:
            return np.zeros(0, np.int64), np.zeros(0), -np.inf
        count = min(len(self.rows), count + _SPARE)
        found, numbers = self.flat.search(np.ascontiguousarray(query[None, :]), count)
        kept = numbers[0][numbers[0] >= 0]
        scores = fixed_order_dot(self.rows[kept], query)
        if len(kept) == len(self.rows):
            return kept, scores, -np.inf
        # A float32 dot of two unit vectors of d components is off by less than d * 2**-23.
        return kept, scores, float(found[0].min()) + len(query) * 2.0**-23
