"""Targets, twins and gold: which chunks are relevant, and which characters each of them holds."""

import itertools

import numpy as np
import pytest

from chunkers.errors import InputError
from chunkers.source import Source
from harness.chunking.layout import Layout
from harness.measures.cell import Cell
from harness.measures.evaluate import evaluate
from harness.measures.grammar import parse_measure
from harness.measures.profiles import load_profile
from harness.model import Corpus, Query, Relevance, Target
from harness.relevance.chunk_gold import ChunkTable, document_gold, span_gold
from harness.relevance.targets import Copies, by_head, locate, target_texts, with_twins


class World:
    """A corpus, and chunks given as (path, first line, last line)."""

    def __init__(self, chunks=(), **files):
        self.sources = tuple(
            Source(text, path)
            for path, text in sorted((k.replace("_py", ".py"), v) for k, v in files.items())
        )
        self.corpus = Corpus("c", self.sources)
        self.layouts = [Layout.of(source) for source in self.sources]
        self.files = {source.path: i for i, source in enumerate(self.sources)}
        self.table = self.cut(chunks)

    def cut(self, chunks):
        rows = []
        for path, first, last in chunks:
            number = self.files[path]
            source, layout = self.sources[number], self.layouts[number]
            nws = layout.interval(*source.lines.offsets_of(first, last))
            rows.append((path, nws, layout.lines(*nws), (first - 1, last - 1)))
        return ChunkTable.of(rows)

    def locate(self, *targets, twins=True):
        query = Query("q", "c", "text", tuple(Target(*one) for one in targets))
        places, dropped = locate(query, self.corpus, self.files)
        if twins:
            texts = target_texts(places, self.corpus, self.files)
            copies = Copies.of(self.sources, by_head(texts))
            places = with_twins(places, self.corpus, self.files, copies)
        return places, dropped

    def gold(self, *targets, relevance=None, twins=True):
        places, dropped = self.locate(*targets, twins=twins)
        assert not dropped
        return span_gold(places, self.table, 0, relevance or Relevance())


TEXT = "".join(f"line{i}\n" for i in range(1, 21))


def test_only_the_chunk_that_shares_a_line_is_relevant():
    world = World([("a.py", 1, 9), ("a.py", 10, 12), ("a.py", 13, 20)], a_py=TEXT)
    assert world.gold(("a.py", 10, 10)).unit.tolist() == [1]
    assert world.gold(("a.py", 9, 10)).unit.tolist() == [0, 1]
    assert world.gold(("a.py", 13, 13)).unit.tolist() == [2]


def test_a_shared_blank_line_makes_nothing_relevant():
    world = World([("a.py", 1, 3), ("a.py", 4, 5)], a_py="a = 1\n\n  \nb = 2\nc = 3\n")
    assert world.gold(("a.py", 2, 4)).unit.tolist() == [1]


def test_a_chunk_that_ends_at_a_line_feed_does_not_reach_the_next_line():
    world = World(
        [("a.py", 1, 2), ("a.py", 3, 4)], a_py="def a():\n    return 1\ndef b():\n    return 2\n"
    )
    assert world.gold(("a.py", 3, 4)).unit.tolist() == [1]


def test_targets_that_cannot_be_found_are_dropped_with_a_reason():
    world = World(a_py="a = 1\n\n\n", b_py="")
    places, dropped = world.locate(
        ("gone.py", 1, 1), ("a.py", 2, 3), ("a.py", 1, 9), ("b.py",), ("a.py", 1, 1)
    )
    assert [place.path for place in places] == ["a.py"]
    assert len(dropped) == 4
    assert "gone.py is not indexed" in dropped[0]
    assert "no non-blank line" in dropped[1]
    assert "3 lines" in dropped[2]
    assert "no non-blank line" in dropped[3]


def test_gold_characters_are_numbered_once_however_targets_overlap():
    world = World([("a.py", 1, 10), ("a.py", 11, 20)], a_py=TEXT)
    gold = world.gold(("a.py", 1, 4), ("a.py", 3, 6), ("a.py", 12, 12))
    assert gold.gold_size == 6 * 5 + 6
    assert gold.targets == (((0, 20),), ((10, 30),), ((30, 36),))
    rows = sorted(
        zip(
            *(getattr(gold.pieces, n).tolist() for n in ("unit", "offset", "length", "gold")),
            strict=True,
        )
    )
    assert rows == [(0, 0, 30, 0), (1, 6, 6, 30)]


def test_a_piece_says_where_in_the_chunk_the_gold_begins():
    world = World([("a.py", 1, 5)], a_py=TEXT)
    gold = world.gold(("a.py", 3, 9))
    assert (gold.pieces.offset.tolist(), gold.pieces.length.tolist()) == ([10], [15])
    assert gold.gold_size == 7 * 5


def test_a_target_without_lines_is_its_file():
    world = World([("a.py", 1, 10), ("a.py", 11, 20), ("b.py", 1, 2)], a_py=TEXT, b_py="x\ny\n")
    assert world.gold(("a.py",)).unit.tolist() == [0, 1]


def test_an_uncovered_target_has_gold_and_no_relevant_chunk():
    world = World([("a.py", 1, 5)], a_py=TEXT)
    gold = world.gold(("a.py", 10, 12))
    assert gold.unit.tolist() == []
    assert gold.gold_size > 0
    assert gold.target_files.tolist() == [0]
    empty = World([("b.py", 1, 1)], a_py=TEXT, b_py="x\n")
    assert empty.gold(("a.py", 1, 1)).target_files.tolist() == [-1]


@pytest.mark.parametrize(
    ("relevance", "units", "grades"),
    [
        (Relevance(), [0, 1, 2], [1, 1, 1]),
        (Relevance("iou", 0.5), [1], [1]),
        (Relevance("share", 0.5), [1], [1]),
        (Relevance("share", 0.3), [1], [1]),
        (Relevance("share", 0.1), [0, 1, 2], [1, 1, 1]),
        (Relevance("graded"), [0, 1, 2], [0.25, 0.5, 0.25]),
    ],
)
def test_relevance_rules(relevance, units, grades):
    text = "".join(f"line{i:02d}\n" for i in range(1, 21))
    chunks = [("a.py", 1, 5), ("a.py", 6, 7), ("a.py", 8, 20)]
    gold = World(chunks, a_py=text).gold(("a.py", 5, 8), relevance=relevance)
    assert gold.unit.tolist() == units
    assert gold.grade.tolist() == grades


def test_line_iou_leaves_blank_lines_out():
    world = World([("a.py", 1, 4), ("a.py", 5, 6)], a_py="a\n\n\nb\nc\nd\n")
    gold = world.gold(("a.py", 1, 2), ("a.py", 6, 6))
    assert dict(gold.best_iou) == {0: 0.5, 1: 0.5}


def test_a_threshold_outside_its_range_is_refused():
    with pytest.raises(InputError, match="threshold"):
        Relevance("iou", 0.0)


BODY = "".join(f"    value_{i} = compute(argument_{i})\n" for i in range(6))
FUNCTION = "def f():\n" + BODY


def test_copies_elsewhere_are_twins_whatever_their_white_space():
    other = "x = 1\n" + FUNCTION.replace("    ", "\t") + "\n\n" + FUNCTION.replace("\n", "\r\n")
    world = World([("a.py", 1, 7), ("b.py", 1, 8), ("b.py", 9, 17)], a_py=FUNCTION, b_py=other)
    (place,), _ = world.locate(("a.py", 1, 7))
    size = place.stretch[2]
    assert place.twins == (("b.py", 3, 3 + size), ("b.py", 3 + size, 3 + 2 * size))
    gold = world.gold(("a.py", 1, 7))
    assert gold.unit.tolist() == [0]
    assert gold.twins == ((1, (0,)), (2, (0,)))
    assert gold.gold_size == size
    assert sorted(gold.pieces.gold.tolist()) == [0, 0, 0]
    assert gold.pieces.offset.tolist() == [0, 3, 0]


def test_a_copy_that_does_not_fill_whole_lines_is_no_twin():
    world = World(a_py=FUNCTION, b_py="y = 1; " + FUNCTION)
    (place,), _ = world.locate(("a.py", 1, 7))
    assert place.twins == ()
    world = World(a_py=FUNCTION, b_py=FUNCTION.rstrip("\n") + "; z = 3\n")
    (place,), _ = world.locate(("a.py", 1, 7))
    assert place.twins == ()


def test_short_equal_text_is_no_twin():
    world = World(a_py="return None\n", b_py="return None\n")
    (place,), _ = world.locate(("a.py", 1, 1))
    assert place.twins == ()


def test_a_targets_own_places_and_overlaps_with_them_are_no_twins():
    line = "x" * 60 + "\n"
    world = World(a_py=line * 7)
    (place,), _ = world.locate(("a.py", 3, 4))
    assert place.twins == (("a.py", 0, 120), ("a.py", 240, 360))
    two, _ = world.locate(("a.py", 1, 2), ("a.py", 3, 4))
    assert [one.twins for one in two] == [(("a.py", 240, 360),), ()]


def test_two_targets_with_one_text_are_no_twins_of_each_other():
    world = World([("a.py", 1, 7), ("b.py", 1, 7)], a_py=FUNCTION, b_py=FUNCTION)
    gold = world.gold(("a.py", 1, 7), ("b.py", 1, 7))
    assert gold.unit.tolist() == [0, 1]
    assert gold.twins == ()
    assert sorted(gold.pieces.gold.tolist()) == [0, gold.gold_size // 2]


def test_no_character_stands_for_two_gold_characters():
    rng = np.random.default_rng(0)
    for _ in range(60):
        lines = rng.integers(0, 2, size=24)
        text = "".join(("a" * 55 if one else "b" * 60) + "\n" for one in lines)
        cuts = np.unique(np.concatenate(([0], rng.integers(1, 24, size=5), [24])))
        chunks = [("a.py", int(a) + 1, int(b)) for a, b in itertools.pairwise(cuts)]
        targets = [
            ("a.py", int(s), int(min(24, s + rng.integers(1, 4))))
            for s in rng.integers(1, 22, size=2)
        ]
        world = World(chunks, a_py=text)
        pieces = world.gold(*targets).pieces
        held = {}
        for unit, offset, length in zip(
            pieces.unit.tolist(), pieces.offset.tolist(), pieces.length.tolist(), strict=True
        ):
            for at in range(offset, offset + length):
                assert (unit, at) not in held
                held[unit, at] = True


def test_document_gold_keeps_what_is_judged_not_relevant():
    gold = document_gold({"b": 2, "a": 1, "z": 0, "y": -1}, {"a": 0, "b": 1, "y": 2, "z": 3}, 0)
    assert (gold.unit.tolist(), gold.grade.tolist()) == ([0, 1], [1, 2])
    assert gold.judged_zero.tolist() == [2, 3]


def test_a_copy_stands_for_the_chunk_with_the_same_characters():
    """Two copies of part 1 and part 1 itself find one of three parts."""
    long = "def f():\n" + BODY + BODY.replace("value", "other") + BODY.replace("value", "third")
    parts = [(1, 7), (8, 13), (14, 19)]
    chunks = [(path, *part) for path in ("a.py", "b.py", "c.py") for part in parts]
    world = World(chunks, a_py=long, b_py=long, c_py=long)
    gold = world.gold(("a.py", 1, 19))
    assert gold.unit.tolist() == [0, 1, 2]
    assert gold.twins == tuple((3 * copy + part, (part,)) for copy in (1, 2) for part in range(3))
    values = values_of(gold, world, [3, 6, 0], "R@2", "nDCG@3")
    assert values == pytest.approx([1 / 3, 1 / (1 + 1 / np.log2(3) + 1 / 2)], abs=1e-12)
    assert round(values[1], 3) == 0.469
    assert values_of(gold, world, [3, 7, 2], "R@3", "nDCG@3") == [1, 1]


def test_a_copy_cut_elsewhere_stands_for_the_chunk_that_it_shares_most_with():
    long = "def f():\n" + BODY + BODY.replace("value", "other")
    world = World(
        [("a.py", 1, 7), ("a.py", 8, 13), ("b.py", 1, 5), ("b.py", 6, 13)], a_py=long, b_py=long
    )
    assert world.gold(("a.py", 1, 13)).twins == ((2, (0,)), (3, (1,)))


def values_of(gold, world, ranked, *measures):
    units = world.table.units
    cell = Cell(("q",), (units,), (gold,), (np.array(ranked),))
    names = [parse_measure(name) for name in measures]
    scores = evaluate(cell, names, load_profile("default"))
    return [float(scores.per_query[name][0]) for name in measures]
