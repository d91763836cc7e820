"""What a whole run costs as a corpus grows: processor seconds, and the most memory at once.

    python -m benchmarks.growth [LARGEST [PLOT]]

The corpus is made up: modules of functions whose words are drawn by Zipf's law, from 1,000 chunks
on. Two chunkers cut it, bm25 answers 100 questions, and everything is scored and written; each row
is a process of its own. A run without anything to cut is measured first and taken off: it is what
starting costs. What vectors cost is measured by `benchmarks.scaling` and `benchmarks.embedding`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SIZES = (1_000, 10_000, 100_000, 1_000_000)  # functions; both chunkers make fewer chunks
QUESTIONS, FUNCTIONS, LINES, WORDS = 100, 40, 12, 20_000
CHUNKERS = ("fixed", "ast")
_PROGRAM = """
import resource, runpy, sys
sys.argv[0] = "chunkmark"
try:
    runpy.run_module("harness.cli", run_name="__main__")
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def main() -> None:
    """Print the table, and draw it."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[-1]
    rows = []
    print("| chunks | seconds | seconds per 1,000 | memory MB | MB per 1,000 |")
    print("|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        start = measure(Path(folder) / "start", FUNCTIONS)
        for size in (size for size in SIZES if size <= largest):
            chunks, seconds, memory = measure(Path(folder) / str(size), size)
            seconds, memory = seconds - start[1], memory - start[2]
            rows.append((chunks, seconds, memory))
            each, megabytes = seconds * 1000 / chunks, memory * 1000 / chunks
            row = f"{chunks:,} | {seconds:.1f} | {each:.2f} | {memory:,.0f} | {megabytes:.1f}"
            print(f"| {row} |", flush=True)
    if len(sys.argv) > 2:
        draw(rows, sys.argv[2])


def draw(rows: list[tuple[int, float, float]], file: str) -> None:
    """Both costs on logarithmic axes, each beside a line that grows with the chunks alone."""
    from matplotlib.figure import Figure

    chunks, *costs = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    figure = Figure(figsize=(7, 3), layout="constrained")
    for place, cost, label in zip((1, 2), costs, ("processor seconds", "memory, MB"), strict=True):
        axes = figure.add_subplot(1, 2, place)
        axes.loglog(chunks, cost[-1] * chunks / chunks[-1], color="0.7", label="linear")
        axes.loglog(chunks, cost, marker="o", label="measured")
        axes.set(xlabel="chunks", ylabel=label)
        axes.legend(frameon=False)
    figure.savefig(file)


def measure(folder: Path, functions: int) -> tuple[int, float, float]:
    """Chunks, processor seconds and megabytes of a run over a new corpus of so many functions."""
    write(folder, functions)
    options = ["-d", "repo:corpus,queries=questions.jsonl", "-r", "bm25", "-o", "run"]
    options += [part for name in CHUNKERS for part in ("-c", name)]
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, "run", *options],
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
    )
    after = os.times()
    seconds = after.children_user - before.children_user
    seconds += after.children_system - before.children_system
    memory = int(done.stderr.split()[-1]) / 1000
    chunks = sum(file.read_bytes().count(b"\n") for file in folder.glob("run/cells/*/chunks.jsonl"))
    return chunks, seconds, memory


def write(folder: Path, functions: int) -> None:
    """A repository of so many functions, and questions about a hundred of them."""
    rng = np.random.default_rng(0)
    words = [f"{chr(97 + at % 26)}{at:x}" for at in range(WORDS)]
    (folder / "corpus").mkdir(parents=True)
    asked = set(rng.choice(functions, min(QUESTIONS, functions), replace=False).tolist())
    questions = []
    for module in range(-(-functions // FUNCTIONS)):
        lines: list[str] = []
        path = folder / "corpus" / f"m{module // 1000:03}" / f"module_{module}.py"
        for number in range(module * FUNCTIONS, min(functions, (module + 1) * FUNCTIONS)):
            drawn = rng.zipf(1.3, (LINES, 3)) % WORDS
            first = len(lines) + 1
            lines.append(f"def function_{number}(value):")
            lines += [f"    {words[a]} = {words[b]}({words[c]})" for a, b, c in drawn]
            lines += ["    return value", ""]
            if number in asked:
                query = " ".join(words[word] for word in sorted(drawn.ravel()[::4]))
                target = f"{path.relative_to(folder / 'corpus')}:{first}-{len(lines) - 1}"
                questions.append({"text": query, "targets": target})
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines), "utf-8")
    rows = "".join(json.dumps(question) + "\n" for question in questions)
    (folder / "questions.jsonl").write_text(rows, "utf-8")


if __name__ == "__main__":
    main()
