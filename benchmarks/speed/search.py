"""Exact search over a million vectors; `benchmarks.scaling` measures other sizes, and memory."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.scaling import NEAREST, QUERIES, WIDTH
from benchmarks.speed.pairs import Pair, calling
from harness.embedding.text_vectors import unit_vectors
from harness.retrieval.indexes import flat
from harness.retrieval.vector_index import SPARE

if TYPE_CHECKING:
    from collections.abc import Iterator

VECTORS = 1_000_000


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """All queries at once, each with spare results, as a run asks for them."""
    import faiss

    rng = np.random.default_rng(0)
    values = rng.random((VECTORS, WIDTH), dtype=np.float32) - np.float32(0.5)
    unit, _ = unit_vectors(values, out=values)
    queries = unit[rng.integers(VECTORS, size=QUERIES)] + np.float32(0.01)
    search = flat.make().build(unit)
    index = faiss.IndexFlatIP(WIDTH)
    index.add(unit)
    yield [
        Pair(
            f"search of {VECTORS:,} vectors, {QUERIES:,} queries",
            calling(lambda: search.search(queries, NEAREST)),
            "`IndexFlatIP` of FAISS",
            calling(lambda: index.search(queries, NEAREST + SPARE)),
            aim=1.15,
            rounds=3,
        )
    ]
