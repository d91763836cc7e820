"""The smallest difference between two chunkers that a data set can show, and the queries it needs.

The mean over queries of the difference of a measure, on these corpora, is tested two-sided at 5 %
for a single pair, and must be detected with a probability of 80 %. Queries of one
cluster (the target's file, unless the data set says otherwise) are not independent, so the error of
the mean is that of sums over clusters within corpora:

    SE² = Σ over corpora k of G_k / (G_k - 1) · Σ over its clusters of (Σ (d_i - d̄_k))² / n²

(Cochran, Sampling Techniques, on clusters within strata). With
G - K degrees of freedom for G clusters in K corpora, t is noncentral; scipy inverts it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ALPHA = 0.05
POWER = 0.8

Member = tuple[str, str]
"""The corpus and the cluster of a query."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard error of a mean difference, and what it rests on.

    Attributes:
        queries: Number of queries.
        clusters: Number of their clusters.
        sd: Standard deviation of as many independent queries with the same standard error.
        freedom: Degrees of freedom.
    """

    queries: int
    clusters: int
    sd: float
    freedom: int

    def error(self, queries: int) -> float:
        """The smallest difference detected with 80 % probability by `queries` such queries."""
        freedom = self.freedom * queries / self.queries
        return _noncentrality(freedom) * self.sd / math.sqrt(queries)


def spread_of(differences: Mapping[str, float], members: Mapping[str, Member]) -> Spread | None:
    """The spread of measured differences.

    Args:
        differences: By query.
        members: Corpus and cluster of these queries, and possibly of others.

    Returns:
        None with too few clusters.
    """
    placed = _placed({query: members[query] for query in differences})
    values: dict[str, list[float]] = defaultdict(list)
    for query, value in differences.items():
        values[placed[query][0]].append(value)
    means = {name: math.fsum(column) / len(column) for name, column in values.items()}
    sums: dict[Member, float] = defaultdict(float)
    for query, value in differences.items():
        sums[placed[query]] += value - means[placed[query][0]]
    squares: dict[str, list[float]] = defaultdict(list)
    for (stratum, _), total in sums.items():
        squares[stratum].append(total**2)
    freedom = len(sums) - len(squares)
    if freedom < 1:
        return None
    n = len(differences)
    variance = math.fsum(
        len(column) / (len(column) - 1) * math.fsum(column)
        for column in squares.values()
        if len(column) > 1
    )
    return Spread(n, len(sums), math.sqrt(variance / n), freedom)


def worst_case(members: Mapping[str, Member]) -> Spread | None:
    """The largest spread of a measure between 0 and 1.

    Every query is won or lost by 1, half of them each, and those of one cluster together; then
    SE² = Σ over clusters of their queries² ÷ n².

    Args:
        members: Corpus and cluster of every query.

    Returns:
        None with too few clusters.
    """
    sizes = Counter(_placed(members).values())
    freedom = len(sizes) - len({stratum for stratum, _ in sizes})
    if freedom < 1:
        return None
    n = len(members)
    sd = math.sqrt(sum(size**2 for size in sizes.values()) / n)
    return Spread(n, len(sizes), sd, freedom)


def smallest_difference(spread: Spread) -> float:
    """The minimum detectable difference of as many queries as there are."""
    return spread.error(spread.queries)


def queries_for(spread: Spread, difference: float) -> int:
    """The smallest number of queries that shows a difference; clusters grow in proportion.

    Args:
        spread: The spread of the present queries.
        difference: Above 0.
    """
    if spread.sd == 0:
        return spread.queries
    # Fewer would leave less than one degree of freedom.
    low = math.ceil(spread.queries / spread.freedom) - 1
    high = max(low + 1, 2)
    while spread.error(high) > difference:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if spread.error(middle) <= difference else (middle, high)
    return high


def _placed(members: Mapping[str, Member]) -> dict[str, Member]:
    """The stratum of every query, and its cluster in there.

    A stratum is a corpus. Corpora of one cluster are one stratum together, in which clusters of one
    name are one: a data set with a corpus for each query groups them so.
    """
    clusters: dict[str, set[str]] = defaultdict(set)
    for corpus, cluster in members.values():
        clusters[corpus].add(cluster)
    lone = {corpus for corpus, names in clusters.items() if len(names) == 1}
    rest = clusters.keys() - lone
    if len({cluster for corpus in lone for cluster in clusters[corpus]}) == 1 and rest:
        # A single cluster needs another: the corpus with the fewest clusters joins.
        lone.add(min(rest, key=lambda name: (len(clusters[name]), name)))
    return {
        query: ("" if corpus in lone else f"={corpus}", cluster)
        for query, (corpus, cluster) in members.items()
    }


def _noncentrality(freedom: float) -> float:
    """The number of standard errors by which a detectable difference differs from 0."""
    from scipy import special, stats

    critical = stats.t.ppf(1 - ALPHA / 2, freedom)
    # The chance of significance with the wrong sign, under 1e-5, is left out.
    return float(special.nctdtrinc(freedom, 1 - POWER, critical))
