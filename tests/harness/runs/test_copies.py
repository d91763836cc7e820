"""Copies of targets: every file is read once, however many queries begin alike."""

import pytest

from chunkers.source import Source
from harness.model import Corpus, Dataset, Query, Target
from harness.relevance import targets
from harness.runs.query_set import prepare

LICENCE = "".join(
    f"# Line {n} of a licence that every file of a repository has\n" for n in range(6)
)


@pytest.fixture
def squeezing(monkeypatch):
    """The characters that were squeezed."""
    sizes = []
    real = targets.squeezed
    monkeypatch.setattr(targets, "squeezed", lambda text: sizes.append(len(text)) or real(text))
    return sizes


def test_a_head_that_all_files_have_costs_one_look_at_each(squeezing):
    bodies = [f"{LICENCE}\nvalue = {n // 2}\n" for n in range(20)]
    files = tuple(Source(text, f"{n:02}.py", "python") for n, text in enumerate(bodies))
    queries = tuple(
        Query(f"q{n:02}", "c", f"text {n}", (Target(f"{n:02}.py", 1, 8),)) for n in range(20)
    )
    found = prepare(Dataset("d", "span", (Corpus("c", files),), queries))
    size = len("".join(bodies[0].split()))
    assert [[twin for place in places for twin in place.twins] for places in found.places] == [
        [(f"{n ^ 1:02}.py", 0, size)] for n in range(20)
    ]
    # Each file once, and the text of each target twice.
    assert sum(squeezing) <= 3 * sum(map(len, bodies))
