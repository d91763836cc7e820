"""Cosine similarity of unit vectors, exact: flat FAISS index and float64 rescoring."""

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

_SPARE = 32  # rows that FAISS returns beyond the requested number
_FLOAT32_STEP = 2.0**-23  # scores closer than this may change places under a float32 tie rule


@dataclass(frozen=True)
class VectorIndex:
    """Unit vectors in a flat inner-product index.

    Attributes:
        rows: Unit vectors, shape (n, d).
        flat: The FAISS index over them; None without rows.
    """

    rows: NDArray[np.float32]
    flat: Any

    @classmethod
    def build(cls, rows: NDArray[np.float32]) -> VectorIndex:
        """Index unit vectors, shape (n, d), none of them zero or non-finite."""
        if len(rows) == 0:
            return cls(rows, None)
        import faiss

        flat = faiss.IndexFlatIP(rows.shape[1])
        flat.add(np.ascontiguousarray(rows))
        return cls(rows, flat)

    def search(
        self, query: NDArray[np.float32], count: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
        """The nearest rows.

        Args:
            query: A unit vector, shape (d,).
            count: Minimum number of rows.

        Returns:
            Row numbers, unordered, their float64 scores, and an upper bound of the scores of all
            other rows, -inf if there are none.
        """
        if self.flat is None:
            return np.zeros(0, np.int64), np.zeros(0), -np.inf
        count = min(len(self.rows), count + _SPARE)
        similarities, numbers = self.flat.search(np.ascontiguousarray(query[None, :]), count)
        nearest = numbers[0][numbers[0] >= 0]
        scores = fixed_order_dot(self.rows[nearest], query)
        if len(nearest) == len(self.rows):
            return nearest, scores, -np.inf
        # A float32 dot product of unit vectors of d components is off by less than d * 2**-23.
        return nearest, scores, float(similarities[0].min()) + len(query) * 2.0**-23


@dataclass(frozen=True)
class DenseIndex:
    """Distinct texts in a vector index; their scores are pooled to chunks and units.

    Attributes:
        material: The corpus.
        vectors: The usable vectors.
        rows: The text of each vector, shape (n,).
    """

    material: Material
    vectors: VectorIndex
    rows: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """Size of the vectors, in bytes."""
        return int(self.vectors.rows.nbytes)

    @cached_property
    def _chunk_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of a chunk and the row of one of its texts, by chunk."""
        row_of = np.full(len(self.material.texts), -1, dtype=np.int64)
        row_of[self.rows] = np.arange(len(self.rows))
        pairs = [(c, row_of[t]) for c, ts in enumerate(self.material.chunk_texts) for t in ts]
        table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        table = table[table[:, 1] >= 0]
        return table[:, 0], table[:, 1]

    def scores(
        self, query: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Best score of each unit; at least those that can be in the first `depth`."""
        if query.vector is None or not query.vector.any():
            return np.zeros(0, np.int64), np.zeros(0)
        chunks, rows = self._chunk_rows
        count = len(self.rows) if self.material.pooling == "sum" else depth
        while True:
            nearest, scores, bound = self.vectors.search(query.vector, count)
            by_row = np.full(len(self.rows), -np.inf)
            by_row[nearest] = scores
            scored = by_row[rows] > -np.inf
            kept, start = np.unique(chunks[scored], return_index=True)
            best = np.maximum.reduceat(by_row[rows[scored]], start) if len(kept) else np.zeros(0)
            units, pooled = pool(best, kept, self.material)
            certain = int((pooled > bound + _FLOAT32_STEP).sum())
            if certain >= depth or bound == -np.inf:
                return units, pooled
            count *= 2


@dataclass(frozen=True)
class DotOverNorms:
    """Every text scored as code-chunk scores it.

    Attributes:
        material: The corpus.
        vectors: Vectors of its texts, not scaled.
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
        self, query: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Scores of all units; NaN, which ranks last, where a vector is zero."""
        del depth  # all scores are computed at once
        if query.vector is None:
            raise ValueError("a dense index needs the query's vector")
        values = dot_over_norms(self.vectors, self._norms, query.vector)
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
