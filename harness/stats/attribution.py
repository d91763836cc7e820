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


@dataclass(frozen=True, slots=True)
class Share:
    """The share of one factor in the variance.

    Attributes:
        factor: Its name.
        levels: Number of its values.
        alone: The share that the factor explains without the others.
        unique: The share that the others leave and it explains: equal to `alone` in a balanced
            grid.
        identifiable: `no` if the other factors determine it in this grid, `in part` if they
            determine some of its effects.
    """

    factor: str
    levels: int
    alone: float
    unique: float
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
    means: NDArray[np.float64], factors: Mapping[str, Sequence[str]]
) -> Attribution | None:
    """Divide the variance of means over the factors that vary.

    Args:
        means: Shape (n,).
        factors: The value of each factor in each cell.

    Returns:
        None with under two factors that vary, or if all means are equal.
    """
    blocks = {name: _indicators(values) for name, values in factors.items() if len(set(values)) > 1}
    if len(blocks) < 2 or np.ptp(means) <= 1e-12:
        return None
    centred = means - means.mean()
    total = float((centred**2).sum())
    whole, rank = _explained(centred, [*blocks.values()])
    shares = []
    for name, block in blocks.items():
        others = [other for key, other in blocks.items() if key != name]
        without, rank_without = _explained(centred, others)
        own, levels = rank - rank_without, block.shape[1] + 1
        shares.append(
            Share(
                name,
                levels,
                _explained(centred, [block])[0] / total,
                max(0.0, (whole - without) / total) if own else 0.0,
                "no" if not own else "yes" if own == levels - 1 else "in part",
            )
        )
    explained = whole / total
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
    indicators: NDArray[np.float64] = columns - columns.mean(axis=0)
    return indicators


def _explained(
    means: NDArray[np.float64], blocks: Sequence[NDArray[np.float64]]
) -> tuple[float, int]:
    """The sum of squares of means that the columns of blocks explain, and their rank."""
    left, values, _ = np.linalg.svd(np.concatenate(blocks, axis=1), full_matrices=False)
    basis = left[:, values > 1e-9 * max(1.0, float(values.max(initial=0.0)))]
    return float(((means @ basis) ** 2).sum()), basis.shape[1]
