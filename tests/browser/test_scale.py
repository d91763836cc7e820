"""A report of 10 chunkers and 1,000 queries opens at once."""

import pytest

from benchmarks import report


@pytest.mark.slow
def test_the_page_opens_in_two_seconds(chromium, tmp_path):
    report.make_run(tmp_path / "run")
    made = report.make_report([tmp_path / "run"], report.ReportOptions())
    assert [cell["n_queries"] for cell in made.document["cells"]] == [1000] * 10
    (tmp_path / "report.html").write_text(made.page, "utf-8")
    opening = report.measure(chromium, tmp_path / "report.html")
    assert opening.opening < 2
    assert opening.browsing < 2
    assert opening.heap < 200
