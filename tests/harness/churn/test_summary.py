"""Summaries of edits: ratios of totals, and verdicts in the direction of costs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.churn.replay import Counts
from harness.churn.summary import MEASURES, Result, summarise

CHANGED = [100, 40, 10, 0, 250, 60, 80, 30]
ASTS = [150, 120, 30, 40, 300, 60, 90, 31]
FIXED = [400, 130, 90, 40, 700, 65, 85, 300]


def counts(again: int, chunks: int = 10, moved: int = 2) -> Counts:
    return Counts(chunks, again // 50, again, chunks - again // 50, moved, 1)


def result(**columns: list[int]) -> Result:
    rows = {name: [counts(value) for value in column] for name, column in columns.items()}
    pairs = [(name, "fixed") for name in columns if name != "fixed"]
    return summarise(rows, CHANGED[: len(columns["fixed"])], [1] * len(columns["fixed"]), pairs)


def test_a_measure_is_the_ratio_of_the_totals() -> None:
    outcome = result(ast=ASTS, fixed=FIXED)
    assert (outcome.edits, outcome.files, outcome.changed) == (8, 8, 570)
    first = {
        summary.chunker: summary
        for summary in outcome.summaries
        if summary.measure == "again_per_changed"
    }
    assert first["ast"].total == sum(ASTS) == 821
    assert first["ast"].value == pytest.approx(821 / 570)
    own = sorted(a / c for a, c in zip(ASTS, CHANGED, strict=True) if c)
    # By nearest rank, without the edit that changed no character.
    assert (first["ast"].median, first["ast"].p95) == (own[3], own[6])
    assert first["ast"].ci95 is not None
    assert first["ast"].ci95[0] < 821 / 570 < first["ast"].ci95[1]
    share = next(
        summary
        for summary in outcome.summaries
        if (summary.measure, summary.chunker) == ("again", "ast")
    )
    assert share.value == pytest.approx(sum(value // 50 for value in ASTS) / 80)


def test_less_is_better_and_the_difference_is_a_share_of_the_baseline() -> None:
    pairs = {pair.measure: pair for pair in result(ast=ASTS, fixed=FIXED).pairs}
    assert {name: pair.exploratory for name, pair in pairs.items()} == {
        "again_per_changed": False,
        "again": True,
    }
    difference = pairs["again_per_changed"].difference
    assert -difference.estimate.mean == pytest.approx(sum(ASTS) / sum(FIXED) - 1)
    assert (difference.wins, difference.ties, difference.losses) == (6, 1, 1)
    # The sign-flip test by hand, over all flips.
    gaps = np.array(FIXED) - np.array(ASTS)
    flips = [abs(np.dot(signs, gaps)) for signs in itertools.product((1, -1), repeat=8)]
    expected = np.mean([flip >= gaps.sum() - 1e-9 for flip in flips])
    assert difference.estimate.p == pytest.approx(expected)


def test_verdicts_name_the_cheaper_one_better() -> None:
    half, double = [value // 2 for value in FIXED], [value * 2 for value in FIXED]
    outcome = result(half=half, double=double, fixed=FIXED)
    verdicts = {
        pair.difference.a: pair.difference.verdict
        for pair in outcome.pairs
        if pair.measure == MEASURES[0].name
    }
    assert verdicts == {"half": "better", "double": "worse"}
    # Two comparisons are one family: of 256 flips, 2 are as extreme.
    adjusted = [pair.difference.p_adjusted for pair in outcome.pairs if not pair.exploratory]
    assert adjusted == pytest.approx([2 * 2 / 256, 2 * 2 / 256])


@pytest.mark.parametrize(("edits", "verdict"), [(8, "undecided"), (200, "equivalent")])
def test_equal_costs_are_equivalent_only_after_many_edits(edits: int, verdict: str) -> None:
    rows = [counts(100)] * edits
    outcome = summarise({"a": rows, "b": rows}, [50] * edits, [1] * edits, [("a", "b")])
    assert outcome.pairs[0].difference.verdict == verdict


def test_what_has_no_denominator_has_no_value_and_no_verdict() -> None:
    rows = [counts(100)] * 8
    outcome = summarise({"a": rows, "b": rows}, [0] * 8, [1] * 8, [("a", "b")])
    assert {
        summary.value for summary in outcome.summaries if summary.measure == "again_per_changed"
    } == {None}
    assert [pair.measure for pair in outcome.pairs] == ["again"]
    free = [counts(0)] * 8
    outcome = summarise({"a": rows, "b": free}, [50] * 8, [1] * 8, [("a", "b")])
    assert [pair.measure for pair in outcome.pairs] == ["again"]  # nothing is a share of nothing
    (alone,) = summarise({"a": rows[:1]}, [50], [1]).summaries[:1]
    assert (alone.value, alone.ci95, alone.median, alone.p95) == (2.0, None, 2.0, 2.0)
