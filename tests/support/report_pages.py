"""Runs and pages of reports, and what is done to an opened page."""

from harness.reports.page.assemble import ReportOptions, make_report
from harness.runs.config import RunConfig
from harness.runs.plan import make_plan
from harness.runs.runner import run

CHUNKERS = ("ast:max_size=120", "fixed:max_size=120", "fixed:max_size=40", "whole-file")
MEASURES = ("nDCG@10", "MRR", "SpanR@300c", "SpanP@300c", "Complete@300c", "P@5")


def write_report(path, runs):
    made = make_report(runs, ReportOptions())
    path.write_text(made.page, "utf-8")
    return made


def make_run(out, datasets, **changes):
    given = {"chunkers": CHUNKERS, "retrievers": ("bm25",), "measures": MEASURES} | changes
    config = RunConfig().over(datasets=tuple(each.name for each in datasets), **given)
    run(make_plan(config), list(datasets), out)
    return out


def show_all_columns(page):
    page.evaluate(
        "document.querySelectorAll('.column:not(:checked)').forEach((box) => box.click())"
    )


def open_details(page, selector="details"):
    page.locator(selector).evaluate_all("parts => parts.forEach((part) => { part.open = true; })")
