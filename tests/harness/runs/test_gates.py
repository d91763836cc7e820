"""Bounds, and what they say of the means of cells."""

import math

import pytest

from chunkers.errors import InputError
from harness.runs.gates import (
    Bound,
    GateCell,
    cells_of,
    check,
    document,
    notes_of,
    overall,
    parse_bound,
)


def cell(**means):
    return GateCell("data", "ast", "minilm", "dense", means)


@pytest.mark.parametrize(
    ("text", "measure", "operator", "threshold"),
    [
        ("MRR>0.6", "MRR", ">", 0.6),
        (" ndcg_at_10 >= 1e-1 ", "nDCG@10", ">=", 0.1),
        ("recall@5>=.5", "R@5", ">=", 0.5),
        ("SpanR@10000c>=0.001", "SpanR@10000c", ">=", 0.001),
        ("token_f1>0", "TokenF1", ">", 0.0),
    ],
)
def test_bounds_are_read_by_the_grammar_of_measures(text, measure, operator, threshold):
    assert parse_bound(text) == Bound(measure, operator, threshold)


@pytest.mark.parametrize(
    "text", ["", "MRR", "MRR>", ">0.5", "MRR=0.5", "MRR<0.5", "MRR=>0.5", "MRR>>1", "MRR>0.5>0.4",
             "MRR>nan", "MRR>inf", "MRR>60%", "MRR>0,6", "MRR>0.6 0.7"],
)  # fmt: skip
def test_what_is_no_bound_says_how_one_is_written(text):
    with pytest.raises(InputError, match=r"--min 'MRR>0\.6'"):
        parse_bound(text)


@pytest.mark.parametrize("text", ["MRR>=0", "SpanR@10000c>-1", "TokenF1>=-0.0", "P@5>=1e-13"])
def test_a_bound_that_no_mean_can_fail_is_refused(text):
    with pytest.raises(InputError, match=r"can never fail: .* is at least 0; give a higher"):
        parse_bound(text)


@pytest.mark.parametrize("text", ["MRR>1", "MRR>1.5", "SpanR@10000c>=1.0001", "TokenF1>=30"])
def test_a_bound_that_no_mean_can_pass_is_refused(text):
    with pytest.raises(InputError, match=r"can never pass: .* is at most 1"):
        parse_bound(text)
    assert parse_bound("MRR>=1") == Bound("MRR", ">=", 1.0)


def test_different_numbers_of_queries_of_a_data_set_are_noted():
    def notes(*counts):
        cells = [GateCell(name, "c", "e", "r", {"MRR": 1.0}, {"MRR": n}) for name, n in counts]
        return [*notes_of(check(cells, [parse_bound("MRR>0")]))]

    assert notes(("d", 5), ("d", 10), ("e", 7)) == [
        "MRR on d is of 5 and 10 queries; compare only means of the same queries"
    ]
    assert notes(("d", 5), ("e", 10), (None, 7), (None, 8)) == []


def test_unknown_measures_of_bounds_are_named():
    with pytest.raises(InputError, match="nDGC@10"):
        parse_bound("nDGC@10>0.5")


@pytest.mark.parametrize(
    ("text", "value", "verdict"),
    [
        ("MRR>0.6", 11 / 18, "pass"),
        ("MRR>0.6", 4 / 9, "fail"),
        ("MRR>0.6", 0.6, "fail"),
        ("MRR>=0.6", 0.6, "pass"),
        ("MRR>0.6", None, "skipped"),
        # Noise of summation decides nothing.
        ("MRR>=0.6", 0.1 * 3 + 0.3 - 1e-16, "pass"),
        ("MRR>0.3", 0.1 + 0.2, "fail"),
        ("MRR>0", 0.0, "fail"),
    ],
)
def test_verdicts(text, value, verdict):
    (one,) = check([cell(MRR=value)], [parse_bound(text)])
    assert (one["value"], one["verdict"]) == (value, verdict)


def test_a_measure_that_the_run_lacks_is_skipped():
    assert [one["verdict"] for one in check([cell()], [parse_bound("MRR>0")])] == ["skipped"]


def test_every_bound_is_held_against_every_cell():
    checks = check([cell(MRR=1.0), cell(MRR=0.5)], [parse_bound("MRR>0.6"), parse_bound("P@5>0")])
    assert [one["verdict"] for one in checks] == ["pass", "skipped", "fail", "skipped"]


@pytest.mark.parametrize(
    ("means", "require", "verdict"),
    [
        ((1.0, 1.0), False, "pass"),
        ((1.0, 1.0), True, "pass"),
        ((1.0, 0.0), False, "fail"),
        ((0.0, None), False, "fail"),
        ((1.0, None), False, "pass"),
        ((1.0, None), True, "fail"),
        ((None, None), False, "skipped"),
        ((None, None), True, "fail"),
    ],
)
def test_one_verdict_for_all(means, require, verdict):
    checks = check([cell(MRR=one) for one in means], [parse_bound("MRR>0.5")])
    assert overall([one["verdict"] for one in checks], require=require) == verdict
    made = document(checks, require=require)
    assert (made["schema"], made["verdict"]) == ("chunkmark.gate/1", verdict)
    assert made["checks"][0] == {
        "kind": "min",
        "why": "MRR is skipped: no query has a value" if means[0] is None else None,
        "dataset": "data", "chunker": "ast", "embedder": "minilm", "retriever": "dense",
        "n_queries": None, "measure": "MRR", "value": means[0], "operator": ">", "threshold": 0.5,
        "verdict": checks[0]["verdict"],
    }  # fmt: skip


def test_cells_are_those_of_a_score_or_of_a_run():
    metrics = {"MRR": {"mean": 1}, "P@5": {"mean": None}}
    (scored,) = cells_of({"schema": "chunkmark.score/1", "metrics": metrics}, "s.json")
    assert scored == GateCell(None, None, None, None, {"MRR": 1.0, "P@5": None})
    names = {"dataset": "d", "chunker": "c", "embedder": "e", "retriever": "r"}
    run = {"schema": "chunkmark.run/1", "cells": [names | {"metrics": metrics}] * 2}
    assert cells_of(run, "r.json") == [GateCell("d", "c", "e", "r", scored.means)] * 2


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ({}, "not a result"),
        ({"schema": "chunkmark.list/1"}, "not a result"),
        ({"schema": "chunkmark.score/2", "metrics": {}}, "not a result"),
        ({"schema": ["chunkmark.score/1"]}, "not a result"),
        ({"schema": "chunkmark.score/1"}, "`metrics` is missing"),
        ({"schema": "chunkmark.score/1", "metrics": []}, "`metrics` is missing"),
        ({"schema": "chunkmark.score/1", "metrics": {"MRR": 1}}, "mean of MRR"),
        ({"schema": "chunkmark.score/1", "metrics": {"MRR": {}}}, "mean of MRR"),
        ({"schema": "chunkmark.score/1", "metrics": {"MRR": {"mean": "1"}}}, "mean of MRR"),
        ({"schema": "chunkmark.score/1", "metrics": {"MRR": {"mean": True}}}, "mean of MRR"),
        ({"schema": "chunkmark.score/1", "metrics": {"MRR": {"mean": math.nan}}}, "mean of MRR"),
        ({"schema": "chunkmark.score/1", "metrics": {"MRR": {"mean": 10**400}}}, "mean of MRR"),
        ({"schema": "chunkmark.score/1", "metrics": {}, "chunker": 3}, "name of a part"),
        ({"schema": "chunkmark.run/1"}, "cells"),
        ({"schema": "chunkmark.run/1", "cells": [3]}, "cells"),
    ],
)
def test_damaged_documents_are_named(found, says):
    with pytest.raises(InputError, match=says) as raised:
        cells_of(found, "x.json")
    assert str(raised.value).startswith("x.json")
