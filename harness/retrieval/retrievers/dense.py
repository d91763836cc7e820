"""Exact nearest neighbours: FAISS finds candidates, a fixed-order float64 dot ranks them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.parity.dot_over_norms import dot_over_norms, norms
from harness.retrieval.ranking import Index, Material, SearchQuery, pool
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


# Scores that float32 cannot tell apart may swap places under a float32 tie rule.
_FLOAT32_STEP = 2.0**-23


@dataclass(frozen=True)
class DenseIndex:
    """Distinct texts in a vector index, expanded to chunks and units after the search."""

    material: Material
    vectors: VectorIndex
    rows: NDArray[np.int64]  # row of the index -> text

    @property
    def nbytes(self) -> int:
        """Size of the vectors, in bytes."""
        return self.vectors.nbytes

    @cached_property
    def _chunk_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Chunks and the index rows of their texts, one pair a row, by chunk."""
        row_of = np.full(len(self.material.texts), -1, dtype=np.int64)
        row_of[self.rows] = np.arange(len(self.rows))
        pairs = [(c, row_of[t]) for c, ts in enumerate(self.material.chunk_texts) for t in ts]
        table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        table = table[table[:, 1] >= 0]
        return table[:, 0], table[:, 1]

    def scores(
        self, question: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Best score of each unit, for at least those that can be among the first `depth`."""
        query = question.vector
        if query is None or not query.any():
            return np.zeros(0, np.int64), np.zeros(0)
        count = len(self.rows) if self.material.pooling == "sum" else depth
        while True:
            found, scores, bound = self.vectors.search(query, count)
            by_row = np.full(len(self.rows), -np.inf)
            by_row[found] = scores
            chunks, rows = self._chunk_rows
            here = by_row[rows] > -np.inf
            kept, start = np.unique(chunks[here], return_index=True)
            best = np.maximum.reduceat(by_row[rows[here]], start) if len(kept) else np.zeros(0)
            units, pooled = pool(best, kept, self.material)
            certain = int((pooled > bound + _FLOAT32_STEP).sum())
            if certain >= depth or bound == -np.inf:
                return units, pooled
            count *= 2


@dataclass(frozen=True)
class DotOverNorms:
    """Every text scored as code-chunk scores it.

    Attributes:
        material: The corpus; its vectors are not scaled.
        vectors: Those of its texts.
    """

    material: Material
    vectors: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Size of the vectors, in bytes."""
        return int(self.vectors.nbytes)

    @cached_property
    def _norms(self) -> NDArray[np.float64]:
        return norms(self.vectors)

    def scores(
        self, question: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Scores of all units; NaN, which ranks last, where a vector is zero."""
        del depth  # every score is computed at once
        if question.vector is None:
            raise ValueError("a dense index needs the query's vector")
        values = dot_over_norms(self.vectors, self._norms, question.vector)
        best = np.array(
            [values[list(texts)].max() if texts else np.nan for texts in self.material.chunk_texts]
        )
        return pool(best, np.arange(len(best)), self.material)


@dataclass(frozen=True)
class Dense:
    """The retriever `dense`."""

    dense: bool = True
    version: str = "1"

    def index(self, material: Material) -> Index:
        """Index the usable vectors of the distinct texts."""
        if material.vectors is None:
            raise ValueError("a dense index needs vectors")
        if material.similarity == "dot-over-norms":
            return DotOverNorms(material, material.vectors)
        rows = np.flatnonzero(material.usable)
        return DenseIndex(material, VectorIndex.build(material.vectors[rows]), rows)


def make() -> Dense:
    """Cosine similarity, exact."""
    return Dense()
