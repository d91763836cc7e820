import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.measures.best_spans import (
    Subsets,
    _knapsack,
    _search,
    best_spans,
    gold_units,
    without_dominated,
)
from harness.measures.cell import Cell, Gold, Pieces, Units
from harness.measures.chance import chance
from harness.measures.evaluate import evaluate
from harness.measures.grammar import list_families, parse_measure
from harness.measures.oracle import oracle
from harness.measures.profiles import load_profile

DEFAULT = load_profile("default")
RNGS = st.randoms(use_true_random=True)
MEASURES = [
    parse_measure(family.name + (f"@{cut}" + "c" * (family.cut == "budget")) * (cut > 0))
    for family in list_families()
    for cut in {"none": (0,), "optional": (0, 1, 2, 3)}.get(family.cut, (1, 2, 3, 4, 6, 9, 14, 40))
    if not family.projected
]


def ints(*values):
    return np.array(values, dtype=np.int64)


def brute_force(cells, cell):
    """The largest values over all orders of all subsets of the units, by printed name."""
    rankings = cells.all_rankings(len(cell.corpora[0].size))
    scores = evaluate(cells.with_rankings(cell, rankings), MEASURES, DEFAULT)
    return {
        name: None if values is None else values.max() for name, values in scores.per_query.items()
    }


@given(RNGS)
@settings(max_examples=200, deadline=None)
def test_oracle_equals_brute_force(cells, rng):
    make = rng.choice([cells.span_cell, cells.span_cell, cells.document_cell])
    cell = make(rng, most=rng.choice([2, 4, 5, 6]))
    best = oracle(cell, MEASURES, DEFAULT)
    for name, largest in brute_force(cells, cell).items():
        if largest is None:
            assert best[name] is None
            continue
        assert best[name].exact
        assert best[name].per_query[0] == pytest.approx(largest, abs=1e-12), name


@given(RNGS)
@settings(max_examples=150, deadline=None)
def test_bound_beyond_the_search_is_no_less_than_brute_force(cells, rng):
    cell = cells.span_cell(rng, most=5)
    budgets = [1, 2, 3, 4, 6, 9, 14, 40]
    largest = brute_force(cells, cell)
    for budget, best in best_spans(cell, budgets, most_searched=1).items():
        for name, (got, exact) in best.items():
            want = largest[f"{name}@{budget}c"]
            assert got[0] >= want - 1e-12, name
            assert got[0] <= 1
            assert not exact[0] or got[0] == pytest.approx(want, abs=1e-12), name


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_no_ranking_beats_the_oracle(cells, rng):
    make = rng.choice([cells.span_cell, cells.document_cell])
    cell = make(rng, most=14, queries=4)
    best = oracle(cell, MEASURES, DEFAULT)
    for name, values in evaluate(cell, MEASURES, DEFAULT).per_query.items():
        assert values is None or (values <= best[name].per_query).all(), name


def knapsack_units(rng, n):
    """Units without common gold, of any size and any share of gold."""
    sizes = rng.integers(1, 60, n)
    gains = np.minimum(rng.integers(1, 60, n), sizes)
    offsets = rng.integers(0, sizes - gains + 1)
    starts = np.cumsum(gains) - gains
    pieces = Pieces(np.arange(n), offsets, gains, starts)
    total = int(gains.sum())
    gold = Gold(0, ints(), np.zeros(0), pieces=pieces, gold_size=total, targets=(((0, total),),))
    return gold, Units(sizes, np.zeros(n, dtype=np.int64))


@pytest.mark.parametrize("seed", range(12))
def test_dynamic_programme_equals_trying_all_sets(seed):
    rng = np.random.default_rng(seed)
    gold, units = knapsack_units(rng, 9)
    of_gold = gold_units(gold, units)
    budgets = [1, 7, 20, 45, 80, 120, 200, 300, 600]
    assert of_gold.disjoint
    by_sets = _search(Subsets.of(of_gold), gold.gold_size, budgets, [])
    by_table = _knapsack(of_gold, gold.gold_size, budgets)
    for best, (most, f1, iou) in zip(by_sets, by_table, strict=True):
        assert best["SpanR"] == (most / gold.gold_size, True)
        assert (best["SpanF1"][0], best["SpanIoU"][0]) == (f1, iou)


def test_best_cut_takes_the_dense_head_of_a_long_unit():
    # Unit 0: 100 characters, the first 10 are gold. Unit 1: 12 characters, the last 6 are gold.
    pieces = Pieces(ints(0, 1), ints(0, 6), ints(10, 6), ints(0, 10))
    gold = Gold(
        0, ints(0, 1), np.ones(2), pieces=pieces, gold_size=16, targets=(((0, 10),), ((10, 16),))
    )
    cell = Cell(("q",), (Units(ints(100, 12), ints(0, 1)),), (gold,), (ints(),))
    names = ["SpanR@10c", "SpanR@22c", "SpanP@10c", "SpanP@22c", "Complete@9c", "Complete@10c"]
    best = oracle(cell, [parse_measure(name) for name in names], DEFAULT)
    got = [best[name].per_query[0] for name in names]
    assert got == [10 / 16, 1.0, 1.0, 16 / 22, 0.0, 1.0]


def test_equal_units_count_once():
    pieces = Pieces(ints(0, 1, 2), ints(0, 0, 3), ints(5, 5, 5), ints(0, 0, 0))
    gold = Gold(0, ints(0), np.ones(1), pieces=pieces, gold_size=5, targets=(((0, 5),),))
    of_gold = gold_units(gold, Units(ints(6, 6, 9), ints(0, 1, 2)))
    assert without_dominated(of_gold).size.tolist() == [6]


def chain(n):
    """Units of 10 characters, each sharing 4 with the next, all of them gold."""
    unit = np.arange(n)
    size = 6 * n + 4
    pieces = Pieces(unit, np.zeros(n, dtype=np.int64), np.full(n, 10), 6 * unit)
    gold = Gold(0, unit, np.ones(n), pieces=pieces, gold_size=size, targets=(((0, size),),))
    return Cell(("q",), (Units(np.full(n, 10), np.zeros(n, dtype=np.int64)),), (gold,), (ints(),))


def test_many_overlapping_units_are_bounded_and_said_to_be():
    names = ["SpanR@100c", "SpanF1@100c", "SpanR@1000c"]
    measures = [parse_measure(name) for name in names]
    few, many = (oracle(chain(n), measures, DEFAULT) for n in (12, 40))
    assert all(few[name].exact for name in names)
    assert not many["SpanR@100c"].exact
    assert not many["SpanF1@100c"].exact
    assert many["SpanR@1000c"].exact
    assert many["SpanR@1000c"].mean == 1.0
    # Of 40 such units, ten that share nothing spend the budget on gold alone.
    assert many["SpanR@100c"].mean == pytest.approx(100 / 244)


def test_exactness_is_asked_of_included_queries_alone():
    empty = Gold(0, ints(), np.zeros(0))
    cell = Cell(("q",), (Units(ints(1), ints(0)),), (empty,), (ints(),), spans=False)
    best = oracle(cell, [parse_measure("nDCG@10")], DEFAULT)["nDCG@10"]
    assert (best.mean, best.exact) == (None, True)


def test_corpus_without_units_and_cell_without_queries_have_anchors():
    none = Units(ints(), ints())
    gold = Gold(0, ints(), np.zeros(0), gold_size=3, targets=(((0, 3),),), target_files=ints(-1))
    for cell in (Cell(("q",), (none,), (gold,), (ints(),)), Cell((), (none,), (), ())):
        want = 0.0 if cell.queries else None
        assert {one.mean for one in oracle(cell, MEASURES, DEFAULT).values()} == {want}
        assert {one.mean for one in chance(cell, MEASURES, DEFAULT).values()} == {want}


def test_rankings_play_no_part(cells):
    cell = cells.span_cell(cells.rng(5), most=5)
    results = [
        oracle(cells.with_rankings(cell, [ranking]), MEASURES, DEFAULT)
        for ranking in itertools.islice(cells.all_rankings(len(cell.corpora[0].size)), 3)
    ]
    for name, first in results[0].items():
        assert all(one[name].mean == first.mean for one in results[1:])
