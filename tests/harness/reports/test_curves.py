"""Span curves from stored rankings, and the turns of the order of chunkers."""

import json

import numpy as np
import pytest
from worlds import grid

from harness.reports import curves as curves_module
from harness.reports.contests import contests
from harness.reports.curves import BUDGETS, curve_lines, curves, turns_of
from harness.runs.stored_values import read_stored_cells


def contest_of(run):
    (contest,) = contests(read_stored_cells(run))
    return contest


@pytest.fixture
def run(tmp_path):
    measures = ("SpanR@10000c", *(f"SpanR@{budget}c" for budget in BUDGETS))
    grid(tmp_path, retrievers=("bm25",), measures=measures)
    return tmp_path / "run"


def test_a_curve_is_what_a_run_with_these_measures_gives(run):
    contest = contest_of(run)
    document = curves(contest)
    assert document["budgets"] == list(BUDGETS)
    assert document["too_shallow"] == []
    for name, curve in document["chunkers"].items():
        stored = contest.cells[name].metrics["metrics"]
        assert [point["mean"] for point in curve] == pytest.approx(
            [stored[f"SpanR@{budget}c"]["mean"] for budget in BUDGETS], abs=1e-12
        )
    means = [point["mean"] for point in document["chunkers"]["whole-file"]]
    assert means[0] < means[-1]


def test_contests_that_share_cells_read_them_once(run, monkeypatch):
    parts = contests(read_stored_cells(run), "corpus")
    assert len(parts) == 2
    calls = []

    def counting(cell, real=curves_module.read_judged):
        calls.append(cell.folder)
        return real(cell)

    monkeypatch.setattr(curves_module, "read_judged", counting)
    known = {}
    drawn = [curves(part, 0, known) for part in parts]
    assert sorted(calls) == sorted(one.folder for one in parts[0].cells.values())
    assert drawn[0]["chunkers"] != drawn[1]["chunkers"]
    assert drawn[1] == curves(parts[1])


def test_budgets_beyond_the_rankings_have_no_value_and_it_is_said(run):
    contest = contest_of(run)
    for cell in contest.cells.values():
        cell.cell["identity"]["budget"] = 2500
    document = curves(contest)
    assert document["budgets"] == [500, 1000, 2500]
    assert all(len(curve) == 3 for curve in document["chunkers"].values())
    assert next(curve_lines(document)).startswith("the rankings are too short for 5000c, 10000c, 2")


def test_a_changed_ranking_draws_no_curve(run):
    (cell, *_) = (run / "cells").iterdir()
    rows = [json.loads(row) for row in (cell / "chunks.jsonl").read_text().splitlines()]
    rows[0]["nws"][1] += 1
    (cell / "chunks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(Exception, match=r"chunks\.jsonl"):
        curves(contest_of(run))


def test_documents_have_no_curve(tmp_path):
    from worlds import small

    from harness.model import Query

    queries = (Query("q", "one", "alpha", (), qrels={"one/alpha.py": 1.0}),)
    data = small(gold="document", queries=queries)
    grid(tmp_path, dataset=data, retrievers=("bm25",), measures=("nDCG@10",))
    assert curves(contest_of(tmp_path / "run")) is None


def values(*means, seed=0, n=120, scale=0.05):
    """Values of one chunker: noise about a mean for each budget."""
    noise = np.random.default_rng(seed).normal(0, scale, (n, 1))
    return np.array(means) + noise


MEMBERS = [("corpus", f"file {at}") for at in range(120)]


def test_a_turn_is_between_the_budgets_where_the_order_changes():
    columns = {"fine": values(0.4, 0.5, 0.6), "coarse": values(0.2, 0.4, 0.8, seed=1)}
    (turn,) = turns_of(MEMBERS, (500, 1000, 2500), columns, 0)
    assert (turn["a"], turn["b"], turn["between"]) == ("fine", "coarse", [1000, 2500])
    assert turn["differences"] == pytest.approx([0.1, -0.2], abs=0.03)
    assert turn["shown"]


def test_a_turn_of_noise_is_not_shown():
    columns = {
        "one": values(0.50, 0.50, seed=1, scale=0.3),
        "two": values(0.51, 0.49, seed=1, scale=0.3) + values(0, 0, seed=2, scale=0.3),
    }
    turns = turns_of(MEMBERS, (500, 1000), columns, 0)
    assert not any(turn["shown"] for turn in turns)


def test_equal_means_between_are_passed_over_and_equal_chunkers_never_turn():
    same = values(0.4, 0.5, 0.6)
    columns = {"a": same, "b": same + np.array([-0.1, 0.0, 0.1]), "c": same}
    turns = turns_of(MEMBERS, (500, 1000, 2500), columns, 0)
    assert [(t["a"], t["b"], t["between"]) for t in turns] == [
        ("a", "b", [500, 2500]), ("c", "b", [500, 2500]),
    ]  # fmt: skip


def test_one_side_that_the_data_do_not_show_is_said():
    base = values(0.5, 0.5)
    noisy = np.random.default_rng(3).normal(0, 0.4, (120, 1)) * np.array([1.0, 0.0])
    columns = {"a": base + 0.01 * np.array([1, 0]) + noisy - noisy.mean(0), "b": base}
    columns["a"][:, 1] -= np.abs(values(0.2, 0.2, seed=5)[:, 1])
    (turn,) = turns_of(MEMBERS, (500, 1000), columns, 0)
    assert not turn["shown"]
    document = {"too_shallow": [], "turns": [turn]}
    (line,) = curve_lines(document)
    assert line.startswith("a is ahead of b at 500c, and behind at 1000c (1.0 and -19")
    assert "these data do not show it" in line
