"""Processor time of a run over the trees of many commits, most of whose files are equal.

    python -m benchmarks.commits [COMMITS [REPOSITORY]]

The run is a command of its own, so that its time covers the processes that cut. Further trees
should cost much less than the first ones.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

CHUNKERS = ("ast", "fixed", "function")


def seconds(commits: int, repository: str) -> float:
    """Processor seconds of a run with bm25, those of its child processes included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        options = ["-d", f"repo:{repository},queries=commits,limit={commits}", "-r", "bm25"]
        options += [part for name in CHUNKERS for part in ("-c", name)]
        command = [sys.executable, "-m", "harness.cli", "run", "-o", f"{folder}/run", *options]
        subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the time of a few commits, of all, and of each further tree."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    repository = sys.argv[2] if len(sys.argv) > 2 else str(Path(__file__).parents[1])
    few = max(1, most // 5)
    times = {count: seconds(count, repository) for count in (few, most)}
    print(f"queries=commits, bm25, {', '.join(CHUNKERS)}: processor seconds\n")
    print("| commits | seconds | seconds per commit |")
    print("|---:|---:|---:|")
    for count, spent in times.items():
        print(f"| {count} | {spent:.1f} | {spent / count:.2f} |")
    if most > few:
        further = (times[most] - times[few]) / (most - few)
        print(f"\neach commit after the first {few}: {further:.2f}")


if __name__ == "__main__":
    main()
