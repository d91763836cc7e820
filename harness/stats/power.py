"""The smallest difference that a data set can show, and the queries or corpora that a margin needs.

The mean of a difference is tested two-sided and must be detected with a probability of 80 %. The
level is 5 % for a single pair, and 5 % / m for one of a family of m: that is what Holm's method
asks of the smallest p-value, so it suffices whatever the other pairs show.

These corpora: the error of the mean over queries is that of sums over clusters within strata,

    SE² = Σ over strata k of G_k / (G_k - 1) · Σ over its clusters of (Σ (d_i - d̄_k))² / n²

(Cochran, Sampling Techniques, on clusters within strata), with G - K degrees of freedom for G
clusters in K strata. New corpora: the error of the mean of G corpus means, with G - 1. In both
cases t is noncentral under the alternative; scipy inverts it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.stats.clusters import clusters_of
from harness.stats.new_corpora import corpus_means, standard_error
from harness.stats.sign_flips import EQUAL, share_unseen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from harness.stats.clusters import Clusters, Member

ALPHA = 0.05
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard error of a mean difference, and what it rests on.

    Attributes:
        units: Number of queries, or of corpora for the estimand "new corpora".
        clusters: Number of clusters; of corpora likewise.
        sd: Standard deviation of as many independent units with the same standard error.
        freedom: Degrees of freedom.
    """

    units: int
    clusters: int
    sd: float
    freedom: int

    def error(self, units: int, tail: float = ALPHA / 2) -> float:
        """The smallest difference detected with 80 % probability by `units` such units.

        Equal clusters show no scatter of others: then the largest share of which they hold none.
        """
        if self.sd <= EQUAL:
            return share_unseen(self.clusters * units / self.units, tail)
        freedom = self.freedom * units / self.units
        return _noncentrality(freedom, tail) * self.sd / math.sqrt(units)


def spread_of(differences: NDArray[np.float64], clusters: Clusters) -> Spread | None:
    """The spread of the mean of differences over queries; None with too few clusters.

    Args:
        differences: Shape (q,).
        clusters: Their clusters.
    """
    if clusters.freedom < 1:
        return None
    residuals = clusters.residuals(clusters.sums(differences[:, None]))[:, 0]
    within = np.bincount(clusters.stratum)[clusters.stratum]
    # The only cluster of a stratum has no residual.
    variance = math.fsum((within / np.maximum(within - 1, 1) * residuals**2).tolist())
    n = len(differences)
    return Spread(n, len(clusters.sizes), math.sqrt(variance / n), clusters.freedom)


def spread_over_corpora(differences: NDArray[np.float64], corpora: Sequence[str]) -> Spread | None:
    """The spread of the mean over corpora; None with under two.

    Args:
        differences: Shape (q,).
        corpora: The corpus of each query.
    """
    names, means = corpus_means(differences[:, None], corpora)
    count = len(names)
    if count < 2:
        return None
    return Spread(count, count, standard_error(means[:, 0]) * math.sqrt(count), count - 1)


def worst_case(members: Sequence[Member]) -> Spread | None:
    """The largest spread of a measure between 0 and 1.

    Every query is won or lost by 1, half of them each, and those of one cluster together; then
    SE² = Σ over clusters of their queries² ÷ n².

    Args:
        members: Corpus and cluster of every query.

    Returns:
        None with too few clusters.
    """
    clusters = clusters_of(members)
    if clusters.freedom < 1:
        return None
    n, sizes = len(members), Counter(clusters.of_query.tolist())
    sd = math.sqrt(sum(size**2 for size in sizes.values()) / n)
    return Spread(n, len(sizes), sd, clusters.freedom)


def smallest_difference(spread: Spread, tail: float = ALPHA / 2) -> float:
    """The minimum detectable difference of as many units as there are.

    Args:
        spread: The spread of the units.
        tail: The level of the test in the tail that counts.
    """
    return spread.error(spread.units, tail)


def fewest_clusters(family: int = 1) -> int:
    """The fewest clusters, or corpora, of which sign-flips can show a difference.

    Of G clusters, 2 of 2^G flips are always as extreme; that share must be below 5 % / m.

    Args:
        family: The number m of pairs whose p-values are adjusted together.
    """
    return math.floor(math.log2(family / ALPHA)) + 2


def detectable(spread: Spread, family: int = 1) -> float | None:
    """The minimum detectable difference of one of a family of pairs; None with too few clusters."""
    if spread.clusters < fewest_clusters(family):
        return None
    return smallest_difference(spread, ALPHA / 2 / family)


def units_for(spread: Spread, difference: float, family: int = 1) -> int:
    """The smallest number of queries, or of corpora, that shows a difference.

    Clusters grow in proportion.

    Args:
        spread: The spread of the present units.
        difference: Above 0.
        family: Number of pairs whose p-values are adjusted together.
    """
    fewest = math.ceil(fewest_clusters(family) * spread.units / spread.clusters)
    tail = ALPHA / 2 / family
    return _smallest(lambda units: spread.error(units, tail) <= difference, fewest)


def _smallest(enough: Callable[[int], bool], fewest: int) -> int:
    """The smallest number from `fewest` that is enough, if larger numbers always are."""
    low, high = fewest - 1, max(fewest, 2)
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _noncentrality(freedom: float, tail: float) -> float:
    """The number of standard errors by which a detectable difference differs from 0."""
    from scipy import special

    critical = special.stdtrit(freedom, 1 - tail)
    # The chance of significance with the wrong sign, under 1e-5, is left out.
    return float(special.nctdtrinc(freedom, 1 - POWER, critical))
