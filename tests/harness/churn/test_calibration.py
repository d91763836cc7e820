"""How often verdicts on simulated edits are wrong, and how often intervals hold the ratio."""

import numpy as np
import pytest

from harness.churn.summary import ratio_interval
from harness.stats.clusters import clusters_of
from harness.stats.sign_flips import estimates

TRIALS = 500


@pytest.mark.parametrize("edits", [15, 40, 90])
@pytest.mark.parametrize("spread", [1.0, 1.8])
def test_errors_and_coverage(edits: int, spread: float) -> None:
    """Edits of lognormal sizes; the spread of real histories is 1.8."""
    rng = np.random.default_rng(edits)
    shape = (edits, TRIALS)
    changed = np.exp(rng.normal(5, spread, shape))
    cost = changed * np.exp(rng.normal(1, 0.6, shape))
    a, b = (cost * np.exp(rng.normal(0, 0.5, shape)) for _ in range(2))
    clusters = clusters_of([("", f"{at:03d}") for at in range(edits)])

    equal = estimates((a - b) / b.mean(axis=0), clusters, flips=1_999)
    assert 0.01 < np.mean([estimate.p < 0.05 for estimate in equal]) < 0.08

    cheaper = estimates((0.6 * a - b) / b.mean(axis=0), clusters, flips=1_999)
    ends = [estimate.ci95 for estimate in cheaper if estimate.ci95]
    assert np.mean([low <= -0.4 <= high for low, high in ends]) > 0.86

    ratio = np.exp(1 + 0.6**2 / 2 + 0.5**2 / 2)
    intervals = [ratio_interval(*column) for column in zip(a.T, changed.T, strict=True)]
    held = [ends[0] <= ratio <= ends[1] for ends in intervals if ends is not None]
    assert len(held) > 0.9 * TRIALS
    assert 0.88 < np.mean(held) < 0.97
