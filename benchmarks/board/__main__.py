"""Makes the board of chunkers: docs/board.md and docs/images/board.svg.

    python -m benchmarks.board [FOLDER] [--page] [--docs DOCS]

Downloads the packages into FOLDER (by default `board` in chunkmark's cache folder), runs every step
below FOLDER/runs, and writes the page. Rerun it to resume; what is complete is not run again.
`--page` writes the page of what is there and runs nothing. DOCS is the folder of the page, by
default `docs`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.board.page import write_page
from benchmarks.board.tasks import Step, prepare, steps
from harness.runs.folder import read_manifest
from harness.support.data_folders import cache_dir

ABSENT, SECONDS = "absent.json", "seconds.json"
"""In FOLDER: why tasks could not be run, by name; the processor's seconds of each step."""

_FAILED_PARTS = 3  # the exit code of a run in which a chunker failed, which the page names
_INTERRUPTED = 130


def main() -> int:
    """Run what is missing, then write the page; 1 if a step failed."""
    parser = argparse.ArgumentParser(description=__doc__, usage="python -m benchmarks.board ...")
    parser.add_argument("folder", nargs="?", type=Path, default=cache_dir() / "board")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    options = parser.parse_args()
    folder = options.folder.absolute()
    failed: list[str] = []
    if not options.page:
        folder.mkdir(parents=True, exist_ok=True)
        absent = prepare(folder)
        write_json(folder / ABSENT, absent)
        for name, reason in absent.items():
            print(f"{name} is left out: {reason}", flush=True)
        failed = run_steps([step for step in steps() if step.task.name not in absent], folder)
    absent = read_json(folder / ABSENT)
    for path in write_page(folder, absent, read_json(folder / SECONDS), options.docs):
        print(path)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run_steps(chosen: list[Step], folder: Path) -> list[str]:
    """Run each step that is not complete, and the next one if it fails.

    Returns:
        The folders of the steps that failed.
    """
    failed = []
    started = time.monotonic()
    for at, step in enumerate(chosen, 1):
        if is_complete(step, folder):
            continue
        minutes = (time.monotonic() - started) / 60
        print(f"{minutes:.1f} min, {at} of {len(chosen)}: {step.folder}", flush=True)
        command = [sys.executable, "-m", "harness.cli", *step.arguments(str(folder))]
        before = processor_seconds()
        done = subprocess.run(
            [*command, "--format", "json"], stdout=subprocess.DEVNULL, check=False
        )
        seconds = read_json(folder / SECONDS)
        own = seconds.get(step.folder, 0.0) + processor_seconds() - before
        write_json(folder / SECONDS, seconds | {step.folder: round(own, 1)})
        if done.returncode == _INTERRUPTED:
            raise SystemExit(_INTERRUPTED)
        if done.returncode not in (0, _FAILED_PARTS):
            print(f"{step.folder} failed with code {done.returncode}", flush=True)
            failed.append(step.folder)
    return failed


def processor_seconds() -> float:
    """The processor's seconds of all finished child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def read_json(file: Path) -> dict[str, Any]:
    """The object in a file; empty if there is no file."""
    return dict(json.loads(file.read_text("utf-8"))) if file.is_file() else {}


def write_json(file: Path, document: dict[str, Any]) -> None:
    """Write an object to a file."""
    file.write_text(json.dumps(document, indent=1, sort_keys=True), "utf-8")


def is_complete(step: Step, folder: Path) -> bool:
    """Whether the run folder of a step has the whole of its last run."""
    run = folder / "runs" / step.folder
    return run.is_dir() and read_manifest(run)["status"] == "complete"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None
