"""Depth, budget, and the lexical retriever."""

import math

import numpy as np
import pytest

from chunkers.errors import InputError
from harness.retrieval.lexical import words
from harness.retrieval.ranking import Material, Order, Rankable, SearchQuery, id_places, rank
from harness.runs.pipeline import load_retriever
from harness.support.sequences import Ragged


def corpus(texts, unit_of=None, pooling="max"):
    units = np.arange(len(texts)) if unit_of is None else np.asarray(unit_of)
    return Material(
        texts=tuple(texts),
        vectors=None,
        usable=np.ones(len(texts), dtype=bool),
        chunks=tuple(texts),
        chunk_texts=Ragged.of_one(np.arange(len(texts))),
        unit_of=units,
        n_units=int(units.max()) + 1 if len(texts) else 0,
        pooling=pooling,
    )


def bm25(texts, query, depth=100, budget=0, sizes=None, spec="bm25", **options):
    made = corpus(texts, **options)
    _, retriever = load_retriever(spec)
    sizes = np.ones(made.n_units, dtype=np.int64) if sizes is None else np.asarray(sizes)
    ids = id_places([f"{i:03d}" for i in range(made.n_units)])
    rankable = Rankable(sizes, ids, np.unique(made.unit_of))
    index = retriever.index(made)
    found = rank(index, SearchQuery(query), Order(depth, budget, "corpus-order"), rankable)
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
    assert units == [3, 2, 0]
    counts = {0: 1, 2: 1, 3: 3}
    lengths = [len(words(text)) for text in TEXTS]
    assert lengths == [6, 7, 4, 3, 0, 2]
    idf = math.log(1 + (6 - 3 + 0.5) / (3 + 0.5))
    for unit, tf in counts.items():
        norm = 1.5 * (1 - 0.75 + 0.75 * lengths[unit] / (sum(lengths) / 6))
        assert scores[units.index(unit)] == pytest.approx(idf * tf / (tf + norm), rel=1e-6)


def test_a_query_without_a_known_word_retrieves_nothing():
    assert bm25(TEXTS, "zebra ???") == ([], [])


@pytest.mark.parametrize("texts", [[], ["", "  "], ["???"]])
def test_of_a_corpus_without_words_nothing_is_retrieved(texts):
    assert bm25(texts, "parse")[0] == []


def test_a_repeated_query_word_counts_as_often_as_it_stands():
    once, twice = (bm25(TEXTS, query)[1][0] for query in ("parse", "parse parse"))
    assert twice == pytest.approx(2 * once, rel=1e-6)


def test_documents_take_their_best_chunk():
    units, scores = bm25(TEXTS, "parse", unit_of=[0, 0, 1, 1, 2, 2])
    assert units == [1, 0]
    assert scores[0] == bm25(TEXTS, "parse")[1][0]


def test_a_ranking_goes_on_until_the_budget_is_spent_or_nothing_more_was_scored():
    sizes = [10, 10, 10, 10, 10, 10]
    assert len(bm25(TEXTS, "parse", depth=1, budget=0, sizes=sizes)[0]) == 1
    assert len(bm25(TEXTS, "parse", depth=1, budget=11, sizes=sizes)[0]) == 2
    assert len(bm25(TEXTS, "parse", depth=1, budget=1000, sizes=sizes)[0]) == 3


def test_a_deeper_ranking_begins_like_a_shallow_one():
    deep, _ = bm25(TEXTS, "parse text")
    for depth in range(1, 7):
        assert bm25(TEXTS, "parse text", depth=depth)[0] == deep[:depth]


@pytest.mark.parametrize("spec", ["bm25:k1=-1", "bm25:b=2", "bm25:k1=nan", "bm25:q=1", "bm52"])
def test_wrong_options_are_refused(spec):
    with pytest.raises(InputError):
        load_retriever(spec)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("bm25:k1=1e308", "k1=1e+308: must be 0 to 1000"),
        ("bm25:k1=inf", "k1=inf"),
        ("bm25:k1=-0.1", "k1=-0.1"),
        ("bm25:b=nan", "b=nan: must be a number"),
        ("bm25:b=2", "b=2: must be 0 to 1"),
        ("bm25:b=-1", "b=-1"),
        ("hybrid:k=-1", "k=-1: must be 0 to 1000000"),
        ("hybrid:k=1000001", "k=1000001"),
        ("vsa:dimensions=0", "dimensions=0: must be 1 to"),
        ("bm25:hops=2,hop_chunks=0", "hop_chunks=0: must be 1 to"),
        (f"bm25:hops=2,hop_chunks={10**30}", f"hop_chunks={10**30}"),
        ("rerank:nowhere,top=0", "top=0: must be 1 to"),
        (f"rerank:nowhere,top={10**30}", f"top={10**30}"),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_range(spec, said):
    with pytest.raises(InputError) as raised:
        load_retriever(spec)
    assert said in str(raised.value)


@pytest.mark.parametrize("k1", [0, 1e-300, 1000])
def test_scores_at_the_ends_of_a_range_are_numbers(k1):
    _, scores = bm25(TEXTS, "parse text", spec=f"bm25:k1={k1}")
    assert np.isfinite(scores[:3]).all()
    assert min(scores[:3]) > 0


def test_an_unknown_retriever_names_the_nearest():
    with pytest.raises(InputError, match="did you mean bm25"):
        load_retriever("bm52")


@pytest.mark.parametrize("budget", [0, 1, 100])
def test_a_depth_of_zero_ends(budget):
    assert len(bm25(["a b", "a c", "a d"], "a", depth=0, budget=budget)[0])
