"""What search costs as vectors grow: time and memory, with and without a limit of memory.

    python -m benchmarks.scaling [LARGEST]

Each row is a process of its own. `FAISS` is a flat index of FAISS itself, over the same vectors and
queries, in the same process. Memory is the most that the process had at once besides its programs
and files: what a machine must have.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np

from benchmarks.memory import PeakMemory

WIDTH, QUERIES, NEAREST = 384, 1000, 100
SIZES = (1_000, 10_000, 100_000, 1_000_000)
LIMITS = ("", "512MB")
_BLOCK = 10_000


def main() -> None:
    """Print the table."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[-1]
    heads = (
        "vectors",
        "--memory",
        "scaling s",
        "search s",
        "FAISS s",
        "ratio",
        "vectors MB",
        "memory MB",
    )
    print("|", " | ".join(heads), "|")
    print("|", " | ".join(["---:"] * len(heads)), "|")
    for limit in LIMITS:
        for size in (size for size in SIZES if size <= largest):
            command = [sys.executable, "-m", "benchmarks.scaling", "--one", str(size), limit]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            row = json.loads(done.stdout)
            print("|", " | ".join([f"{size:,}", limit or "-", *row]), "|", flush=True)


def one(size: int, limit: str) -> None:
    """Measure one size, and print the rest of its row as JSON."""
    import faiss

    from harness.embedding.text_vectors import unit_vectors
    from harness.retrieval.indexes import flat
    from harness.support.space import parse_space

    space = parse_space(limit or None)
    with PeakMemory() as memory:
        values = space.empty((size, WIDTH))
        rng = np.random.default_rng(0)
        for start in range(0, size, _BLOCK):
            count = min(_BLOCK, size - start)
            values[start : start + count] = rng.random((count, WIDTH), dtype=np.float32) - 0.5
        started = time.perf_counter()
        unit, _ = unit_vectors(values, space, out=values)
        scaling = time.perf_counter() - started
        queries = unit[rng.integers(size, size=QUERIES)] + np.float32(0.01)
        search = flat.make().build(unit)
        seconds = []
        for _ in range(3):
            started = time.perf_counter()
            search.search(queries, NEAREST)
            seconds.append(time.perf_counter() - started)
    others = []
    if not limit:
        index = faiss.IndexFlatIP(WIDTH)
        index.add(unit)
        for _ in range(3):
            started = time.perf_counter()
            index.search(queries, min(size, NEAREST + 32))
            others.append(time.perf_counter() - started)
    own, other = float(np.median(seconds)), float(np.median(others)) if others else None
    megabytes = size * WIDTH * 4 / 1e6
    print(
        json.dumps(
            [
                f"{scaling:.2f}",
                f"{own:.3f}",
                "-" if other is None else f"{other:.3f}",
                "-" if other is None else f"{own / other:.2f}",
                f"{megabytes:,.0f}",
                f"{memory.most / 1e6:,.0f}",
            ]
        )
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(int(sys.argv[2]), sys.argv[3])
    else:
        main()
