"""The sign-flip test and its interval against scipy, brute force and properties."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness.stats.clusters import clusters_of
from harness.stats.new_corpora import estimates_over_corpora
from harness.stats.sign_flips import estimates


def alone(n):
    return clusters_of([("one", f"file {at:04}") for at in range(n)])


def brute_force_p(sums, sizes, mean):
    """The share of all flips of deviations from `mean` that are as extreme as none."""
    moved = np.array(sums) - np.array(sizes) * mean
    signs = np.array(list(itertools.product((-1, 1), repeat=len(sums))))
    return np.mean(np.abs(signs @ moved) >= abs(moved.sum()) - 1e-9)


@pytest.mark.parametrize("n", [6, 9, 12])
def test_all_flips_give_the_p_of_scipy(n):
    for seed in range(5):
        values = np.random.default_rng(seed).normal(0.4, 1, n)
        test = stats.permutation_test(
            (values, np.zeros(n)), lambda a, b, axis: np.mean(a - b, axis=axis),
            permutation_type="samples", vectorized=True, n_resamples=np.inf,
        )  # fmt: skip
        assert estimates(values[:, None], alone(n))[0].p == pytest.approx(test.pvalue, abs=1e-12)


def test_random_flips_are_near_the_p_of_scipy():
    values = np.random.default_rng(3).normal(0.25, 1, 60)
    wanted = stats.permutation_test(
        (values, np.zeros(60)), lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=99_999, rng=1,
    )  # fmt: skip
    assert estimates(values[:, None], alone(60))[0].p == pytest.approx(wanted.pvalue, abs=0.01)


def test_clusters_of_unequal_size_flip_as_one():
    members = [("one", name) for name in "aaabbcccccddeeffg"]
    values = np.random.default_rng(1).normal(0.3, 1, len(members))
    got = estimates(values[:, None], clusters_of(members))[0]
    sums = [values[[m[1] == name for m in members]].sum() for name in "abcdefg"]
    assert got.p == pytest.approx(brute_force_p(sums, (3, 2, 5, 2, 2, 2, 1), 0))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-1, -0.5, 0, 0, 0.25, 1]), min_size=6, max_size=9), st.data())
def test_the_interval_holds_exactly_what_the_test_does_not_reject(values, data):
    if len(set(values)) == 1:
        return
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=len(values), max_size=len(values)))
    rows = [(value, ("one", f"{at}")) for at, value in enumerate(values) for _ in range(sizes[at])]
    clusters = clusters_of([member for _, member in rows])
    got = estimates(np.array([[value] for value, _ in rows]), clusters)[0]
    sums = [value * size for value, size in zip(values, sizes, strict=True)]
    for level, (low, high) in ((0.05, got.ci95), (0.10, got.ci90)):
        assert min(values) <= low <= got.mean <= high <= max(values)
        for inside in (low + 1e-6, got.mean, high - 1e-6):
            if low <= inside <= high:
                assert brute_force_p(sums, sizes, inside) > level
        for outside in (low - 1e-6, high + 1e-6):
            assert brute_force_p(sums, sizes, outside) <= level


def test_five_clusters_have_no_95_percent_interval_and_six_have():
    values = np.arange(6.0)[:, None]
    assert estimates(values[:5], alone(5))[0].ci95 is None
    assert estimates(values, alone(6))[0].ci95 == (0, 5)


def test_equal_values_have_an_interval_as_wide_as_what_was_not_seen():
    zeros = np.zeros((50, 1))
    assert estimates(zeros, alone(50))[0].ci95 is None
    got = estimates(zeros, alone(50), bounds=(-1, 1))[0]
    assert (got.mean, got.p) == (0, 1)
    # 0 of 50: the exact binomial limit of Clopper and Pearson
    wanted = stats.binomtest(0, 50).proportion_ci(0.95, "exact").high
    assert got.ci95 == pytest.approx((-wanted, wanted))
    got = estimates(zeros + 1, alone(50), bounds=(0, 1))[0]
    assert got.ci95 == pytest.approx((1 - wanted, 1))


def test_corpora_that_differ_do_not_widen_the_interval_of_these_corpora():
    rng = np.random.default_rng(0)
    members = [(f"corpus {at % 2}", f"file {at}") for at in range(40)]
    values = rng.normal(0, 0.1, (40, 1))
    moved = values + np.where(np.arange(40) % 2, 1.0, -1.0)[:, None]
    plain, far = (estimates(each, clusters_of(members))[0] for each in (values, moved))
    assert far.mean == pytest.approx(plain.mean)
    assert far.ci95 == pytest.approx(plain.ci95)


def test_bits_depend_on_the_seed_alone():
    values = np.random.default_rng(5).normal(0, 1, (500, 4))
    first = estimates(values, alone(500), seed=7)
    assert estimates(values, alone(500), seed=7) == first
    assert estimates(values, alone(500), seed=8) != first
    assert [estimates(values[:, [at]], alone(500), seed=7)[0] for at in range(4)] == first


def test_new_corpora_have_the_t_interval_of_scipy():
    rng = np.random.default_rng(2)
    corpora = [f"corpus {at}" for at in range(8) for _ in range(at + 1)]
    values = rng.normal(0.2, 1, (len(corpora), 1))
    means = [values[[c == name for c in corpora]].mean() for name in dict.fromkeys(corpora)]
    got = estimates_over_corpora(values, corpora)[0]
    test = stats.ttest_1samp(means, 0)
    assert got.ci95 == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert got.ci90 == pytest.approx(tuple(test.confidence_interval(0.90)))
    assert got.p == pytest.approx(brute_force_p(means, [1] * 8, 0))


def test_two_corpora_have_no_interval():
    assert estimates_over_corpora(np.array([[0.1], [0.3]]), ["a", "b"])[0].ci95 is None
