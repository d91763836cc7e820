"""Stored cells with made values of one measure."""

from pathlib import Path

import numpy as np

from harness.runs.stored_values import StoredCell

MEASURE = "SpanR@10000c"
PROFILE = {"name": "default", "mean": "queries"}


def cell(chunker, values, *, corpora=1, tokens=1000, unseen=0.0, follows="", **identity):
    """A stored cell of one measure with the values of queries."""
    queries = [f"q{at:03}" for at in range(len(values))]
    names = {"dataset": "made", "chunker": chunker, "embedder": "minilm", "retriever": "dense"}
    return StoredCell(
        Path("run/cells") / chunker,
        names | {key: identity[key] for key in names.keys() & identity.keys()},
        {
            "identity": {"dataset": "f" * 64} | identity,
            "health": {"unseen_chunk_tokens": unseen, "chunks": 10},
            "cost": {"tokens": tokens},
        },
        {"asked": {"profile": PROFILE}, "metrics": {MEASURE: {}}},
        {query: (f"corpus {at % corpora}", f"file {at}") for at, query in enumerate(queries)},
        {query: {MEASURE: float(v)} for query, v in zip(queries, values, strict=True)},
        follows,
    )


def noise(seed, n=200, scale=0.05):
    return 0.5 + np.random.default_rng(seed).normal(0, scale, n)
