"""Budgets that are charged for merged chunks, against delivery character by character."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.measures.best_spans import best_spans
from harness.measures.cell import Cell, Gold, Pieces, Units
from harness.measures.chance import chance
from harness.measures.evaluate import evaluate
from harness.measures.grammar import parse_measure
from harness.measures.oracle import oracle
from harness.measures.profiles import load_profile

DEFAULT, MERGE = load_profile("default"), load_profile("default:assemble=merge")
SPANS = ("SpanR", "SpanP", "SpanF1", "SpanIoU", "Complete")
BUDGETS = (1, 2, 3, 4, 6, 9, 14, 40)
MEASURES = [parse_measure(f"{name}@{budget}c") for name in SPANS for budget in BUDGETS]
RNGS = st.randoms(use_true_random=True)


def ints(*values):
    return np.array(values, dtype=np.int64)


def places(units, unit):
    """The characters of a unit, as file and number in the file."""
    low = int(units.low[unit])
    return [(int(units.file[unit]), at) for at in range(low, low + int(units.size[unit]))]


def delivered(units, ranking, budget):
    """The longest prefix whose union is within the budget, then the next unit, cut."""
    union, rank = set(), 0
    while rank < len(ranking) and len(union | set(places(units, ranking[rank]))) <= budget:
        union |= set(places(units, ranking[rank]))
        rank += 1
    if rank < len(ranking):
        new = [one for one in places(units, ranking[rank]) if one not in union]
        union |= set(new[: budget - len(union)])
    return union


def slow(cell, query, measure):
    gold = cell.gold[query]
    units, ranking = cell.corpora[gold.corpus], cell.ranking[query].tolist()
    number = {}
    rows = (gold.pieces.unit, gold.pieces.offset, gold.pieces.length, gold.pieces.gold)
    for unit, offset, length, first in zip(*(one.tolist() for one in rows), strict=True):
        inside = places(units, unit)[offset : offset + length]
        number |= {place: first + at for at, place in enumerate(inside)}
    got = delivered(units, ranking, measure.cut)
    seen = {number[place] for place in got if place in number}
    union = len(got) + gold.gold_size - len(seen)
    return {
        "SpanR": len(seen) / gold.gold_size,
        "SpanP": len(seen) / max(len(got), 1),
        "SpanF1": 2 * len(seen) / (len(got) + gold.gold_size),
        "SpanIoU": len(seen) / union,
        "Complete": float(
            any(all(at in seen for lo, hi in one for at in range(lo, hi)) for one in gold.targets)
        ),
    }[measure.family]


@given(RNGS)
@settings(max_examples=150, deadline=None)
def test_every_measure_equals_delivery_character_by_character(cells, rng):
    cell = cells.span_cell(rng, most=10, queries=rng.randint(1, 4))
    scores = evaluate(cell, MEASURES, MERGE)
    for measure in MEASURES:
        want = [slow(cell, query, measure) for query in range(len(cell.queries))]
        np.testing.assert_allclose(
            scores.per_query[str(measure)], want, rtol=0, atol=1e-12, err_msg=str(measure)
        )


@given(RNGS)
@settings(max_examples=40, deadline=None)
def test_chunks_that_do_not_overlap_give_what_they_give_without_merging(cells, rng):
    cell = cells.span_cell(rng, most=8, queries=3, overlapping=False)
    measures = [*MEASURES, parse_measure("nDCG@3"), parse_measure("pnDCG@3")]
    merged, plain = (evaluate(cell, measures, one) for one in (MERGE, DEFAULT))
    assert merged.mean == plain.mean
    best, best_plain = (oracle(cell, measures, one) for one in (MERGE, DEFAULT))
    random, random_plain = (chance(cell, measures, one, 0, 9) for one in (MERGE, DEFAULT))
    for name in plain.mean:
        assert merged.per_query[name].tolist() == plain.per_query[name].tolist()
        assert best[name].per_query.tolist() == best_plain[name].per_query.tolist()
        assert best[name].exact == best_plain[name].exact
        assert random[name].per_query.tolist() == random_plain[name].per_query.tolist()


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_merging_never_delivers_less_gold(cells, rng):
    cell = cells.span_cell(rng, most=8, queries=3)
    merged, plain = (evaluate(cell, MEASURES, one).per_query for one in (MERGE, DEFAULT))
    for name in plain:
        assert (merged[name] >= plain[name]).all(), name


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_what_was_delivered_before_costs_and_changes_nothing(cells, rng):
    """A unit inside the text of one that stands before it can be put in or left out."""
    cell = cells.span_cell(rng, most=8)
    units, ranking = cell.corpora[0], cell.ranking[0].tolist()
    redundant = [
        at
        for at, unit in enumerate(ranking)
        if set(places(units, unit)) <= set().union(*(places(units, one) for one in ranking[:at]))
    ]
    shorter = [unit for at, unit in enumerate(ranking) if at not in redundant]
    without = replace(cell, ranking=(ints(*shorter),), projection=None)
    assert evaluate(cell, MEASURES, MERGE).mean == evaluate(without, MEASURES, MERGE).mean


def overlapping_cell(*rankings):
    """Two chunks of 10 characters that share 4, gold the last 2 of the first and 6 behind."""
    pieces = Pieces(ints(0, 1), ints(8, 2), ints(2, 8), ints(0, 0))
    gold = Gold(0, ints(), np.zeros(0), pieces=pieces, gold_size=8, targets=(((0, 8),),))
    units = Units(ints(10, 10), ints(0, 0), ints(0, 6))
    names = tuple(f"q{at}" for at in range(len(rankings)))
    return Cell(
        names, (units,), (gold,) * len(rankings), tuple(ints(*ranking) for ranking in rankings)
    )


def test_text_in_two_chunks_is_charged_once():
    cell = overlapping_cell((0, 1), (1, 0))
    names = ("SpanR@12c", "SpanP@12c", "SpanR@16c", "SpanP@20c", "Complete@15c", "Complete@16c")
    measures = [parse_measure(name) for name in names]
    merged, plain = (evaluate(cell, measures, one).per_query for one in (MERGE, DEFAULT))
    assert [merged[name].tolist() for name in names] == [
        [4 / 8, 1.0], [4 / 12, 8 / 12], [1.0, 1.0], [8 / 16, 8 / 16], [0.0, 1.0], [1.0, 1.0]
    ]  # fmt: skip
    assert plain["SpanR@12c"].tolist() == [2 / 8, 1.0]
    assert plain["SpanP@20c"].tolist() == [8 / 20, 8 / 20]
    best = oracle(cell, measures, MERGE)
    assert [best[name].per_query[0] for name in names] == [1.0, 0.8, 1.0, 0.8, 1.0, 1.0]


def brute_force(cells, cell):
    rankings = cells.all_rankings(len(cell.corpora[0].size))
    scores = evaluate(cells.with_rankings(cell, rankings), MEASURES, MERGE)
    return {name: values.max() for name, values in scores.per_query.items()}


@given(RNGS)
@settings(max_examples=150, deadline=None)
def test_oracle_equals_brute_force(cells, rng):
    cell = cells.span_cell(rng, most=rng.choice([2, 4, 5, 6]))
    best = oracle(cell, MEASURES, MERGE)
    for name, largest in brute_force(cells, cell).items():
        assert best[name].exact
        assert best[name].per_query[0] == pytest.approx(largest, abs=1e-12), name


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_bound_beyond_the_search_is_no_less_than_brute_force(cells, rng):
    cell = cells.span_cell(rng, most=5)
    largest = brute_force(cells, cell)
    for budget, best in best_spans(cell, BUDGETS, merge=True, most_searched=1).items():
        for name, (got, exact) in best.items():
            want = largest[f"{name}@{budget}c"]
            assert want - 1e-12 <= got[0] <= 1, name
            assert not exact[0] or got[0] == pytest.approx(want, abs=1e-12), name


def test_many_overlapping_chunks_are_bounded_and_said_to_be():
    n = 30
    unit = np.arange(n)
    size = 6 * n + 4
    pieces = Pieces(unit, np.zeros(n, dtype=np.int64), np.full(n, 10), 6 * unit)
    gold = Gold(0, unit, np.ones(n), pieces=pieces, gold_size=size, targets=(((0, size),),))
    units = Units(np.full(n, 10), np.zeros(n, dtype=np.int64), 6 * unit)
    cell = Cell(("q",), (units,), (gold,), (ints(),))
    names = ["SpanR@100c", "SpanF1@100c", "SpanP@100c", "SpanR@1000c", "Complete@183c"]
    best = oracle(cell, [parse_measure(name) for name in names], MERGE)
    assert [best[name].exact for name in names] == [False, False, False, True, True]
    assert [best[name].mean for name in names] == pytest.approx(
        [100 / size, 200 / (100 + size), 1.0, 1.0, 0.0]
    )


def test_random_orders_agree_with_the_mean_over_all_orders(cells):
    rng = cells.rng(3)
    measures = [parse_measure(f"{name}@{budget}c") for name in SPANS for budget in (3, 7, 12)]
    checked = 0
    for _ in range(8):
        cell = cells.span_cell(rng, most=5)
        orders = list(itertools.permutations(range(len(cell.corpora[0].size))))
        want = evaluate(cells.with_rankings(cell, orders), measures, MERGE).per_query
        for name, got in chance(cell, measures, MERGE).items():
            assert got.mean == pytest.approx(
                want[name].mean(), abs=5 * got.standard_error + 1e-9
            ), name
            checked += got.standard_error > 0
    assert checked > 40
