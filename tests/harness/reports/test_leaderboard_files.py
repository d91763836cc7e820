"""Boards of run folders: the command, the layouts of others, and results of others."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import pytrec_eval
from commands import call, says
from evaluators import evaluators
from worlds import grid, small

from chunkers.source import Source
from harness.model import Corpus, Dataset, Query
from harness.runs.record import decode_id

WORDS = [
    "load",
    "save",
    "sort",
    "join",
    "split",
    "parse",
    "merge",
    "count",
    "read",
    "write",
    "find",
    "drop",
]


def documents(name="docs", number=60):
    """Documents of a few words, some with equal text; one has the id of a query."""
    texts = {
        f"d{at} é": f"def {WORDS[at % 12]}_{WORDS[at * 5 % 11]}(value): {WORDS[at % 7]}\n" * 3
        for at in range(number)
    }
    texts["q3"] = texts["d3 é"]
    queries = tuple(
        Query(
            f"q{at}",
            "one",
            f"{WORDS[at % 12]} {WORDS[at * 5 % 11]}",
            qrels={f"d{at} é": 1 + at % 2, f"d{at + 12} é": 1, f"d{at + 1} é": 0},
            cluster=f"q{at}",
        )
        for at in range(16)
    )
    nothing = Query("q99", "one", "zzz", qrels={"d1 é": 1}, cluster="q99")  # retrieves nothing
    sources = tuple(Source(texts[key], key) for key in sorted(texts))
    return Dataset(name, "document", (Corpus("one", sources),), (*queries, nothing))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    options = {"chunkers": ("whole-file", "fixed:max_size=30"), "retrievers": ("bm25", "bow")}
    for name in ("docs", "more"):
        grid(folder, name, documents(name), **options, depth=20)
    return folder


def stored(run, chunker="whole-file", retriever="bm25"):
    """The folder of a cell, its rankings with their scores, and its judgements."""
    cells = json.loads((run / "manifest.json").read_text())["cells"]
    key = next(c["key"] for c in cells if (c["chunker"], c["retriever"]) == (chunker, retriever))
    folder = run / "cells" / key
    rankings, qrels = {}, {}
    for line in (folder / "run.trec").read_text("utf-8").splitlines():
        query, _, unit, *_ = line.split(" ")
        rankings.setdefault(decode_id(query), []).append(decode_id(unit))
    for row in map(json.loads, (folder / "scores.jsonl").read_text().splitlines()):
        ids = rankings.get(row["query_id"], [])
        rankings[row["query_id"]] = dict(zip(ids, row["scores"], strict=True))
    for row in map(json.loads, (folder / "targets.jsonl").read_text("utf-8").splitlines()):
        qrels.setdefault(row["query_id"], {})[row["document"]] = int(row["grade"])
    return folder, rankings, qrels


def means(rankings, qrels, measures):
    rows = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(rankings).values()
    return {name: round(sum(row[name] for row in rows) / len(rows), 5) for name in measures}


def test_the_command_shows_the_values_of_the_runs(run, capsys):
    done = call(capsys, "leaderboard", run / "docs", run / "more", "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert [task["task"] for task in done.json["tasks"]] == ["docs", "more"]
    assert (done.json["measure"], len(done.json["rows"]), len(done.json["pairs"])) == (
        "nDCG@10", 4, 6,
    )  # fmt: skip
    for row in done.json["rows"]:
        for task in ("docs", "more"):
            metrics = json.loads(
                (run / task / "cells" / row["cells"][task] / "metrics.json").read_text()
            )
            assert row["scores"][task] == metrics["metrics"]["nDCG@10"]["mean"]
        assert row["mean"] == sum(row["scores"].values()) / 2
    again = call(capsys, "leaderboard", run / "more", run / "docs", "--format", "json")
    assert again.out == done.out


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "latex"])
def test_the_forms_of_a_board(run, capsys, form):
    done = call(capsys, "leaderboard", run / "docs", "-m", "mrr", "--format", form)
    assert (done.code, done.err) == (0, "")
    assert len(re.findall(r"whole-file\W+none", done.out)) == 2
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(done.out)))
        (_, rankings, qrels) = stored(run / "docs")
        assert len(rows) == 4
        assert all(float(row["docs"]) == float(row["mean"]) for row in rows)
        assert len(rankings) == len(qrels) == 17
        assert rankings["q99"] == {}
    else:
        assert "MRR; the mean is over 1 task" in done.out
        assert ("|\n\n- MRR" in done.out) == (form == "markdown")
        starts = {"markdown": "- ", "latex": "% ", "table": ""}
        assert f"\n{starts[form]}Rank: 1 + the number" in done.out.replace("\\", "")


def test_mteb_files_hold_the_values_of_pytrec_eval(run, tmp_path, capsys):
    done = call(capsys, "leaderboard", run / "docs", "--export", f"mteb:{tmp_path / 'out'}")
    assert done.code == 0
    (model,) = (tmp_path / "out/results").glob("chunkmark__whole-file+none+bm25")
    (revision,) = model.iterdir()
    meta = json.loads((revision / "model_meta.json").read_text())
    assert (meta["name"], meta["revision"]) == ("chunkmark/whole-file+none+bm25", revision.name)
    result = json.loads((revision / "docs.json").read_text())
    folder, rankings, qrels = stored(run / "docs")
    identity = json.loads((folder / "cell.json").read_text())["identity"]
    assert result["dataset_revision"] == identity["dataset"]
    (scores,) = result["scores"]["test"]
    cuts = (1, 3, 5, 10, 20)  # as deep as the stored rankings
    theirs = {"ndcg": "ndcg_cut", "map": "map_cut", "recall": "recall", "precision": "P",
              "hit_rate": "success"}  # fmt: skip
    names = {f"{our}_at_{cut}": f"{name}_{cut}" for our, name in theirs.items() for cut in cuts}
    want = means(rankings, qrels, names.values())
    assert {our: scores[our] for our in names} == {our: want[name] for our, name in names.items()}
    assert scores["main_score"] == scores["ndcg_at_10"]
    assert scores.keys() - names.keys() == {
        *(f"mrr_at_{cut}" for cut in cuts), "main_score", "hf_subset", "languages",
    }  # fmt: skip


def test_coir_files_hold_the_values_of_pytrec_eval_without_identical_ids(run, tmp_path, capsys):
    call(capsys, "leaderboard", run / "docs", "--export", f"coir:{tmp_path}")
    result = json.loads((tmp_path / "whole-file+none+bm25/docs.json").read_text())
    _, rankings, qrels = stored(run / "docs")
    assert "q3" in rankings["q3"]
    rankings["q3"].pop("q3")
    for group, label, name in (
        ("NDCG", "NDCG", "ndcg_cut"), ("MAP", "MAP", "map_cut"), ("Recall", "Recall", "recall"),
        ("Precision", "P", "P"),
    ):  # fmt: skip
        want = means(rankings, qrels, [f"{name}_{cut}" for cut in (1, 3, 5, 10)])
        got = result["metrics"][group]
        assert got == {f"{label}@{cut}": want[f"{name}_{cut}"] for cut in (1, 3, 5, 10)}


def test_names_with_slashes_and_underscores_stay_in_the_folder(tmp_path, capsys):
    grid(tmp_path, "run", documents("../a/b__c"), chunkers=("whole-file",), retrievers=("bm25",))
    out = tmp_path / "out"
    call(capsys, "leaderboard", tmp_path / "run", "--export", f"coir:{out}")
    (file,) = [path for path in out.rglob("*") if path.is_file()]
    assert file.relative_to(out).as_posix() == "whole-file+none+bm25/..%2Fa%2Fb__c.json"


def test_what_cannot_be_exported_is_refused(run, tmp_path, capsys):
    out = f"mteb:{tmp_path / 'out'}"
    one = {"chunkers": ("whole-file",), "retrievers": ("bm25",)}
    grid(tmp_path, "lines", small(), **one)
    done = call(capsys, "leaderboard", tmp_path / "lines", "--export", out)
    says(done, 2, "the gold of small is lines")
    grid(tmp_path, "few", documents(), **one, limit=5)
    says(
        call(capsys, "leaderboard", tmp_path / "few", "--export", out),
        2,
        "5 of the queries",
        "all: run",
    )
    grid(tmp_path, "flat", documents(), **one, depth=5, measures=("nDCG@5",))
    done = call(capsys, "leaderboard", tmp_path / "flat", "-m", "nDCG@5", "--export", out)
    says(done, 2, "ranks 5 documents", "--depth 1000")
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("")
    done = call(capsys, "leaderboard", run / "docs", "--export", f"coir:{tmp_path / 'file'}")
    says(done, 2, "file is a file; name a folder")
    for wrong in ("mteb", "mteb:", "beir:x", ":x"):
        says(call(capsys, "leaderboard", run / "docs", "--export", wrong), 2, f"not {wrong}")


def test_a_changed_ranking_is_not_exported(run, tmp_path, capsys):
    shutil.copytree(run / "docs", tmp_path / "run")
    folder, *_ = stored(tmp_path / "run")
    (folder / "run.trec").write_text((folder / "run.trec").read_text("utf-8")[:-20], "utf-8")
    done = call(capsys, "leaderboard", tmp_path / "run", "--export", f"coir:{tmp_path / 'out'}")
    says(done, 2, "run.trec was changed")


def test_wrong_folders_and_measures_are_refused(run, tmp_path, capsys):
    says(call(capsys, "leaderboard", tmp_path), 2, "is not a run folder")
    says(call(capsys, "leaderboard", run / "docs", run / "docs"), 2, "given more than once")
    done = call(capsys, "leaderboard", run / "docs", "--merge", run / "docs")
    says(done, 2, "given more than once")
    says(call(capsys, "leaderboard", run / "docs", "-m", "nDGC@10"), 2, "nDGC@10")
    says(call(capsys, "leaderboard", run / "docs", "-m", "SpanR@10000c"), 2, "has no SpanR@10000c")
    done = call(capsys, "leaderboard", run / "docs", run / "more", "--merge", tmp_path / "none")
    says(done, 2, "does not exist")


class TestMerge:
    def test_verified_results_of_the_same_tasks_are_taken(self, run, tmp_path, capsys):
        options = {"retrievers": ("bm25",), "depth": 20}
        grid(tmp_path, "theirs", documents(), chunkers=("fixed:max_size=60",), **options)
        done = call(
            capsys, "leaderboard", run / "docs", "--merge", tmp_path / "theirs", "--format", "json"
        )
        assert (done.code, done.err) == (0, "")
        assert "fixed:max_size=60" in {row["chunker"] for row in done.json["rows"]}
        assert len(done.json["rows"]) == 5

    def test_other_tasks_are_left_out_with_a_warning(self, run, capsys):
        done = call(
            capsys, "leaderboard", run / "docs", "--merge", run / "more", "--format", "json"
        )
        assert "more is not a task of this board; it is left out" in done.err
        assert [task["task"] for task in done.json["tasks"]] == ["docs"]

    def test_other_data_of_the_same_name_is_refused(self, run, tmp_path, capsys):
        options = {"chunkers": ("whole-file",), "retrievers": ("bm25",), "depth": 20}
        grid(tmp_path, "theirs", documents(number=50), **options)
        done = call(capsys, "leaderboard", run / "docs", "--merge", tmp_path / "theirs")
        says(done, 2, "docs is not the same task in", "data fingerprint")

    def test_changed_numbers_are_refused(self, run, tmp_path, capsys):
        shutil.copytree(run / "docs", tmp_path / "theirs")
        folder, *_ = stored(tmp_path / "theirs")
        text = (folder / "metrics.json").read_text()
        document = json.loads(text)
        document["metrics"]["nDCG@10"]["mean"] = 0.99
        (folder / "metrics.json").write_text(json.dumps(document))
        done = call(capsys, "leaderboard", run / "more", "--merge", tmp_path / "theirs")
        says(done, 2, "theirs is not merged: 1 stored value not as recomputed", "computed 0.")


SCRIPT = """
import json, sys
from pathlib import Path
from mteb import TaskResult
from mteb._evaluators import RetrievalEvaluator
from mteb.cache import ResultCache
given = json.load(sys.stdin)
(file,) = Path(given["folder"]).glob("results/chunkmark__whole-file+none+bm25/*/docs.json")
result = TaskResult.from_disk(file)
loaded = ResultCache(given["folder"]).load_results(validate_and_filter=False, include_remote=False)
theirs = RetrievalEvaluator.evaluate(None, given["qrels"], given["run"], given["cuts"])
json.dump({
    "task": result.task_name, "main": result.get_score(), "scores": result.scores["test"][0],
    "models": sorted([m.model_name, [r.get_score() for r in m.task_results]] for m in loaded.model_results),
    "mteb": {group: getattr(theirs, group) for group in ("ndcg", "map", "recall", "precision", "mrr", "hit_rate")},
}, sys.stdout)
"""  # noqa: E501


@pytest.mark.slow
def test_mteb_reads_the_files_and_computes_the_same(run, tmp_path, capsys):
    call(capsys, "leaderboard", run / "docs", "--export", f"mteb:{tmp_path}")
    _, rankings, qrels = stored(run / "docs")
    cuts = (1, 3, 5, 10, 20)
    given = {"folder": str(tmp_path), "run": rankings, "qrels": qrels, "cuts": cuts}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        input=json.dumps(given), capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(evaluators("mteb"))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)
    scores = theirs["scores"]
    assert (theirs["task"], theirs["main"]) == ("docs", scores["ndcg_at_10"])
    assert len(theirs["models"]) == 4
    assert ["chunkmark/whole-file+none+bm25", [theirs["main"]]] in theirs["models"]
    for group, values in theirs["mteb"].items():
        assert len(values) == len(cuts)
        for name, value in values.items():
            cut = name.partition("@")[2]
            assert scores[f"{group}_at_{cut}"] == pytest.approx(value, abs=1e-12), name
