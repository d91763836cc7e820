"""How often tests and intervals are wrong in 2,000 simulated comparisons without a difference."""

import numpy as np
import pytest
from scipy import stats

from harness.stats.clusters import clusters_of
from harness.stats.new_corpora import estimates_over_corpora
from harness.stats.power import Spread
from harness.stats.sign_flips import estimates
from tests.harness.stats.simulation import (
    SHAPES,
    cluster_sizes,
    differences,
    members,
    power,
)

pytestmark = pytest.mark.slow

TRIALS = 2000
BATCHES = 10  # sets of cluster sizes
FLIPS = 1999
LEAST, MOST = 0.035, 0.065  # 5 % ± 3 standard errors of 2,000 trials


def simulate(seed, shape, strata, clusters, icc, statistic, between=0.0, moved=0.0):
    """The results of `statistic` over all trials."""
    rng = np.random.default_rng(seed)
    results = []
    for _ in range(BATCHES):
        sizes = cluster_sizes(rng, strata * clusters)
        corpora = np.repeat(np.arange(strata), clusters)
        values = differences(rng, shape, sizes, corpora, icc, TRIALS // BATCHES, between)
        if moved:  # corpora differ, and their mean over queries is 0
            means = np.repeat(np.linspace(-moved, moved, strata)[corpora], sizes)
            values += (means - means.mean())[:, None]
        results += statistic(values, members(sizes, corpora))
    return results


def flips_these(values, queries):
    return estimates(values, clusters_of(queries), flips=FLIPS)


def flips_new(values, queries):
    return estimates_over_corpora(values, [corpus for corpus, _ in queries], flips=FLIPS)


def naive(values, _):
    return list(stats.ttest_1samp(values, 0).pvalue)


def size_of(results):
    return float(np.mean([result.p <= 0.05 for result in results]))


def cover_of(results):
    return float(np.mean([result.ci95[0] <= 0 <= result.ci95[1] for result in results]))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("icc", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("clusters", [10, 20, 50, 200])
def test_one_corpus(clusters, icc, shape, record_property):
    results = simulate(clusters, shape, 1, clusters, icc, flips_these)
    record_property("size", size_of(results))
    record_property("cover", cover_of(results))
    print(f"size {size_of(results):.3f} cover {cover_of(results):.3f}")
    assert LEAST <= size_of(results) <= MOST
    assert cover_of(results) == pytest.approx(1 - size_of(results), abs=1e-9)


@pytest.mark.parametrize(
    ("clusters", "about", "too_often"), [(10, 0.095, True), (50, 0.08, True), (200, 0.066, False)]
)
def test_strongly_skewed_differences_need_many_clusters(clusters, about, too_often):
    size = size_of(simulate(clusters, "lopsided", 1, clusters, 0.5, flips_these))
    print(f"size {size:.3f}")
    assert size == pytest.approx(about, abs=0.017)  # 3 standard errors
    if too_often:
        assert size > MOST


@pytest.mark.parametrize("moved", [0.0, 0.3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("strata", "clusters"), [(5, 10), (7, 10), (10, 5), (30, 5)])
def test_these_corpora(strata, clusters, shape, moved, record_property):
    results = simulate(strata, shape, strata, clusters, 0.1, flips_these, moved=moved)
    print(f"size {size_of(results):.3f} cover {cover_of(results):.3f}")
    record_property("size", size_of(results))
    assert LEAST <= size_of(results) <= MOST


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("between", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("corpora", [5, 7, 10, 30])
def test_new_corpora(corpora, between, shape, record_property):
    results = simulate(corpora, shape, corpora, 10, 0.1, flips_new, between=between)
    print(f"size {size_of(results):.3f} cover of t {cover_of(results):.3f}")
    record_property("size", size_of(results))
    record_property("cover", cover_of(results))
    if corpora == 5:  # 2 of 32 flips are always as extreme
        assert size_of(results) == 0
    else:
        assert LEAST <= size_of(results) <= MOST
    assert 0.93 <= cover_of(results) <= 0.97


@pytest.mark.parametrize("shape", SHAPES)
def test_the_naive_test_of_queries_fails_the_same_check(shape):
    p = simulate(1, shape, 1, 20, 0.1, naive)
    assert np.mean(np.array(p) <= 0.05) > 2 * MOST


@pytest.mark.parametrize("effect", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("corpora", [7, 10, 30])
def test_power_over_new_corpora_is_as_computed_from_the_variances(corpora, effect):
    rng = np.random.default_rng(corpora)
    queries, between = 20, 0.05
    sizes, homes = np.full(corpora * queries, 1), np.repeat(np.arange(corpora), queries)
    values = effect + differences(rng, "normal", sizes, homes, 0.0, TRIALS, between)
    results = flips_new(values, members(sizes, homes))
    sd = np.sqrt(between + (1 - between) / queries)
    computed = power(Spread(corpora, corpora, sd, corpora - 1), effect)
    shown = float(np.mean([result.p <= 0.05 for result in results]))
    print(f"computed {computed:.3f} shown {shown:.3f}")
    assert shown == pytest.approx(computed, abs=0.05)


@pytest.mark.parametrize("effect", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("clusters", [20, 50, 200])
def test_power_over_these_corpora_is_as_computed_from_the_variances(clusters, effect):
    rng = np.random.default_rng(clusters)
    size, icc = 5, 0.1
    sizes, homes = np.full(clusters, size), np.zeros(clusters, dtype=int)
    values = effect + differences(rng, "normal", sizes, homes, icc, TRIALS)
    results = flips_these(values, members(sizes, homes))
    sd = np.sqrt(icc * size + 1 - icc)  # of independent queries with the same error
    computed = power(Spread(clusters * size, clusters, sd, clusters - 1), effect)
    shown = float(np.mean([result.p <= 0.05 for result in results]))
    print(f"computed {computed:.3f} shown {shown:.3f}")
    assert shown == pytest.approx(computed, abs=0.05)
