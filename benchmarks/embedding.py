"""Texts per second: batches of fixed shape compared with plain `encode`, alternating."""

from __future__ import annotations

import sysconfig
import tempfile
import time
from pathlib import Path

import numpy as np

from harness.embedding.text_vectors import embed_texts
from harness.embedding.vector_store import VectorStore
from harness.runs.pipeline import load_embedder

ROUNDS, TEXTS, LINES = 3, 120, 18


def texts() -> list[str]:
    """Distinct runs of lines from the standard library, of all lengths."""
    runs: list[str] = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        lines = path.read_text("utf-8").split("\n")
        runs += ["\n".join(lines[at : at + LINES]) for at in range(0, len(lines), LINES)]
    kept = sorted({text for text in runs if text.strip()})
    return [kept[at] for at in np.random.default_rng(0).permutation(len(kept))[: ROUNDS * TEXTS]]


def main() -> None:
    """Print both speeds and their ratio."""
    from sentence_transformers import SentenceTransformer

    embedder = load_embedder("minilm")
    model = SentenceTransformer(str(embedder.folder), device="cpu")  # type: ignore[attr-defined]
    every = texts()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        store = VectorStore(Path(folder) / "vectors.sqlite")
        embed_texts(["warm"], embedder, store, "document")
        model.encode(["warm"])
        for turn in range(ROUNDS):
            batch = every[turn * TEXTS : (turn + 1) * TEXTS]
            started = time.perf_counter()
            vectors = embed_texts(batch, embedder, store, "document").values
            fixed = time.perf_counter() - started
            started = time.perf_counter()
            plain = model.encode(batch, batch_size=32)
            encode = time.perf_counter() - started
            ratios.append(fixed / encode)
            print(
                f"fixed shapes {TEXTS / fixed:6.1f} texts/s   encode {TEXTS / encode:6.1f} texts/s"
                f"   time ratio {fixed / encode:.2f}   largest difference "
                f"{np.abs(vectors - plain).max():.1e}"
            )
        store.close()
    print(f"median time ratio, fixed shapes to encode: {np.median(ratios):.2f}")


if __name__ == "__main__":
    main()
