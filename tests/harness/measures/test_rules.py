"""What the fields of a profile do to measures, means and anchors."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.measures.cell import Cell, Gold, Units
from harness.measures.chance import chance
from harness.measures.evaluate import evaluate
from harness.measures.grammar import list_families, parse_measure
from harness.measures.oracle import oracle
from harness.measures.profiles import load_profile

RNGS = st.randoms(use_true_random=True)
DEFAULT, CODE_CHUNK, MEMORYBENCH = map(load_profile, ("default", "code-chunk", "memorybench"))
GRADE_2 = load_profile("default:rel=2")
RANKED = [
    parse_measure(family.name + f"@{cut}" * (cut > 0))
    for family in list_families()
    for cut in {"none": (0,), "optional": (0, 1, 2, 3)}.get(family.cut, (1, 2, 3, 7))
    if not family.lines
]


def ints(*values):
    return np.array(values, dtype=np.int64)


def documents(*rankings, n=6, gold=(0, 1), grades=None, again=(), **more):
    """A cell with one query for each ranking, all with the same gold."""
    one = Gold(
        corpus=0,
        unit=ints(*gold),
        grade=np.array(grades or [1.0] * len(gold)),
        again=again,
        judged_zero=ints(),
        **more,
    )
    return Cell(
        queries=tuple(f"q{i}" for i in range(len(rankings))),
        corpora=(Units(ints(*[1] * n), ints(*range(n))),),
        gold=(one,) * len(rankings),
        ranking=tuple(ints(*ranking) for ranking in rankings),
        spans=False,
    )


def value(cell, name, profile):
    return evaluate(cell, [parse_measure(name)], profile).per_query[name][0]


def with_repeats(rng, cell):
    """The same cell where some units count as a relevant one once more."""
    golds = []
    for gold in cell.gold:
        n = len(cell.corpora[gold.corpus].size)
        relevant = set(gold.unit.tolist())
        zero = set() if gold.judged_zero is None else set(gold.judged_zero.tolist())
        free = [unit for unit in range(n) if unit not in relevant | zero]
        some = rng.sample(free, rng.randint(0, len(free))) if relevant else []
        again = tuple((unit, rng.choice(sorted(relevant))) for unit in sorted(some))
        golds.append(replace(gold, again=again, named=rng.random() < 0.5))
    return replace(cell, gold=tuple(golds))


def slow_memorybench(cell, query, measure):
    """Precision, recall and nDCG of memorybench by their words."""
    gold, cut = cell.gold[query], measure.cut
    same = dict(gold.again)
    relevant = set(gold.unit.tolist())
    ranking = cell.ranking[query].tolist()
    hits = [same.get(unit, unit) in relevant for unit in ranking][:cut]
    if measure.family == "P":
        return sum(hits) / len(hits) if hits else 0.0
    if measure.family == "R":
        return float(any(hits))
    known = len(relevant) if gold.named and not cell.spans else sum(hits)
    best = sum(1 / math.log2(rank + 2) for rank in range(min(cut, known)))
    got = sum(1 / math.log2(rank + 2) for rank, hit in enumerate(hits) if hit)
    return got / best if best else 0.0


@given(RNGS)
@settings(max_examples=150, deadline=None)
def test_memorybench_measures_equal_their_words(cells, rng):
    make = rng.choice([cells.span_cell, cells.document_cell])
    extra = {"twins": False} if make is cells.span_cell else {}
    cell = with_repeats(rng, make(rng, most=6, queries=3, **extra))
    names = [f"{family}@{cut}" for family in ("P", "R", "nDCG") for cut in (1, 2, 3, 7)]
    got = evaluate(cell, [parse_measure(name) for name in names], MEMORYBENCH)
    for name in names:
        for query in range(3):
            want = slow_memorybench(cell, query, parse_measure(name))
            assert got.per_query[name][query] == pytest.approx(want, abs=1e-12), name


def test_precision_can_be_of_what_was_retrieved():
    cell = documents([0, 3])
    assert value(cell, "P@5", DEFAULT) == value(cell, "P@5", CODE_CHUNK) == 0.2
    assert value(cell, "P@5", MEMORYBENCH) == 0.5
    assert value(cell, "P@1", MEMORYBENCH) == 1.0
    assert value(documents([]), "P@5", MEMORYBENCH) == 0.0


def test_recall_can_be_a_hit():
    cell = documents([3, 0])
    assert [value(cell, "R@2", one) for one in (DEFAULT, MEMORYBENCH)] == [0.5, 1.0]
    assert value(cell, "R@1", MEMORYBENCH) == 0.0


def test_f1_is_of_the_precision_and_recall_that_the_profile_means():
    cell = documents([0, 3, 4, 5])
    assert value(cell, "F1@8", DEFAULT) == pytest.approx(2 / 10)
    assert value(cell, "F1@8", MEMORYBENCH) == pytest.approx(2 * 0.25 * 1 / 1.25)


def test_ideal_knows_only_what_was_found_unless_the_gold_is_named():
    found, named = documents([3, 0], named=False), documents([3, 0])
    assert value(found, "nDCG@5", MEMORYBENCH) == pytest.approx(1 / math.log2(3))
    of_both = (1 / math.log2(3)) / (1 + 1 / math.log2(3))
    assert value(named, "nDCG@5", MEMORYBENCH) == pytest.approx(of_both)
    assert value(found, "nDCG@5", DEFAULT) == pytest.approx(of_both)
    assert value(replace(named, spans=True), "nDCG@5", MEMORYBENCH) == pytest.approx(
        1 / math.log2(3)
    )


def test_gain_can_be_binary():
    cell = documents([1, 0], grades=[3.0, 1.0])
    assert value(cell, "nDCG@2", DEFAULT) < 1
    assert value(cell, "nDCG@2", CODE_CHUNK) == value(cell, "nDCG@2", MEMORYBENCH) == 1.0


def test_unit_that_counts_again_lifts_recall_and_ndcg_past_1():
    cell = documents([0, 5], gold=(0,), again=((5, 0),))
    assert value(cell, "R@2", CODE_CHUNK) == 2.0
    assert value(cell, "P@2", CODE_CHUNK) == 1.0
    assert value(cell, "nDCG@2", CODE_CHUNK) == 1 + 1 / math.log2(3)
    assert value(cell, "MAP", CODE_CHUNK) == 2.0
    assert value(cell, "Judged@2", CODE_CHUNK) == 1.0


def test_unit_that_counts_again_gains_what_the_first_gains():
    cell = documents([5, 1], grades=[3.0, 1.0], again=((5, 0),))
    ideal = 3 + 1 / math.log2(3)
    assert value(cell, "nDCG@2", DEFAULT) == pytest.approx((3 + 1 / math.log2(3)) / ideal)


def test_mean_can_be_over_corpora():
    units = Units(ints(1, 1), ints(0, 1))
    gold = [Gold(corpus=one, unit=ints(0), grade=np.ones(1)) for one in (0, 1, 1, 1)]
    cell = Cell(
        queries=("a", "b", "c", "d"),
        corpora=(units, units),
        gold=tuple(gold),
        ranking=(ints(0), ints(1), ints(1), ints(1)),
        spans=False,
    )
    asked = [parse_measure("P@1")]
    assert evaluate(cell, asked, DEFAULT).mean["P@1"] == 0.25
    assert evaluate(cell, asked, CODE_CHUNK).mean["P@1"] == 0.5
    assert oracle(cell, asked, CODE_CHUNK)["P@1"].mean == 1.0
    assert chance(cell, asked, CODE_CHUNK)["P@1"].mean == 0.5


def test_error_of_a_mean_over_corpora_weighs_corpora_alike():
    units = Units(ints(1, 1), ints(0, 1))
    again = ((1, 0),)  # no closed form, so random orders are drawn
    gold = [Gold(corpus=one, unit=ints(0), grade=np.ones(1), again=again) for one in (0, 1, 1)]
    cell = Cell(("a", "b", "c"), (units, units), tuple(gold), (ints(),) * 3, spans=False)
    asked = [parse_measure("R@1"), parse_measure("nDCG@2")]
    for one in chance(cell, asked, CODE_CHUNK).values():
        assert one.standard_error == 0  # every order scores the same
        assert one.mean == pytest.approx(one.per_query[0])


def test_absent_queries_go_by_the_profile():
    cell = replace(documents([0], []), absent=np.array([False, True]))
    asked = [parse_measure("P@1")]
    default, trec = (evaluate(cell, asked, load_profile(one)) for one in ("default", "trec"))
    assert (default.mean["P@1"], default.left_out) == (0.5, {})
    assert (trec.mean["P@1"], trec.left_out) == (1.0, {"absent from the rankings": 1})


def test_mrr_of_beir_is_over_all_queries_in_the_order_given_and_rounded():
    beir = load_profile("trec:variant=beir")
    cell = replace(
        documents([2, 0], [3, 4, 0], []),
        absent=np.array([False, False, True]),
        mrr_ranking=(ints(0, 2), ints(3, 4, 0), ints()),
    )
    got = evaluate(cell, [parse_measure("MRR@10"), parse_measure("Hit@1")], beir)
    assert got.per_query["MRR@10"].tolist() == [1.0, 1 / 3, 0.0]
    assert got.mean["MRR@10"] == 0.44444
    assert got.counted["MRR@10"].tolist() == [True, True, True]
    assert got.counted["Hit@1"].tolist() == [True, True, True]
    assert (got.mean["Hit@1"], got.n) == (0.33333, 2)


@pytest.mark.parametrize("profile", [CODE_CHUNK, MEMORYBENCH, GRADE_2], ids=lambda one: one.name)
@given(rng=RNGS)
@settings(max_examples=60, deadline=None)
def test_oracle_equals_brute_force_under_a_profile(cells, profile, rng):
    make = rng.choice([cells.span_cell, cells.document_cell])
    extra = {"twins": False} if make is cells.span_cell else {}
    cell = make(rng, most=4, **extra)
    cell = with_repeats(rng, cell) if profile.repeats == "each-counts" else cell
    best = oracle(cell, RANKED, profile)
    rankings = cells.all_rankings(len(cell.corpora[0].size))
    for name, values in evaluate(
        cells.with_rankings(cell, rankings), RANKED, profile
    ).per_query.items():
        assert best[name].per_query[0] == pytest.approx(values.max(), abs=1e-12), name


@pytest.mark.parametrize("profile", [MEMORYBENCH, GRADE_2], ids=lambda one: one.name)
@given(rng=RNGS)
@settings(max_examples=60, deadline=None)
def test_closed_forms_equal_the_mean_over_all_orders_under_a_profile(cells, profile, rng):
    cell = cells.document_cell(rng, most=5)
    got = chance(cell, RANKED, profile)
    orders = list(itertools.permutations(range(len(cell.corpora[0].size))))
    scores = evaluate(cells.with_rankings(cell, orders), RANKED, profile)
    simulated = ("Bpref", "judged)", "F1" if profile is MEMORYBENCH else "Bpref")
    exact = [name for name in scores.per_query if not any(one in name for one in simulated)]
    for name in exact:
        want = scores.per_query[name].mean()
        assert got[name].per_query[0] == pytest.approx(want, abs=1e-12), name
        assert got[name].standard_error == 0


def test_values_without_a_closed_form_are_simulated_under_memorybench(cells):
    rng = cells.rng(5)
    simulated = [parse_measure(name) for name in ("F1@2", "nDCG@2", "nDCG@3")]
    checked = 0
    for _ in range(12):
        cell = cells.span_cell(rng, most=5, twins=False)
        got = chance(cell, simulated, MEMORYBENCH)
        orders = list(itertools.permutations(range(len(cell.corpora[0].size))))
        scores = evaluate(cells.with_rankings(cell, orders), simulated, MEMORYBENCH)
        for name, values in scores.per_query.items():
            error = got[name].standard_error
            assert got[name].mean == pytest.approx(values.mean(), abs=5 * error + 1e-9), name
            checked += error > 0
    assert checked > 5
