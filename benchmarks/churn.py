"""Processor time of `churn` against the size of the edits and the size of the repository.

    python -m benchmarks.churn [EDITS]

Histories are made so that only one of both grows: twice as many edits of the same files should take
twice the time beyond that of one edit, and eight times as many files that no commit changes none.
"""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHUNKERS = ("ast", "fixed")
_FILES, _FUNCTIONS = 50, 60


def source(number: int, edit: int) -> bytes:
    """A file of functions, one of which an edit changed."""
    functions = (
        f"def function_{number}_{n}(value):\n    total = value + {n}\n"
        f"    return total * {edit if n == edit % _FUNCTIONS else n}\n"
        for n in range(_FUNCTIONS)
    )
    return "\n\n".join(functions).encode()


def history(folder: Path, files: int, edits: int) -> None:
    """A repository of so many files; each edit changes the next of the first few."""
    import pygit2

    who = pygit2.Signature("A", "a@example.org", 1_700_000_000, 0)
    repository = pygit2.init_repository(folder, bare=True)
    index = pygit2.Index()

    def put(path: str, content: bytes) -> None:
        index.add(
            pygit2.IndexEntry(path, repository.create_blob(content), pygit2.enums.FileMode.BLOB)
        )

    for number in range(files):
        put(f"p{number % 20}/m{number}.py", source(number, -1))
    parents: list[pygit2.Oid] = []
    for edit in range(edits + 1):
        if edit:
            number = edit % _FILES
            put(f"p{number % 20}/m{number}.py", source(number, edit))
        tree = index.write_tree(repository)
        parents = [repository.create_commit("HEAD", who, who, f"edit {edit}", tree, parents)]


def seconds(folder: Path, edits: int) -> tuple[float, float]:
    """Processor seconds of the command, those of its child processes included, and wall time."""
    command = [sys.executable, "-m", "harness.cli", "churn", str(folder), "--commits", str(edits)]
    command += [part for name in CHUNKERS for part in ("-c", name)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    """Print the time for each number of files and edits."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"churn by {', '.join(CHUNKERS)}: processor seconds, the lower of 2 runs\n")
    print("| files | edits | edited bytes | seconds | wall |")
    print("|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as top:
        cases = list(itertools.product((_FILES, 8 * _FILES), (1, most // 2, most)))
        for files, edits in cases:
            history(Path(top, f"{files}-{edits}"), files, edits)
        # Interleaved, so that what else the machine does falls on all of them.
        times = [
            [seconds(Path(top, f"{files}-{edits}"), edits) for files, edits in cases]
            for _ in range(2)
        ]
    for (files, edits), *runs in zip(cases, *times, strict=True):
        spent, wall = min(runs)
        size = sum(len(source(edit % _FILES, edit)) for edit in range(1, edits + 1))
        print(f"| {files} | {edits} | {size:,} | {spent:.1f} | {wall:.1f} |")


if __name__ == "__main__":
    main()
