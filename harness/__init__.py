"""The benchmark harness: data sets, retrieval, measures, runs and their command line.

import harness
ds = harness.load_dataset("repoeval-function")
run = harness.evaluate(ds, chunkers=["ast", "fixed"], measures=["nDCG@10", "SpanR@10000c"])
s = harness.score(rankings, qrels, ["nDCG@10"], profile="trec")
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.api import evaluate
    from harness.datasets.loading import load_dataset
    from harness.measures.score import score

__all__ = ["evaluate", "load_dataset", "score"]

_HOMES = {
    "evaluate": "harness.api",
    "load_dataset": "harness.datasets.loading",
    "score": "harness.measures.score",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is: the command line must start without it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
