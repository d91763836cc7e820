"""Cosine as code-chunk computes it: of the vectors as they are, NaN for a zero vector."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from harness.index import fixed_order_dot
from harness.retrieval import Material, Question, pool

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class DotOverNorms:
    """Every text scored by dot ÷ (√·√) in float64, one dimension after the other.

    Attributes:
        material: The corpus; its vectors are not scaled.
    """

    material: Material

    @property
    def _rows(self) -> NDArray[np.float32]:
        if self.material.vectors is None:
            raise ValueError("a dense index needs vectors")
        return self.material.vectors

    @property
    def nbytes(self) -> int:
        """Size of the vectors, in bytes."""
        return int(self._rows.nbytes)

    @cached_property
    def _norms(self) -> NDArray[np.float64]:
        return np.sqrt(_squares(self._rows))

    def scores(
        self, question: Question, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Scores of all units; NaN, which ranks last, where a vector is zero."""
        del depth  # every score is computed at once
        query = question.vector
        if query is None:
            raise ValueError("a dense index needs the query's vector")
        norm = float(np.sqrt(_squares(query[None, :]))[0])
        values = np.zeros(0)
        if len(self._rows):  # else nothing was embedded, and nothing tells how long vectors are
            with np.errstate(invalid="ignore", divide="ignore"):
                values = fixed_order_dot(self._rows, query) / (norm * self._norms)
        best = np.array(
            [values[list(texts)].max() if texts else np.nan for texts in self.material.chunk_texts]
        )
        return pool(best, np.arange(len(best)), self.material)


def _squares(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Sum of squares of each row, shape (n,), one dimension after the other."""
    total = np.zeros(len(rows))
    for column in rows.T.astype(np.float64):
        total += column * column
    return total
