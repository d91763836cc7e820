"""Arithmetic whose bits do not depend on the number of rows, the thread count or the processor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, overload

from chunkers.lazy import np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Ints: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"
Bools: TypeAlias = "NDArray[np.bool_]"


def mean(values: Sequence[float] | NDArray[np.float64]) -> float:
    """The mean of at least one value, added from left to right."""
    return float(np.cumsum(values)[-1]) / len(values)


@overload
def percentile(values: Ints, share: int) -> int: ...
@overload
def percentile(values: Floats, share: int) -> float: ...
def percentile(values: NDArray[Any], share: int) -> float:
    """The smallest of the values that so many per cent of them do not exceed (nearest rank)."""
    smallest: float = np.percentile(values, share, method="inverted_cdf").item()
    return smallest


def column_sums(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of columns, added row after row: shape (m,) of (n, m), at least one row."""
    sums: NDArray[np.float64] = np.cumsum(rows, axis=0)[-1]
    return sums


def ranges(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """The numbers in ranges, as (range, number): `first`, `first` + 1, … of each, in order."""
    owner = np.repeat(np.arange(len(count)), count)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(count) - count - first, count)


def fixed_order_dot(rows: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float64]:
    """Dot product of every row with `query` in float64, added dimension by dimension.

    Args:
        rows: Shape (n, d).
        query: Shape (d,).

    Returns:
        Shape (n,).
    """
    columns = np.ascontiguousarray(rows.T, dtype=np.float64)
    total = np.zeros(len(rows))
    product = np.empty(len(rows))
    for column, value in zip(columns, query.astype(np.float64), strict=True):
        np.multiply(column, value, out=product)
        total += product
    return total
