"""Retrieval by chunk size, with and without embedding windows."""

from __future__ import annotations

import sys

SIZES = (200, 400, 600, 1000, 1500, 2000, 3000)
WINDOWS = {"none": "minilm", "max": "minilm:windows=max", "mean": "minilm:windows=mean"}
MEASURES = ("SpanR@10000c", "Complete@10000c")


def main() -> None:
    """Print the scores of `ast` by size on the built-in data set, as a Markdown table."""
    import harness
    from harness.runs.health import TRUNCATION_MARK

    dataset = harness.load_dataset("stdlib")
    cells = {}
    for windows, embedder in WINDOWS.items():
        print(f"embedding: windows {windows}", file=sys.stderr, flush=True)
        chunkers = [f"ast:max_size={size}" for size in SIZES]
        run = harness.evaluate(
            dataset, chunkers=chunkers, embedder=embedder, measures=list(MEASURES)
        )
        cells |= {(windows, size): cell for size, cell in zip(SIZES, run.cells, strict=True)}
    heads = [f"{name}, {windows}" for name in MEASURES for windows in WINDOWS]
    print(f"{len(dataset.queries)} queries, data {dataset.fingerprint[:12]}\n")
    print("|", " | ".join(["max_size", "chunks", "unseen", *heads]), "|")
    print("|", " | ".join(["---:"] * (3 + len(heads))), "|")
    for size in SIZES:
        health = cells["none", size].cell["health"]
        unseen = health["unseen_chunk_tokens"]
        row = [str(size), str(health["chunks"]), f"{unseen:.1%}{' !' * (unseen > TRUNCATION_MARK)}"]
        for name in MEASURES:
            for windows in WINDOWS:
                metric = cells[windows, size].metrics["metrics"][name]
                low, high = metric["ci95"]
                row.append(f"{metric['mean']:.3f} ± {(high - low) / 2:.3f}")
        print("|", " | ".join(row), "|")


if __name__ == "__main__":
    main()
