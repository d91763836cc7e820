"""Small to big: what a chunk brings, and where it stands, against plain references."""

import fnmatch
import shlex
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retrieving import scores

from chunkers.errors import InputError
from chunkers.grammars.outline import outline
from chunkers.plugins.loading import load_chunker
from chunkers.source import Source
from harness.chunking.corpus import chunk_corpus
from harness.model import Corpus
from harness.retrieval.expansion import companions, expand
from harness.retrieval.ranking import Order, Rankable, Ranking
from harness.runs.pipeline import load_retriever

CLASS = """\
import os


class Store:
    kind = "plain"

    def get(self, key):
        value = self.rows[key]

        return value

    @property
    def size(self):
        return len(self.rows)


def last():
    return os
"""


def cut_by(chunker, *sources):
    return chunk_corpus(Corpus("c", tuple(sources)), load_chunker(chunker))


@pytest.fixture(scope="module")
def library():
    """Real files, each in many chunks."""
    modules = [fnmatch, shlex, textwrap]
    texts = [(Path(one.__file__).name, Path(one.__file__).read_text("utf-8")) for one in modules]
    return [Source(text, name, "python") for name, text in texts]


def brought(chunked, kind):
    """Id -> ids of what it brings besides itself, in order."""
    ids = [chunk.id for chunk in chunked.chunks]
    found = companions(chunked, kind)
    return {ids[at]: [ids[one] for one in ones if one != at] for at, ones in enumerate(found)}


def test_neighbours_are_the_chunks_before_and_behind_in_the_file():
    sources = [Source("a = 1\nb = 2\nc = 3\n", "x.py", "python"), Source("d = 4\n", "y.py")]
    assert brought(cut_by("recorded:lines", *sources), "neighbours") == {
        "x.py:1-1": ["x.py:2-2"],
        "x.py:2-2": ["x.py:1-1", "x.py:3-3"],
        "x.py:3-3": ["x.py:2-2"],
        "y.py:1-1": [],
    }


def test_a_parent_is_the_smallest_definition_that_holds_more_than_the_chunk():
    found = brought(cut_by("recorded:lines", Source(CLASS, "s.py", "python")), "parent")
    name = "s.py:{0}-{0}".format
    method = [7, 8, 10]
    for line in method:
        assert found[name(line)] == [name(n) for n in method if n != line]
    everything = [1, 4, 5, 7, 8, 10, 12, 13, 14, 17, 18]
    store = [4, 5, 7, 8, 10, 12, 13, 14]
    for line in (4, 5, 12):  # the decorator's line is no part of `size`
        assert found[name(line)] == [name(n) for n in store if n != line]
    assert found[name(1)] == [name(n) for n in everything if n != 1]
    assert found[name(17)] == [name(18)]


def test_a_chunk_that_is_a_whole_definition_brings_the_rest_of_the_one_round_it():
    found = brought(cut_by("function", Source(CLASS, "s.py", "python")), "parent")
    assert found["s.py:7-10"] == ["s.py:1-5", "s.py:12-14"]  # the first holds the class's head
    assert found["s.py:17-18"] == ["s.py:1-5", "s.py:7-10", "s.py:12-14"]


def test_without_a_grammar_the_parent_is_the_file():
    source = Source("one\ntwo\nthree\n", "notes.txt")
    found = brought(cut_by("recorded:lines", source), "parent")
    assert found["notes.txt:2-2"] == ["notes.txt:1-1", "notes.txt:3-3"]


def relatives(chunked, at):
    """The reference: by lines stripped of blank ones, with a loop over everything."""
    mine = chunked.chunks[at]
    source = next(one for one in chunked.corpus.sources if one.path == mine.path)

    def weighty(start, end):
        return {n for n in range(start, end) if not source.text[n].isspace()}

    own = weighty(mine.start, mine.end)
    holders = []
    for scope in outline(source):
        area = weighty(*source.lines.offsets_of(scope.start_line, scope.end_line))
        if own < area:
            holders.append(area)
    area = min(holders, key=len, default=weighty(0, len(source.text)))
    return [
        number
        for number, chunk in enumerate(chunked.chunks)
        if chunk.path == mine.path and weighty(chunk.start, chunk.end) & area
    ]


@pytest.mark.parametrize("chunker", ["ast:max_size=150", "fixed:max_size=200"])
def test_relatives_in_real_files_are_those_of_the_reference(library, chunker):
    chunked = cut_by(chunker, *library)
    found = companions(chunked, "parent")
    assert len(chunked.chunks) > 60
    for at in range(0, len(found), 3):
        assert list(found[at]) == relatives(chunked, at)


def reference(units, brings, depth, sizes, budget):
    """The ranking as the definition says it, then cut where both are reached."""
    out = []
    for unit in units:
        for one in [unit, *brings[unit]]:
            if one not in out:
                out.append(one)
    n = next(
        (n for n in range(depth, len(out)) if sum(sizes[one] for one in out[:n]) >= budget),
        len(out),
    )
    return out[:n]


@given(st.data())
def test_an_expanded_ranking_is_that_of_the_reference(data):
    n = data.draw(st.integers(1, 12))
    units = data.draw(st.permutations(range(n)))
    brings = [data.draw(st.lists(st.integers(0, n - 1), max_size=4)) for _ in range(n)]
    sizes = [data.draw(st.integers(0, 9)) for _ in range(n)]
    depth, budget = data.draw(st.integers(1, 14)), data.draw(st.integers(0, 60))
    rankable = Rankable(np.array(sizes), np.arange(n), np.arange(n))
    ranking = Ranking(np.array(units), np.linspace(1, 0, n))
    found = expand(ranking, brings, Order(depth, budget, "corpus-order"), rankable)
    assert found.units.tolist() == reference(units, brings, depth, sizes, budget)
    assert found.by_rank
    assert (np.diff(found.scores) <= 0).all()
    given_scores = scores(ranking)
    for at, unit in enumerate(found.units.tolist()):
        bringers = [one for one in units if unit in (one, *brings[one])]
        assert found.scores[at] == given_scores[bringers[0]]


def test_unscored_chunks_bring_theirs_without_a_score():
    rankable = Rankable(np.ones(3, dtype=np.int64), np.arange(3), np.arange(3))
    ranking = Ranking(np.array([2, 0, 1]), np.array([0.5, np.nan, np.nan]))
    found = expand(ranking, [[1], [0], []], Order(3, 0, "corpus-order"), rankable)
    assert found.units.tolist() == [2, 0, 1]
    assert np.isnan(found.scores[1:]).all()


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("bm25:expand=none", "bm25"),
        ("bm25:hops=1,hop_chunks=5", "bm25"),
        ("bm25:hops=2,expand=parent,k1=1.2", "bm25:expand=parent,hops=2,k1=1.2"),
        ("dense:hop_chunks=3,hops=2", "dense:hop_chunks=3,hops=2"),
    ],
)
def test_policies_are_part_of_the_name(spec, name):
    found, retriever = load_retriever(spec)
    assert found == name
    assert retriever.options.hops == (2 if "hops=2" in name else 1)


@pytest.mark.parametrize(
    "spec", ["bm25:expand=all", "bm25:hops=3", "bm25:hop_chunks=3", "bm25:hops=2,hop_chunks=0"]
)
def test_wrong_policies_are_refused(spec):
    with pytest.raises(InputError):
        load_retriever(spec)
