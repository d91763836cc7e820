"""A data set of a report with intervals, loaded as `report_worlds:wide`."""

from worlds import function

from chunkers.source import Source
from harness.model import Corpus, Dataset, Query, Target

NAMES = [f"{first}_{second}" for first in ("load", "save", "sort", "join") for second in "abcdef"]


def wide(data_dir=None):
    """A corpus of 24 files of two functions, one of which each query asks for."""
    sources = tuple(
        Source(function(name, 2 + at % 9) + function(f"more_{name}", 3), f"{name}.py", "python")
        for at, name in enumerate(NAMES)
    )
    queries = tuple(
        Query(f"q {name}", "one", f"transform {name}", (Target(f"{name}.py", 1, 4 + at % 9),),
              tags={"kind": name[:4]})
        for at, name in enumerate(NAMES)
    )  # fmt: skip
    return Dataset("wide", "span", (Corpus("one", sources),), queries)
