"""Size and opening time of a report of 10 chunkers and 1,000 queries, in headless Chromium.

    python -m benchmarks.report [FOLDER]

The run is that of bm25 on Python's standard library. It takes minutes; with FOLDER it is kept
there, and the next call takes its cells. *Opening* is the time from the navigation until the page
answers to a click: its scripts have run, and its first screen is drawn. *Browsing* is the time from
opening the query browser until its queries are listed.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.reports.page.assemble import ReportOptions, make_report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

CHUNKERS = (
    "ast", "ast:max_size=300", "fixed", "fixed:max_size=300", "function", "whole-file",
    "random-cuts", "code-chunk-ast", "code-chunk-fixed", "fixed-chars",
)  # fmt: skip
QUERIES = 1000
EXCLUDED = (
    "/test/ tests/ site-packages/ /idlelib/ /lib2to3/ /ensurepip/ /distutils/ /tkinter/ "
    "/turtledemo/ /encodings/ /config-*/ /lib-dynload/ /pydoc_data/"
)
ROUNDS = 7
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@dataclass(frozen=True)
class Opening:
    """Medians of an opened page: seconds, and megabytes of JavaScript's heap."""

    opening: float
    browsing: float
    heap: float


def make_run(out: Path) -> None:
    """Make the run; cells that are there already are not made again."""
    data = f'repo:{sysconfig.get_path("stdlib")},exclude="{EXCLUDED}"'
    options = [part for name in CHUNKERS for part in ("-c", name)]
    command = [sys.executable, "-m", "harness.cli", "run", "-d", data, "-r", "bm25", *options]
    command += ["--limit", str(QUERIES), "-o", str(out)]
    subprocess.run(command, check=True, capture_output=True)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium.

    Raises:
        SystemExit: There is none.
    """
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("chromium is not installed")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def measure(browser: Browser, page: Path, rounds: int = ROUNDS) -> Opening:
    """Open a page several times, each in a new context, which has no cache."""
    rows = []
    for _ in range(rounds):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        tab = context.new_page()
        start = time.perf_counter()
        tab.goto(page.as_uri(), wait_until="load")
        tab.click("#theme")
        tab.evaluate("new Promise(requestAnimationFrame)")
        opened = time.perf_counter()
        tab.click("#query-browser > summary")
        tab.wait_for_selector("#query-browser .browser-item")
        browsed = time.perf_counter()
        heap = tab.evaluate("performance.memory.usedJSHeapSize") / 1e6
        rows.append((opened - start, browsed - opened, heap))
        context.close()
    return Opening(*(statistics.median(column) for column in zip(*rows, strict=True)))


def main() -> None:
    """Print the figures of one page."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        run, page = folder / "report-run", folder / "report.html"
        make_run(run)
        start = time.perf_counter()
        made = make_report([run], ReportOptions())
        page.write_text(made.page, "utf-8")
        seconds = time.perf_counter() - start
        with chromium() as browser:
            opening = measure(browser, page)
        cells = made.document["cells"]
        print(f"{len(cells)} chunkers, {cells[0]['n_queries']:,} queries")
        print(f"file {page.stat().st_size / 1e6:.1f} MB, made in {seconds:.1f} s")
        print(f"opening {opening.opening:.2f} s, browsing queries {opening.browsing:.2f} s")
        print(f"JavaScript heap {opening.heap:.0f} MB")


if __name__ == "__main__":
    main()
