"""Strings of a library are found where they stand, however it changed their white space."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers import Span
from chunkers.locate import locate, spans_of
from chunkers.source import Services, Source

PROGRAM = """import os

def first(a):
\tif a:
\t\treturn os.sep
\treturn None


def second(b):
\treturn b
"""


def places(text: str, pieces: list[str], overlap: int = 0) -> list[tuple[int, int, str]]:
    return [(one.start, one.end, one.how) for one in locate(Source(text, "a.py"), pieces, overlap)]


def test_repeated_text_has_increasing_places():
    assert [one[0] for one in places("x = 1\n" * 3, ["x = 1"] * 3)] == [0, 6, 12]


def test_twelve_equal_functions_have_twelve_increasing_starts():
    function = "def f():\n    return 1\n"
    found = places("\n".join([function] * 12), [function.strip()] * 12)
    assert [one[0] for one in found] == [23 * n for n in range(12)]
    assert {one[2] for one in found} == {"exact"}


@pytest.mark.parametrize(
    "change",
    [
        lambda piece: piece.replace("\t", "    "),
        lambda piece: "\n".join(line.strip() for line in piece.split("\n")),
        lambda piece: piece.replace("\n", "\r\n"),
        lambda piece: " ".join(piece.split()),
    ],
    ids=["tabs", "indentation", "line ends", "all white space"],
)
def test_changed_white_space_is_found_and_said(change):
    first, second = PROGRAM.index("def first"), PROGRAM.index("def second")
    pieces = [change(PROGRAM[first:second]), change(PROGRAM[second:])]
    assert places(PROGRAM, pieces) == [
        (first, len(PROGRAM[:second].rstrip()), "spaced"),
        (second, len(PROGRAM.rstrip()), "spaced"),
    ]


def test_line_feeds_of_a_library_are_found_in_a_source_of_crlf():
    text = "a = 1\r\nb = 2\r\nc = 3\r\n"
    assert places(text, ["a = 1\nb = 2\n", "c = 3\n"]) == [(0, 12, "spaced"), (14, 19, "spaced")]


def test_a_byte_order_mark_may_stand_in_one_of_the_two():
    assert places("x = 1\n", ["\ufeffx = 1\n"])[0][:2] == (0, 5)
    assert places("\ufeffx = 1\n", ["x = 1\n"]) == [(1, 7, "exact")]
    assert places("\ufeffx = 1\n", ["\ufeffx = 1\n"]) == [(0, 7, "exact")]


def test_added_headers_are_no_source():
    header = "'''\np/a.py\n'''\n"
    assert places("x = 1\ny = 2\n", [header + "x = 1\ny = 2\n"]) == [(0, 11, "body")]


def test_a_string_that_is_mostly_header_is_missing_rather_than_guessed():
    found = places("a\nx\ny\n", ["this line is of no source at all\nx\n", "y\n"])
    assert [one[2] for one in found] == ["missing", "exact"]
    found = places("x\ny\n", ["this line is of no source at all\nx\n", "y\n"])
    assert found == [(0, 1, "body"), (2, 4, "exact")]


def test_strings_out_of_order_are_found():
    text = "a = 1\nb = 2\nc = 3\n"
    assert places(text, ["c = 3\n", "a = 1\n", "b = 2\n"]) == [
        (12, 18, "exact"),
        (0, 6, "exact"),
        (6, 12, "exact"),
    ]


@pytest.mark.parametrize("lines", [1, 3, 20])
def test_however_many_strings_stand_out_of_order_all_are_found(lines: int) -> None:
    chance = random.Random(lines)  # noqa: S311
    parts = [f"name_{chance.randrange(500)} = {chance.randrange(4)}\n" for _ in range(20_000)]
    text = "".join(parts)
    pieces = ["".join(parts[at : at + lines]) for at in range(0, len(parts), lines)]
    chance.shuffle(pieces)
    found = places(text, pieces)
    assert [text[start:end] for start, end, _ in found] == pieces
    if lines == 20:
        assert len({one[0] for one in found}) == len(pieces)


def test_equal_strings_out_of_order_have_places_of_their_own():
    text = "".join(f"a = 1\nb = {n}\n" for n in range(100, 200))
    pieces = [f"b = {n}\n" for n in range(100, 200)][::-1] + ["a = 1\n"] * 100
    starts = [one[0] for one in places(text, pieces)]
    assert len(set(starts)) == len(pieces)


def test_of_two_places_the_one_that_stands_there_to_the_letter_is_meant():
    text = "a = 10\nb = 2\na = 1\nc = 3\n"
    assert places(text, ["b = 2\n", "a = 1\n", "a = 10\n"]) == [
        (7, 13, "exact"),
        (13, 19, "exact"),
        (0, 7, "exact"),
    ]
    assert places(text, ["c = 3\n", "a = 1\n"])[1] == (13, 19, "exact")


def test_what_a_library_repeats_more_often_than_it_stands_there_is_found_again():
    found = places("x = 1\ny = 2\n", ["x = 1\n", "y = 2\n", "x = 1\n", "x = 1\n"])
    assert [one[:2] for one in found] == [(0, 6), (6, 12), (0, 6), (0, 6)]


def test_overlaps_are_found_whether_declared_or_not():
    lines = [f"value_{n} = compute(value_{n - 1}, {n})\n" for n in range(30)]
    text = "".join(lines)
    pieces = ["".join(lines[at : at + 4]).strip() for at in range(0, 30, 2)]
    starts = [text.index(lines[at]) for at in range(0, 30, 2)]
    assert [one[0] for one in places(text, pieces, overlap=200)] == starts
    assert [one[0] for one in places(text, pieces)] == starts


def test_a_declared_overlap_of_equal_lines_is_found_in_full():
    text = "x\n" * 10
    pieces = ["x\n" * 4] * 4
    assert [one[0] for one in places(text, pieces, overlap=4)] == [0, 4, 8, 12]


def test_blank_strings_are_empty_spans_and_move_nothing():
    found = places("x = 1\n", ["", "   \n", "x = 1\n"])
    assert found == [(0, 0, "blank"), (0, 0, "blank"), (0, 6, "exact")]


def test_what_is_nowhere_is_missing_and_moves_nothing():
    found = places("x = 1\ny = 2\n", ["x = 1\n", "z = 9\n", "y = 2\n"])
    assert found[1] == (5, 5, "missing")
    assert found[2] == (6, 12, "exact")


def test_spans_keep_the_librarys_text_where_it_differs():
    services = Services()
    spans = spans_of(Source("\tx = 1\n\ty = 2\n", "a.py"), ["\ty = 2", "x = 1", "?"], services)
    assert spans == [Span(1, 6), Span(7, 13)]
    assert services.notes == {"unlocated": 1}
    (span,) = spans_of(Source("\tx = 1\n\ty = 2\n", "a.py"), ["x = 1\ny = 2"], Services())
    assert span == Span(1, 13, "x = 1\ny = 2")


def test_the_nearer_of_two_like_texts_is_meant():
    text = "if a:\n\tf(1)\n" + "pass\n" * 9 + "if a:\n    f(1)\n"
    assert places(text, ["if a:\n    f(1)\n", "pass\n" * 9])[0] == (0, 11, "spaced")


@pytest.mark.parametrize(
    ("shape", "pieces"),
    [
        ("same", 20_000),
        ("same", 2_000),
        ("headers", 2_000),
        ("missing", 20_000),
        ("nearly", 2_000),
    ],
)
def test_the_work_on_a_file_of_equal_lines_is_linear(shape: str, pieces: int) -> None:
    line = "x" * 99 + "\n"
    text = line * 20_000
    made = {
        "same": lambda n: line * (20_000 // pieces),
        "headers": lambda n: f"# part {n}\n" + line * (20_000 // pieces),
        "missing": lambda n: f"nothing {n}\n",
        "nearly": lambda n: f"{line}{n}{line}",
    }[shape]
    found = places(text, [made(n) for n in range(pieces)])
    how = {"same": "exact", "headers": "body"}.get(shape, "missing")
    assert {one[2] for one in found} == {how}
    if how != "missing":
        assert [one[0] for one in found] == [n * len(text) // pieces for n in range(pieces)]


@given(
    st.text(alphabet="ab \t\n\r\u00e9\U0001f600", min_size=1, max_size=200),
    st.lists(st.integers(0, 200), max_size=8),
    st.randoms(use_true_random=False),
)
def test_a_partition_is_found_whatever_happens_to_white_space(
    text: str, cuts: list[int], chance: random.Random
) -> None:
    borders = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[low:high] for low, high in pairwise(borders)]
    spaced = ["".join(m if not m.isspace() else chance.choice(" \n\t") for m in p) for p in pieces]
    for given_, exact in ((pieces, True), (spaced, False)):
        found = locate(Source(text, "a"), given_)
        for piece, place in zip(pieces, found, strict=True):
            assert "".join(text[place.start : place.end].split()) == "".join(piece.split())
            assert place.how != "missing"
        full = [one for one in found if one.how != "blank"]
        assert all(one.end <= other.start for one, other in pairwise(full))
        if exact:
            assert all(one.how == "exact" for one in full)
