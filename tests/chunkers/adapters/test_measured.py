"""What libraries lose over Python's own library, and that the document names every chunker."""

import importlib.util
import re
from pathlib import Path

import pytest
from libraries import need

from chunkers import Source, Span, load_chunker
from chunkers.plugins.loading import CHUNKERS

ROOT = Path(__file__).parents[3]
LIMIT = "max_size=1500,unit=chars"
JOINED = [
    f"chonkie-code:{LIMIT}",
    f"chonkie-recursive:{LIMIT}",
    "chonkie-token:max_size=1500",
    f"langchain-code:{LIMIT},strip=off",
    f"langchain-recursive:{LIMIT},strip=off",
    f"text-splitter-code:{LIMIT}",
    f"text-splitter-text:{LIMIT}",
]


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("adapters", ROOT / "benchmarks/adapters.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def files(benchmark):
    found = benchmark.sources()
    assert 600 < len(found) < 900
    return found


def number(text):
    return int(text.replace(",", ""))


@pytest.mark.slow
@pytest.mark.parametrize("spec", JOINED)
def test_chunks_join_to_every_file(spec, benchmark, files):
    need(spec)
    row = benchmark.measure(load_chunker(spec), files)
    assert number(row["files that chunks join to"]) == len(files)
    assert (row["files with a loss"], row["files failed"]) == ("0", "0")
    assert (number(row["chunks over the limit"]) > 0) == spec.startswith("chonkie-code")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "lossy", "lost"),
    [
        ("astchunk:max_size=1100", 100, 266_000),
        ("astchunk:max_size=1100,expansion=on", 100, 266_000),
        (f"llamaindex-code:{LIMIT}", 6, 3_400),
    ],
)
def test_what_is_lost_is_counted(spec, lossy, lost, benchmark, files):
    need(spec)
    row = benchmark.measure(load_chunker(spec), files)
    # Other patch releases of Python have other files.
    assert number(row["files with a loss"]) == pytest.approx(lossy, rel=0.1, abs=2)
    assert number(row["characters lost"]) == pytest.approx(lost, rel=0.1)
    assert row["files failed"] == "0"


def test_the_document_has_a_row_for_every_chunker():
    text = (ROOT / "docs/chunkers.md").read_text("utf-8")
    head = text.partition("## Measured")[0]
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| ([a-z]+) \|", head, re.MULTILINE))
    entries = CHUNKERS.entries()
    own = {name for name, one in entries.items() if one.target.startswith("chunkers.")}
    assert set(rows) == own
    for name, family in rows.items():
        module = entries[name].target.partition(":")[0]
        assert family == importlib.import_module(module).FAMILY


def test_a_loss_is_counted_by_place_and_gaps_are_lost(benchmark):
    source = Source("ab cd\nef gh\n", "a.py", "python")
    assert benchmark.lost(source, [Span(0, 5), Span(0, 5)]) == 4
    assert benchmark.lost(source, [Span(0, 12, gaps=((3, 8),))]) == 4
    assert benchmark.lost(source, [Span(0, 12, gaps=((3, 8),)), Span(3, 8)]) == 0
