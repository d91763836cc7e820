"""The index against an exact search: near ties, equal texts, short corpora, odd vectors."""

import numpy as np
import pytest

from harness.embedding.text_vectors import unit_vectors
from harness.retrieval.indexes import flat
from harness.retrieval.ranking import Material, Order, Rankable, SearchQuery, id_places, rank
from harness.retrieval.retrievers.dense import Dense
from harness.support.arrays import fixed_order_dot
from harness.support.sequences import Ragged


def material(vectors, texts_of_chunk, pooling="max", unit_of=None):
    unit, usable = unit_vectors(np.asarray(vectors, dtype=np.float32))
    n = len(texts_of_chunk)
    units = np.arange(n) if unit_of is None else np.asarray(unit_of)
    return Material(
        texts=tuple(f"text {i}" for i in range(len(unit))),
        vectors=unit,
        usable=usable,
        chunks=tuple(f"chunk {i}" for i in range(n)),
        chunk_texts=Ragged.of(texts_of_chunk),
        unit_of=units,
        n_units=int(units.max()) + 1 if n else 0,
        pooling=pooling,
    )


def ranked(made, query, depth, ties="corpus-order", ids=None):
    unit, _ = unit_vectors(np.asarray([query], dtype=np.float32))
    ids = ids or [f"c{i:06d}" for i in range(made.n_units)]
    rankable = Rankable(
        np.ones(made.n_units, dtype=np.int64), id_places(ids), np.unique(made.unit_of)
    )
    found = rank(Dense().index(made), SearchQuery("", unit[0]), Order(depth, 0, ties), rankable)
    return found.units.tolist(), found.scores.tolist()


def oracle(made, query, depth):
    """Every chunk scored by itself, ordered by score and then by number."""
    unit, _ = unit_vectors(np.asarray([query], dtype=np.float32))
    scores = []
    for chunk, texts in enumerate(made.chunk_texts):
        usable = [t for t in texts if made.usable[t]]
        if usable:
            best = max(
                float(
                    sum(float(a) * float(b) for a, b in zip(made.vectors[t], unit[0], strict=True))
                )
                for t in usable
            )
            scores.append((-best, chunk))
    rest = sorted(set(range(len(made.chunk_texts))) - {c for _, c in scores})
    return ([c for _, c in sorted(scores)] + rest)[:depth]


def exact(made, query, depth):
    """The same for many rows: a vectorised exact search over all of them."""
    unit, _ = unit_vectors(np.asarray([query], dtype=np.float32))
    scores = fixed_order_dot(made.vectors, unit[0])
    by_chunk = np.array([scores[list(texts)].max() for texts in made.chunk_texts])
    return np.lexsort((np.arange(len(by_chunk)), -by_chunk))[:depth].tolist()


def test_20000_near_tied_vectors_rank_as_the_exact_search_does():
    rng = np.random.default_rng(1)
    centre = rng.normal(size=64)
    vectors = centre + rng.normal(scale=1e-6, size=(20_000, 64))
    made = material(vectors, [[i] for i in range(len(vectors))])
    scores = fixed_order_dot(made.vectors, made.vectors[0])
    assert np.unique(scores.astype(np.float32)).size < 200  # float32 cannot order them
    for query in (centre, vectors[0], centre + rng.normal(scale=1e-6, size=64)):
        for depth in (1, 10, 1000):
            assert ranked(made, query, depth)[0] == exact(made, query, depth)


def test_many_equal_texts_are_indexed_once_and_come_in_corpus_order():
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(5, 8))
    made = material(vectors, [[i % 5] for i in range(3000)])
    for depth in (1, 7, 601, 3000):
        assert ranked(made, vectors[3], depth)[0] == oracle(made, vectors[3], depth)
    assert ranked(made, vectors[3], 4)[0] == [3, 8, 13, 18]


def test_equal_vectors_of_different_texts_come_in_corpus_order():
    made = material(np.tile([0.6, 0.8], (6, 1)), [[i] for i in range(6)])
    assert ranked(made, [1.0, 0.0], 4)[0] == [0, 1, 2, 3]
    shuffled = material(np.tile([0.6, 0.8], (6, 1)), [[i] for i in (5, 3, 0, 1, 4, 2)])
    assert ranked(shuffled, [1.0, 0.0], 4)[0] == [0, 1, 2, 3]


def test_a_corpus_smaller_than_k_gives_each_chunk_once():
    made = material([[1, 0], [0, 1], [0.5, 0.5]], [[0], [1], [2]])
    units, scores = ranked(made, [1.0, 0.0], 10)
    assert units == [0, 2, 1]
    assert len(scores) == 3


def test_an_empty_corpus_gives_an_empty_ranking():
    made = material(np.zeros((0, 2)), [])
    assert ranked(made, [1.0, 0.0], 10) == ([], [])


def test_zero_and_nan_vectors_are_never_retrieved():
    vectors = [[0, 0], [-0.6, 0.8], [-1, 0], [np.nan, 1], [np.inf, 0]]
    made = material(vectors, [[i] for i in range(5)])
    assert made.usable.tolist() == [False, True, True, False, False]
    units, scores = ranked(made, [1.0, 0.0], 10)
    assert units == [1, 2]
    assert np.isfinite(scores).all()


def test_a_query_without_direction_retrieves_nothing():
    made = material([[1, 0], [0, 1]], [[0], [1]])
    assert list(ranked(made, [0.0, 0.0], 5)[0]) == []


def test_similarity_is_the_cosine_not_the_inner_product():
    made = material([[1, 0], [0.6, 6]], [[0], [1]])
    assert ranked(made, [1, 0.1], 2)[0] == [0, 1]


def test_windows_score_as_the_best_of_them():
    made = material([[1, 0], [0, 1], [0.9, 0.1], [0.5, 0.5]], [[1, 0], [2], [3]])
    units, scores = ranked(made, [1.0, 0.0], 3)
    assert units == [0, 1, 2]
    assert scores[0] == pytest.approx(1.0)


def test_a_window_beyond_the_first_candidates_does_not_hide_its_unit():
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(900, 16))
    texts = [[i, 899 - i] for i in range(450)]
    made = material(vectors, texts)
    for query in rng.normal(size=(20, 16)):
        assert ranked(made, query, 15)[0] == exact(made, query, 15)


@pytest.mark.parametrize(
    ("pooling", "expected"), [("max", [0, 1]), ("first", [1, 0]), ("sum", [1, 0])]
)
def test_a_document_scores_by_its_pooling(pooling, expected):
    # document 0: chunks at cosine 0 and 1; document 1: two chunks at cosine 0.9
    vectors = [[0, 1], [1, 0], [0.9, np.sqrt(1 - 0.81)], [0.9, -np.sqrt(1 - 0.81)]]
    made = material(vectors, [[0], [1], [2], [3]], pooling, unit_of=[0, 0, 1, 1])
    assert ranked(made, [1.0, 0.0], 2)[0] == expected


def test_ties_by_float32_go_to_the_larger_id():
    rng = np.random.default_rng(6)
    centre = rng.normal(size=16)
    made = material(centre + rng.normal(scale=1e-7, size=(40, 16)), [[i] for i in range(40)])
    units, scores = ranked(made, centre, 40)
    as_float32 = np.array(scores, dtype=np.float32)
    first = next(i for i in range(39) if as_float32[i] == as_float32[i + 1])
    assert scores[first] > scores[first + 1]
    ids = [f"{'a' if unit == units[first] else 'z'}{unit:02d}" for unit in range(40)]
    by_id = ranked(made, centre, 40, "float32-id-desc", ids)[0]
    assert by_id.index(units[first]) > by_id.index(units[first + 1])
    assert sorted(by_id) == list(range(40))


def test_the_fixed_order_dot_is_one_dimension_after_the_other():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(7, 33)).astype(np.float32)
    query = rng.normal(size=33).astype(np.float32)
    for row, got in zip(rows, fixed_order_dot(rows, query), strict=True):
        total = 0.0
        for a, b in zip(row.tolist(), query.tolist(), strict=True):
            total += a * b
        assert got == total


def test_the_bound_covers_every_row_that_was_not_returned(monkeypatch):
    rng = np.random.default_rng(5)
    rows, _ = unit_vectors(rng.normal(size=(2000, 48)).astype(np.float32))
    for block in (1 << 16, 100):
        monkeypatch.setattr(flat, "_BLOCK", block)
        neighbours = flat.make().build(rows).search(rows[7:8], 5)
        kept = neighbours.rows[0]
        others = np.setdiff1d(np.arange(len(rows)), kept)
        assert len(kept) == len(np.unique(kept)) == 37
        assert (fixed_order_dot(rows[others], rows[7]) <= neighbours.bounds[0]).all()
