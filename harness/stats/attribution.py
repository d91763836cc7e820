"""Attributes the variance of cell means to the factors of a grid, by least squares.

Main effects alone: a mean is the sum of one effect for each factor. What such sums cannot
reproduce is interaction of factors, or chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from harness.stats.sign_flips import Interval


@dataclass(frozen=True, slots=True)
class Share:
    """The share of one factor in the variance.

    Attributes:
        factor: Its name.
        levels: Number of its values.
        alone: The share that the factor explains without the others.
        unique: The share that the others leave and it explains: equal to `alone` in a balanced
            grid.
        ci95: The middle 95 % of `unique` over resamples; None without resamples.
        identifiable: `no` if the other factors determine it in this grid, `in part` if they
            determine some of its effects.
    """

    factor: str
    levels: int
    alone: float
    unique: float
    ci95: Interval | None
    identifiable: Literal["yes", "in part", "no"]


@dataclass(frozen=True, slots=True)
class Attribution:
    """The variance of cell means, divided.

    Attributes:
        shares: Of the factors.
        shared: Explained by several factors together, and not by one alone; 0 in a balanced grid.
            It is negative where factors hide each other.
        rest: Interaction of factors, and chance.
        freedom: Degrees of freedom of the rest; with 0 it is 0 whatever the means.
    """

    shares: tuple[Share, ...]
    shared: float
    rest: float
    freedom: int


def attribute(
    means: NDArray[np.float64],
    factors: Mapping[str, Sequence[str]],
    resamples: NDArray[np.float64] | None = None,
) -> Attribution | None:
    """Divide the variance of means over the factors that vary.

    Args:
        means: Shape (n,).
        factors: The value of each factor in each cell.
        resamples: Means of the cells in resamples of their queries, shape (r, n).

    Returns:
        None with under two factors that vary, or if all means are equal.
    """
    blocks = {name: _indicators(values) for name, values in factors.items() if len(set(values)) > 1}
    if len(blocks) < 2 or np.ptp(means) <= 1e-12:
        return None
    rows = means[None] if resamples is None else np.concatenate([means[None], resamples])
    rows = rows - rows.mean(axis=1, keepdims=True)
    total = (rows**2).sum(axis=1)
    whole, rank = _explained(rows, [*blocks.values()])
    shares = []
    for name, block in blocks.items():
        others = [other for key, other in blocks.items() if key != name]
        without, rank_without = _explained(rows, others)
        with np.errstate(invalid="ignore"):
            unique = np.maximum((whole - without) / total, 0)
        own, levels = rank - rank_without, block.shape[1] + 1
        spread = unique[1:][np.isfinite(unique[1:])]
        ends = np.percentile(spread, [2.5, 97.5]).tolist() if len(spread) else None
        shares.append(
            Share(
                name,
                levels,
                float(_explained(rows[:1], [block])[0][0] / total[0]),
                float(unique[0]) if own else 0.0,
                (ends[0], ends[1]) if ends and own else None,
                "no" if not own else "yes" if own == levels - 1 else "in part",
            )
        )
    explained = float(whole[0] / total[0])
    return Attribution(
        tuple(shares),
        explained - sum(share.unique for share in shares),
        max(0.0, 1 - explained),
        len(means) - 1 - rank,
    )


def _indicators(values: Sequence[str]) -> NDArray[np.float64]:
    """Centred indicators of all values but the first, shape (n, levels - 1)."""
    _, numbers = np.unique(np.array(values, dtype=np.str_), return_inverse=True)
    columns = (numbers[:, None] == np.arange(1, int(numbers.max()) + 1)).astype(np.float64)
    centred: NDArray[np.float64] = columns - columns.mean(axis=0)
    return centred


def _explained(
    rows: NDArray[np.float64], blocks: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], int]:
    """The sum of squares of each row that the columns of blocks explain, and their rank."""
    left, values, _ = np.linalg.svd(np.concatenate(blocks, axis=1), full_matrices=False)
    basis = left[:, values > 1e-9 * max(1.0, float(values.max(initial=0.0)))]
    return ((rows @ basis) ** 2).sum(axis=1), basis.shape[1]
