"""95 % intervals of the means of measures, clustered by the query's cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.stats.clusters import clusters_of
from harness.stats.new_corpora import estimates_over_corpora
from harness.stats.sign_flips import Interval, estimates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from harness.stats.clusters import Member

FLIPS = 1_999
"""Random flips of the clusters."""

LABELS = {
    "queries": "sign-flips of clusters of queries; of these corpora",
    "corpora": "Student's t over corpora; of new corpora",
}
"""What the intervals are, by what means are over."""

_BOUNDS = (0.0, 1.0)  # of every measure


def intervals(
    values: Mapping[str, NDArray[np.float64] | None],
    counted: Mapping[str, NDArray[np.bool_]],
    members: Sequence[Member],
    *,
    over_corpora: bool = False,
    seed: int = 0,
) -> dict[str, Interval | None]:
    """95 % intervals of means, by name.

    Args:
        values: Values of each measure by query, shape (q,), or None.
        counted: Which queries the mean of each measure counts, shape (q,).
        members: Corpus and cluster of each query.
        over_corpora: Whether means are over corpora: each the mean of its queries.
        seed: 0 or above.

    Returns:
        None where a measure has no values, under 3 corpora, and under 6 clusters unless all values
        are equal: then the interval is that of the binomial distribution.
    """
    ends: dict[str, Interval | None] = dict.fromkeys(values)
    groups: dict[bytes, list[str]] = {}
    for name, column in values.items():
        if column is not None and counted[name].any():
            groups.setdefault(counted[name].tobytes(), []).append(name)
    for names in groups.values():
        rows = np.flatnonzero(counted[names[0]])
        chosen = [column[rows] for name in names if (column := values[name]) is not None]
        columns = np.stack(chosen, axis=1)
        own = [members[row] for row in rows.tolist()]
        if over_corpora:
            corpora = [corpus for corpus, _ in own]
            means = estimates_over_corpora(columns, corpora, seed, FLIPS, _BOUNDS)
        else:
            means = estimates(columns, clusters_of(own), seed, FLIPS, _BOUNDS)
        ends |= {name: mean.ci95 for name, mean in zip(names, means, strict=True)}
    return ends
