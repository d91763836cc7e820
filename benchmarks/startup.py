"""Start-up of the commands that must answer at once, relative to importing typer with rich."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 11
BASELINE = [sys.executable, "-c", "import typer, typer.rich_utils"]


def main() -> None:
    """Print medians over paired starts, which alternate with the baseline."""
    for arguments in (["--help"], ["list"]):
        command = [sys.executable, "-m", "harness.cli", *arguments]
        pairs = [(_seconds(BASELINE), _seconds(command)) for _ in range(ROUNDS)]
        baseline, seconds = (statistics.median(times) for times in zip(*pairs, strict=True))
        ratio = statistics.median(after / before for before, after in pairs)
        name = " ".join(["chunkmark", *arguments])
        print(f"{name:18} {seconds:.2f} s, baseline {baseline:.2f} s, ratio {ratio:.2f}")


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
