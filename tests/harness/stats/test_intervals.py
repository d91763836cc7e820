"""Intervals of the means of measures."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from harness.stats.intervals import intervals


def alone(n):
    return [("one", f"file {at:05}") for at in range(n)]


def ends(values, counted=None, members=None, **options):
    values = np.asarray(values, dtype=float)
    counted = np.ones(len(values), dtype=np.bool_) if counted is None else np.array(counted)
    return intervals({"a": values}, {"a": counted}, members or alone(len(values)), **options)["a"]


def test_the_interval_of_many_independent_queries_is_the_normal_one():
    values = np.random.default_rng(0).random(2000)
    half = 1.96 * values.std() / np.sqrt(len(values))
    low, high = ends(values)
    assert low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert high == pytest.approx(values.mean() + half, abs=0.1 * half)


def test_queries_of_a_file_that_move_together_widen_it():
    rng = np.random.default_rng(1)
    values = np.clip(0.5 + 0.2 * np.repeat(rng.standard_normal(40), 10), 0, 1)
    members = [("one", f"file {at // 10}") for at in range(400)]
    low, high = ends(values, members=members)
    narrow = ends(values)
    assert (high - low) / (narrow[1] - narrow[0]) == pytest.approx(np.sqrt(10), rel=0.2)


def test_only_counted_queries_take_part():
    values = np.array([0.2, 0.4, 99.0, 0.9, 0.1, 0.3, 0.8])
    mask = values < 1
    members = [member for member, kept in zip(alone(7), mask, strict=True) if kept]
    assert ends(values, mask) == ends(values[mask], members=members)


@pytest.mark.parametrize("n", [0, 2, 5])
def test_under_six_clusters_have_no_interval(n):
    assert ends(np.linspace(0, 1, n)) is None


def test_a_skipped_measure_has_none():
    every = np.ones(8, dtype=np.bool_)
    values = {"a": None, "b": np.linspace(0, 1, 8)}
    got = intervals(values, {"a": every, "b": every}, alone(8))
    assert got["a"] is None
    assert 0 <= got["b"][0] < 0.5 < got["b"][1] <= 1


def test_equal_values_have_the_exact_binomial_limit():
    wanted = stats.binomtest(30, 30).proportion_ci(0.95, "exact").low
    assert ends(np.ones(30)) == pytest.approx((wanted, 1.0))


def test_means_over_corpora_have_the_t_interval():
    members = [(f"corpus {at % 4}", f"file {at}") for at in range(40)]
    values = np.random.default_rng(3).random(40)
    means = [values[at::4].mean() for at in range(4)]
    wanted = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert ends(values, members=members, over_corpora=True) == pytest.approx(tuple(wanted))


def test_the_seed_decides_the_interval():
    values = np.random.default_rng(2).random(40)
    first, again, other = (ends(values, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_bytes_do_not_depend_on_threads_or_on_other_measures():
    code = (
        "import numpy as np; from harness.stats.intervals import intervals;"
        "v = np.sqrt(np.arange(501)) % 1; m = [('c', str(i)) for i in range(501)];"
        "e = np.ones(501, dtype=bool); both = intervals({'a': v, 'b': v * v}, {'a': e, 'b': e}, m);"
        "assert both['a'] == intervals({'a': v}, {'a': e}, m)['a']; print(both)"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(printed) == 1
