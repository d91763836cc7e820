"""Phrases with counts."""

import warnings

import pytest

from harness.support.wording import distinct


def test_of_values_with_one_name_the_last_counts_at_the_place_of_the_first():
    with pytest.warns(UserWarning) as caught:
        values = distinct("file", iter(["A.py", "b.py", "a.PY", "a.py"]), str.lower)
    assert values == ["a.py", "b.py"]
    assert [str(each.message) for each in caught] == ["file a.py is given 3 times; it counts once"]


def test_values_with_names_of_their_own_stay_and_nothing_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert distinct("file", ["b.py", "a.py"]) == ["b.py", "a.py"]
        assert distinct("file", []) == []
