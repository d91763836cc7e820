"""The first screen of a run: the answer under two budgets, and a row for each chunker."""

import io
from dataclasses import replace

import numpy as np
import pytest
from commands import call, says
from made_cells import MEASURE, TIGHT, cell, noise
from rich.console import Console
from worlds import function, grid, small

from chunkers.source import Source
from harness.model import Corpus, Dataset, Query
from harness.reports.answer import answers
from harness.reports.columns import brief
from harness.reports.document import run_document
from harness.reports.first_screen import print_first_screen
from harness.reports.notes import _marks_in_brief
from harness.reports.recommendation import points

LEXICAL = {"retrievers": ("bm25",), "embedders": ("minilm",)}
BOTH = (MEASURE, TIGHT, "Complete@10000c")


def screen(document, width=100):
    out = io.StringIO()
    print_first_screen(document, Console(width=width, file=out, markup=False, highlight=False))
    return out.getvalue()


def answer_of(*cells, baseline=None):
    (answer,) = answers(cells, baseline)
    return answer


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0123, "+1.2"), (-0.0123, "-1.2"), (-0.0004, "+0.0"), (0.0, "+0.0")],
)
def test_points_with_every_sign_have_no_negative_zero(value, text):
    assert points(value, "+") == text
    assert points(value) == text.removeprefix("+")


def test_the_default_chunkers_fit_on_a_screen(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("harness.cli.output.WIDTH", 100)
    monkeypatch.chdir(tmp_path)
    lines = call(capsys, "run").out.rstrip().split("\n")
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("stdlib: 155 queries, minilm, dense")
    rows = [line.split() for line in lines]
    assert [row[0] for row in rows if row[1:2] == ["10000c"]] == [
        "ast", "fixed", "function", "whole-file", "random-cuts",
    ]  # fmt: skip
    assert sum(row[:1] == ["2500c*"] for row in rows) == 3
    assert lines[-2].startswith("Complete: share of queries with a whole target; verdicts adjusted")
    assert {"oracle", "random"} <= {row[0] for row in rows}
    assert lines[-1].endswith("add --details")
    assert not any("MRR" in line for line in lines)


def test_the_order_turns_over_between_the_budgets():
    base = noise(1, scale=0.02)
    coarse = cell("coarse", base + 0.05 + noise(2, scale=0.01) - 0.5, tight=base - 0.2)
    sentences = " ".join(answer_of(cell("fixed", base, tight=base), coarse)["sentences"])
    assert f"Better than `fixed` by {MEASURE}: `coarse` by " in sentences
    assert "At 2500c (exploratory): worse: `coarse` by 20.0 [" in sentences
    assert "Between 2500c and 10000c the order turns over for `coarse`." in sentences


def test_the_tight_budget_is_exploratory_and_in_the_document():
    base = noise(1, scale=0.02)
    rows = answer_of(cell("fixed", base, tight=base), cell("ast", base, tight=base + 0.1))[
        "differences"
    ]
    assert [(row["measure"], row["exploratory"]) for row in rows] == [
        (MEASURE, False), (TIGHT, True),
    ]  # fmt: skip
    assert rows[1]["difference"] == pytest.approx(0.1)
    assert rows[1]["verdict"] == "better"


@pytest.mark.parametrize("options", ["", ":max_size=300"])
def test_random_boundaries_at_the_sizes_of_ast_are_compared_with_it(options):
    base = noise(1, scale=0.02)
    cells = [
        cell("fixed", base, tight=base),
        cell("ast" + options, base, tight=base + 0.1 + noise(3, scale=0.01) - 0.5),
        cell("random-cuts" + options, base + noise(4, scale=0.3) - 0.5, tight=base),
        cell("random-cuts:seed=3", base, tight=base),
    ]
    sentences = " ".join(answer_of(*cells)["sentences"])
    start = f"`ast{options}` against `random-cuts{options}` (same sizes, random boundaries): "
    says = sentences.partition(start)[2].partition(" at 10000c.")[0]
    assert says.startswith("better by 10.")
    assert says.endswith("] at 2500c, undecided")
    assert "seed=3`" not in sentences


@pytest.mark.parametrize(("median", "is_said"), [(749, False), (751, True), (333, True)])
def test_sizes_that_may_explain_a_difference_are_said(median, is_said):
    base = noise(1)
    sentences = answer_of(cell("fixed", base), cell("other", base, median=median))["sentences"]
    wanted = f"Median chunks differ: `fixed` 500 c, `other` {median} c (try --match-size)."
    assert any(wanted in sentence for sentence in sentences) == is_said


@pytest.mark.parametrize(
    ("health", "match_size", "advice"),
    [
        ({"fixed": "nws", "other": None}, None, " (try --match-size other)."),
        ({"fixed": None, "other": None}, None, "."),
        ({"fixed": "nws", "other": "nws"}, "500", "."),
    ],
)
def test_only_sizes_that_can_be_matched_are_advised(health, match_size, advice):
    base = noise(1)
    cells = [cell("fixed", base), cell("other", base, median=9)]
    for each in cells:
        each.cell["health"]["limit_unit"] = health[each.names["chunker"]]
    cells = [replace(each, config={"match_size": match_size}) for each in cells]
    text = " ".join(answer_of(*cells)["sentences"])
    assert f"`other` 9 c{advice}" in text
    assert ("try --match-size" in text) == ("try" in advice)


@pytest.mark.parametrize(("coverage", "is_said"), [(0.04, True), (0.95, False)])
def test_text_in_no_chunk_is_said_with_the_answer(coverage, is_said):
    base = noise(1)
    other = cell("other", base)
    other.cell["health"]["coverage"] = coverage
    text = " ".join(answer_of(cell("fixed", base), other)["sentences"])
    assert ("Much of the text is in no chunk of `other` (96%), so it" in text) == is_said


def test_it_is_said_where_the_only_other_chunker_was_not_seen():
    base = noise(1)
    answer = answer_of(cell("ast", base), cell("fixed", base, unseen=0.2))
    assert answer["baseline"] is None
    assert answer["differences"] == []
    (sentence,) = answer["sentences"]
    assert sentence.startswith("Not compared, since the embedder never saw over 10%")


@pytest.mark.parametrize(
    ("marks", "lines"),
    [
        (
            [["1 file is lost"], ["1 file is lost"], ["1 file is lost"]],
            ["! all chunkers: 1 file is lost"],
        ),
        ([["lost 1.5 %"], ["lost 2 %"], ["lost 3 %"]], ["! a: lost 1.5 %; likewise all others"]),
        ([["lost 1"], [], ["lost 3", "slow"]], ["! a: lost 1; likewise c", "! c: slow"]),
        ([[], [], ["lost 3"]], ["! c: lost 3"]),
        ([["lost 3"]], ["! a: lost 3"]),
    ],
)
def test_marks_of_a_kind_share_a_line(marks, lines):
    cells = [{"chunker": name, "marks": own} for name, own in zip("abc", marks, strict=False)]
    assert list(_marks_in_brief(cells)) == lines


def test_what_is_equivalent_or_worse_is_not_called_undecided():
    base = noise(1, 400)
    first = answer_of(cell("fixed", base), cell("same", base), cell("bad", base - 0.2))[
        "sentences"
    ][0]
    assert first.startswith(f"Equivalent to `fixed` by {MEASURE}: `same`, within 2.0 points.")
    assert "Worse: `bad` by 20.0 points" in first


def test_what_would_show_is_of_the_pairs_that_are_undecided():
    base, spread = noise(1, 400), np.random.default_rng(5).normal(0, 0.4, 400)
    near = cell("near", base + noise(2, 400, 0.3) - 0.5)
    little, much = (
        answer_of(cell("fixed", base), near, cell("bad", base - 0.3 + scale * spread))
        for scale in (0.1, 1)
    )
    detail = little["sentences"][0].partition("; ")[2].partition(" Worse")[0]
    mdd = little["differences"][0]["mdd"]
    assert (
        detail == f"a difference of {100 * mdd:.1f} points would be detected "
        "(adjusted for 2 comparisons)."
    )
    assert detail in much["sentences"][0]


def test_six_files_are_too_few_after_an_adjustment():
    base = noise(1, 6)
    near = cell("near", base + noise(2, 6, 0.1) - 0.5)
    (alone,) = answer_of(cell("fixed", base), near)["sentences"][:1]
    assert " points would be detected." in alone  # of 64 flips 2 are 3.1 %
    far = cell("far", base + noise(3, 6, 0.1) - 0.5)
    answer = answer_of(cell("fixed", base), near, far)
    few = "; there are too few clusters (groups of dependent queries) to show any difference."
    assert few in answer["sentences"][0]
    assert [row["mdd"] for row in answer["differences"]] == [None, None]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.803, ".80"),
        (0.9961, "1"),
        (1.0, "1"),
        (0.0, "0"),
        (0.004, "0"),
        (0.1, ".10"),
        (2.0, "2"),
        (11.0, "11"),
        (10.5, "10.50"),
    ],
)
def test_ends_of_intervals_are_short(value, text):
    assert brief(value) == text


def test_another_baseline_is_compared_with(tmp_path):
    result = grid(tmp_path, **LEXICAL, chunkers=("ast", "fixed", "function"), measures=BOTH)
    document = run_document(result, baseline="function")
    (answer,) = document["verdicts"]
    assert answer["baseline"] == "function"
    assert {row["chunker"] for row in answer["differences"]} == {"ast", "fixed"}
    assert "vs function" in screen(document)


def test_a_baseline_without_a_result_is_not_replaced():
    base = noise(1)
    answer = answer_of(cell("ast", base), cell("fixed", base), baseline="function")
    assert answer["sentences"] == ["Not compared: `function` has no result."]
    assert answer["differences"] == []


@pytest.mark.parametrize("baseline", [None, "fixed"])
def test_the_baseline_is_found_at_the_size_that_was_matched(baseline):
    base = noise(1)
    cells = cell("ast:max_size=700", base), cell("fixed:max_size=400", base)
    assert answer_of(*cells, baseline=baseline)["baseline"] == "fixed:max_size=400"


def test_verdicts_are_adjusted_for_all_retrievers_of_a_data_set():
    base, gain = noise(1), noise(2, scale=0.03) - 0.5 + 0.005
    one = [cell("fixed", base), cell("ast", base + gain)]
    two = [cell("fixed", base, retriever="bm25"), cell("ast", base + gain, retriever="bm25")]
    (alone,) = answers(one)
    both = answers([*one, *two])
    assert [answer["comparisons"] for answer in (alone, *both)] == [1, 2, 2]
    (row,), (same,) = alone["differences"], both[0]["differences"]
    assert same["difference"] == row["difference"]
    assert same["p_adjusted"] == pytest.approx(2 * row["p_adjusted"])


def test_an_unknown_baseline_is_refused_before_the_run(tmp_path, capsys):
    options = ("run", "-c", "ast", "-c", "fixed", "-r", "bm25", "-o", tmp_path / "run")
    says(
        call(capsys, *options, "--baseline", "function"), 2, "--baseline function: not among the ch"
    )
    says(call(capsys, *options, "--baseline", "nope"), 2, "--baseline nope: not among the chunkers")
    assert not (tmp_path / "run").exists()


def test_measures_that_compare_no_chunkers_give_no_answer(tmp_path):
    document = run_document(
        grid(tmp_path, **LEXICAL, chunkers=("ast", "fixed"), measures=("MRR", "P@5"))
    )
    assert document["verdicts"] == []
    printed = screen(document)
    assert "* not comparable between chunkers" in printed
    assert "--details" not in printed


def test_documents_are_answered_by_ranks(tmp_path):
    texts = [Source(function(f"name{n}", 3), f"d{n}", "python") for n in range(9)]
    queries = tuple(Query(f"q{n}", "docs", f"name{n}", qrels={f"d{n}": 1}) for n in range(9))
    dataset = Dataset("docs", "document", (Corpus("docs", tuple(texts)),), queries, pooling="max")
    result = grid(tmp_path, **LEXICAL, dataset=dataset, chunkers=("ast", "fixed"),
                  measures=(MEASURE, "nDCG@10", "MRR"))  # fmt: skip
    document = run_document(result)
    assert document["verdicts"][0]["measure"] == "nDCG@10"
    printed = screen(document)
    assert "SpanR" not in printed
    assert "bud-" not in printed


def test_what_is_embedded_for_a_character_is_shown(tmp_path):
    chunkers = ("fixed:max_size=200", "fixed:max_size=200,header=on")
    result = grid(tmp_path, **LEXICAL, dataset=small(), chunkers=chunkers, measures=BOTH)
    ratios = [cell.cell["health"]["embedded_per_char"] for cell in result.cells]
    assert ratios[0] == 1.0
    assert ratios[1] > 1.05
    assert f"{ratios[1]:.1f}x" in screen(run_document(result))


def test_a_break_down_that_was_asked_for_is_shown(tmp_path):
    result = grid(tmp_path, **LEXICAL, chunkers=("ast", "fixed"), measures=BOTH)
    assert "by corpus" in screen(run_document(result, ("corpus",)))
    assert "by corpus" not in screen(run_document(result))
