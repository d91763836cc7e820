"""`chunkmark score` through the command line: worked examples, forms of output, wrong usage."""

import csv
import io
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import call, says
from worlds import grid

from harness.stats.intervals import intervals

ROOT = Path(__file__).parents[3]
FRANCE = (
    "Paris is the capital and most populous city of France, with an estimated population of two "
    "million residents."
)


def write(path, rows):
    if not isinstance(rows, str):
        rows = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_text(rows, encoding="utf-8")
    return path


@pytest.fixture
def values(tmp_path, capsys):
    """The document that `score --format json` prints for rankings and relevant ids."""

    def run(rankings, relevant, *measures, extra=()):
        lines = [
            f"{query} Q0 {doc} {rank} {len(ids) - rank} t\n"
            for query, ids in rankings.items()
            for rank, doc in enumerate(ids)
        ]
        judged = [f"{query} 0 {doc} 1\n" for query, ids in relevant.items() for doc in ids]
        run = write(tmp_path / "a.run", "".join(lines))
        qrels = write(tmp_path / "a.qrels", "".join(judged))
        wanted = [part for one in measures for part in ("-m", one)]
        done = call(
            capsys, "score", "--run", run, "--qrels", qrels, *wanted, "--format", "json", *extra
        )
        assert done.code == 0, done.err
        return done.json

    return run


def mean(document, name):
    return document["metrics"][name]["mean"]


def test_recall_of_two_of_three_gold_items(values):
    got = values({"q": ["a", "x", "b", "y", "z"]}, {"q": ["a", "b", "c"]}, "R@5")
    assert mean(got, "R@5") == 2 / 3


@pytest.mark.parametrize(("ranks", "mrr"), [((1, 3, 2), 0.6111), ((1, 3, None), 0.4444)])
def test_mrr_of_first_ranks(values, ranks, mrr):
    rankings = {
        f"q{n}": ["gold" if rank == at else f"x{at}" for at in range(1, 6)]
        for n, rank in enumerate(ranks)
    }
    got = values(rankings, {query: ["gold"] for query in rankings}, "MRR")
    assert mean(got, "MRR") == pytest.approx(mrr, abs=5e-5)
    assert mean(got, "MRR") == sum(1 / rank for rank in ranks if rank) / 3


def test_ndcg_of_three_gold_items_in_five(values):
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert ideal == pytest.approx(2.1309, abs=5e-5)
    got = values({"q": ["a", "x", "b", "y", "c"]}, {"q": ["a", "b", "c"]}, "nDCG@5")
    gain = 1 + 1 / math.log2(4) + 1 / math.log2(6)
    assert mean(got, "nDCG@5") == pytest.approx(gain / ideal, abs=1e-12)


def test_full_recall_with_a_precision_of_two_fifths(values):
    got = values({"q": ["x", "a", "y", "b", "z"]}, {"q": ["a", "b"]}, "R@5", "P@5")
    assert (mean(got, "R@5"), mean(got, "P@5")) == (1.0, 0.4)


def test_a_text_is_relevant_by_its_words_and_no_exact_match(tmp_path, capsys):
    row = {
        "query_id": "capital",
        "retrieved": [{"id": "1", "text": FRANCE}],
        "expected": "Paris is the capital of France.",
    }
    file = write(tmp_path / "a.jsonl", [row])
    measures = ("-m", "MRR", "-m", "R@5", "-m", "ExactMatch", "-m", "TokenF1")
    got = call(capsys, "score", "--records", file, "--format", "json", *measures).json
    assert (mean(got, "MRR"), mean(got, "R@5"), mean(got, "ExactMatch")) == (1.0, 1.0, 0.0)
    assert 0.3 <= mean(got, "TokenF1") < 1
    assert got["strategies"] == {"qrels": 0, "span": 0, "file": 0, "text": 1}
    texts = got["texts"]
    assert (texts["relevant"], texts["relevant_exact"], texts["relevant_holding"]) == (1, 0, 0)


UNLABELLED = [{"query_id": query, "retrieved_ids": ["a"]} for query in "qr"]
LABELLED = [*UNLABELLED, {"query_id": "s", "retrieved_ids": ["a"], "relevant_ids": ["a"]}]


@pytest.mark.parametrize(
    ("content", "qrels", "options", "words"),
    [
        (UNLABELLED, None, (), ["a.run", "no query has judgements", "2 queries (no judgements)"]),
        (UNLABELLED, None, ("--profile", "memorybench"), ["no query has judgements"]),
        (UNLABELLED, None, ("--profile", "code-chunk"), ["no query has judgements"]),
        (
            "q Q0 a 1 1 t\n",
            "q 0 a 0\n",
            (),
            ["no query has a relevant document", "1 query (only grades of 0 or less)"],
        ),
        ("q Q0 a 1 1 t\n", "q 0 a 1\n", ("--profile", "trec:rel=2"), None),  # as pytrec_eval
        (
            "q Q0 a 1 1 t\n",
            "q 0 a 1\n",
            ("--profile", "default:rel=2"),
            ["1 query (only grades below 2)"],
        ),
        (
            "q Q0 a 1 1 t\n",
            "q 0 a 1\n",
            ("-m", "FileMRR"),
            ["results with paths and lines are needed; give them by --records"],
        ),
        (
            LABELLED,
            None,
            ("-m", "SpanR@9c", "-m", "TokenF1"),
            [
                "results with paths and lines are needed",
                "no query has the texts that TokenF1 compares",
            ],
        ),
        (LABELLED, None, ("-m", "SpanR@9c", "-m", "MRR"), None),
    ],
)
def test_nothing_to_average_is_refused(tmp_path, capsys, content, qrels, options, words):
    file = write(tmp_path / "a.run", content)
    given = ["--records" if qrels is None else "--run", file]
    if qrels is not None:
        given += ["--qrels", write(tmp_path / "a.qrels", qrels)]
    for form in ("table", "json", "csv"):
        done = call(capsys, "score", *given, *options, "--format", form)
        assert done.code == (0 if words is None else 2), done.err
        if words is not None:
            assert done.out == ""
            says(done, 2, "nothing could be scored", *words)


@pytest.mark.parametrize(("profile", "n"), [("default", 1), ("memorybench", 3), ("code-chunk", 3)])
def test_queries_without_labels_among_others_are_left_out_or_0_and_counted(
    tmp_path, capsys, profile, n
):
    file = write(tmp_path / "a.jsonl", LABELLED)
    options = ("-m", "MRR", "--profile", profile, "--format", "json")
    got = call(capsys, "score", "--records", file, *options).json
    assert (mean(got, "MRR"), got["n_queries"]) == (1 / n, n)
    counts = got["left_out"] if n == 1 else got["as_zero"]
    assert counts == {"no judgements": 2}


@pytest.mark.parametrize("profile", ["default", "trec", "code-chunk"])
def test_rankings_and_judgements_without_a_common_query_are_refused(tmp_path, capsys, profile):
    run = write(tmp_path / "a.run", "q Q0 a 1 1 t\n")
    for qrels in (
        write(tmp_path / "empty.json", "{}"), write(tmp_path / "b.qrels", "r 0 a 1\n"),
    ):  # fmt: skip
        done = call(capsys, "score", "--run", run, "--qrels", qrels, "--profile", profile)
        says(done, 2, "no query of", "is judged in", "check the ids")
        assert ("has 'r'" in done.err) == (qrels.name == "b.qrels")


def test_gold_that_is_judged_and_never_retrieved_is_0(values):
    got = values({"q": ["x"]}, {"q": ["a"], "r": ["a"]}, "MRR")
    assert (mean(got, "MRR"), got["metrics"]["MRR"]["n"]) == (0.0, 2)
    assert got["as_zero"] == {"absent from the rankings": 1}
    assert any("spelled alike" in one for one in got["warnings"])
    got = values({"q": ["x"]}, {"q": ["a"], "r": ["a"]}, "MRR", extra=("--profile", "trec"))
    assert (mean(got, "MRR"), got["metrics"]["MRR"]["n"]) == (0.0, 1)
    assert got["left_out"] == {"absent from the rankings": 1}


def test_queries_that_nobody_judged_go_by_the_profile(values):
    rankings, relevant = {"q": ["a"], "r": ["a"]}, {"q": ["a"]}
    got = values(rankings, relevant, "P@1")
    assert (mean(got, "P@1"), got["left_out"]) == (1.0, {"no judgements": 1})
    got = values(rankings, relevant, "P@1", extra=("--profile", "code-chunk"))
    assert (mean(got, "P@1"), got["as_zero"]) == (0.5, {"no judgements": 1})


def test_beir_leaves_ties_of_mrr_as_given_and_rounds(tmp_path, capsys):
    run = write(tmp_path / "a.json", json.dumps({
        "q": {"a": 1, "b": 1, "q": 9}, "r": {"x": 3, "y": 2, "b": 1},
    }))  # fmt: skip
    qrels = write(tmp_path / "b.json", json.dumps({"q": {"a": 1}, "r": {"b": 1}, "s": {"a": 1}}))
    options = ("--profile", "trec:variant=beir", "-m", "MRR", "-m", "P@1", "-m", "nDCG@10")
    done = call(capsys, "score", "--run", run, "--qrels", qrels, "--format", "json", *options)
    assert mean(done.json, "MRR") == round((1 + 1 / 3 + 0) / 3, 5)
    assert mean(done.json, "P@1") == 0.0
    assert mean(done.json, "nDCG@10") == round((1 / math.log2(3) + 0.5) / 2, 5)


def test_intervals_are_those_of_the_measures(values):
    rankings = {f"q{n}": ["x"] * 0 + [f"x{m}" for m in range(n)] + ["a"] for n in range(9)}
    got = values(rankings, {query: ["a"] for query in rankings}, "MRR", extra=("--per-query",))
    import numpy as np

    queries = sorted(rankings)
    column = np.array([got["per_query"]["MRR"][query] for query in queries])
    every, members = np.ones(9, dtype=bool), [("", query) for query in queries]
    ends = intervals({"MRR": column}, {"MRR": every}, members)["MRR"]
    assert tuple(got["metrics"]["MRR"]["ci95"]) == ends
    assert "sign-flips" in got["interval"]


TEXT_MEASURES = ("AnswerSuccess@1", "AnswerSuccess@2", "ContextR", "ContextP", "ContextF1",
                 "TokenF1", "RougeL", "Bleu1", "ExactMatch")  # fmt: skip


def test_measures_of_texts(tmp_path, capsys):
    rows = [
        {
            "query_id": "a", "expected": "the red fox", "actual": "The  red FOX", "correct": True,
            "retrieved": [
                {"id": "1", "path": "a.py", "text": "nothing at all"},
                {"id": "2", "path": "a.py", "text": "a fox"},
                {"id": "3", "path": "b.py", "text": ""},
            ],
            "targets": [{"path": "a.py"}, {"path": "c.py"}, {"path": "d.py"}],
        },
        {"query_id": "b", "expected": "one two", "actual": "two", "correct": False,
         "retrieved": [{"id": "1", "text": "one two"}]},
        {"query_id": "c", "retrieved_ids": ["x"], "relevant_ids": ["x"]},
    ]  # fmt: skip
    file = write(tmp_path / "a.jsonl", rows)
    options = [part for one in TEXT_MEASURES for part in ("-m", one)]
    got = call(capsys, "score", "--records", file, "--format", "json", *options).json
    means = {name: (one["mean"], one["n"]) for name, one in got["metrics"].items()}
    assert means == {
        "AnswerSuccess@1": (0.0, 2),
        "AnswerSuccess@2": (0.5, 2),
        "ContextR": (pytest.approx((1 / 3 + 1) / 2), 2),
        "ContextP": ((0.5 + 1) / 2, 2),
        "ContextF1": (pytest.approx((2 * 1 / 5 + 1) / 2), 2),
        "TokenF1": (pytest.approx((1 + 2 / 3) / 2), 2),
        "RougeL": (pytest.approx((1 + 2 / 3) / 2), 2),
        "Bleu1": (1.0, 2),
        "ExactMatch": (0.5, 2),
    }
    counts = {name: got["texts"][name] for name in ("retrieved", "gold", "correct")}
    assert counts == {"retrieved": 3, "gold": 4, "correct": 2}
    assert (got["texts"]["answers"], got["texts"]["exact"]) == (2, 1)


def test_documents_of_a_plain_ranking_have_context_measures(values):
    got = values({"q": ["a", "b", "x", "y"]}, {"q": ["a", "b", "c"]}, "ContextR", "ContextP")
    assert (mean(got, "ContextR"), mean(got, "ContextP")) == (2 / 3, 0.5)
    got = values({"q": ["a"]}, {"q": ["a"], "r": ["a"]}, "ContextR", "TokenF1")
    assert (mean(got, "ContextR"), mean(got, "TokenF1")) == (0.5, None)


def test_the_files_of_a_run_folder_score_as_the_run_did(tmp_path, capsys):
    names = ("nDCG@5", "P@2", "R@2", "MRR", "MAP@10")
    grid(
        tmp_path,
        chunkers=("ast:max_size=120",),
        retrievers=("bm25",),
        measures=names,
        profile="trec",
    )
    (folder,) = (tmp_path / "run" / "cells").iterdir()
    stored = json.loads((folder / "metrics.json").read_text("utf-8"))["metrics"]
    options = [part for one in names for part in ("-m", one)]
    given = ("--run", folder / "run.trec", "--qrels", folder / "qrels.trec", "--profile", "trec")
    got = call(capsys, "score", *given, *options, "--format", "json", "--per-query").json
    assert {name: mean(got, name) for name in names} == {
        name: stored[name]["mean"] for name in names
    }
    assert "q alpha" in got["per_query"]["MRR"]


def test_results_of_memorybench_score_as_memorybench_scores_them(data, tmp_path, capsys):
    lines = (data / "golden" / "memorybench_reference.jsonl").read_text("utf-8").split("\n")
    cases = [json.loads(line) for line in lines if line]
    cases = [case for case in cases if case["fn"] == "metrics" and case["results"]]
    assert len(cases) > 100
    for case in cases[::3]:
        file = write(tmp_path / "a.jsonl", case["results"])
        k, threshold = case["k"], case["threshold"] or 0.3
        names = {f"P@{k}": "precision", f"nDCG@{k}": "ndcg", "MRR": "mrr"}
        options = [part for one in names for part in ("-m", one)]
        options += ["--profile", "memorybench", "--f1-threshold", threshold, "--format", "json"]
        done = call(capsys, "score", "--records", file, *options)
        for name, theirs in names.items():
            want = case["expected"][theirs]["value"]
            if done.code == 2:  # without any label the original gives 0
                assert "no query has judgements" in done.err
                assert want == 0
            else:
                assert mean(done.json, name) == pytest.approx(want, abs=1e-12), case["case"]


@pytest.fixture
def small(tmp_path):
    run = write(tmp_path / "a.run", "q Q0 a 1 1 t\nr|1 Q0 b 1 1 t\n")
    return ["--run", run, "--qrels", write(tmp_path / "a.qrels", "q 0 a 1\nr|1 0 a 1\n")]


def test_forms_of_output(small, capsys):
    options = ["-m", "MRR", "-m", "FileMRR", "-m", "mrr", "--per-query"]
    table = call(capsys, "score", *small, *options).out
    for word in ("MRR", "0.5000", "skipped", "r|1", "2 by qrels", "profile default"):
        assert word in table
    markdown = call(capsys, "score", *small, *options, "--format", "markdown").out
    assert "| MRR | 0.5000 |" in markdown
    assert "r\\|1" in markdown
    rows = list(
        csv.DictReader(io.StringIO(call(capsys, "score", *small, *options, "--format", "csv").out))
    )
    assert [(row["query_id"], row["measure"], row["mean"], row["n"]) for row in rows] == [
        ("", "MRR", "0.5", "2"), ("", "FileMRR", "", "0"), ("q", "MRR", "1.0", ""),
        ("r|1", "MRR", "0.0", ""),
    ]  # fmt: skip
    document = call(capsys, "score", *small, *options, "--format", "json").json
    assert document["schema"] == "chunkmark.score/1"
    assert document["per_query"] == {"MRR": {"q": 1.0, "r|1": 0.0}, "FileMRR": None}
    assert "per_query" not in call(capsys, "score", *small, "--format", "json").json


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["--run", "--records"]),
        (["--run", "a", "--records", "a"], ["cannot be combined"]),
        (["--run", "gone.run", "--qrels", "gone.qrels"], ["gone.run does not exist"]),
        (["--records", "a", "-m", "nDGC@5"], ["nDGC@5", "nDCG"]),
        (["--records", "a", "--profile", "trek"], ["trek", "trec"]),
        (["--records", "a", "--f1-threshold", "0"], ["--f1-threshold"]),
        (["--records", "a", "--f1-threshold", "nan"], ["--f1-threshold"]),
        (["--records", "a", "--f1-threshold", "high"], ["--f1-threshold"]),
        (["--records", "a", "--source", "gone"], ["--source", "gone"]),
        (["--records", "a", "--format", "xml"], ["--format"]),
    ],
)
def test_wrong_usage_is_one_or_two_lines_and_exit_code_2(
    tmp_path, monkeypatch, capsys, arguments, words
):
    monkeypatch.chdir(tmp_path)
    says(call(capsys, "score", *arguments), 2, *words)


def test_control_characters_do_not_reach_the_terminal(tmp_path, capsys):
    rows = [{"query_id": "\x1b[31mq", "retrieved_ids": ["a"], "relevant_ids": ["a"]}]
    done = call(capsys, "score", "--records", write(tmp_path / "a.jsonl", rows), "--per-query")
    assert "\x1b" not in done.out


def test_bytes_do_not_depend_on_hashes_or_the_working_folder(tmp_path):
    rows = [
        {"query_id": f"q{n}", "retrieved_ids": [f"d{(n * m) % 7}" for m in range(1, 5)],
         "relevant_ids": ["d1", "d2", "d3"]}
        for n in range(20)
    ]  # fmt: skip
    file = write(tmp_path / "a.jsonl", rows)
    arguments = ["score", "--records", file, "--format", "json", "--per-query"]
    written = set()
    for seed, cwd in (("1", ROOT), ("2", tmp_path)):
        done = subprocess.run(
            [sys.executable, "-m", "harness.cli", *arguments],
            check=True, capture_output=True, cwd=cwd,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        written.add(done.stdout)
    assert len(written) == 1


def test_the_document_names_every_option_and_key(small, capsys):
    pages = {"gate": "ci.md", "score": "scoring.md"}
    for command, page in pages.items():
        text = (ROOT / "docs" / page).read_text("utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "harness.cli", command, "--help"],
            check=True, capture_output=True, text=True, env={"COLUMNS": "200", "TERM": "dumb"},
        )  # fmt: skip
        for option in set(re.findall(r"(?<=│ )--[a-z0-9-]+", done.stdout)) - {"--help"}:
            assert re.search(rf"[` ]{option}[` ]", text), option
    asked = ("--format", "json", "--per-query", "-m", "FileMRR", "-m", "MRR")
    document = call(capsys, "score", *small, *asked).json
    keys = {*document, *document["metrics"]["FileMRR"], *document["strategies"]}
    assert {key for key in keys if f"`{key}`" not in text} == set()
