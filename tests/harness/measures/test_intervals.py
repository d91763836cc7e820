import os
import subprocess
import sys

import numpy as np
import pytest

from harness.stats.intervals import intervals


def everything(values):
    return np.ones(len(values), dtype=np.bool_)


def test_interval_matches_the_normal_one_for_many_queries():
    values = np.random.default_rng(0).random(2000)
    low, high = intervals({"P@5": values}, everything(values))["P@5"]
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert high == pytest.approx(values.mean() + half, abs=0.1 * half)


def test_measures_share_the_resamples():
    values = np.random.default_rng(1).random(50)
    got = intervals({"a": values, "b": 1 - values, "c": values}, everything(values))
    assert got["a"] == got["c"]
    assert got["b"] == pytest.approx((1 - got["a"][1], 1 - got["a"][0]))


def test_only_included_queries_are_drawn():
    values = np.array([0.2, 0.4, 99.0, 0.9])
    mask = np.array([True, True, False, True])
    assert intervals({"a": values}, mask) == intervals(
        {"a": values[mask]}, everything(values[mask])
    )


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_queries_have_no_interval(n):
    assert intervals({"a": np.ones(n)}, np.ones(n, dtype=np.bool_)) == {"a": None}


def test_skipped_measure_has_no_interval():
    got = intervals({"a": None, "b": np.array([0.0, 1.0])}, np.array([True, True]))
    assert got["a"] is None
    assert got["b"] == (0.0, 1.0)


def test_equal_values_have_an_interval_without_width():
    low, high = intervals({"a": np.full(30, 0.5)}, np.ones(30, dtype=np.bool_))["a"]
    assert low == high == 0.5


def test_seed_decides_the_interval():
    values = np.random.default_rng(2).random(40)
    first, again, other = (intervals({"a": values}, everything(values), seed) for seed in (1, 1, 2))
    assert first == again != other


def test_bytes_do_not_depend_on_threads():
    code = (
        "import numpy as np; from harness.stats.intervals import intervals;"
        "v = np.sqrt(np.arange(501)) % 1;"
        "print(intervals({'a': v, 'b': v * v}, np.ones(501, dtype=bool)))"
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
