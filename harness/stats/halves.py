"""Two halves of a query set: options are chosen on one and reported on the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.measures.random_numbers import permutation, words
from harness.stats.clusters import clusters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.stats.clusters import Member


def dev_half(members: Sequence[Member], seed: int = 0) -> NDArray[np.bool_]:
    """The queries to choose on, shape (q,); the others are to report on.

    Clusters stay whole, so that no file is in both halves. In random order, each goes to the half
    with fewer queries of its stratum, or else with fewer queries.

    Args:
        members: Corpus and cluster of each query, at least one.
        seed: 0 or above.
    """
    clusters = clusters_of(members)
    order = permutation(words((seed, len(clusters.sizes))), len(clusters.sizes))
    in_half = np.zeros(len(order), dtype=np.int64)
    counts = np.zeros((int(clusters.stratum.max()) + 1, 2), dtype=np.int64)
    for cluster in order.tolist():
        stratum = int(clusters.stratum[cluster])
        half = min((0, 1), key=lambda half: (counts[stratum, half], counts[:, half].sum()))
        counts[stratum, half] += clusters.sizes[cluster]
        in_half[cluster] = half
    dev: NDArray[np.bool_] = in_half[clusters.of_query] == 0
    return dev
