"""Means over corpora: the estimand "new corpora", of which those at hand are a sample.

The interval is Student's t on the means of the corpora; the test is the exact sign-flip over them.
A two-stage bootstrap is not used: with few corpora its intervals are too short.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from harness.stats.clusters import Clusters
from harness.stats.sign_flips import FLIPS, Estimate, estimates, interval_of_equals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FEWEST_FOR_INTERVAL = 3
"""Corpora from which there is an interval."""

FEWEST_FOR_TEST = 7
"""Corpora from which the sign-flip can show a difference after an adjustment for several pairs."""


def corpus_means(
    values: NDArray[np.float64], corpora: Sequence[str]
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The corpora in order, and the mean over the queries of each: shape (c, m) of (q, m)."""
    names, numbers = np.unique(np.array(corpora, dtype=np.str_), return_inverse=True)
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, numbers, values)
    return tuple(names.tolist()), sums / np.bincount(numbers)[:, None]


def estimates_over_corpora(
    values: NDArray[np.float64],
    corpora: Sequence[str],
    seed: int = 0,
    flips: int = FLIPS,
    bounds: tuple[float, float] | None = None,
) -> list[Estimate]:
    """The unweighted means over corpora of columns of values.

    Args:
        values: Shape (q, m).
        corpora: The corpus of each query.
        seed: 0 or above.
        flips: Number of random flips, where there are too many to try all.
        bounds: The smallest and the largest value that there can be, as for `estimates`.

    Returns:
        For each column. No interval with under 3 corpora.
    """
    names, means = corpus_means(values, corpora)
    lone = np.arange(len(names))
    each = Clusters(lone, np.zeros_like(lone), np.ones_like(lone))
    tests = estimates(means, each, seed, flips)
    return [
        Estimate(
            test.mean,
            test.p,
            t_interval(means[:, at], 0.05, bounds),
            t_interval(means[:, at], 0.10, bounds),
        )
        for at, test in enumerate(tests)
    ]


def t_interval(
    means: NDArray[np.float64], level: float, bounds: tuple[float, float] | None = None
) -> tuple[float, float] | None:
    """Student's t interval of the mean of corpora that leaves out `level`; None with under 3."""
    from scipy import special  # scipy.stats takes longer to import than a stored run to print

    corpora = len(means)
    if corpora < FEWEST_FOR_INTERVAL:
        return None
    mean = math.fsum(means) / corpora
    if np.ptp(means) <= 1e-12:
        return interval_of_equals(mean, corpora, level, bounds)
    half = float(special.stdtrit(corpora - 1, 1 - level / 2)) * standard_error(means)
    return mean - half, mean + half


def standard_error(means: NDArray[np.float64]) -> float:
    """The standard error of the mean of at least two corpora."""
    corpora = len(means)
    mean = math.fsum(means) / corpora
    return math.sqrt(math.fsum((means - mean) ** 2) / (corpora - 1) / corpora)
