"""The clusters and strata of queries: what is independent of what.

Queries of one cluster (the target's file, unless the data set says otherwise) are not independent.
A stratum is a corpus: a mean over fixed corpora does not scatter with the differences between them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FEWEST = 5
"""Corpora with fewer clusters are one stratum together: so few hardly show their scatter."""

Member = tuple[str, str]
"""The corpus and the cluster of a query."""


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of queries, and their strata.

    Attributes:
        of_query: The cluster of each query, shape (q,).
        stratum: The stratum of each cluster, shape (g,).
        sizes: The number of queries in each cluster, shape (g,).
    """

    of_query: NDArray[np.int64]
    stratum: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def freedom(self) -> int:
        """Degrees of freedom of their scatter: clusters beyond one a stratum."""
        return len(self.sizes) - int(np.count_nonzero(np.bincount(self.stratum)))

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of the values of each cluster; shapes (q, m) and (g, m)."""
        sums = np.zeros((len(self.sizes), values.shape[1]))
        np.add.at(sums, self.of_query, values)
        return sums

    def residuals(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of clusters, shape (g, m), less what the mean of their stratum makes expect."""
        strata = int(self.stratum.max()) + 1
        queries = np.bincount(self.stratum, self.sizes, strata)
        totals = np.zeros((strata, sums.shape[1]))
        np.add.at(totals, self.stratum, sums)
        means = totals / queries[:, None]
        residuals: NDArray[np.float64] = sums - self.sizes[:, None] * means[self.stratum]
        return residuals


def clusters_of(members: Sequence[Member]) -> Clusters:
    """The clusters of queries, in the order of their names.

    Corpora with under `FEWEST` clusters are one stratum, in which clusters of one name are one: a
    data set with a corpus for each query groups them so. If that leaves the stratum with a single
    cluster, the corpus with the fewest clusters joins it.

    Args:
        members: Corpus and cluster of each query, at least one.
    """
    names: dict[str, set[str]] = defaultdict(set)
    for corpus, cluster in members:
        names[corpus].add(cluster)
    small = {corpus for corpus, clusters in names.items() if len(clusters) < FEWEST}
    rest = names.keys() - small
    if len({cluster for corpus in small for cluster in names[corpus]}) == 1 and rest:
        small.add(min(rest, key=lambda corpus: (len(names[corpus]), corpus)))
    placed = [("" if corpus in small else f"={corpus}", name) for corpus, name in members]
    numbers = {pair: number for number, pair in enumerate(sorted(set(placed)))}
    strata = {name: number for number, name in enumerate(sorted({name for name, _ in numbers}))}
    of_query = np.array([numbers[pair] for pair in placed], dtype=np.int64)
    return Clusters(
        of_query,
        np.array([strata[name] for name, _ in numbers], dtype=np.int64),
        np.bincount(of_query, minlength=len(numbers)),
    )
