"""Reciprocal rank fusion against sums over complete rankings of both sides."""

import numpy as np
import pytest
from retrieving import TEN, material, ranked, scores

from chunkers.errors import InputError
from harness.retrieval.ranking import Order
from harness.runs.pipeline import load_retriever

RNG = np.random.default_rng(5)
VECTORS = RNG.normal(size=(10, 4))
VECTORS[7] = 0.0  # of no use
QUERY = RNG.normal(size=4)


def fused(lexical, corpus, k=60):
    """Over what each side scored, by the definition."""
    total = {}
    for spec in ("dense", lexical):
        for rank, unit in enumerate(scores(ranked(spec, corpus, "parse url", QUERY)), 1):
            total[unit] = total.get(unit, 0.0) + 1 / (k + rank)
    return total


@pytest.mark.parametrize("lexical", ["bm25", "bow", "vsa"])
@pytest.mark.parametrize("k", [0, 1, 60])
def test_scores_are_sums_of_reciprocal_ranks(lexical, k):
    corpus = material(TEN, vectors=VECTORS)
    found = ranked(f"hybrid:lexical={lexical},k={k}", corpus, "parse url", QUERY)
    expected = fused(lexical, corpus, k)
    assert scores(found) == pytest.approx(expected, rel=1e-15)
    order = sorted(expected, key=lambda unit: (-scores(found)[unit], unit))
    assert found.units.tolist() == order


def test_hand_computed_fusion_of_three_documents():
    """dense ranks 0, 1, 2; bm25 scores 2 alone: 1/61; 1/62; 1/63 + 1/61."""
    corpus = material(["a", "b", "c"], vectors=[[1, 0], [1, 1], [0, 1]])
    found = ranked("hybrid", corpus, "c", [1, 0.1])
    assert scores(found) == pytest.approx({2: 1 / 63 + 1 / 61, 0: 1 / 61, 1: 1 / 62}, rel=1e-15)


def test_a_unit_that_one_side_does_not_score_gets_nothing_from_it():
    corpus = material(["a", "b"], vectors=[[0, 0], [1, 0]])
    assert scores(ranked("hybrid", corpus, "a", [1, 0])) == {0: 1 / 61, 1: 1 / 61}
    assert ranked("hybrid", corpus, "a", [1, 0]).units.tolist() == [0, 1]
    assert scores(ranked("hybrid", corpus, "zebra", [1, 0])) == {1: 1 / 61}
    assert scores(ranked("hybrid", corpus, "zebra", [0, 0])) == {}


def test_places_are_those_of_the_whole_corpus_however_shallow_the_ranking():
    corpus = material(TEN, vectors=VECTORS)
    deep = ranked("hybrid", corpus, "parse url", QUERY)
    for depth in range(1, 11):
        order = Order(depth, 0, "corpus-order")
        shallow = ranked("hybrid", corpus, "parse url", QUERY, order)
        assert shallow.units.tolist() == deep.units.tolist()[:depth]


def test_documents_are_fused_by_their_own_places():
    corpus = material(TEN, [0, 0, 0, 1, 1, 1, 2, 2, 2, 2], vectors=VECTORS)
    found = ranked("hybrid", corpus, "parse url", QUERY)
    assert scores(found) == pytest.approx(fused("bm25", corpus), rel=1e-15)


def test_the_version_holds_those_of_both_sides():
    versions = {load_retriever(f"hybrid:lexical={x}")[1].version for x in ("bm25", "bow")}
    assert any("bm25s" in version for version in versions)
    assert len(versions) == 2


@pytest.mark.parametrize("spec", ["hybrid:k=-1", "hybrid:lexical=dense", "hybrid:k=x"])
def test_wrong_options_are_refused(spec):
    with pytest.raises(InputError):
        load_retriever(spec)
