"""The README's pictures of a report: the first screen, in light and in dark.

    python -m benchmarks.screenshots [FOLDER]

Makes the run that `chunkmark run` makes without arguments, and its report. With FOLDER it writes
the pictures there, as `make screenshots` does into `docs/images`; without, it prints their sizes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.report import chromium
from harness.reports.page.assemble import ReportOptions, make_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDTH = 1120
COLOURS = 64
SCHEMES = ("light", "dark")


def pictures(browser: Browser, page: Path, folder: Path) -> list[Path]:
    """Write `report-light.png` and `report-dark.png`: a page as far as the end of its answer."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for scheme in SCHEMES:
        tab = browser.new_page(viewport={"width": WIDTH, "height": 800}, color_scheme=scheme)
        tab.goto(page.as_uri())
        answer = tab.locator("#answer").bounding_box()
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": answer["y"] + answer["height"]}
        path = folder / f"report-{scheme}.png"
        tab.screenshot(path=path, clip=clip, full_page=True)
        Image.open(path).quantize(COLOURS).save(path, optimize=True)
        paths.append(path)
    return paths


def main() -> None:
    """Make the run, the report and the pictures; print their sizes."""
    with tempfile.TemporaryDirectory() as temporary:
        run, page = Path(temporary) / "chunkmark-run", Path(temporary) / "report.html"
        command = [sys.executable, "-m", "harness.cli", "run", "-o", str(run)]
        subprocess.run(command, check=True, capture_output=True)
        page.write_text(make_report([run], ReportOptions()).page, "utf-8")
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        with chromium() as browser:
            for path in pictures(browser, page, folder):
                print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
