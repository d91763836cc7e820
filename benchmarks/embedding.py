"""Texts per second: embedding from an empty store compared with plain `encode`, alternating.

`python -m benchmarks.embedding_backends` compares ways of running the model: those of OpenVINO,
ONNX Runtime and torch.compile too, where `openvino`, `onnxruntime` with `onnx`, or `g++` is
installed.
"""

from __future__ import annotations

import statistics
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.embedding.text_vectors import embed_texts
from harness.embedding.vector_store import VectorStore
from harness.runs.pipeline import load_embedder

if TYPE_CHECKING:
    from collections.abc import Callable

LINES = 18
ROUNDS = {480: 1, 120: 3}  # by number of texts
BATCHES = (8, 16, 32, 64)


def texts() -> list[str]:
    """Distinct runs of lines from the standard library, of all lengths, in a fixed random order."""
    runs: list[str] = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        lines = path.read_text("utf-8").split("\n")
        runs += ["\n".join(lines[at : at + LINES]) for at in range(0, len(lines), LINES)]
    kept = sorted({text for text in runs if text.strip()})
    return [kept[at] for at in np.random.default_rng(0).permutation(len(kept))]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Wall time in seconds, and the result."""
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def compare(count: int) -> None:
    """Print the speeds of both for `count` texts, and the ratio of their times."""
    from sentence_transformers import SentenceTransformer

    embedder = load_embedder("minilm")
    model = SentenceTransformer(str(embedder.folder), device="cpu")  # type: ignore[attr-defined]
    every = texts()[:count]
    model.encode(["warm"])
    ratios, speeds = [], []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(ROUNDS[count] + 1):
            store = VectorStore(Path(folder) / f"{turn}.sqlite")
            if turn == 0:
                embed_texts(every[:8], embedder, store, "document")  # loads the model
                store.close()
                continue
            ours, vectors = timed(lambda: embed_texts(every, embedder, store, "document").values)  # noqa: B023
            store.close()
            theirs = {}
            for size in BATCHES:
                theirs[size], plain = timed(lambda: model.encode(every, batch_size=size))  # noqa: B023
            best = min(theirs, key=lambda size: theirs[size])
            ratios.append(ours / theirs[best])
            speeds.append((count / ours, count / theirs[best]))
            print(
                f"{count} texts   chunkmark {ours:6.2f} s   encode "
                + "  ".join(f"{size}: {seconds:6.2f} s" for size, seconds in theirs.items())
                + f"   ratio to the best {ratios[-1]:.2f}"
                f"   largest difference {np.abs(vectors - plain).max():.1e}",
                flush=True,
            )
    ours, theirs_best = (statistics.median(column) for column in zip(*speeds, strict=True))
    print(
        f"{count} texts   median: chunkmark {ours:.1f} texts/s   encode {theirs_best:.1f} texts/s"
        f"   ratio of times {statistics.median(ratios):.2f}",
        flush=True,
    )


def compare_work(count: int) -> None:
    """Print the processor time of both on one thread, which other programs hardly change."""
    import torch
    from sentence_transformers import SentenceTransformer

    embedder = load_embedder("minilm")
    model = SentenceTransformer(str(embedder.folder), device="cpu")  # type: ignore[attr-defined]
    every = texts()[:count]
    list(embedder.embed(every[:8], "document"))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def seconds(work: Callable[[], Any]) -> float:
        started = time.process_time()
        work()
        return time.process_time() - started

    ours = seconds(lambda: list(embedder.embed(every, "document")))
    theirs = min(seconds(lambda: model.encode(every, batch_size=size)) for size in BATCHES)  # noqa: B023
    torch.set_num_threads(threads)
    print(
        f"{count} texts on one thread, processor time: chunkmark {ours:.1f} s"
        f"   encode at its best {theirs:.1f} s   ratio {ours / theirs:.2f}"
    )


def main() -> None:
    """Print both speeds and their ratio."""
    for count in ROUNDS:
        compare(count)
    compare_work(min(ROUNDS))


if __name__ == "__main__":
    main()
