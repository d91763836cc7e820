"""Intervals of means: the plain percentile bootstrap over queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.measures.random_numbers import draws, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

LABEL = "bootstrap over queries, assumes independent queries"
RESAMPLES = 2000
_BLOCK = 4_000_000


def intervals(
    values: Mapping[str, NDArray[np.float64] | None],
    included: NDArray[np.bool_],
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, tuple[float, float] | None]:
    """95 % intervals of the means, by name.

    All measures share the resamples. Every mean is summed query after query, so the bytes do not
    depend on threads.

    Args:
        values: Values of each measure, shape (q,), or None.
        included: Which queries the means are over, shape (q,).
        seed: 0 or above; cells with the same seed and number of queries share the resamples.
        resamples: Their number.

    Returns:
        Lower and upper end; None where a measure has no values, or fewer than two queries are
        included.
    """
    result: dict[str, tuple[float, float] | None] = dict.fromkeys(values)
    names = [name for name, column in values.items() if column is not None]
    n = int(included.sum())
    if n < 2 or not names:
        return result
    columns = np.stack(
        [column[included] for column in values.values() if column is not None], axis=1
    )
    source = words((seed, n))
    means = np.zeros((resamples, len(names)))
    step = max(1, _BLOCK // n)
    for begin in range(0, resamples, step):
        rows = draws(source, n, (min(step, resamples - begin), n))
        sums = np.zeros((len(rows), len(names)))
        for drawn in rows.T:
            sums += columns[drawn]
        means[begin : begin + len(rows)] = sums / n
    low, high = np.percentile(means, (2.5, 97.5), axis=0)
    for name, *ends in zip(names, low.tolist(), high.tolist(), strict=True):
        result[name] = (ends[0], ends[1])
    return result
