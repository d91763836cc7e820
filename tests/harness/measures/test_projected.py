"""Scores of chunks carried over to runs of lines: by hand, by the letter, and by brute force."""

import itertools
import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.measures.cell import Cell, Gold, Projection, Runs, Units
from harness.measures.chance import chance
from harness.measures.evaluate import evaluate
from harness.measures.grammar import comparable, parse_measure
from harness.measures.oracle import oracle
from harness.measures.profiles import load_profile
from harness.measures.projection import levels

DEFAULT = load_profile("default")
MEASURES = [parse_measure(f"pnDCG@{k}") for k in (1, 2, 3, 5, 10)]
RNGS = st.randoms(use_true_random=True)
NAN = math.nan


def ints(*values):
    return np.array(values, dtype=np.int64)


def cell_of(edges, chunks, gold, *ranked, twins=()):
    """Queries with one gold; `ranked` has pairs of ranking and scores."""
    runs = Runs(ints(*edges), ints(*(a for a, _ in chunks)), ints(*(b for _, b in chunks)))
    n = len(chunks)
    nothing = Gold(0, ints(), np.zeros(0))
    wanted = Gold(0, ints(*gold), np.ones(len(gold)), twins=twins)
    return Cell(
        tuple(f"q{at}" for at in range(len(ranked))),
        (Units(np.ones(n, dtype=np.int64), np.zeros(n, dtype=np.int64)),),
        (nothing,) * len(ranked),
        tuple(ints(*ranking) for ranking, _ in ranked),
        projection=Projection(
            (runs,),
            (wanted,) * len(ranked),
            tuple(np.array(scores, dtype=np.float64) for _, scores in ranked),
        ),
    )


def values(cell, k, profile=DEFAULT):
    return evaluate(cell, [parse_measure(f"pnDCG@{k}")], profile).per_query[f"pnDCG@{k}"].tolist()


def at(rank):
    return 1 / math.log2(rank + 1)


def test_a_run_takes_the_mean_of_its_lines_and_a_line_its_best_chunk():
    # Runs 0-9, 10-19, 20-24. Chunks: lines 0-14, 5-14 and 15-24.
    cell = cell_of(
        (0, 10, 20, 25), ((0, 15), (5, 15), (15, 25)), (1,),
        ((1, 2, 0), (1.0, 0.5, 0.0)),  # means 0.5, 0.75, 0.5
        ((2, 1, 0), (1.0, 0.8, 0.0)),  # 0.4, 0.9, 1
        ((0, 2, 1), (1.0, 0.5, 0.0)),  # 1, 0.75, 0.5
    )  # fmt: skip
    assert values(cell, 10) == [at(1), at(2), at(2)]
    assert values(cell, 1) == [1.0, 0.0, 0.0]


def test_equal_means_go_by_corpus_order_whatever_their_lines():
    # Ten times 0.1 and divided by ten is not 0.1 in floats.
    cell = cell_of((0, 10, 14), ((0, 10), (10, 14)), (1,), ((0, 1), (0.1, 0.1)))
    assert values(cell, 10) == [at(2)]
    thirds = cell_of((0, 3, 4), ((0, 3), (3, 4), (4, 4)), (1,), ((0, 1, 2), (0.3, 0.3, -0.7)))
    assert values(thirds, 10) == [at(2)]


def test_uncovered_lines_have_the_lowest_score():
    # Run 0: half of its lines in no chunk. Run 1: 0.5.
    chunks = ((0, 5), (10, 20), (20, 30))
    cell = cell_of(
        (0, 10, 20, 30), chunks, (0,),
        ((0, 1, 2), (1.0, 0.5, 0.2)),  # 0.6
        ((0, 1, 2), (1.0, 0.5, -0.2)),  # 0.4
    )  # fmt: skip
    assert values(cell, 10) == [at(1), at(2)]


def test_what_is_unscored_or_beyond_the_ranking_has_the_lowest_score():
    chunks = ((0, 5), (5, 10), (10, 20), (20, 30))
    cell = cell_of(
        (0, 10, 20, 30), chunks, (0,),
        ((0, 2, 3, 1), (1.0, 0.5, 0.1, NAN)),  # 0.55, 0.5
        ((0, 2, 3), (1.0, 0.5, 0.1)),
        ((0, 2, 3, 1), (1.0, 0.5, -0.1, NAN)),  # 0.45, 0.5
        ((0, 2, 3, 1), (NAN, NAN, NAN, NAN)),
    )  # fmt: skip
    assert values(cell, 10) == [at(1), at(1), at(2), at(1)]


def test_gold_that_no_ranked_chunk_shows_gains_nothing():
    chunks = ((10, 20), (0, 10))
    cell = cell_of((0, 10, 20), chunks, (0,), ((0,), (1.0,)), ((0, 1), (1.0, 0.5)), ((), ()))
    assert values(cell, 10) == [0.0, at(2), 0.0]
    # Its place is taken all the same: a run in no chunk ties with the lowest.
    after = cell_of((0, 10, 20), ((10, 20),), (1,), ((0,), (1.0,)))
    assert values(after, 10) == [at(2)]


def test_where_scores_rise_along_the_ranking_places_count():
    # A reranked head: the second chunk scores by another scale.
    chunks = ((0, 10), (10, 20), (20, 30))
    cell = cell_of((0, 10, 20, 30), chunks, (0,), ((0, 1, 2), (-3.0, 0.9, 0.8)))
    assert values(cell, 10) == [1.0]


def test_levels_keep_proportions_or_places():
    assert levels(np.array([0.75, 0.5, 0.5, 0.25])).tolist() == [2**47, 2**46, 2**46, 0]
    assert levels(np.array([3.0, 3.0, NAN])).tolist() == [0, 0, 0]
    assert levels(np.array([1.0, 2.0, 0.5, NAN])).tolist() == [2, 1, 0, 0]
    assert levels(np.array([1.0, NAN, 0.5])).tolist() == [2, 1, 0]
    assert levels(np.array([np.inf, 1.0])).tolist() == [1, 0]
    assert levels(np.array([1e308, -1e308])).tolist() == [1, 0]
    assert levels(np.array([NAN, NAN])).tolist() == [0, 0]
    assert levels(np.array([])).tolist() == []


@given(st.lists(st.floats(-1e6, 1e6), max_size=20))
def test_levels_never_rise_along_the_ranking(scores):
    got = levels(np.array(scores, dtype=np.float64))
    assert (np.diff(got) <= 0).all()
    assert got.max(initial=0) <= 2**48
    assert got.min(initial=0) == 0


def test_a_twin_counts_as_the_first_run_not_yet_found():
    chunks = tuple((10 * n, 10 * n + 10) for n in range(4))
    ranking = ((3, 1, 2, 0), (4.0, 3.0, 2.0, 1.0))
    cell = cell_of((0, 10, 20, 30, 40), chunks, (0, 1), ranking, twins=((3, (0, 1)),))
    ideal = at(1) + at(2)
    # The twin is run 0; then run 1 is found; run 0 itself comes too late to count.
    assert values(cell, 10) == [pytest.approx((at(1) + at(2)) / ideal)]
    alone = cell_of((0, 10, 20, 30, 40), chunks, (0, 1), ranking)
    assert values(alone, 10) == [pytest.approx((at(2) + at(4)) / ideal)]


@given(RNGS)
@settings(max_examples=200, deadline=None)
def test_values_equal_the_definition_in_exact_fractions(cells, rng):
    cell = cells.span_cell(rng, most=10, queries=4, longest=rng.choice([6, 12]))
    got = evaluate(cell, MEASURES, DEFAULT).per_query
    for measure in MEASURES:
        want = [cells.slow_value(cell, query, measure) for query in range(4)]
        assert got[str(measure)] == pytest.approx(want, abs=1e-12)


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_scale_and_zero_of_the_scores_do_not_matter(cells, rng):
    cell = cells.span_cell(rng, most=8, queries=3)
    scores = tuple(4 * one - 2 for one in cell.projection.scores)
    moved = replace(cell, projection=replace(cell.projection, scores=scores))
    assert evaluate(moved, MEASURES, DEFAULT).mean == evaluate(cell, MEASURES, DEFAULT).mean


@given(RNGS)
@settings(max_examples=150, deadline=None)
def test_dropping_gold_lines_never_pays(cells, rng):
    """The ranking and its scores stay; chunks lose lines at their ends, if these are gold."""
    cell = cells.span_cell(rng, most=8, twins=False, overlapping=False)
    runs, gold = cell.projection.runs[0], cell.projection.gold[0].unit.tolist()
    is_gold = np.repeat(np.isin(np.arange(len(runs.edges) - 1), gold), np.diff(runs.edges))
    first, stop = runs.first.copy(), runs.stop.copy()
    for unit in range(len(first)):
        while first[unit] < stop[unit] and is_gold[first[unit]] and rng.random() < 0.5:
            first[unit] += 1
        while first[unit] < stop[unit] and is_gold[stop[unit] - 1] and rng.random() < 0.5:
            stop[unit] -= 1
    poorer = replace(cell.projection, runs=(Runs(runs.edges, first, stop),))
    after = evaluate(replace(cell, projection=poorer), MEASURES, DEFAULT).per_query
    for name, before in evaluate(cell, MEASURES, DEFAULT).per_query.items():
        assert after[name][0] <= before[0] + 1e-12, name


def test_names_and_comparability():
    for name in ("pnDCG@10", "pndcg@10", "projected_ndcg@10", "Projected-nDCG_at_10"):
        assert str(parse_measure(name)) == "pnDCG@10"
    assert comparable(parse_measure("pnDCG@10"), spans=True)


def test_it_does_not_apply_where_the_lines_are_not_known(cells):
    cell = replace(cells.span_cell(cells.rng(1)), projection=None)
    assert evaluate(cell, MEASURES, DEFAULT).mean["pnDCG@10"] is None
    assert oracle(cell, MEASURES, DEFAULT)["pnDCG@10"] is None
    assert chance(cell, MEASURES, DEFAULT)["pnDCG@10"] is None


def falling(n):
    """Every way to score a ranking of n from 3 down to 0."""
    ways = itertools.combinations_with_replacement((3.0, 2.0, 1.0, 0.0), n)
    return [np.array(way, dtype=np.float64) for way in ways]


@given(RNGS)
@settings(max_examples=60, deadline=None)
def test_no_ranking_and_no_scores_pass_the_oracle(cells, rng):
    cell = cells.span_cell(rng, most=4)
    n = len(cell.corpora[0].size)
    pairs = [(one, way) for one in cells.all_rankings(n) for way in falling(len(one))]
    tried = cells.with_rankings(cell, *zip(*pairs, strict=True))
    largest = evaluate(tried, MEASURES, DEFAULT).per_query
    for name, best in oracle(cell, MEASURES, DEFAULT).items():
        assert largest[name].max() - 1e-12 <= best.per_query[0] <= 1, name


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_an_oracle_that_is_called_exact_is_reached(cells, rng):
    cell = cells.span_cell(rng, most=8)
    runs, gold = cell.projection.runs[0], cell.projection.gold[0]
    wanted = {*gold.unit.tolist(), *(run for run, _ in gold.twins)}
    lines = {line for run in wanted for line in range(runs.edges[run], runs.edges[run + 1])}
    spans = [range(a, b) for a, b in zip(runs.first, runs.stop, strict=True)]
    shares = [len(lines.intersection(span)) / max(len(span), 1) for span in spans]
    ways = [
        np.array(way) for way in (shares, np.floor(shares), np.sign(shares))
    ]  # share, pure, some
    orders = [np.argsort(-way, kind="stable") for way in ways]
    scores = [way[order] for way, order in zip(ways, orders, strict=True)]
    tried = cells.with_rankings(cell, orders, scores)
    for measure in MEASURES:
        best = oracle(cell, [measure], DEFAULT)[str(measure)]
        reached = max(cells.slow_value(tried, query, measure) for query in range(3))
        assert reached <= best.per_query[0] + 1e-12
        assert best.exact == (reached >= best.per_query[0] - 1e-9)


def test_the_oracle_knows_that_a_chunk_cannot_tell_its_lines_apart():
    # One chunk of three runs, the last of them gold, beside one of another run.
    edges = (0, 10, 20, 30, 40)
    coarse = cell_of(edges, ((0, 30), (30, 40)), (2,), ((), ()))
    fine = cell_of(edges, ((0, 20), (20, 30), (30, 40)), (2,), ((), ()))
    none = cell_of(edges, ((0, 20), (30, 40)), (2,), ((), ()))
    for cell, want in ((coarse, at(3)), (fine, 1.0), (none, 0.0)):
        best = oracle(cell, MEASURES, DEFAULT)["pnDCG@10"]
        assert (best.mean, best.exact) == (want, True)


def test_a_run_between_two_chunks_stands_behind_a_run_of_one_of_them():
    # Run 1 has lines of two chunks, each of which has a run of its own: one of these comes first.
    cell = cell_of((0, 10, 20, 30, 40), ((0, 12), (12, 30), (30, 40)), (1,), ((), ()))
    best = oracle(cell, MEASURES, DEFAULT)["pnDCG@10"]
    assert (best.mean, best.exact) == (at(2), True)


def test_the_oracle_is_a_bound_where_no_ranking_is_known_to_reach_it(cells):
    # All is gold. The lower chunk ties with run 0, which is in none, so it cannot be second.
    cell = cell_of((0, 1, 2, 3, 4, 5), ((1, 2), (3, 4)), (0, 1, 2, 3, 4), ((), ()))
    pairs = [(one, way) for one in cells.all_rankings(2) for way in falling(len(one))]
    tried = evaluate(cells.with_rankings(cell, *zip(*pairs, strict=True)), MEASURES, DEFAULT)
    best = oracle(cell, MEASURES, DEFAULT)["pnDCG@3"]
    assert best.mean == pytest.approx((at(1) + at(2)) / (at(1) + at(2) + at(3)))
    assert not best.exact
    assert tried.per_query["pnDCG@3"].max() < best.mean


def large_cell():
    """351 queries over 10,000 lines in 1,000 chunks, some of which overlap."""
    rng = np.random.default_rng(0)
    lines, n, queries = 10_000, 1_000, 351
    edges = np.arange(0, lines + 1, 10)
    first = np.sort(rng.integers(0, lines - 20, n))
    runs = Runs(edges, first, first + rng.integers(5, 20, n))
    units = Units(np.full(n, 100), np.zeros(n, dtype=np.int64))
    gold = tuple(Gold(0, np.array([g, g + 1]), np.ones(2)) for g in rng.integers(0, 998, queries))
    scores = tuple(np.sort(rng.random(n))[::-1] for _ in range(queries))
    ranking = tuple(rng.permutation(n) for _ in range(queries))
    names = tuple(f"q{at}" for at in range(queries))
    return Cell(names, (units,), gold, ranking, projection=Projection((runs,), gold, scores))


def test_a_thousand_chunks_and_ten_thousand_lines_take_a_few_seconds():
    cell = large_cell()
    started = time.process_time()
    evaluate(cell, MEASURES, DEFAULT)
    oracle(cell, MEASURES, DEFAULT)
    chance(cell, MEASURES, DEFAULT)
    assert time.process_time() - started < 5
