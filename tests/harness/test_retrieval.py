"""Depth, budget, and the lexical retriever."""

import math

import numpy as np
import pytest

from chunkers.errors import InputError
from harness.lexical import words
from harness.parts import load_retriever
from harness.retrieval import Material, Order, Question, Rankable, id_places, rank


def corpus(texts, unit_of=None, pooling="max"):
    units = np.arange(len(texts)) if unit_of is None else np.asarray(unit_of)
    return Material(
        texts=tuple(texts),
        vectors=None,
        usable=np.ones(len(texts), dtype=bool),
        chunks=tuple(texts),
        chunk_texts=tuple((i,) for i in range(len(texts))),
        unit_of=units,
        n_units=int(units.max()) + 1 if len(texts) else 0,
        pooling=pooling,
    )


def bm25(texts, query, depth=100, budget=0, sizes=None, **options):
    made = corpus(texts, **options)
    _, retriever = load_retriever("bm25")
    sizes = np.ones(made.n_units, dtype=np.int64) if sizes is None else np.asarray(sizes)
    ids = id_places([f"{i:03d}" for i in range(made.n_units)])
    rankable = Rankable(sizes, ids, np.unique(made.unit_of))
    index = retriever.index(made)
    found = rank(index, Question(query), Order(depth, budget, "corpus-order"), rankable)
    return found.units.tolist(), found.scores.tolist()


TEXTS = [
    "def parse(text): return text.split()",
    "def merge(a, b): return a + b",
    "class Parser: parse = None",
    "parse parse parse",
    "",
    "x = 1",
]


def test_bm25_gives_hand_computed_values():
    units, scores = bm25(TEXTS, "parse")
    assert units == [3, 2, 0, 1, 4, 5]
    counts = {0: 1, 2: 1, 3: 3}
    lengths = [len(words(text)) for text in TEXTS]
    assert lengths == [6, 7, 4, 3, 0, 2]
    idf = math.log(1 + (6 - 3 + 0.5) / (3 + 0.5))
    for unit, tf in counts.items():
        norm = 1.5 * (1 - 0.75 + 0.75 * lengths[unit] / (sum(lengths) / 6))
        assert scores[units.index(unit)] == pytest.approx(idf * tf / (tf + norm), rel=1e-6)
    assert np.isnan(scores[3:]).all()


def test_a_query_without_a_known_word_leaves_the_corpus_order():
    units, scores = bm25(TEXTS, "zebra ???")
    assert units == [0, 1, 2, 3, 4, 5]
    assert np.isnan(scores).all()


@pytest.mark.parametrize("texts", [[], ["", "  "], ["???"]])
def test_a_corpus_without_words_is_ranked_in_its_order(texts):
    assert bm25(texts, "parse")[0] == list(range(len(texts)))


def test_a_repeated_query_word_counts_as_often_as_it_stands():
    once, twice = (bm25(TEXTS, query)[1][0] for query in ("parse", "parse parse"))
    assert twice == pytest.approx(2 * once, rel=1e-6)


def test_documents_take_their_best_chunk():
    units, scores = bm25(TEXTS, "parse", unit_of=[0, 0, 1, 1, 2, 2])
    assert units == [1, 0, 2]
    assert scores[0] == bm25(TEXTS, "parse")[1][0]


def test_a_ranking_goes_on_until_the_budget_is_spent():
    sizes = [10, 10, 10, 10, 10, 10]
    assert len(bm25(TEXTS, "parse", depth=1, budget=0, sizes=sizes)[0]) == 1
    assert len(bm25(TEXTS, "parse", depth=1, budget=31, sizes=sizes)[0]) == 4
    assert len(bm25(TEXTS, "parse", depth=1, budget=1000, sizes=sizes)[0]) == 6


def test_a_deeper_ranking_begins_like_a_shallow_one():
    deep, _ = bm25(TEXTS, "parse text")
    for depth in range(1, 7):
        assert bm25(TEXTS, "parse text", depth=depth)[0] == deep[:depth]


@pytest.mark.parametrize("spec", ["bm25:k1=-1", "bm25:b=2", "bm25:k1=nan", "bm25:q=1", "bm52"])
def test_wrong_options_are_refused(spec):
    with pytest.raises(InputError):
        load_retriever(spec)


def test_an_unknown_retriever_names_the_nearest():
    with pytest.raises(InputError, match="did you mean bm25"):
        load_retriever("bm52")
