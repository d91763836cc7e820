"""What becomes of a library's strings in a run: places, ids, counts and scores."""

import pytest
from worlds import grid, small

from chunkers import Source, Span
from chunkers.locate import spans_of
from harness.model import Corpus, Query, Target
from harness.reports.document import run_document
from harness.runs.record import read_record


def plain(source, services):
    return spans_of(source, [source.text], services)


def headed(source, services):
    return spans_of(source, [f"'''\n{source.path}\n'''\n{source.text}"], services)


def invented(source, services):
    return spans_of(
        source, ["nothing of this\nstands in the source\n", source.text, "nor this\n"], services
    )


def with_blanks(source, services):
    return spans_of(source, ["", "   \n", source.text], services)


def thrice(source, services):
    return spans_of(source, ["x = 1"] * 3, services)


def tens(source):
    return [Span(at, at + 10) for at in range(0, len(source.text), 10)]


def run(tmp_path, text, name, *, last=1, **changes):
    """A run of one file and one query, which asks for its lines 1 to `last`."""
    corpus = Corpus("c", (Source(text, "p/a.py", "python"),), ())
    query = Query("q", "c", "x", (Target("p/a.py", 1, last),))
    dataset = small(corpora=(corpus,), queries=(query,))
    changes = {"chunkers": (f"{__name__}:{name}",), "retrievers": ("bm25",)} | changes
    result = grid(tmp_path, name, dataset=dataset, **changes)
    (cell,) = run_document(result)["cells"]
    record = read_record(tmp_path / name / "cells" / cell["key"])
    return cell, record


def mean(cell, name):
    return cell["metrics"][name]["mean"]


def test_an_added_header_is_no_line_of_the_source_but_costs_tokens(tmp_path):
    text = "x = 1\ny = 2\n"
    given = {"retrievers": ("dense",), "last": 2}
    cell, record = run(tmp_path, text, "headed", **given)
    (row,) = record.chunks
    assert (row.id, row.start, row.end) == ("p/a.py:1-2", 0, 11)
    assert row.around == (12, 0)  # what stands before, white space left out
    assert cell["health"]["coverage"] == 1.0
    assert mean(cell, "SpanR@10000c") == mean(cell, "SpanP@10000c") == 1.0
    without, _ = run(tmp_path, text, "plain", **given)
    assert cell["cost"]["tokens"] > without["cost"]["tokens"]


def test_what_is_not_of_the_source_is_counted_and_has_no_line(tmp_path):
    cell, record = run(tmp_path, "x = 1\ny = 2\n", "invented")
    assert [row.id for row in record.chunks] == ["p/a.py:1-2"]
    assert cell["health"]["unlocated"] == 2
    assert "2 strings of the chunker are not in their file" in cell["marks"]


def test_equal_strings_are_not_all_relevant_to_the_first_line(tmp_path):
    cell, record = run(tmp_path, "x = 1\n" * 3, "thrice", measures=("P@3", "R@3"))
    assert [(row.start, row.start_line) for row in record.chunks] == [(0, 1), (6, 2), (12, 3)]
    assert cell["relevant_units"] == 1
    assert (mean(cell, "P@3"), mean(cell, "R@3")) == (pytest.approx(1 / 3), 1.0)


def test_blank_strings_are_dropped_and_counted_and_are_no_hits(tmp_path):
    cell, record = run(tmp_path, "x = 1\n", "with_blanks", measures=("P@3",))
    assert len(record.chunks) == 1
    assert cell["health"]["blank"] == 2
    assert "2 blank chunks are dropped" in cell["marks"]
    assert mean(cell, "P@3") == pytest.approx(1 / 3)


def test_chunks_of_one_line_are_each_of_the_gold_once(tmp_path):
    cell, record = run(tmp_path, "x + 12345 " * 4, "tens", measures=("nDCG@4", "R@4", "P@4"))
    ids = ["p/a.py:1-1", "p/a.py:1-1#2", "p/a.py:1-1#3", "p/a.py:1-1#4"]
    assert [row.id for row in record.chunks] == ids
    assert cell["relevant_units"] == 4
    assert [mean(cell, name) for name in ("nDCG@4", "R@4", "P@4")] == [1.0, 1.0, 1.0]


def test_chunks_over_the_limit_are_counted_with_the_largest(tmp_path):
    text = 'x = "' + "A" * 800 + '"\ny = 1\n'
    pytest.importorskip("chonkie")
    spec = "chonkie-code:max_size=60,unit=chars"
    cell, record = run(tmp_path, text, "soft", chunkers=(spec,))
    sizes = sorted(row.end - row.start for row in record.chunks)
    assert sum(sizes) == len(text)
    health = cell["health"]
    assert (health["size_max"], health["size_p95"]) == (sizes[-1], sizes[-1])
    assert health["over_size"] == sum(size > 60 for size in sizes) >= 1


def nothing(source):
    return []


@pytest.mark.parametrize("profile", ["default", "code-chunk", "trec"])
def test_a_corpus_without_chunks_is_not_scored(tmp_path, profile):
    dataset = small(
        corpora=(Corpus("c", (Source("x = 1\n", "p/a.py", "python"),), ()),),
        queries=(Query("q", "c", "x", (Target("p/a.py", 1, 1),)),),
    )
    chunkers = (f"{__name__}:nothing",)
    result = grid(tmp_path, dataset=dataset, chunkers=chunkers, retrievers=("bm25",),
                  profile=profile, measures=("R@5", "MRR"))  # fmt: skip
    assert result.cells == ()
    (failed,) = result.failed
    assert [why for *_, why in failed.failures] == ["no chunk"]
