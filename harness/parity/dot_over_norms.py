"""Cosine as code-chunk computes it: of the vectors as they are, NaN for a zero vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.support.arrays import fixed_order_dot

if TYPE_CHECKING:
    from numpy.typing import NDArray


def norms(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Length of each row, shape (n,), summed one dimension after the other."""
    squares = np.zeros(len(rows))
    for column in rows.T.astype(np.float64):
        squares += column * column
    return np.sqrt(squares)


def dot_over_norms(
    rows: NDArray[np.float32], lengths: NDArray[np.float64], query: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Dot ÷ (√·√) of every row with `query` in float64, one dimension after the other.

    Args:
        rows: Vectors as the model gave them, shape (n, d).
        lengths: Their `norms`, shape (n,).
        query: Shape (d,).

    Returns:
        Shape (n,); NaN where a vector is zero.
    """
    if not len(rows):  # nothing was embedded, so nothing says how long vectors are
        return np.zeros(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return fixed_order_dot(rows, query) / (float(norms(query[None, :])[0]) * lengths)
