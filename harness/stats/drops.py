"""The drop of a mean between two runs: how large it is at least, and which drops would show.

A drop is shown if its one-sided 95 % lower bound is above 0. That bound is the lower end of the
90 % interval: a flip of the clusters is as extreme on one side in half as many cases as on two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.stats.clusters import clusters_of
from harness.stats.power import ALPHA, smallest_difference, spread_of
from harness.stats.sign_flips import estimates

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from harness.stats.clusters import Member

FEWEST_FOR_DROP = 5
"""With fewer, one flip of all is already more than 5 %, and no drop can be shown."""

_BOUNDS = (-1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Drop:
    """The drop of a mean over queries; negative if it rose.

    Attributes:
        mean: The mean of the drops.
        lower: Its one-sided 95 % lower bound; None with under 5 clusters.
        detects: The smallest drop whose bound is above 0 with a probability of 80 %, likewise.
    """

    mean: float
    lower: float | None
    detects: float | None


def drop_of(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    members: Sequence[Member],
) -> Drop:
    """The drop of a measure between 0 and 1, over these corpora.

    Args:
        before: The values of each query, shape (q,).
        after: The values of the same queries later.
        members: Corpus and cluster of each query.
    """
    drops, clusters = before - after, clusters_of(members)
    (estimate,) = estimates(drops[:, None], clusters, bounds=_BOUNDS)
    spread = spread_of(drops, clusters)
    count = len(clusters.sizes)
    if count < FEWEST_FOR_DROP or estimate.ci90 is None or spread is None:
        return Drop(estimate.mean, None, None)
    # Of few flips, the largest number that is at most 5 % may be far less.
    flips = 2 ** min(count, 20)
    detects = smallest_difference(spread, math.floor(ALPHA * flips) / flips)
    return Drop(estimate.mean, estimate.ci90[0], detects)
