from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.measures.cell import Cell, Gold, Pieces, Units
from harness.measures.evaluate import evaluate
from harness.measures.grammar import list_families, parse_measure
from harness.measures.profiles import load_profile

DEFAULT = load_profile("default")
SPANS = ("SpanR", "SpanP", "SpanF1", "SpanIoU", "Complete")
RNGS = st.randoms(use_true_random=True)


def every_measure(*cuts):
    names = []
    for family in list_families():
        if family.cut not in {"rank", "budget"}:
            names.append(family.name)
        if family.cut != "none":
            unit = "c" if family.cut == "budget" else ""
            names += [f"{family.name}@{cut}{unit}" for cut in cuts]
    return [parse_measure(name) for name in names]


def ints(*values):
    return np.array(values, dtype=np.int64)


def line_cell(sizes, pieces, gold_size, targets, *rankings, **gold):
    """One corpus of one file; pieces as (unit, offset, length, gold)."""
    one = Gold(
        corpus=0,
        unit=gold.pop("unit", ints()),
        grade=gold.pop("grade", np.zeros(0)),
        pieces=Pieces(*np.array(pieces, dtype=np.int64).reshape(-1, 4).T),
        gold_size=gold_size,
        targets=targets,
        **gold,
    )
    return Cell(
        tuple(f"q{i}" for i in range(len(rankings))),
        (Units(ints(*sizes), ints(*[0] * len(sizes))),),
        (one,) * len(rankings),
        tuple(ints(*ranking) for ranking in rankings),
    )


def values(cell, *names, profile=DEFAULT):
    scores = evaluate(cell, [parse_measure(name) for name in names], profile)
    return [scores.per_query[str(parse_measure(name))].tolist() for name in names]


@given(RNGS)
@settings(max_examples=150, deadline=None)
def test_every_measure_equals_its_definition(cells, rng):
    make = rng.choice([cells.span_cell, cells.document_cell])
    cell = make(rng, most=12, queries=rng.randint(1, 6))
    measures = every_measure(1, 2, 3, 5, 9, 30)
    scores = evaluate(cell, measures, DEFAULT)
    for measure in measures:
        got = scores.per_query[str(measure)]
        if got is None:
            assert not cell.spans
            continue
        want = [cells.slow_value(cell, query, measure) for query in range(len(cell.queries))]
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12, err_msg=str(measure))


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_every_value_lies_between_0_and_1(cells, rng):
    make = rng.choice([cells.span_cell, cells.document_cell])
    cell = make(rng, most=12, queries=4)
    scores = evaluate(cell, every_measure(1, 3, 10), DEFAULT)
    for name, got in scores.per_query.items():
        assert got is None or ((got >= 0) & (got <= 1)).all(), name
        assert got is None or 0 <= (scores.mean[name] or 0) <= 1


def test_nearly_equal_grades_in_the_wrong_order_stay_at_1():
    # Summed as they stand, this order gains 1.0000000000000002 of the ideal.
    grades = np.array([0.1, 0.10000000000000002, 0.10000000000000003])
    units = Units(ints(1, 1, 1), ints(0, 0, 0))
    cell = Cell(("q",), (units,), (Gold(0, ints(0, 1, 2), grades),), (ints(0, 1, 2),), spans=False)
    assert values(cell, "nDCG@3") == [[1.0]]


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_irrelevant_unit_at_the_end_changes_nothing_above_it(cells, rng):
    make = rng.choice([cells.span_cell, cells.document_cell])
    cell = make(rng, most=6)
    units = cell.corpora[0]
    extra = Units(np.append(units.size, 3), np.append(units.file, 99))
    rank = len(cell.ranking[0]) + 1
    cell = replace(cell, projection=None)  # there a last unit can take the lowest score
    longer = replace(cell, corpora=(extra,), ranking=(np.append(cell.ranking[0], len(units.size)),))
    spent = max(1, int(units.size[cell.ranking[0]].sum()))
    measures = [
        measure
        for measure in every_measure(*range(1, rank), spent)
        # those depend on all that is retrieved, or on all that is judged
        if (measure.cut is None and measure.family not in ("P", "F1", "Bpref"))
        or (measure.cut or rank) <= (spent if measure.unit else rank - 1)
    ]
    before, after = (evaluate(one, measures, DEFAULT).per_query for one in (cell, longer))
    for name, got in before.items():
        assert got is None or (got == after[name]).all(), name


def split_in_place(rng, cell):
    """Cut a unit of the ranking in two neighbours; only what spans need is kept up to date."""
    ranking, units = cell.ranking[0].tolist(), cell.corpora[0]
    unit = rng.choice(ranking)
    cut, new = rng.randint(0, int(units.size[unit])), len(units.size)
    rows = []
    pieces = cell.gold[0].pieces
    for of, offset, length, gold in np.stack(
        (pieces.unit, pieces.offset, pieces.length, pieces.gold), axis=1
    ).tolist():
        left = min(max(cut - offset, 0), length) if of == unit else length
        rows.append((of, offset, left, gold))
        if left < length:
            rows.append((new, max(offset - cut, 0), length - left, gold + left))
    at = ranking.index(unit)
    size = units.size.copy()
    size[unit] = cut
    return replace(
        cell,
        corpora=(Units(np.append(size, units.size[unit] - cut), np.append(units.file, 0)),),
        gold=(replace(cell.gold[0], pieces=Pieces(*np.array(rows).reshape(-1, 4).T)),),
        ranking=(ints(*ranking[: at + 1], new, *ranking[at + 1 :]),),
    )


@given(RNGS, st.integers(1, 40))
@settings(max_examples=150, deadline=None)
def test_splitting_a_unit_in_two_neighbours_changes_no_span_measure(cells, rng, budget):
    cell = cells.span_cell(rng, most=6, longest=12)
    if not len(cell.ranking[0]):
        return
    names = [f"{family}@{budget}c" for family in SPANS]
    assert values(split_in_place(rng, cell), *names) == values(cell, *names)


def without_some_gold(rng, cell):
    """Drop some characters that are gold from the units, and units that hold nothing else."""
    gold, units = cell.gold[0], cell.corpora[0]
    characters = [
        (int(unit), int(offset) + i, int(number) + i)
        for unit, offset, length, number in zip(
            gold.pieces.unit, gold.pieces.offset, gold.pieces.length, gold.pieces.gold, strict=True
        )
        for i in range(length)
    ]
    dropped = {one[:2] for one in characters if rng.random() < 0.4}
    rows = [
        (unit, at - sum(other == unit and place < at for other, place in dropped), 1, number)
        for unit, at, number in characters
        if (unit, at) not in dropped
    ]
    size = units.size - np.bincount([unit for unit, _ in dropped], minlength=len(units.size))
    ranking = [unit for unit in cell.ranking[0].tolist() if size[unit] > 0]
    pieces = Pieces(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)
    held = np.bincount([row[0] for row in rows], minlength=len(units.size)) > 0
    kept = held[gold.unit]
    return replace(
        cell,
        corpora=(Units(size, units.file),),
        gold=(replace(gold, pieces=pieces, unit=gold.unit[kept], grade=gold.grade[kept]),),
        ranking=(ints(*ranking),),
    )


@given(RNGS, st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_dropping_gold_text_never_pays(cells, rng, budget):
    cell = cells.span_cell(rng, most=8, twins=False, overlapping=False, longest=12)
    poorer = without_some_gold(rng, cell)
    names = [
        f"{family}@{budget}c" for family in SPANS[: 5 if len(cell.gold[0].targets) == 1 else 4]
    ]
    for name, before, after in zip(
        names, values(cell, *names), values(poorer, *names), strict=True
    ):
        assert after[0] <= before[0], name
    assert evaluate(poorer, [], DEFAULT).n == 1


def test_delivery_stops_in_the_middle_of_a_chunk():
    # Unit 0: 10 characters, gold 0-9; unit 1: 20 characters, gold 10-19 from its sixth on.
    cell = line_cell(
        (10, 20), [(0, 0, 10, 0), (1, 5, 10, 10)], 20, (((0, 10),), ((10, 20),)), (0, 1)
    )
    assert values(cell, "SpanR@10c", "SpanR@15c", "SpanR@18c", "SpanR@99c") == [
        [0.5],
        [0.5],
        [13 / 20],
        [1.0],
    ]
    assert values(cell, "SpanP@18c", "SpanP@99c") == [[13 / 18], [20 / 30]]
    assert values(cell, "SpanF1@18c", "SpanIoU@18c") == [[26 / 38], [13 / 25]]
    assert values(cell, "Complete@9c", "Complete@10c") == [[0.0], [1.0]]


def test_repeated_characters_are_charged_each_time_and_credited_once():
    cell = line_cell((10, 10), [(0, 0, 10, 0), (1, 0, 10, 0)], 10, (((0, 10),),), (0, 1), (1, 0))
    assert values(cell, "SpanR@20c", "SpanP@20c") == [[1.0, 1.0], [0.5, 0.5]]


def test_target_is_complete_when_two_places_hold_its_halves():
    cell = line_cell((5, 9), [(0, 0, 5, 0), (1, 4, 5, 5)], 10, (((0, 10),),), (0, 1), (1, 0), (1,))
    assert values(cell, "Complete@14c", "Complete@13c") == [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


def test_target_without_characters_is_never_complete():
    cell = line_cell((4,), [(0, 0, 4, 0)], 5, ((), ((0, 5),)), (0,))
    assert values(cell, "Complete@9c", "SpanR@9c") == [[0.0], [0.8]]


def test_twin_counts_as_the_first_unit_not_yet_found():
    # Units 1 and 2 are relevant, 3 and 4 are copies of them.
    twins = ((3, (1, 2)), (4, (1, 2)))
    cell = line_cell(
        (1,) * 5, [], 0, (), (3, 1, 2), (3, 4, 1, 2), (1, 3, 2), unit=ints(1, 2),
        grade=np.array([1.0, 2.0]), twins=twins,
    )  # fmt: skip
    assert values(cell, "R@2", "R@3") == [[0.5, 1.0, 1.0], [1.0, 1.0, 1.0]]
    assert values(cell, "P@3") == [[2 / 3, 2 / 3, 2 / 3]]
    assert values(cell, "MAP")[0] == pytest.approx([(1 + 2 / 3) / 2, 1.0, 1.0])


def test_file_measures_count_distinct_files():
    gold = Gold(0, ints(), np.zeros(0), target_files=ints(2, -1 - 7))
    units = Units(ints(1, 1, 1, 1), ints(0, 0, 1, 2))
    cell = Cell(("q",), (units,), (gold,), (ints(0, 1, 2, 3),))
    assert values(cell, "FileR@2", "FileR@3", "FileMRR", "FileMRR@2") == [
        [0.0],
        [0.5],
        [1 / 3],
        [0.0],
    ]


def test_target_in_no_chunk_scores_0_and_stays_in_the_mean():
    cell = line_cell((4,), [], 7, (((0, 7),),), (0,))
    scores = evaluate(cell, every_measure(5), DEFAULT)
    assert (scores.n, scores.left_out) == (1, {})
    assert scores.mean["SpanR@5c"] == scores.mean["nDCG@5"] == 0.0


def test_documents_without_relevant_one_leave_the_mean_by_the_profile():
    gold = (Gold(0, ints(0), np.ones(1), judged_zero=ints()), Gold(0, ints(), np.zeros(0)))
    units = Units(ints(1), ints(0))
    cell = Cell(("a", "b"), (units,), gold, (ints(0), ints(0)), spans=False)
    default = evaluate(cell, [parse_measure("P@1")], DEFAULT)
    trec = evaluate(cell, [parse_measure("P@1")], load_profile("trec"))
    assert (default.mean["P@1"], default.n) == (1.0, 1)
    assert default.left_out == {"only grades of 0 or less": 1}
    assert (trec.mean["P@1"], trec.n, trec.left_out) == (0.5, 2, {})


def test_relevant_document_that_the_corpus_lacks_counts_against_recall():
    gold = Gold(0, ints(-1, 0), np.ones(2), judged_zero=ints())
    cell = Cell(("a",), (Units(ints(1), ints(0)),), (gold,), (ints(0),), spans=False)
    assert values(cell, "R@5", "P@1") == [[0.5], [1.0]]


def test_line_measures_do_not_apply_to_documents():
    gold = Gold(0, ints(0), np.ones(1))
    cell = Cell(("a",), (Units(ints(1), ints(0)),), (gold,), (ints(0),), spans=False)
    scores = evaluate(cell, every_measure(5), DEFAULT)
    skipped = {name for name, got in scores.per_query.items() if got is None}
    assert skipped == {
        "IoU@5", "FileR@5", "FileMRR", "FileMRR@5", "pnDCG@5", *(f"{name}@5c" for name in SPANS)
    }  # fmt: skip
    assert all(scores.mean[name] is None for name in skipped)


def test_mean_over_queries_and_over_corpora_are_two_things():
    hit = Gold(0, ints(0), np.ones(1))
    miss = Gold(1, ints(0), np.ones(1))
    units = Units(ints(1, 1), ints(0, 1))
    cell = Cell(
        tuple("abcdefghij"), (units, units), (hit, *(miss,) * 9), (ints(0), *(ints(1),) * 9)
    )
    scores = evaluate(cell, [parse_measure("P@1")], DEFAULT)
    assert scores.mean["P@1"] == pytest.approx(0.1)
    by_corpus = scores.corpus_means("P@1")
    assert by_corpus == {0: 1.0, 1: 0.0}
    assert sum(by_corpus.values()) / len(by_corpus) == 0.5


def test_smaller_chunks_lower_chunk_recall_but_the_same_lines_count_the_same():
    # Gold lines 1-40 of one character each: one chunk, and four of ten lines.
    whole = line_cell((40,), [(0, 0, 40, 0)], 40, (((0, 40),),), (0,), unit=ints(0),
                      grade=np.ones(1))  # fmt: skip
    quarters = line_cell(
        (10,) * 4, [(i, 0, 10, 10 * i) for i in range(4)], 40, (((0, 40),),), (0,),
        unit=ints(0, 1, 2, 3), grade=np.ones(4),
    )  # fmt: skip
    assert values(whole, "R@1", "SpanR@40c", "P@1") == [[1.0], [1.0], [1.0]]
    assert values(quarters, "R@1", "SpanR@40c", "P@1") == [[0.25], [0.25], [1.0]]
    everything = replace(quarters, ranking=(ints(0, 1, 2, 3),))
    assert values(everything, "SpanR@25c") == values(whole, "SpanR@25c") == [[25 / 40]]


def test_cell_without_queries_has_no_means():
    cell = Cell((), (Units(ints(1), ints(0)),), (), ())
    scores = evaluate(cell, every_measure(5), DEFAULT)
    assert set(scores.mean.values()) == {None}
    assert scores.n == 0
