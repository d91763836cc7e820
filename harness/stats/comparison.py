"""Compares chunkers by one measure: differences, their verdicts, and how often each is best.

A difference is better or worse if its adjusted p-value is below .05 and its interval excludes 0;
equivalent if its 90 % interval lies inside the margin (two one-sided tests at 5 %); else undecided.
The margin is declared before the run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from harness.measures.random_numbers import draws, words
from harness.stats import MARGIN
from harness.stats.clusters import clusters_of
from harness.stats.new_corpora import FEWEST_FOR_TEST, estimates_over_corpora
from harness.stats.power import (
    ALPHA,
    detectable,
    spread_of,
    spread_over_corpora,
    units_for,
)
from harness.stats.sign_flips import FLIPS, estimates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from harness.stats.clusters import Member
    from harness.stats.power import Spread
    from harness.stats.sign_flips import Estimate, Interval

Estimand = Literal["these corpora", "new corpora"]
Verdict = Literal[
    "better",
    "worse",
    "better, but negligible",
    "worse, but negligible",
    "equivalent",
    "undecided",
    "too few corpora",
    "not estimable",
    "not comparable",
]
Adjustment = Literal["holm", "benjamini-hochberg"]


RESAMPLES = 2_000
"""Resamples of the share in which a chunker is best."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two chunkers, `a` - `b`, by a measure.

    Attributes:
        a: The first chunker.
        b: The second.
        estimand: What the mean generalises to: over queries of these corpora, or over corpora.
        estimate: The mean difference, its p-value and intervals.
        p_adjusted: The p-value adjusted for the family of pairs.
        family: Number of pairs in the family.
        verdict: What the evidence says of `a`.
        spread: The standard error of the mean, and what it rests on; None if it cannot be
            estimated.
        wins: Queries with a larger value of `a`.
        ties: Queries with equal values.
        losses: Queries with a larger value of `b`.
    """

    a: str
    b: str
    estimand: Estimand
    estimate: Estimate
    p_adjusted: float
    family: int
    verdict: Verdict
    spread: Spread | None
    wins: int
    ties: int
    losses: int

    @property
    def mdd(self) -> float | None:
        """The minimum detectable difference; None if none can be detected.

        It shows whatever the rest of the family shows: its p-value need not be the smallest.
        """
        if self.spread is None or self.spread.clusters < self._fewest:
            return None
        return detectable(self.spread, self.family)

    def to_decide(self, margin: float) -> int | None:
        """Further queries, or corpora, that would show a difference of the margin.

        0 if there are enough, None if it cannot be estimated.
        """
        if self.spread is None:
            return None
        needed = max(self._fewest, units_for(self.spread, margin, self.family))
        return max(0, needed - self.spread.units)

    @property
    def _fewest(self) -> int:
        return FEWEST_FOR_TEST if self.estimand == "new corpora" else 0

    def reversed(self) -> Difference:
        """The difference `b` - `a`."""
        estimate, opposite = self.estimate, {"better": "worse", "worse": "better"}
        word, _, rest = self.verdict.partition(",")
        verdict: Any = opposite.get(word, word) + ("," + rest if rest else "")
        return replace(
            self,
            a=self.b,
            b=self.a,
            estimate=replace(
                estimate,
                mean=-estimate.mean,
                ci95=_negated(estimate.ci95),
                ci90=_negated(estimate.ci90),
            ),
            verdict=verdict,
            wins=self.losses,
            losses=self.wins,
        )


def _negated(interval: Interval | None) -> Interval | None:
    return None if interval is None else (-interval[1], -interval[0])


def compare(
    differences: Mapping[tuple[str, str], NDArray[np.float64]],
    members: Sequence[Member],
    *,
    estimand: Estimand = "these corpora",
    margin: float = MARGIN,
    adjustment: Adjustment = "holm",
    seed: int = 0,
    family: int = 0,
    bounds: Interval = (-1.0, 1.0),
) -> list[Difference]:
    """The differences of pairs of chunkers, which are one family.

    Args:
        differences: Those of each pair, `a` - `b`, by query, shape (q,).
        members: Corpus and cluster of each query.
        estimand: What the means generalise to.
        margin: The largest difference that does not matter, above 0.
        adjustment: Holm for the primary measure; Benjamini-Hochberg for exploration.
        seed: 0 or above.
        family: Number of pairs that p-values will be adjusted for, if these are only a part.
        bounds: The smallest and the largest difference that a query can have.
    """
    if not differences:
        return []
    columns = np.stack(list(differences.values()), axis=1)
    corpora = [corpus for corpus, _ in members]
    clusters = clusters_of(members)
    flips = _flips_for(max(family, len(differences)))
    means = (
        estimates(columns, clusters, seed, flips, bounds)
        if estimand == "these corpora"
        else estimates_over_corpora(columns, corpora, seed, flips, bounds)
    )
    few = estimand == "new corpora" and len(set(corpora)) < FEWEST_FOR_TEST
    adjusted = adjust([mean.p for mean in means], adjustment)
    result = []
    for at, ((a, b), mean, p) in enumerate(zip(differences, means, adjusted, strict=True)):
        column = columns[:, at]
        spread = (
            spread_of(column, clusters)
            if estimand == "these corpora"
            else spread_over_corpora(column, corpora)
        )
        result.append(
            Difference(
                a,
                b,
                estimand,
                mean,
                p,
                len(differences),
                verdict_of(mean, p, margin, few_corpora=few),
                spread,
                int((column > 0).sum()),
                int((column == 0).sum()),
                int((column < 0).sum()),
            )
        )
    return result


def _flips_for(family: int) -> int:
    """The random flips with which any of a family of pairs can be shown.

    The smallest p-value, 1 of all flips, is at most half of 5 % / m.
    """
    return max(FLIPS, math.ceil(2 * family / ALPHA))


def verdict_of(
    estimate: Estimate, p_adjusted: float, margin: float, *, few_corpora: bool = False
) -> Verdict:
    """What an estimated difference says of its first chunker."""
    if estimate.ci95 is None or estimate.ci90 is None:
        return "not estimable"
    low, high = estimate.ci95
    if p_adjusted < ALPHA and estimate.sign and not few_corpora:
        better, negligible = estimate.sign > 0, -margin < low and high < margin
        if negligible:
            return "better, but negligible" if better else "worse, but negligible"
        return "better" if better else "worse"
    if -margin < estimate.ci90[0] and estimate.ci90[1] < margin:
        return "equivalent"
    return "too few corpora" if few_corpora else "undecided"


def adjust(p: Sequence[float], adjustment: Adjustment) -> list[float]:
    """P-values adjusted for a family of tests, in the order given."""
    order = np.argsort(p, kind="stable")
    ascending = np.asarray(p)[order]
    if adjustment == "benjamini-hochberg":
        scaled = ascending * (len(p) / np.arange(1, len(p) + 1))
        monotone = np.minimum.accumulate(scaled[::-1])[::-1]
    else:
        monotone = np.maximum.accumulate(ascending * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(monotone, 1.0)
    return [float(value) for value in adjusted]


def best_shares(
    values: Mapping[str, NDArray[np.float64]], members: Sequence[Member], seed: int = 0
) -> dict[str, float]:
    """The share of resamples in which each chunker has the highest mean.

    Clusters are drawn with replacement within their stratum; equal means share a resample. It is
    not the probability that a chunker is best.

    Args:
        values: The values of each chunker by query, shape (q,).
        members: Corpus and cluster of each query.
        seed: 0 or above.
    """
    means = resampled_means(np.stack(list(values.values()), axis=1), members, seed)
    best = np.isclose(means, means.max(axis=1, keepdims=True), rtol=0, atol=1e-12)
    shares = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return dict(zip(values, shares.tolist(), strict=True))


def resampled_means(
    values: NDArray[np.float64], members: Sequence[Member], seed: int = 0
) -> NDArray[np.float64]:
    """The means of columns in resamples of the clusters, drawn with replacement in their stratum.

    Args:
        values: Shape (q, m).
        members: Corpus and cluster of each query.
        seed: 0 or above.

    Returns:
        Shape (RESAMPLES, m).
    """
    clusters = clusters_of(members)
    sums = clusters.sums(values)
    totals, sizes = np.zeros((RESAMPLES, values.shape[1])), np.zeros((RESAMPLES, 1))
    source = words((seed, len(clusters.sizes)))
    for stratum in range(int(clusters.stratum.max()) + 1):
        own = np.flatnonzero(clusters.stratum == stratum)
        for drawn in draws(source, len(own), (len(own), RESAMPLES)):
            totals += sums[own[drawn]]
            sizes += clusters.sizes[own[drawn], None]
    means: NDArray[np.float64] = totals / sizes
    return means
