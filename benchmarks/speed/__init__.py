"""What chunkmark does against what others take for it, or against a limit, in processor time.

    python -m benchmarks.speed [FILE]

Both sides of a pair are measured in one run, taking turns, so that both see the same machine; the
medians count, and the median of the ratios of each turn. The table is printed, and written to FILE
as JSON. Commands run with compiled bytecode, as installed ones do.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from contextlib import ExitStack
from pathlib import Path

from benchmarks.speed import cutting, runs, scoring, search, spans, startup
from benchmarks.speed.pairs import Result, measure

HEADS = ("what", "seconds", "compared with", "seconds", "ratio", "aim")


def main() -> None:
    """Print the table."""
    results = []
    with ExitStack() as stack:
        for module in (scoring, spans, cutting, search, startup, runs):
            for pair in stack.enter_context(module.pairs()):
                print(f"measuring: {pair.name}", file=sys.stderr, flush=True)
                results.append(measure(pair))
    print("|", " | ".join(HEADS), "|")
    print("|---|---:|---|---:|---:|---|")
    for result in results:
        print("|", " | ".join(_row(result)), "|")
    if len(sys.argv) > 1:
        rows = [dataclasses.asdict(result) for result in results]
        Path(sys.argv[1]).write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


def _row(result: Result) -> list[str]:
    other = "" if result.other_seconds is None else f"{result.other_seconds:.3f}"
    ratio = "" if result.ratio is None else f"{result.ratio:.2f}"
    return [result.name, f"{result.seconds:.3f}", result.other, other, ratio, result.aim]
