"""What edits cost by each chunker: ratios of totals with intervals, and the differences.

A measure is the ratio of two sums over edits, R = ΣY / ΣX, and less is better. Every edit is a
cluster of its own. A difference is tested as that of the means of Y / mean(X), by sign-flips.

Sizes of edits are very unequal, and a large one pulls R towards its own ratio. So the interval of R
has the residuals Y - R · X, each divided by 1 - X / ΣX as the jackknife does (Cochran, Sampling
Techniques, on ratio estimates), and a t with one degree of freedom less than the effective number
of edits, (ΣX)² / ΣX². Under 2 of them there is none.

tests/harness/churn/test_calibration.py simulates both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.stats import MARGIN
from harness.stats.comparison import compare
from harness.stats.sign_flips import EQUAL
from harness.support.arrays import percentile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from harness.churn.replay import Counts
    from harness.stats.comparison import Difference
    from harness.stats.sign_flips import Interval


@dataclass(frozen=True)
class Measure:
    """The ratio of two counts.

    Attributes:
        name: Its key.
        top: The field of `Counts` above the line.
        bottom: The one below it; None for the size of the edit.
        relative: Whether differences are shares of the baseline's value.
        compared: Whether it has verdicts.
    """

    name: str
    top: str
    bottom: str | None
    relative: bool = False
    compared: bool = True


MEASURES = (
    Measure("again_per_changed", "again_chars", None, relative=True),
    Measure("again", "again", "chunks"),
    Measure("moved", "moved", "chunks", compared=False),
)
"""The first is the primary one; the second is exploratory.

Characters embedded again for each changed one; the share of the edited files' chunks that are
embedded again; the share whose text is as before, but not its id `path:start-end`. The last one has
no verdict: the more a chunker embeds again, the fewer ids are left that could move.
"""


@dataclass(frozen=True)
class Summary:
    """A measure of a chunker over edits.

    Attributes:
        measure: Its name.
        chunker: The chunker.
        total: The upper total.
        value: The ratio of the totals; None where the lower one is 0.
        ci95: Its interval; see `ratio_interval`.
        median: Of the edits' own ratios, where these exist, by nearest rank.
        p95: Likewise.
    """

    measure: str
    chunker: str
    total: int
    value: float | None = None
    ci95: Interval | None = None
    median: float | None = None
    p95: float | None = None


@dataclass(frozen=True)
class ChurnPair:
    """The difference of two chunkers by a measure.

    Attributes:
        measure: Its name.
        exploratory: Whether it was not declared before.
        difference: `a` - `b` of `harness.stats.comparison`, where larger is better: the negative
            of the measures.
    """

    measure: str
    exploratory: bool
    difference: Difference


@dataclass(frozen=True)
class Result:
    """The measures of all chunkers over some edits.

    `edits` are those that count, `files` the files that they touch, `changed` their sizes.
    """

    edits: int
    files: int
    changed: int
    summaries: tuple[Summary, ...]
    pairs: tuple[ChurnPair, ...]


def summarise(
    counts: Mapping[str, Sequence[Counts]],
    changed: Sequence[int],
    files: Sequence[int],
    pairs: Sequence[tuple[str, str]] = (),
    *,
    margin: float = MARGIN,
    exploratory: bool = False,
    seed: int = 0,
) -> Result:
    """The measures of chunkers over edits, and the differences of some pairs.

    Args:
        counts: For each chunker the counts of every edit, at least one.
        changed: The size of every edit.
        files: The files that it touches.
        pairs: A chunker, and the one that it is compared with.
        margin: The largest difference that does not matter: of a share, or as a share of the
            baseline's value.
        exploratory: Whether the primary measure is exploratory too.
        seed: Seed of the sign-flips, 0 or above.
    """
    summaries: list[Summary] = []
    compared: list[ChurnPair] = []
    members = [("", f"{at:09d}") for at in range(len(changed))]
    for measure in MEASURES:
        columns: dict[str, NDArray[np.float64]] = {}
        for name, rows in counts.items():
            top = np.array([getattr(row, measure.top) for row in rows], dtype=np.float64)
            sizes = [getattr(row, measure.bottom) for row in rows] if measure.bottom else changed
            bottom = np.array(sizes, dtype=np.float64)
            summary = Summary(measure.name, name, total=int(top.sum()))
            if bottom.any():
                columns[name] = top / bottom.mean()
                ci95 = ratio_interval(top, bottom, math.inf if measure.relative else 1.0)
                median, p95 = _own(top, bottom)
                value = float(top.sum() / bottom.sum())
                summary = replace(summary, value=value, ci95=ci95, median=median, p95=p95)
            summaries.append(summary)
        if measure.compared:
            family = [pair for pair in pairs if set(pair) <= columns.keys()]
            declared = measure is MEASURES[0] and not exploratory
            compared += _differences(
                measure, columns, family, members, margin=margin, declared=declared, seed=seed
            )
    return Result(len(changed), sum(files), sum(changed), tuple(summaries), tuple(compared))


def ratio_interval(
    top: NDArray[np.float64], bottom: NDArray[np.float64], most: float = math.inf
) -> Interval | None:
    """The 95 % interval of a ratio of totals, which is between 0 and `most`.

    Args:
        top: The upper values of the edits, shape (n,).
        bottom: The lower ones, not all 0.
        most: The largest ratio.

    Returns:
        None if one edit makes nearly all of the lower total, or the edits' ratios are equal.
    """
    from scipy import special

    value, share = top.sum() / bottom.sum(), bottom / bottom.sum()
    freedom = 1 / (share**2).sum() - 1
    if freedom < 1:
        return None
    residuals = (top - value * bottom) / bottom.sum() / (1 - share)
    reach = float(special.stdtrit(freedom, 0.975) * np.sqrt((residuals**2).sum()))
    if reach <= EQUAL:
        return None
    return max(0.0, float(value) - reach), min(most, float(value) + reach)


def _own(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> tuple[float, float]:
    """Median and 95th percentile of the edits' own ratios."""
    ratios = top[bottom > 0] / bottom[bottom > 0]
    return percentile(ratios, 50), percentile(ratios, 95)


def _differences(
    measure: Measure,
    columns: Mapping[str, NDArray[np.float64]],
    pairs: Sequence[tuple[str, str]],
    members: Sequence[tuple[str, str]],
    *,
    margin: float,
    declared: bool,
    seed: int,
) -> list[ChurnPair]:
    """The differences of pairs, as one family."""
    differences: dict[tuple[str, str], NDArray[np.float64]] = {}
    for a, b in pairs:
        scale = float(columns[b].mean()) if measure.relative else 1.0
        if scale > 0:  # nothing is a share of nothing
            differences[a, b] = columns[b] / scale - columns[a] / scale  # less is better
    result = compare(
        differences,
        members,
        margin=margin,
        adjustment="holm" if declared else "benjamini-hochberg",
        seed=seed,
    )
    return [ChurnPair(measure.name, not declared, difference) for difference in result]
