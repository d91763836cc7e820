"""The pages on fair comparison and on leaderboards show what their commands print."""

import importlib
import re
import sys
from pathlib import Path

import pytest
from evaluators import evaluators

ROOT = Path(__file__).parents[1]
PAGES = {
    "tuning": "fair-comparison.md", "published": "fair-comparison.md",
    "conventions": "leaderboards.md",
}  # fmt: skip


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    yield lambda name: importlib.import_module(f"benchmarks.{name}")
    for name in PAGES:
        sys.modules.pop(f"benchmarks.{name}", None)


def printed(module, capsys):
    module.main()
    return re.findall(r"^\|.*\|$", capsys.readouterr().out, re.MULTILINE)


def test_choosing_on_all_queries_is_too_high_and_on_half_of_them_is_not(benchmark):
    import numpy as np

    biases = np.array([benchmark("tuning").trial(seed, 20, 5)[0] for seed in range(100)])
    errors = biases.std(axis=0) / 10
    assert biases.mean(axis=0)[0] > 0.05
    assert abs(biases.mean(axis=0)[1]) < 3.5 * errors[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_page_shows_what_its_commands_print(name, benchmark, capsys, request, monkeypatch):
    if name != "tuning":
        request.getfixturevalue("data")
    if name == "conventions":
        monkeypatch.syspath_prepend(evaluators("mteb"))
    rows = printed(benchmark(name), capsys)
    page = (ROOT / "docs" / PAGES[name]).read_text("utf-8").splitlines()
    assert len(rows) > 8
    assert [row for row in rows if row not in page] == []
