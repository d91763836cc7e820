"""Stored cells with made values of one measure, or of both budgets."""

from pathlib import Path

import numpy as np

from harness.reports.contests import SAME
from harness.runs.folder import PARTS
from harness.runs.stored_values import StoredCell

MEASURE = "SpanR@10000c"
TIGHT = "SpanR@2500c"
PROFILE = {"name": "default", "mean": "queries"}


def cell(
    chunker, values, *, tight=None, corpora=1, tokens=1000, unseen=0.0, follows="", median=500,
    **identity,
):  # fmt: skip
    """A stored cell with the values of queries; `tight` are those at the smaller budget."""
    columns = {MEASURE: values} | ({} if tight is None else {TIGHT: tight})
    queries = [f"q{at:03}" for at in range(len(values))]
    names = {"dataset": "made", "chunker": chunker, "embedder": "minilm", "retriever": "dense"}
    return StoredCell(
        Path("run/cells") / chunker,
        names | {key: identity[key] for key in names.keys() & identity.keys()},
        {
            "identity": dict.fromkeys((*SAME, *PARTS)) | {"dataset": "f" * 64} | identity,
            "health": {
                "unseen_chunk_tokens": unseen,
                "unseen_rerank_text_tokens": None,
                "chunks": 10,
                "median_c": median,
                "coverage": 1.0,
                "limit_unit": "nws",
            },
            "cost": {"tokens": tokens},
        },
        {
            "asked": {"profile": PROFILE},
            "metrics": {
                name: {"comparable": True, "mean": float(np.mean(column))}
                for name, column in columns.items()
            },
        },
        {query: (f"corpus {at % corpora}", f"file {at}") for at, query in enumerate(queries)},
        {
            query: {name: float(column[at]) for name, column in columns.items()}
            for at, query in enumerate(queries)
        },
        follows,
        config={"match_size": None},
    )


def noise(seed, n=200, scale=0.05):
    return 0.5 + np.random.default_rng(seed).normal(0, scale, n)
