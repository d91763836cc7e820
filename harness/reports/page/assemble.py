"""Makes the page of some run folders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError, suggestion
from harness.reports.figures.gallery import figures
from harness.reports.page.browser import SOURCES, browser_data
from harness.reports.page.document import report_document
from harness.reports.page.render import render
from harness.reports.page.stored import read_run
from harness.reports.prices import parse_prices
from harness.support.progress import silent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from harness.reports.curves import Values
    from harness.reports.figures.figure import Figure
    from harness.reports.page.stored import StoredRun
    from harness.support.progress import Tell


@dataclass(frozen=True)
class ReportOptions:
    """What a page shows.

    Attributes:
        baseline: The chunker that the others are compared with; by default `fixed`, or the first.
        prices: Prices of a million tokens, as `parse_prices` reads them.
        data_dir: Folder to search for data sets first.
        sources: Characters of source text in the page.
    """

    baseline: str | None = None
    prices: tuple[str, ...] = ()
    data_dir: Path | None = None
    sources: int = SOURCES


@dataclass(frozen=True)
class Report:
    """A document of a report, its figures and its page."""

    document: Mapping[str, Any]
    figures: Sequence[Figure]
    page: str


def make_report(
    paths: Sequence[Path], options: ReportOptions, *, live: str = "", tell: Tell = silent
) -> Report:
    """The report of some run folders.

    Args:
        paths: The folders, in the order of the page.
        options: What it shows.
        live: The ETag of a page that asks its server for a newer one; then a run may have no cell
            yet. Empty for a page that does not.
        tell: Gets each phase.

    Raises:
        InputError: A folder is not a run folder, or is damaged; no run has the baseline, or an
            embedder with a price.
    """
    tell("reading the runs", 0, 1)
    runs = [read_run(path) for path in paths]
    if not live:
        _refuse_baseline(runs, options.baseline)
    embedders = dict.fromkeys(name for run in runs for name in run.manifest["embedders"])
    prices = parse_prices(options.prices, list(embedders))
    tell("collecting sources", 0, 1)
    stored = [cell for run in runs for cell in run.cells]
    known: Values = {}
    # While a run goes on, each new cell would load the data set again.
    ended = not live or all(run.complete for run in runs)
    browser = browser_data(stored, options.data_dir, options.sources, known) if ended else None
    tell("comparing", 0, 1)
    document = report_document(runs, options.baseline, prices, known)
    tell("drawing", 0, 1)
    drawn = figures(document, stored)
    return Report(document, drawn, render(document, drawn, browser, live=live))


def _refuse_baseline(runs: Sequence[StoredRun], baseline: str | None) -> None:
    names = sorted({name for run in runs for name in run.manifest["chunkers"]})
    if baseline is not None and baseline not in names:
        raise InputError(f"--baseline {baseline}: in no run; {suggestion(baseline, names)}")
