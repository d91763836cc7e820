"""The tables of docs/context.md: how they compare, and that the command prints the first."""

import importlib
import sys
from pathlib import Path

import pytest
from made_cells import MEASURE, cell, noise

from harness.reports.contests import contest_of, differences
from harness.reports.recommendation import points

ROOT = Path(__file__).parents[1]


@pytest.fixture
def context(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    yield importlib.import_module("benchmarks.context")
    for name in ("context", "published"):
        sys.modules.pop(f"benchmarks.{name}", None)


def test_each_difference_is_the_projects_own_and_all_are_one_family(context):
    assert context.MEASURE == MEASURE
    plain = {name: noise(seed) for seed, name in enumerate(context.CHUNKERS)}
    ways = {"plain": 0.0, "header": 0.0253, "late": 0.3}
    cells = {
        (name, way): cell(name, values + more + noise(9 + at, scale=0.05) - 0.5)
        for name, values in plain.items()
        for at, (way, more) in enumerate(ways.items())
    }
    heads, rows = context.quality(cells)
    assert heads == [MEASURE, "plain", "header", "late", "header - plain", "late - plain"]
    assert [row[0] for row in rows] == ["ast", "fixed", "ast - fixed"]
    for row in rows[:2]:
        values = {way: cells[row[0], way] for way in ways}
        means = [one.metrics["metrics"][MEASURE]["mean"] for one in values.values()]
        assert row[1:4] == [f"{mean:.3f}" for mean in means]
        contest = contest_of("made", (), list(values.items()))
        alone = differences(contest, MEASURE, "plain", margin=0.02).of_these_corpora
        for shown, pair in zip(row[4:], alone, strict=True):
            assert shown.startswith(f"{points(pair.estimate.mean, '+')} [")
        assert row[5].endswith("] better")
        assert alone[0].verdict.startswith("better")  # of two differences, but not of seven
        assert "better" not in row[4]
    for shown, way in zip(rows[2][1:4], ways, strict=True):
        ast, fixed = (cells[name, way] for name in context.CHUNKERS)
        gap = [one.metrics["metrics"][MEASURE]["mean"] for one in (ast, fixed)]
        assert shown.startswith(f"{points(gap[0] - gap[1], '+')} [")


@pytest.mark.slow
def test_the_page_shows_the_table_that_its_command_prints(context, capsys):
    """The second table has times, which differ."""
    context.main()
    printed = [line for line in capsys.readouterr().out.split("\n") if line.startswith("|")]
    page = (ROOT / "docs/context.md").read_text("utf-8").split("\n")
    assert len(context.CHUNKERS) + 3 == printed.index(
        next(row for row in printed if "unseen" in row)
    )
    assert set(printed[: len(context.CHUNKERS) + 3]) <= set(page)
