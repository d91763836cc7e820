import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.measures.cell import Cell, Gold, Units
from harness.measures.chance import chance
from harness.measures.evaluate import evaluate
from harness.measures.grammar import list_families, parse_measure
from harness.measures.profiles import load_profile
from harness.measures.random_numbers import permutation, words

DEFAULT = load_profile("default")
RNGS = st.randoms(use_true_random=True)


def measures_of(families, cuts):
    return [
        parse_measure(family.name + (f"@{cut}" + "c" * (family.cut == "budget")) * (cut > 0))
        for family in families
        for cut in ((0,) if family.cut == "none" else cuts)
        if cut or family.cut in {"none", "optional"}
    ]


CLOSED = measures_of([one for one in list_families() if one.chance], (0, 1, 2, 3, 7))
SIMULATED = measures_of([one for one in list_families() if not one.chance], (0, 2, 5))


def expected(cells, cell, measures):
    """The mean over every order of the whole corpus, by printed name."""
    n = len(cell.corpora[0].size)
    orders = list(itertools.permutations(range(n)))
    scores = evaluate(cells.with_rankings(cell, orders), measures, DEFAULT)
    return {
        name: None if values is None else values.mean() for name, values in scores.per_query.items()
    }


@given(RNGS)
@settings(max_examples=80, deadline=None)
def test_closed_form_equals_the_mean_over_all_orders(cells, rng):
    documents = rng.random() < 0.5
    most = rng.randint(1, 5)
    cell = (
        cells.document_cell(rng, most=most)
        if documents
        else cells.span_cell(rng, most=most, twins=False)
    )
    got = chance(cell, CLOSED, DEFAULT)
    for name, want in expected(cells, cell, CLOSED).items():
        if want is None:
            assert got[name] is None
            continue
        assert got[name].per_query[0] == pytest.approx(want, abs=1e-12), name
        assert got[name].standard_error == 0


def test_permutations_agree_with_the_mean_over_all_orders(cells):
    rng = cells.rng(3)
    checked = 0
    for _ in range(12):
        cell = cells.span_cell(rng, most=5, longest=12)
        measures = SIMULATED + CLOSED * bool(cell.gold[0].twins)
        got = chance(cell, measures, DEFAULT)
        for name, want in expected(cells, cell, measures).items():
            error = got[name].standard_error
            assert got[name].mean == pytest.approx(want, abs=5 * error + 1e-9), name
            checked += error > 0
    assert checked > 40


def test_twins_are_simulated_and_others_stay_exact():
    grade = np.ones(1)
    with_twin = Gold(0, np.array([0]), grade, twins=((1, (0,)),))
    plain = Gold(0, np.array([2]), grade)
    units = Units(np.ones(4, dtype=np.int64), np.zeros(4, dtype=np.int64))
    none = np.zeros(0, dtype=np.int64)
    cell = Cell(("a", "b"), (units,), (with_twin, plain), (none, none))
    got = chance(cell, [parse_measure("R@1")], DEFAULT)["R@1"]
    assert got.per_query[1] == 0.25
    assert got.per_query[0] == pytest.approx(0.5, abs=0.15)
    assert got.mean == pytest.approx((got.per_query[0] + 0.25) / 2)
    # 200 draws of a coin with p near 1/2, halved in the mean over two queries.
    assert got.standard_error == pytest.approx(0.5 / math.sqrt(200) / 2, rel=0.1)


def test_queries_of_a_corpus_share_its_orders(cells):
    rng = cells.rng(11)
    cell = cells.span_cell(rng, most=6, longest=12)
    doubled = cells.with_rankings(cell, [(), ()])
    one, two = (chance(c, SIMULATED, DEFAULT) for c in (cells.with_rankings(cell, [()]), doubled))
    for name, single in one.items():
        assert two[name].per_query.tolist() == [single.mean] * 2
        assert two[name].standard_error == pytest.approx(single.standard_error, abs=1e-15)


def test_seed_decides_the_value(cells):
    rng = cells.rng(7)
    cell = cells.span_cell(rng, most=8, longest=12, queries=3)
    first, again, other = (chance(cell, SIMULATED, DEFAULT, seed=seed) for seed in (1, 1, 2))
    means = [[one.mean for one in result.values()] for result in (first, again, other)]
    assert means[0] == means[1] != means[2]


def test_large_corpus_has_exact_values_at_once():
    n = 50_000
    gold = Gold(0, np.array([5, 77]), np.array([1.0, 3.0]), judged_zero=np.array([3]))
    units = Units(np.ones(n, dtype=np.int64), np.zeros(n, dtype=np.int64))
    cell = Cell(("q",), (units,), (gold,), (np.zeros(0, dtype=np.int64),), spans=False)
    names = ("P@10", "R@1000", "Hit@1", "Judged@5")
    got = chance(cell, [parse_measure(name) for name in names], DEFAULT)
    assert [got[name].mean for name in names] == pytest.approx([2 / n, 1000 / n, 2 / n, 3 / n])


@pytest.mark.parametrize("n", [0, 1, 2, 5000, 200_000])
def test_a_permutation_is_the_order_of_all_64_bits(n):
    """Among 200,000 numbers some share their upper 32 bits."""
    order, numbers = permutation(words((3, n)), n), words((3, n)).random_raw(n)
    assert np.array_equal(order, np.argsort(numbers, kind="stable"))
    shared = n - len(np.unique(numbers >> np.uint64(32)))
    assert shared > 0 or n < 200_000
