"""The one-sided bound of a drop, and the smallest drop that would show."""

import itertools

import numpy as np
import pytest

from harness.stats.clusters import clusters_of
from harness.stats.drops import drop_of
from harness.stats.power import Spread, smallest_difference
from harness.stats.sign_flips import estimates
from tests.harness.stats.simulation import differences, members


def drop(values, queries):
    return drop_of(np.array(values), np.zeros(len(values)), queries)


def one_sided_p(sums, sizes, mean):
    """The share of all flips whose mean is at least that of no flip, if the true mean is `mean`."""
    deviations = np.array(sums) - np.array(sizes) * mean
    flips = np.array(list(itertools.product((1, -1), repeat=len(sums))))
    return float((flips @ deviations >= deviations.sum() - 1e-12).mean())


def test_the_bound_is_where_the_exact_one_sided_test_begins_to_reject():
    rng = np.random.default_rng(1)
    sizes = np.array([1, 3, 2, 1, 4, 2, 1, 2])
    queries = members(sizes, np.zeros(8, dtype=int))
    for _ in range(20):
        values = rng.normal(0.1, 0.2, sizes.sum())
        clusters = clusters_of(queries)
        sums = clusters.sums(values[:, None])[:, 0]
        lower = drop(values, queries).lower
        assert one_sided_p(sums, clusters.sizes, lower - 1e-9) <= 0.05
        assert one_sided_p(sums, clusters.sizes, lower + 1e-9) > 0.05


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1.0] * 5, True),  # 1 flip of 32 is as extreme
        ([0.1, 0.2, 0.3, 0.4, 0.5], True),
        ([0.1, 0.2, 0.3, 0.4, -0.01], False),
        ([1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0], False),  # one query says nothing about others
        ([1.0] * 4 + [0.0] * 96, False),
        ([1.0] * 5 + [0.0] * 95, True),
        ([0.0] * 100, False),
        ([-0.5] * 20, False),
    ],
)
def test_when_a_drop_is_shown(values, shown):
    queries = [("corpus", f"file {at}") for at in range(len(values))]
    found = drop(values, queries)
    assert found.mean == pytest.approx(np.mean(values))
    assert (found.lower > 1e-12) == shown


def test_the_same_queries_in_one_file_show_less():
    values = [0.3, 0.1, 0.2, 0.4, 0.2, 0.3]
    lone = drop(values, [("corpus", f"file {at}") for at in range(6)])
    pairs = drop(values, [("corpus", f"file {at // 2}") for at in range(6)])
    assert lone.lower > 0
    assert (pairs.lower, pairs.detects) == (None, None)  # 3 clusters
    assert pairs.mean == lone.mean


@pytest.mark.parametrize(
    ("clusters", "unseen"), [(6, 0.3995), (20, 0.1391), (300, 0.0099), (2000, 0.0015)]
)
def test_equal_queries_say_little_about_others(clusters, unseen):
    queries = [("corpus", f"file {at}") for at in range(clusters)]
    assert drop([0.0] * clusters, queries).detects == pytest.approx(unseen, abs=1e-4)
    assert (1 - unseen) ** clusters == pytest.approx(0.05, abs=0.014)


def test_a_detectable_drop_is_found_in_four_of_five_samples():
    rng = np.random.default_rng(0)
    clusters, queries, trials, sd = 15, 4, 500, 0.1
    sizes, homes = np.full(clusters, queries), np.zeros(clusters, dtype=int)
    names = members(sizes, homes)
    detects = smallest_difference(Spread(clusters * queries, clusters, sd, clusters - 1), 0.05)
    noise = sd * differences(rng, "normal", sizes, homes, 0.0, trials)
    for moved, least, most in ((0.0, 0.03, 0.065), (detects, 0.75, 0.85)):
        found = estimates(noise + moved, clusters_of(names), flips=1999)
        assert least <= np.mean([estimate.ci90[0] > 0 for estimate in found]) <= most
    own = [drop(noise[:, at], names).detects for at in range(20)]
    assert np.mean(own) == pytest.approx(detects, rel=0.1)
