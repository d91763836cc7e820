"""Runs and pages of reports, and what is done to an opened page."""

import base64
import json
import zlib

from harness.reports.page.assemble import ReportOptions, make_report
from harness.runs.config import RunConfig
from harness.runs.plan import make_plan
from harness.runs.runner import run
from harness.support.files import file_sha256

CHUNKERS = ("ast:max_size=120", "fixed:max_size=120", "fixed:max_size=40", "whole-file")
MEASURES = ("nDCG@10", "MRR", "SpanR@300c", "SpanP@300c", "Complete@300c", "P@5")


def write_report(path, runs):
    made = make_report(runs, ReportOptions())
    path.write_text(made.page, "utf-8")
    return made


def expanded(block):
    """The document of a block of the browsers."""
    return json.loads(zlib.decompress(base64.b64decode(block), -15))


def rehash(cell):
    """Give a cell the hashes of its files as they are now, as if it had been written so."""
    document = json.loads((cell / "cell.json").read_text("utf-8"))
    document["files"] = {
        name: file_sha256(cell / name) for name in document["files"] if (cell / name).is_file()
    }
    (cell / "cell.json").write_text(json.dumps(document), "utf-8")


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
