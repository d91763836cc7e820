"""Sizes that match: the search of a limit, and chunkers on a real corpus."""

import pytest
from commands import call
from worlds import grid, small

from chunkers.plugins.loading import load_chunker
from chunkers.source import Span
from harness.chunking.corpus import Services, chunk_corpora
from harness.runs.matching import match_sizes, median_chunk, parse_match_size, search
from harness.runs.stored_values import read_stored_cells


@pytest.mark.parametrize("start", [1, 100, 600, 5000])
@pytest.mark.parametrize(
    "shape",
    [
        lambda limit: 0.8 * limit,
        lambda limit: limit**0.7,
        lambda limit: 3.0 * (limit // 3),
        lambda limit: min(0.5 * limit, 700),
        lambda limit: 40 + 0.3 * limit,
    ],
)
def test_a_limit_is_found_from_anywhere(shape, start):
    tries = []

    def median_of(limit):
        tries.append(limit)
        return shape(limit)

    limit, medians = search(median_of, start, 120)
    assert medians[limit] == pytest.approx(120, rel=0.03)
    assert len(tries) == len(set(tries)) <= 16


def test_a_median_that_does_not_grow_ends_the_search_at_the_smallest_nearest_limit():
    limit, medians = search(lambda limit: min(limit, 90), 60, 500)
    assert medians[limit] == 90
    assert limit == min(tried for tried, value in medians.items() if value == 90)


def test_a_jump_takes_the_nearer_side():
    limit, medians = search(lambda limit: 50 if limit < 333 else 130, 600, 100)
    assert limit >= 333
    assert medians[limit] == 130


def test_a_median_that_also_falls_ends_the_search():
    limit, medians = search(lambda limit: 100 + (limit * 7919 % 37) * 10, 600, 333)
    assert abs(medians[limit] - 333) == min(abs(value - 333) for value in medians.values())


def by_functions(source):
    starts = [at for at in range(len(source.text)) if source.text.startswith("def ", at)]
    return [Span(a, b) for a, b in zip(starts, [*starts[1:], len(source.text)], strict=True)]


def cut(chunker):
    return chunk_corpora(small().corpora, chunker, Services())


def test_chunkers_are_set_to_the_median_of_another_and_the_rest_is_left_and_said():
    chunkers = [load_chunker(name) for name in
                ("fixed:max_size=60", "ast:max_size=300", "whole-file", "semantic")]  # fmt: skip
    matched, lines = match_sizes(chunkers, chunkers[0], cut)
    wanted = median_chunk(cut(chunkers[0]), "fixed")
    names = [chunker.name for chunker in matched]
    assert names[0] == "fixed:max_size=60"
    assert names[1].startswith("ast:max_size=")
    assert names[2:] == ["whole-file", "semantic"]
    reached = median_chunk(cut(matched[1]), "ast")
    assert lines[0] == f"wanted median chunk: {wanted:.0f} c"
    assert f"median chunk {reached:.0f} c" in lines[2]
    assert ("the nearest that it reaches" in lines[2]) == (abs(reached / wanted - 1) > 0.02)
    assert lines[3] == "whole-file: left as it is, since it has no max_size"
    assert lines[4] == "semantic: left as it is, since it embeds to cut"


def test_options_are_kept_and_a_sweep_of_sizes_is_matched_once():
    chunkers = [load_chunker(f"fixed:overlap=1,max_size={size}") for size in (80, 160)]
    (matched,), lines = match_sizes(chunkers, 100, cut)
    assert lines[-1] == "fixed:max_size=160,overlap=1: as fixed:max_size=80,overlap=1"
    assert "overlap=1" in matched.name
    median = median_chunk(cut(matched), "fixed")
    assert median == pytest.approx(100, rel=0.25)  # whole lines


def test_a_chunker_that_allows_no_such_size_is_left_as_it_is():
    chunkers = [load_chunker("memorybench-fixed"), load_chunker("fixed")]
    matched, lines = match_sizes(chunkers, 60, cut)
    assert matched[0].name == "memorybench-fixed"
    assert lines[1].startswith("memorybench-fixed: left as it is, since ")
    assert "overlap=96" in lines[1]
    assert matched[1].name.startswith("fixed:max_size=")


@pytest.mark.parametrize(
    ("text", "words"),
    [("0", "must be above 0, not 0"), ("-3", "must be above 0"), ("fxed", "unknown chunker"),
     ("1.5", "a number of characters or a chunker"), ("", "a number of characters or a chunker"),
     ("semantic", "embeds to cut")],
)  # fmt: skip
def test_a_wrong_size_is_refused(text, words):
    with pytest.raises(Exception, match=words):
        parse_match_size(text)


def test_a_run_names_the_sizes_that_it_chose_and_stores_them(tmp_path, capsys):
    done = call(capsys, "run", "-c", "ast", "-c", "whole-file", "-r", "bm25", "--match-size", 200,
                "-m", "SpanR@10000c", "-o", tmp_path / "run", "--format", "json")  # fmt: skip
    name = done.json["cells"][0]["chunker"]
    assert name.startswith("ast:max_size=")
    assert f"ast: {name[4:]}, median chunk " in done.err
    assert done.json["cells"][1]["chunker"] == "whole-file"


def test_unmatched_and_matched_cells_share_a_folder(tmp_path):
    for match in (None, "90"):
        changes = {} if match is None else {"match_size": match}
        grid(tmp_path, chunkers=("fixed:max_size=200",), retrievers=("bm25",), **changes)
    first, second = (one.names["chunker"] for one in read_stored_cells(tmp_path / "run"))
    assert first != second
    assert second == "fixed:max_size=200"
