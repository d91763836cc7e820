"""Two hops: which names make the second query, and how the two rankings become one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.retrieval.hops import NAMES, Lexicon, join, names
from harness.retrieval.ranking import Order, Rankable, Ranking


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def parse_url(x): return 1", {"def", "parse_url", "x", "return"}),
        ("__init__ _ ___ 2nd a2", {"__init__", "a2"}),
        ("Value value", {"Value", "value"}),
        ("größe 名前 $price", {"größe", "名前", "price"}),
        ("cafe\u0301", {"café"}),
        ("3.14 + ?", set()),
    ],
)
def test_identifiers_are_runs_that_python_takes_for_names(text, expected):
    assert names(text) == expected


CHUNKS = ("def a(): return b", "def b(): return c", "def c(): return zeta", "x = alpha")


def test_the_rarest_names_come_first_then_the_alphabet():
    lexicon = Lexicon.of(CHUNKS)
    assert dict(lexicon.holding) == {
        "def": 3, "return": 3, "a": 1, "b": 2, "c": 2, "zeta": 1, "x": 1, "alpha": 1
    }  # fmt: skip
    assert lexicon.second_query("where is it", [0]) == "a b def return"
    assert lexicon.second_query("where is it", [2, 3]) == "alpha x zeta c def return"


def test_names_of_the_query_are_left_out_as_they_are_written():
    lexicon = Lexicon.of(CHUNKS)
    assert lexicon.second_query("def return b", [0]) == "a"
    assert lexicon.second_query("A Def", [0]) == "a b def return"
    assert lexicon.second_query("def a b return", [0]) == ""
    assert lexicon.second_query("anything", []) == ""


def test_at_most_32_names_are_asked_for():
    lexicon = Lexicon.of([" ".join(f"n{i:02d}" for i in range(99)), "n00 n01"])
    asked = lexicon.second_query("", [0, 1]).split()
    assert asked == [f"n{i:02d}" for i in range(2, 2 + NAMES)]


@given(st.data())
def test_the_joined_ranking_is_the_beginning_of_one_and_the_other_without_it(data):
    n = data.draw(st.integers(1, 12))
    depth = data.draw(st.integers(1, n))
    first, second = (data.draw(st.permutations(range(n)))[:depth] for _ in range(2))
    count, budget = data.draw(st.integers(1, 6)), data.draw(st.integers(0, depth))
    rankable = Rankable(np.ones(n, dtype=np.int64), np.arange(n), np.arange(n))
    found = join(
        Ranking(np.array(first), np.linspace(1, 0.5, depth), counts={"pairs": 2}),
        Ranking(np.array(second), np.linspace(9, 8, depth), counts={"pairs": 3}),
        count,
        Order(depth, budget, "corpus-order"),
        rankable,
    )
    head = first[:count]
    assert found.units.tolist() == [*head, *(u for u in second if u not in head)][:depth]
    assert len(found.units) == len(found.scores) == depth
    assert found.by_rank
    assert found.counts == {"pairs": 5}
    scores = dict(zip(second, np.linspace(9, 8, depth).tolist(), strict=True))
    scores |= dict(zip(head, np.linspace(1, 0.5, depth).tolist(), strict=False))
    assert found.scores.tolist() == [scores[unit] for unit in found.units.tolist()]
