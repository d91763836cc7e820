"""Contests of stored cells, their verdicts and sentences, and `chunkmark compare`."""

import json
import re

import pytest
from commands import call, says
from made_cells import MEASURE, cell, noise
from worlds import grid

from harness.reports.answer import answers
from harness.reports.contests import SAME, contends, contests, differences, why_none
from harness.reports.recommendation import recommendation, verdict_sentence
from harness.runs.stored_values import read_stored_cells


def sentences(*cells, **options):
    (contest,) = contests(cells)
    result = differences(contest, MEASURE, margin=0.02)
    return " | ".join(recommendation(contest, result, 0.02))


def test_a_planted_winner_is_named_and_what_one_corpus_cannot_say():
    says_what = sentences(
        cell("fixed", noise(1)), cell("planted", noise(2) + 0.1), cell("other", noise(3) - 0.1)
    )
    assert says_what.startswith(f"`planted` is better than every other contender by {MEASURE}")
    assert "One corpus: whether this holds for others is not estimable" in says_what


def test_without_a_winner_it_says_who_is_out_who_is_in_and_which_is_cheapest():
    base = noise(1)
    says_what = sentences(
        cell("fixed", base, tokens=3000),
        cell("near", base + noise(2, scale=0.3) - 0.5, tokens=2000),
        cell("bad", base - 0.2 + noise(3) - 0.5, tokens=10),
    )
    assert says_what.startswith("Undecided")
    assert "out: `bad`, worse than `" in says_what
    assert "Cheapest of those still in (`fixed` and `near`): `near`, 2,000 tokens" in says_what
    assert "further queries of this kind" in says_what


def test_a_cell_that_a_newer_version_computed_again_takes_part_once():
    newer, older = cell("ast", noise(1), code="2"), cell("ast", noise(2), code="1")
    (contest,) = contests([newer, cell("fixed", noise(3), code="2"), older])
    assert contest.cells["ast"] is newer
    assert set(contest.cells) == {"ast", "fixed"}


def test_equal_chunkers_are_equivalent():
    base = noise(1, 400)
    says_what = sentences(cell("fixed", base), cell("same", base))
    assert says_what.startswith("Equivalent")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("ast", True), ("fixed:max_size=300 (old)", True), ("whole-file", False),
     ("random-cuts:seed=3", False), ("random-cuts (old)", False)],
)  # fmt: skip
def test_controls_are_no_contenders_with_any_options(name, wanted):
    assert contends(name) == wanted


def test_the_answer_names_chunkers_that_were_not_seen():
    base = noise(1, scale=0.2)
    (answer,) = answers([cell("fixed", base), cell("ast", base), cell("big", base, unseen=0.3)])
    assert "Not compared, since the embedder never saw over 10%" in answer["sentences"][-1]
    assert "`big`. Use a smaller max_size" in answer["sentences"][-1]


def test_chunkers_with_other_queries_are_not_compared_and_it_is_said():
    (answer,) = answers([cell("fixed", noise(1)), cell("ast", noise(2, 199))])
    assert answer["sentences"][0].startswith("Not compared: ")
    assert answer["baseline"] is None


def test_controls_never_win():
    says_what = sentences(
        cell("fixed", noise(1)), cell("ast", noise(2)), cell("whole-file", noise(3) + 0.3)
    )
    assert "whole-file" not in says_what


def test_gold_that_follows_definitions_names_no_winner_alone():
    cells = cell("fixed", noise(1), follows="definitions"), cell("ast", noise(2) + 0.1)
    assert "this data set alone names no winner" in sentences(*cells)


@pytest.mark.parametrize(
    ("moved", "start"),
    [
        (0.1, f"Better than `fixed` by {MEASURE}: `ast` by "),
        (0.0, f"Undecided by {MEASURE}: no chunker is shown to be better"),
        (-0.1, f"`fixed` is the best by {MEASURE}: better than `ast` by "),
    ],
)
def test_the_sentence_against_a_baseline(moved, start):
    (contest,) = contests(
        [cell("fixed", noise(1, scale=0.2)), cell("ast", noise(2, scale=0.2) + moved)]
    )
    result = differences(contest, MEASURE, "fixed", margin=0.02)
    sentence = verdict_sentence(contest, result, "fixed", 0.02)
    assert sentence.startswith(start)


def test_the_answer_of_a_run_is_in_its_document_and_above_its_table(stdlib, capsys):
    done = call(capsys, "run", "-c", "ast", "-c", "fixed", "-c", "random-cuts", "-r", "bm25",
                "-m", MEASURE, "-m", "MRR", "-o", stdlib, "--format", "json")  # fmt: skip
    (verdict,) = done.json["verdicts"]
    assert (verdict["baseline"], verdict["measure"]) == ("fixed", MEASURE)
    pair = next(pair for pair in call(capsys, "compare", stdlib, "--baseline", "fixed",
                "--format", "json").json["pairs"] if pair["a"] == "ast")  # fmt: skip
    start = {"better": "Better than `fixed`", "undecided": "Undecided"}[pair["verdict"]]
    assert verdict["sentences"][0].startswith(start)
    assert "names no winner" in verdict["sentences"][-1]
    table = call(capsys, "run", "-c", "ast", "-c", "fixed", "-c", "random-cuts", "-r", "bm25",
                 "-m", MEASURE, "-m", "MRR", "-o", stdlib).out  # fmt: skip
    assert table.split("\n")[1].startswith(start)


def test_a_measure_of_chunks_gives_chunkers_no_verdict(tmp_path, capsys):
    out = tmp_path / "run"
    call(capsys, "run", "--limit", 20, "-c", "ast", "-c", "fixed", "-r", "bm25", "-r", "bow",
         "-m", MEASURE, "-m", "MRR", "-o", out)  # fmt: skip
    says(
        call(capsys, "compare", out, "-m", "P@5"),
        2,
        "P@5 cannot compare chunkers: which chunks are",
    )
    by = ("--over", "retriever")
    says(
        call(capsys, "compare", out, *by, "-m", "P@5"),
        2,
        "choose with -m from",
        "MRR, or rerun `chunkmark",
    )
    document = call(capsys, "compare", out, "-m", "MRR", "--format", "json").json
    assert {pair["verdict"] for pair in document["pairs"]} == {"not comparable"}
    assert "MRR cannot compare chunkers" in document["recommendation"][0]
    by_retriever = call(capsys, "compare", out, "-m", "MRR", "--over", "retriever",
                        "--format", "json").json  # fmt: skip
    assert "not comparable" not in {pair["verdict"] for pair in by_retriever["pairs"]}


def test_a_damaged_cell_of_another_run_does_not_stop_a_run(tmp_path, capsys):
    run = ("run", "-r", "bm25", "--limit", 20, "-m", MEASURE, "-o", tmp_path / "run")
    call(capsys, *run, "-c", "function")
    (other,) = (tmp_path / "run" / "cells").iterdir()
    (other / "per_query.jsonl").write_text("{")
    done = call(capsys, *run, "-c", "ast", "-c", "fixed", "--format", "json")
    assert done.code == 0
    assert len(done.json["verdicts"]) == 1


def test_a_run_of_one_chunker_has_no_answer(tmp_path, capsys):
    done = call(capsys, "run", "-c", "fixed", "-r", "bm25", "-o", tmp_path / "run",
                "--format", "json")  # fmt: skip
    assert done.json["verdicts"] == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dataset": "e" * 64}, ("data", "made ffffffffffff, made eeeeeeeeeeee")),
        ({"embedder": "other"}, ("embedder (minilm, other)",)),
        ({"seed": 3}, ("seed",)),
    ],
)
def test_cells_that_differ_in_more_are_refused_with_what_differs(changes, words):
    changed = cell("ast", noise(2))
    changed.names.update({k: v for k, v in changes.items() if k == "embedder"})
    changed.cell["identity"].update({k: v for k, v in changes.items() if k != "embedder"})
    cells = [cell("fixed", noise(1)), changed]
    assert contests(cells) == []
    reason = why_none(cells, "chunker")
    for word in ("cannot be compared", *words):
        assert word in reason
    assert reason.endswith("\nrun both with the same")


def test_contests_of_one_data_set_are_told_apart_by_their_options():
    cells = [cell(name, noise(seed)) for seed, name in enumerate(["a", "b", "a", "b"])]
    for limit, made in zip([5, 5, None, None], cells, strict=True):
        made.cell["identity"]["limit"] = limit
    first, second = contests(cells)
    assert (first.shared[-1], second.shared[-1]) == ("--limit 5", "--limit none")
    assert contests(cells[:2])[0].shared == first.shared[:-1]
    for rule, made in zip(["a", "a", "b", "b"], cells, strict=True):
        made.cell["identity"] |= {"limit": None, "ranking": {"depth": 10, "rule": rule}}
    first, second = contests(cells)
    assert first.shared[-1] == "rules of ranking rule a"
    assert second.shared[-1] == "rules of ranking rule b"


def test_what_differs_is_compared_if_it_is_the_factor():
    other = cell("fixed", noise(2))
    other.names["embedder"] = "other"
    (contest,) = contests([cell("fixed", noise(1)), other], "embedder")
    assert list(contest.cells) == ["minilm", "other"]


def test_an_option_of_chunkers_is_a_factor():
    cells = [cell(f"{name}:max_size={size}", noise(size)) for name in ("ast", "fixed")
             for size in (300, 600)]  # fmt: skip
    assert [list(contest.cells) for contest in contests(cells, "max_size")] == [
        ["ast:max_size=300", "ast:max_size=600"], ["fixed:max_size=300", "fixed:max_size=600"],
    ]  # fmt: skip
    assert contests(cells, "maxsize") == []
    assert "max_size" in why_none(cells, "maxsize")


def test_a_missing_query_is_an_error():
    short = cell("ast", noise(2, 199))
    with pytest.raises(Exception, match="different queries; 1 is in one alone, such as 'q199'"):
        contests([cell("fixed", noise(1)), short])


def test_a_truncated_chunker_is_refused_unless_allowed():
    cells = [cell("fixed", noise(1)), cell("big", noise(2), unseen=0.3)]
    with pytest.raises(Exception, match="never saw over 10% of the chunk tokens of big"):
        contests(cells)
    assert contests(cells, allow_truncated=True)


def test_all_that_a_ranking_depends_on_is_of_a_part_or_must_be_the_same(tmp_path):
    """A new key of the identity of cells belongs in one of the two."""
    (made,) = grid(tmp_path, chunkers=("fixed",), retrievers=("bm25",), measures=("MRR",)).cells
    parts = {"chunker", "tokenizer", "chunk_embedder", "embedder", "retriever"}
    versions = {"schema", "code", "file_timeout"}
    same = set(SAME)
    assert made.cell["identity"].keys() == same | parts | versions
    assert not same & (parts | versions)


def test_the_same_chunker_in_two_runs_is_told_apart(tmp_path):
    for name in ("old", "new"):
        grid(tmp_path, name, chunkers=("fixed",), retrievers=("bm25",), measures=("MRR",))
    cells = [one for name in ("old", "new") for one in read_stored_cells(tmp_path / name)]
    (contest,) = contests(cells)
    assert list(contest.cells) == ["fixed (old)", "fixed (new)"]
    (pair, _) = differences(contest, "MRR", margin=0.02).differences
    assert (pair.ties, pair.wins, pair.losses) == (4, 0, 0)
    assert pair.verdict == "undecided"  # four equal queries say little


@pytest.mark.parametrize(("base", "other"), [(0.0, 0.2), (0.0, 0.0), (0.2, 0.0)])
def test_a_difference_from_a_baseline_of_zero_is_a_number(tmp_path, capsys, base, other):
    """No gain is relative, so that nothing is divided by the baseline."""
    grid(tmp_path, chunkers=("ast", "fixed"), retrievers=("bm25",), measures=("MRR",))
    for stored in read_stored_cells(tmp_path / "run"):
        value = base if stored.names["chunker"] == "fixed" else other
        file = stored.folder / "per_query.jsonl"
        rows = map(json.loads, file.read_text().splitlines())
        lines = [json.dumps(row | {"metrics": {"MRR": value}}) + "\n" for row in rows]
        file.write_text("".join(lines))
    options = ("compare", tmp_path / "run", "--baseline", "fixed")
    pair, _ = call(capsys, *options, "--format", "json").json["pairs"]
    assert pair["difference"] == pytest.approx(other - base)
    assert pair["ci95"][0] <= pair["difference"] <= pair["ci95"][1]
    for form in ("table", "markdown", "csv"):
        shown = call(capsys, *options, "--format", form)
        assert shown.code == 0
        assert not re.search(r"\b(nan|inf|infinity)\b", shown.out, re.IGNORECASE)
        assert (
            f"{other - base:.1f}" if form == "csv" else f"{100 * (other - base):.1f}"
        ) in shown.out


@pytest.fixture(scope="module")
def stdlib(tmp_path_factory):
    """A run over the built-in data set, ranked by words."""
    from harness.cli.main import main

    out = tmp_path_factory.mktemp("compare") / "run"
    with pytest.raises(SystemExit):
        main(["run", "-c", "ast", "-c", "fixed", "-c", "random-cuts", "-r", "bm25",
              "-m", MEASURE, "-m", "MRR", "-o", str(out)])  # fmt: skip
    return out


def test_the_command_prints_every_form(stdlib, capsys):
    document = call(capsys, "compare", stdlib, "--format", "json").json
    assert document["schema"] == "chunkmark.compare/1"
    assert (document["primary"], document["margin"]) == (MEASURE, 0.02)
    pair = document["pairs"][0]
    assert (pair["a"], pair["b"], pair["estimand"]) == ("ast", "fixed", "these corpora")
    assert pair["ci95"][0] < pair["difference"] < pair["ci95"][1]
    assert pair["wins"] + pair["ties"] + pair["losses"] == 155
    assert {p["verdict"] for p in document["pairs"] if p["estimand"] == "new corpora"} == {
        "not estimable"
    }
    worst = document["contests"][0]["differing"]["queries"]
    assert len(worst) == 10
    sizes = [abs(query["difference"]) for query in worst]
    assert sizes == sorted(sizes, reverse=True)
    assert worst[0]["text"]
    assert ".py:" in worst[0]["targets"][0]
    shown = call(capsys, "compare", stdlib, "-m", MEASURE, "-m", "MRR")
    for word in ("155 queries in 19 clusters of 1 corpus", "exploratory", "names no winner",
                 "Queries on which", "margin 2.0 points"):  # fmt: skip
        assert word in shown.out
    for form, word in (("csv", "dataset,shared,measure"), ("markdown", "### stdlib: 155")):
        assert word in call(capsys, "compare", stdlib, "--format", form).out


def test_the_means_of_a_pair_are_those_of_the_run(stdlib, capsys):
    means = {c.names["chunker"]: c.metrics["metrics"][MEASURE]["mean"]
             for c in read_stored_cells(stdlib)}  # fmt: skip
    for pair in call(capsys, "compare", stdlib, "--format", "json").json["pairs"]:
        wanted = means[pair["a"]] - means[pair["b"]]
        assert pair["difference"] == pytest.approx(wanted, abs=1e-12)


def test_languages_and_corpora_are_compared_within_each(stdlib, capsys):
    document = call(capsys, "compare", stdlib, "--over", "language", "--format", "json").json
    assert [part["shared"][-1] for part in document["contests"]] == ["language=python"]


def test_wrong_usage_is_named(stdlib, tmp_path, capsys):
    says(call(capsys, "compare", tmp_path), 2, "is not a run folder")
    says(call(capsys, "compare", stdlib, "-m", "MPR"), 2, "MPR")
    says(call(capsys, "compare", stdlib, "-m", "MAP"), 2, "MAP cannot compare chunkers: which")
    says(call(capsys, "compare", stdlib, "--baseline", "fixd"), 2, "fixd", "fixed")
    says(call(capsys, "compare", stdlib, "--margin", "0"), 2, "--margin")
    says(call(capsys, "compare", stdlib, "--over", "retriever"), 2, "all cells have the retriever")
