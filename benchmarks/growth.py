"""What a whole run costs as a corpus grows: processor seconds, and the most memory at once.

    python -m benchmarks.growth [LARGEST [PLOT]]

The corpus is made up: modules of functions whose words are drawn by Zipf's law, from 1,000 chunks
on. Two chunkers cut it, bm25 answers 100 questions, and everything is scored and written, without a
limit of memory and with one. Each run is a process of its own. One with hardly anything to cut is
measured first and taken off: it is what starting costs. What vectors cost is measured by
`benchmarks.scaling` and `benchmarks.embedding`.
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
LIMIT = "64MB"
_PROGRAM = """
import runpy, sys
from benchmarks.memory import PeakMemory
sys.argv[0] = "chunkmark"
memory = PeakMemory()
try:
    with memory:
        runpy.run_module("harness.cli", run_name="__main__")
finally:
    print(memory.most, file=sys.stderr)
"""


def main() -> None:
    """Print the table, and draw it."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[-1]
    rows = []
    print(
        "| chunks | text MB | --memory | seconds | seconds per 1,000 | memory MB | KB per chunk |"
    )
    print("|---:|---:|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        start = measure(Path(folder) / "start", FUNCTIONS, ())
        for size in (size for size in SIZES if size <= largest):
            for limit in ((), ("--memory", LIMIT)):
                chunks, seconds, memory, text = measure(Path(folder) / str(size), size, limit)
                seconds, memory = seconds - start[1], memory - start[2]
                rows.append((chunks, seconds, memory, bool(limit)))
                each, kilobytes = seconds * 1000 / chunks, memory * 1000 / chunks
                row = f"{chunks:,} | {text:,.0f} | {limit[-1] if limit else '-'} | {seconds:.1f}"
                print(f"| {row} | {each:.2f} | {memory:,.0f} | {kilobytes:.1f} |", flush=True)
    if len(sys.argv) > 2:
        draw(rows, sys.argv[2])


def draw(rows: list[tuple[int, float, float, bool]], file: str) -> None:
    """Both costs on logarithmic axes, each beside a line that grows with the chunks alone."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3), layout="constrained")
    for place, label in ((1, "processor seconds"), (2, "memory, MB")):
        axes = figure.add_subplot(1, 2, place)
        for limited, name in ((False, "no limit"), (True, f"--memory {LIMIT}")):
            points = [(row[0], row[place]) for row in rows if row[3] == limited]
            chunks, cost = np.array(points, dtype=float).T
            if not limited:
                axes.loglog(chunks, cost[-1] * chunks / chunks[-1], color="0.7", label="linear")
            axes.loglog(chunks, cost, marker="o", label=name)
        axes.set(xlabel="chunks", ylabel=label)
        axes.legend(frameon=False)
    figure.savefig(file)


def measure(
    folder: Path, functions: int, limit: tuple[str, ...]
) -> tuple[int, float, float, float]:
    """Chunks, processor seconds and megabytes of a run over so many functions, and of its text."""
    if not folder.exists():
        write(folder, functions)
    out = "limited" if limit else "run"
    options = ["-d", "repo:corpus,queries=questions.jsonl", "-r", "bm25", "-o", out, *limit]
    options += [part for name in CHUNKERS for part in ("-c", name)]
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, "run", *options],
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    after = os.times()
    seconds = after.children_user - before.children_user
    seconds += after.children_system - before.children_system
    memory = int(done.stderr.split()[-1]) / 1e6
    rows = folder.glob(f"{out}/cells/*/chunks.jsonl")
    text = sum(file.stat().st_size for file in folder.glob("corpus/**/*.py")) / 1e6
    return sum(_lines(file) for file in rows), seconds, memory, text


def _lines(file: Path) -> int:
    with file.open("rb") as opened:
        return sum(block.count(b"\n") for block in iter(lambda: opened.read(1 << 20), b""))


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
