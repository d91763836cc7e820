"""A report of 10 chunkers and 1,000 queries opens at once."""

import importlib
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_page_opens_in_two_seconds(chromium, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    benchmark = importlib.import_module("benchmarks.report")
    benchmark.make_run(tmp_path / "run")
    made = benchmark.make_report([tmp_path / "run"], benchmark.ReportOptions())
    assert [cell["n_queries"] for cell in made.document["cells"]] == [1000] * 10
    (tmp_path / "report.html").write_text(made.page, "utf-8")
    opening = benchmark.measure(chromium, tmp_path / "report.html")
    assert opening.opening < 2
    assert opening.browsing < 2
    assert opening.heap < 200
