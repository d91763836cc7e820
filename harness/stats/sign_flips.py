"""The sign-flip test of a mean, and the interval that it implies: the estimand "these corpora".

If every cluster's sum lies as often as far above `size · δ` as below, flipping the signs of their
deviations changes no distribution. δ is rejected if at most 5 % of the flips deviate as much as no
flip does. With `F` the clusters that a flip leaves as they are, that is: δ lies between the mean
over `F` and the mean over the rest. So the ends of the interval are quantiles of means over
random halves of the clusters (Hartigan, "Using subsample values as typical values", JASA 1969).
They need no normal distribution, never leave the range of the values, and always agree with the
test. With under 6 clusters there is no interval: 2 of 32 flips are always as extreme.

Corpora are fixed: sums are moved to the common mean of all corpora before. Residuals are divided by
(1 - leverage)^.75, so that corpora of a few clusters do not understate the scatter: between the
power ½ that is exact for independent queries (HC2 of MacKinnon and White, J. Econometrics 1985) and
the power 1 for queries that move with their cluster (HC3). With one corpus nothing is moved.

The size of the test is shown by simulation in tests/harness/stats/test_calibration.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.random_numbers import words
from harness.support.arrays import column_sums

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from harness.stats.clusters import Clusters

FLIPS = 9_999
"""Random flips, beside none, where there are too many to try all."""

EQUAL = 1e-12
"""Values of a column whose range is smaller are equal."""

_ALL = 12  # clusters of which all flips are tried
_COLUMNS = 128  # at a time
_BLOCK = 1 << 20  # bytes of random flips at a time
_LEVERAGE_POWER = 0.75
_ROUNDING = 1e-9  # sums that differ by less, relative to their sizes, are equal

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over queries.

    Attributes:
        mean: The mean.
        p: Two-sided p-value of the mean being 0.
        ci95: 95 % interval; None with too few clusters.
        ci90: 90 % interval, likewise.
    """

    mean: float
    p: float
    ci95: Interval | None
    ci90: Interval | None

    @property
    def sign(self) -> int:
        """That of a mean whose 95 % interval excludes 0; else 0."""
        return 0 if self.ci95 is None else int(self.ci95[0] > 0) - int(self.ci95[1] < 0)


def estimates(
    values: NDArray[np.float64],
    clusters: Clusters,
    seed: int = 0,
    flips: int = FLIPS,
    bounds: Interval | None = None,
) -> list[Estimate]:
    """The means of columns of values; all columns share the flips.

    Args:
        values: Shape (q, m): m measures or differences of q queries.
        clusters: The clusters of the queries.
        seed: 0 or above.
        flips: Number of random flips.
        bounds: The smallest and the largest value that there can be. A column of equal values has
            an interval only with them, as wide as the values not seen allow.
    """
    if values.shape[1] > _COLUMNS:  # a block needs memory for all flips of all its columns
        blocks = (values[:, at : at + _COLUMNS] for at in range(0, values.shape[1], _COLUMNS))
        return [
            test for block in blocks for test in estimates(block, clusters, seed, flips, bounds)
        ]
    sums, sizes = _at_common_mean(values, clusters), clusters.sizes.astype(np.float64)
    totals, queries = column_sums(sums), float(sizes.sum())
    tolerance = _ROUNDING * column_sums(np.abs(sums)) / queries
    low, high = _halves(sums, sizes, seed, flips)
    p = ((low <= tolerance) & (high >= -tolerance)).mean(axis=0)
    low.sort(axis=0)
    high.sort(axis=0)
    result = []
    for column in range(values.shape[1]):
        mean = float(totals[column] / queries)
        if np.ptp(values[:, column]) <= EQUAL:
            ends = [interval_of_equals(mean, len(sizes), level, bounds) for level in (0.05, 0.10)]
        else:
            ends = [_interval(low[:, column], high[:, column], level) for level in (0.05, 0.10)]
        result.append(Estimate(mean, float(p[column]), *ends))
    return result


def interval_of_equals(
    mean: float, units: int, level: float, bounds: Interval | None
) -> Interval | None:
    """The interval of a mean of equal values: others differ by as much as the bounds allow."""
    if bounds is None:
        return None
    share = share_unseen(units, level / 2)
    return mean + share * (bounds[0] - mean), mean + share * (bounds[1] - mean)


def share_unseen(units: float, level: float) -> float:
    """The largest share of a population of which n units may hold none.

    What occurs in a share s is in none of n units with probability (1 - s)^n. So at most a share
    1 - level^(1/n) differs.
    """
    return float(1 - level ** (1 / units))


def _at_common_mean(values: NDArray[np.float64], clusters: Clusters) -> NDArray[np.float64]:
    """The sums of clusters, shape (g, m), as if every stratum had the mean of all queries."""
    sums = clusters.sums(values)
    strata = int(clusters.stratum.max()) + 1
    if strata == 1:
        return sums
    sizes, n = clusters.sizes, len(clusters.of_query)
    in_stratum = np.bincount(clusters.stratum, sizes, strata)[clusters.stratum]
    leverage = sizes / in_stratum - sizes / n
    means = column_sums(sums) / n
    moved: NDArray[np.float64] = (
        sizes[:, None] * means
        + clusters.residuals(sums) / (1 - leverage[:, None]) ** _LEVERAGE_POWER
    )
    return moved + sizes[:, None] * (means - column_sums(moved) / n)


def _halves(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], seed: int, flips: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smaller and the larger mean of each half and the rest, shape (flips, m).

    A half without clusters has any mean: from -inf to inf.
    """
    columns = np.concatenate([sums, sizes[:, None]], axis=1)
    tables = [_subset_sums(columns[at : at + 8]) for at in range(0, len(columns), 8)]
    totals = sum(table[-1] for table in tables)
    lows, highs = [], []
    with np.errstate(invalid="ignore", divide="ignore"):
        for kept in _kept(len(sizes), seed, flips):
            part = np.zeros((len(kept), columns.shape[1]))
            for table, subset in zip(tables, kept.T, strict=False):
                part += table[subset]
            rest = totals - part
            half_mean, rest_mean = part[:, :-1] / part[:, -1:], rest[:, :-1] / rest[:, -1:]
            whole = (part[:, -1] == 0) | (rest[:, -1] == 0)
            half_mean[whole], rest_mean[whole] = -np.inf, np.inf
            lows.append(np.minimum(half_mean, rest_mean))
            highs.append(np.maximum(half_mean, rest_mean))
    return np.concatenate(lows), np.concatenate(highs)


def _subset_sums(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of all subsets of up to 8 rows; bit i of a subset's number says if it has row i.

    Added row after row, so that the bits depend on no thread count and no processor.
    """
    table = np.zeros((1, rows.shape[1]))
    for row in rows:
        table = np.concatenate([table, table + row])
    return table


def _kept(clusters: int, seed: int, flips: int) -> Iterator[NDArray[np.uint8]]:
    """Blocks of flips; bit i of byte j says if a flip leaves cluster 8 · j + i as it is."""
    used = np.full(-(-clusters // 8), 255, dtype=np.uint8)
    used[-1] = 255 >> -clusters % 8
    if clusters <= _ALL:
        yield np.arange(1 << clusters, dtype="<u2")[:, None].view(np.uint8)[:, : len(used)]
        return
    yield used[None]  # no flip at all
    source, words_each = words((seed, clusters)), -(-clusters // 64)
    step = max(1, _BLOCK // len(used))
    for begin in range(0, flips, step):
        rows = min(step, flips - begin)
        raw = source.random_raw(rows * words_each).astype("<u8").reshape(rows, words_each)
        yield raw.view(np.uint8)[:, : len(used)] & used


def _interval(low: NDArray[np.float64], high: NDArray[np.float64], level: float) -> Interval | None:
    """The values that the test at a level does not reject, from sorted ends of the halves."""
    rejected = int(level * len(low) + 1e-9)
    ends = float(low[rejected]), float(high[-1 - rejected])
    return ends if np.isfinite(ends).all() else None
