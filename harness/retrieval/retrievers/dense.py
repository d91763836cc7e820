"""Cosine similarity of unit vectors: an index finds candidates, which are scored in float64."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from harness.parity.dot_over_norms import dot_over_norms, norms
from harness.retrieval.indexes import flat
from harness.retrieval.ranking import Index, Material, SearchQuery, pool
from harness.support.arrays import fixed_order_dot, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.retrieval.vector_index import VectorSearch

_FLOAT32_STEP = 2.0**-23  # scores closer than this may change places under a float32 tie rule
_BLOCK = 1 << 12  # rows that are scored at once
_MANY = 50_000  # vectors from which all queries are searched together


@dataclass(frozen=True)
class DenseIndex:
    """Distinct texts in a vector index; their scores are pooled to chunks and units.

    Attributes:
        material: The corpus.
        search: The index of the usable vectors.
        vectors: The usable vectors, shape (n, d).
        rows: The text of each vector, shape (n,).
    """

    material: Material
    search: VectorSearch
    vectors: NDArray[np.float32]
    rows: NDArray[np.int64]
    _together: dict[bytes, _Candidates] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Size of the index, in bytes."""
        return self.search.nbytes

    @cached_property
    def _chunks(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Chunks by the row of their texts: the first of each row, their number, the chunks."""
        row_of = np.full(len(self.material.texts), -1, dtype=np.int64)
        row_of[self.rows] = np.arange(len(self.rows))
        of_chunk = self.material.chunk_texts
        owner = np.repeat(np.arange(len(of_chunk)), of_chunk.lengths)
        rows = row_of[of_chunk.values]
        order = np.argsort(rows, kind="stable")[int((rows < 0).sum()) :]
        count = np.bincount(rows[order], minlength=len(self.rows))
        return np.cumsum(count) - count, count, owner[order]

    def prepare(self, queries: Sequence[SearchQuery], depth: int) -> None:
        """Search all queries of a large corpus together, which is many times faster."""
        vectors = [v for query in queries if (v := query.vector) is not None and v.any()]
        if len(self.rows) < _MANY or not vectors:
            return
        matrix = np.array(vectors, dtype=np.float32)
        found = self.search.search(matrix, depth)
        for query, rows, bound in zip(matrix, found.rows, found.bounds.tolist(), strict=True):
            self._together[query.tobytes()] = _Candidates(rows, bound, depth)

    def scores(
        self, query: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Best score of each unit; at least those that can be in the first `depth`."""
        if len(self.rows) == 0 or query.vector is None or not query.vector.any():
            return np.zeros(0, np.int64), np.zeros(0)
        count = len(self.rows) if self.material.pooling == "sum" else depth
        while True:
            rows, bound = self._candidates(query.vector, count)
            units, pooled = self._pooled(rows, self._dots(rows, query.vector))
            certain = int((pooled > bound + _FLOAT32_STEP).sum())
            if certain >= depth or bound == -np.inf:
                return units, pooled
            count *= 2

    def _candidates(
        self, vector: NDArray[np.float32], count: int
    ) -> tuple[NDArray[np.int64], float]:
        """Rows that may be among the first `count`, and a bound of the scores of all others."""
        key = vector.tobytes()
        known = self._together.get(key)
        # An approximate index is asked once: more would not be found by a service either.
        if known is None or (known.count < count and known.bound > -np.inf):
            found = self.search.search(np.ascontiguousarray(vector[None, :]), count)
            known = _Candidates(found.rows[0], float(found.bounds[0]), count)
            if self.material.vector_index.version:
                self._together[key] = known
        return known.rows[known.rows >= 0], known.bound

    def _dots(self, rows: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float64]:
        """Scores of rows, block by block: each depends on its own row alone."""
        parts = (rows[start : start + _BLOCK] for start in range(0, len(rows), _BLOCK))
        scores = [fixed_order_dot(self.vectors[part], vector) for part in parts]
        return np.concatenate([*scores, np.zeros(0)])

    def _pooled(
        self, rows: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Scores of rows, combined to those of their chunks, and these to those of units."""
        first, count, chunks_of = self._chunks
        owner, places = ranges(first[rows], count[rows])
        chunks, own = chunks_of[places], scores[owner]
        order = np.argsort(chunks, kind="stable")
        chunks, start = np.unique(chunks[order], return_index=True)
        best = np.maximum.reduceat(own[order], start) if len(chunks) else np.zeros(0)
        return pool(best, chunks, self.material)


@dataclass(frozen=True)
class _Candidates:
    """The rows found by a search for `count` rows, and a bound of the scores of all others."""

    rows: NDArray[np.int64]
    bound: float
    count: int


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
            [values[own].max() if len(own) else np.nan for own in self.material.chunk_texts]
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
        vectors = material.space.taken(material.vectors, rows)
        index = material.vector_index if len(rows) else flat.make()
        return DenseIndex(material, index.build(vectors), vectors, rows)


def make() -> Dense:
    """Cosine similarity of unit vectors."""
    return Dense()
