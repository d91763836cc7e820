"""Boards of made cells: means, ranks, what is missing, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_cells import MEASURE, cell, noise

from chunkers.errors import InputError
from harness.reports.leaderboard.board import make_board
from harness.reports.leaderboard.tables import SCHEMA, board_document, board_rows, notes

BETTER, MIDDLE = noise(1) + 0.2, noise(2) + 0.1


def of_run(run, made):
    return replace(made, folder=Path(run) / "cells" / made.folder.name)


def ranks(board):
    return {row.configuration.chunker: row.rank for row in board.rows}


def refused(cells, measure=None):
    with pytest.raises(InputError) as error:
        make_board(cells, measure)
    return str(error.value)


def test_the_mean_of_tasks_is_unweighted_and_scores_are_those_of_the_metrics():
    few, many = noise(3, 40), noise(4, 400)
    board = make_board([cell("a", few, dataset="small"), cell("a", many, dataset="large")])
    (row,) = board.rows
    assert list(row.scores.items()) == [("large", many.mean()), ("small", few.mean())]
    assert row.mean == (many.mean() + few.mean()) / 2
    assert (row.rank, board.differences, board.measure) == (1, (), MEASURE)


def test_a_difference_is_that_of_the_means_whatever_the_sizes_of_tasks():
    cells = [
        cell(name, values, dataset=task, corpora=corpora)
        for name, shift in (("a", 0.0), ("b", 0.03))
        for task, values, corpora in (
            ("small", noise(5, 60) + shift, 2),
            ("large", noise(6, 300) - shift / 3, 3),
        )
    ]
    board = make_board(cells)
    (pair,) = board.differences
    means = {str(row.configuration): row.mean for row in board.rows}
    assert pair.estimate.mean == pytest.approx(means[pair.a] - means[pair.b], abs=1e-12)
    assert means[pair.b] - means[pair.a] == pytest.approx(0.01)


def test_many_queries_of_one_task_do_not_outvote_another_task():
    cells = [
        cell(name, noise(seed, size) + shift, dataset=task)
        for task, size, gain in (("small", 60, 0.1), ("large", 600, -0.1))
        for name, seed, shift in (("a", size, gain), ("b", size + 1, 0.0))
    ]
    board = make_board(cells)
    assert set(ranks(board).values()) == {1}
    assert board.differences[0].verdict in ("undecided", "equivalent")
    # With the queries of the large task alone, b is better.
    assert ranks(make_board(cells[2:])) == {"b": 1, "a": 2}


def test_means_over_corpora_weigh_corpora_alike():
    values = np.array([0.9] * 10 + [0.1] * 30)
    members = {f"q{at:03}": ("one" if at < 10 else "two", f"file {at}") for at in range(40)}
    profile = {"name": "code-chunk", "mean": "corpora"}
    cells = []
    for name, column, mean in (("a", values, 0.5), ("b", values - 0.1, 0.4)):
        made = cell(name, column)
        metrics = {MEASURE: {"comparable": True, "mean": mean}}
        document = {"asked": {"profile": profile}, "metrics": metrics}
        cells.append(replace(made, members=members, metrics=document))
    (pair,) = make_board(cells).differences
    assert pair.estimate.mean == pytest.approx(0.1)
    lifted = {q: {MEASURE: row[MEASURE] + 0.4 * (q < "q010")} for q, row in cells[1].values.items()}
    (pair,) = make_board([cells[0], replace(cells[1], values=lifted)]).differences
    assert pair.estimate.mean == pytest.approx(0.1 - 0.4 / 2)


def test_undecided_differences_share_a_rank():
    board = make_board(
        [
            cell("d", noise(1)),
            cell("a", BETTER),
            cell("b", BETTER + noise(9) - 0.5),
            cell("c", MIDDLE),
        ]
    )
    assert ranks(board) == {"a": 1, "b": 1, "c": 3, "d": 4}
    means = [row.mean for row in board.rows]
    assert means == sorted(means, reverse=True)
    verdicts = {(p.a[0], p.b[0]): p.verdict for p in board.differences}
    assert verdicts["a", "b"] in ("undecided", "equivalent")
    assert verdicts["a", "c"] == "better"


def test_a_small_difference_that_is_shown_counts_although_it_is_negligible():
    board = make_board([cell("a", noise(1)), cell("b", noise(1) + noise(8, scale=0.01) - 0.495)])
    assert board.differences[0].verdict == "worse, but negligible"
    assert ranks(board) == {"b": 1, "a": 2}


def test_holm_counts_every_pair_of_the_board():
    # p of one pair is below .05, and is not when it is one of 45.
    base = noise(1, 60)
    pair = [cell("a", base), cell("b", base + noise(18, 60, 0.02) - 0.495)]
    alone = make_board(pair)
    assert alone.differences[0].p_adjusted == alone.differences[0].estimate.p < 0.05
    assert sorted(ranks(alone).values()) == [1, 2]
    others = [cell(f"x{at}", base + noise(20 + at, 60, 0.02) - 0.5) for at in range(8)]
    board = make_board([*pair, *others])
    found = next(p for p in board.differences if (p.a[0], p.b[0]) == ("a", "b"))
    assert len(board.differences) == 45
    assert found.estimate.p < 0.05 < found.p_adjusted
    assert set(ranks(board).values()) == {1}


def test_queries_of_one_cluster_count_as_one():
    made = [cell("a", noise(1)), cell("b", noise(1) + noise(8, scale=0.01) - 0.495)]
    assert sorted(ranks(make_board(made)).values()) == [1, 2]
    members = {query: ("corpus", f"file {at % 5}") for at, query in enumerate(made[0].values)}
    board = make_board([replace(each, members=members) for each in made])
    assert board.differences[0].verdict == "not estimable"
    assert set(ranks(board).values()) == {1}
    assert any("too few independent queries" in note for note in notes(board))


def test_equal_cells_share_the_first_rank():
    assert ranks(make_board([cell("a", MIDDLE), cell("b", MIDDLE)])) == {"a": 1, "b": 1}


def test_a_missing_task_is_shown_and_takes_mean_and_rank_away():
    board = make_board(
        [cell("a", noise(1), dataset="x"), cell("a", noise(2), dataset="y"),
         cell("b", BETTER, dataset="x")]
    )  # fmt: skip
    assert ranks(board) == {"a": 1, "b": None}
    columns, rows = board_rows(board)
    assert columns == ["rank", "chunker", "embedder", "retriever", "profile", "x", "y", "mean"]
    assert rows[1] == [
        "-",
        "b",
        "minilm",
        "dense",
        "default",
        f"{BETTER.mean():.4f}",
        "missing",
        "-",
    ]
    assert board_rows(board, exact=True)[1][1][-3:] == [BETTER.mean(), "", ""]
    assert any("has no mean and no rank" in note for note in notes(board))
    document = board_document(board)
    assert json.loads(json.dumps(document, allow_nan=False))["schema"] == SCHEMA
    assert [row["scores"]["y"] for row in document["rows"]] == [noise(2).mean(), None]
    assert (document["rows"][1]["mean"], document["pairs"]) == (None, [])


def test_no_row_has_all_tasks():
    board = make_board([cell("a", noise(1), dataset="x"), cell("b", noise(2), dataset="y")])
    assert [(row.mean, row.rank) for row in board.rows] == [(None, None)] * 2


def test_retrievers_and_embedders_are_rows_of_their_own():
    made = [cell("a", noise(at), retriever=name) for at, name in enumerate(["dense", "bm25"])]
    assert len(make_board([*made, cell("a", BETTER, embedder="other")]).rows) == 3


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"limit": 50}, "limit (none, 50)"),
        ({"seed": 1}, "seed (none, 1)"),
        ({"depth": 10}, "depth (none, 10)"),
        ({"mask_query": True}, "mask query (none, True)"),
        ({"ranking": {"ties": "x"}}, "ranking (none, {'ties': 'x'})"),
    ],
)
def test_runs_of_one_task_that_differ_are_refused_in_a_line(changed, says):
    text = refused([of_run("r1", cell("a", MIDDLE)), of_run("r2", cell("b", MIDDLE, **changed))])
    assert text.startswith(
        f"made is not the same task in r1 and r2: they differ in {says}\nrun both"
    )


def test_other_data_under_the_same_name_is_refused():
    a, b = cell("a", MIDDLE), cell("b", MIDDLE)
    b.cell["identity"]["dataset"] = "e" * 64
    assert "differ in data fingerprint (ffffffffffff, eeeeeeeeeeee)" in refused([a, b])


def test_another_profile_is_refused():
    b = cell("b", MIDDLE)
    b.metrics["asked"]["profile"] = {"name": "trec", "mean": "queries"}
    assert "differ in profile (default, trec)" in refused([cell("a", MIDDLE), b])


def test_other_queries_are_refused():
    assert "queries (200, 150)" in refused([cell("a", MIDDLE), cell("b", noise(1, 150))])


def test_two_results_of_a_configuration_are_refused_unless_equal():
    one, two = of_run("r1", cell("a", MIDDLE)), of_run("r2", cell("a", BETTER))
    two = replace(two, folder=two.folder.with_name("key of another"))
    assert refused([one, two]) == (
        "r1 and r2 have different results of a + minilm + dense + default on made; give one of them"
    )
    assert len(make_board([one, of_run("r2", cell("a", MIDDLE, tight=BETTER))]).rows) == 1


def test_the_last_run_of_a_folder_counts():
    last, earlier = of_run("r1", cell("a", MIDDLE)), of_run("r1", cell("a", BETTER, limit=5))
    (row,) = make_board([last, earlier]).rows
    assert row.mean == MIDDLE.mean()
    assert refused([last, of_run("r1", cell("b", BETTER, limit=5))]) == (
        "r1 holds cells of made from runs that differ in limit (none, 5); "
        "give each run a folder of its own with -o"
    )


def test_a_row_has_one_version_of_each_part():
    one = of_run("r1", cell("a", MIDDLE, dataset="x"))
    two = of_run("r2", cell("a", MIDDLE, dataset="y"))
    one.cell["identity"]["chunker"], two.cell["identity"]["chunker"] = ["a", "1"], ["a", "2"]
    assert "r1 and r2 have different versions of the chunker a;" in refused([one, two])


def test_the_measure_follows_the_gold():
    documents = cell("a", MIDDLE, dataset="docs")
    renamed = {query: {"nDCG@10": row[MEASURE]} for query, row in documents.values.items()}
    metrics = {"nDCG@10": documents.metrics["metrics"][MEASURE]}
    documents = replace(documents, values=renamed, metrics=documents.metrics | {"metrics": metrics})
    assert make_board([documents]).measure == "nDCG@10"
    text = refused([documents, cell("a", MIDDLE, dataset="lines")])
    assert text.startswith(f"the tasks have no common measure (docs: nDCG@10; lines: {MEASURE})")
    assert make_board([replace(documents, primary="nDCG@10")]).measure == "nDCG@10"
    text = refused([documents], "MRR")
    assert "has no MRR of a + minilm + dense + default on docs\n" in text
    assert "\nchoose with -m from nDCG@10, or rerun `chunkmark run` with -m MRR, and" in text


def test_a_measure_with_gold_of_each_chunker_ranks_no_chunkers():
    a, b = cell("a", MIDDLE), cell("b", BETTER)
    for made in (a, b):
        made.metrics["metrics"][MEASURE]["comparable"] = False
    assert refused([a, b], MEASURE).startswith(f"made: {MEASURE} cannot compare chunkers: which")
    assert len(make_board([a], MEASURE).rows) == 1


def test_only_measures_that_can_compare_chunkers_are_advised():
    a, b = cell("a", MIDDLE), cell("b", BETTER)
    keep = "rerun `chunkmark run` with -m SpanR@2500c, and with -m for each measure to keep"
    for made in (a, b):
        made.metrics["metrics"]["R@5"] = {"comparable": False, "mean": 0.5}
    assert refused([a, b], "SpanR@2500c").endswith(f"\nchoose with -m from {MEASURE}, or {keep}")
    assert refused([a], "SpanR@2500c").endswith(f"\nchoose with -m from {MEASURE}, R@5, or {keep}")
    for ranks_only in ("MRR", "R@5"):
        says = refused([a, b], ranks_only)
        assert says.startswith(f"made: {ranks_only} cannot compare chunkers: which chunks")
        assert says.endswith(f"\nchoose with -m from {MEASURE}")
    for made in (a, b):
        del made.metrics["metrics"][MEASURE]
    assert f"\nrerun `chunkmark run` with -m {MEASURE}, and" in refused([a, b], "MRR")
    assert f"compares chunkers; rerun `chunkmark run` with -m {MEASURE}, and" in refused([a, b])


def test_many_rows_are_ranked_although_each_pair_counts_in_the_adjustment():
    base = noise(1)
    rows = [cell(f"c{at}", base + 0.03 * at + noise(at, scale=0.001) - 0.5) for at in range(33)]
    board = make_board(rows)
    assert {pair.verdict for pair in board.differences} <= {"better", "worse"}
    assert ranks(board) == {f"c{at}": 33 - at for at in range(33)}


@pytest.mark.parametrize(("queries", "said"), [(8, True), (20, False)])
def test_too_few_clusters_for_so_many_pairs_are_said(queries, said):
    board = make_board([cell(f"c{at}", noise(at, queries) + 0.02 * at) for at in range(10)])
    assert any("among so many pairs" in note for note in notes(board)) is said


def test_equal_rows_are_as_uncertain_as_their_smallest_task():
    few, many = noise(1, 10), noise(2, 1000)
    rows = [
        cell(name, values, dataset=task)
        for name in ("a", "b")
        for task, values in (("few", few), ("many", many))
    ]
    (pair,) = make_board(rows).differences
    assert pair.verdict == "undecided"
    assert pair.estimate.ci95 is not None
    assert 0.15 < pair.estimate.ci95[1] < 0.25


def test_runs_that_declare_other_margins_or_measures_make_no_board():
    a, b = cell("a", MIDDLE), replace(cell("b", BETTER), margin=0.1)
    assert refused([a, b]) == "the runs have different margins: 0.02, 0.1; make a board of each"
    assert make_board([replace(a, margin=0.1), b]).margin == 0.1


def test_nothing_is_no_board():
    assert refused([]) == "the runs have no cell; wait until one is complete"


def test_notes_say_what_to_be_careful_of():
    board = make_board(
        [
            cell("a", MIDDLE, unseen=0.2, limit=200),
            cell("b", MIDDLE, follows="definitions", limit=200),
        ]
    )
    text = "\n".join(notes(board))
    assert (
        "a + minilm + dense + default: the embedder never saw over 10% of the chunk tokens" in text
    )
    assert "made: the gold is definitions, which favours chunkers that cut there." in text
    assert "made: at most 200 of its queries (--limit)." in text
    assert "Holm's method for 1 pair." in text


def test_controls_are_named_beside_other_chunkers():
    made = [cell("whole-file", MIDDLE), cell("random-cuts:max_size=60", MIDDLE)]
    assert not [note for note in notes(make_board(made)) if "Controls" in note]
    (note,) = [
        note for note in notes(make_board([*made, cell("ast", BETTER)])) if "Controls" in note
    ]
    assert note.endswith("contenders: random-cuts:max_size=60, whole-file.")
