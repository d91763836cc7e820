"""`chunkmark gate` on run folders and on printed results."""

import csv
import dataclasses
import io
import json

import pytest
from commands import call, says
from worlds import grid

from harness.runs.config import RunConfig
from harness.runs.folder import PARTS
from harness.support.json_files import read_json


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of four cells, two chunkers by two measures of lexical retrieval."""
    out = tmp_path_factory.mktemp("gate")
    chunkers = ("ast:max_size=120", "whole-file")
    grid(out, chunkers=chunkers, retrievers=("bm25",), measures=("MRR", "SpanP@10000c"))
    return out / "run"


@pytest.fixture
def scored(tmp_path, capsys):
    """The file that `score --format json` prints, of first ranks 1, 3 and 2."""
    rows = [
        {"query_id": f"q{rank}", "retrieved_ids": [*"xyz"[: rank - 1], "gold"],
         "relevant_ids": ["gold"]}
        for rank in (1, 3, 2)
    ]  # fmt: skip
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    printed = tmp_path / "score.json"
    printed.write_text(call(capsys, "score", "--records", file, "--format", "json").out)
    return printed


@pytest.mark.parametrize(
    ("bounds", "code", "verdict"),
    [
        (["MRR>0.6"], 0, "pass"),
        (["mrr>0.62"], 1, "fail"),
        (["MRR>0.6", "P@5>0.9"], 1, "fail"),
        (["MRR>0.6", "FileMRR>0.9"], 0, "pass"),
        (["FileMRR>0.9", "--require"], 1, "fail"),
        (["MRR>0.6", "FileMRR>0.9", "--require"], 1, "fail"),
        (["MRR>0.6", "--require"], 0, "pass"),
    ],
)
def test_a_gate_on_what_score_printed(scored, capsys, bounds, code, verdict):
    given = [part for one in bounds for part in ([one] if one[0] == "-" else ["--min", one])]
    done = call(capsys, "gate", scored, *given, "--format", "json")
    assert (done.code, done.json["verdict"]) == (code, verdict)
    assert done.json["schema"] == "chunkmark.gate/1"


def test_a_skipped_measure_says_so(tmp_path, capsys):
    row = {"query_id": "q", "retrieved_ids": ["a"], "relevant_ids": ["a"]}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    options = ("-m", "MRR", "-m", "FileMRR", "--format", "json")
    printed = call(capsys, "score", "--records", tmp_path / "a.jsonl", *options)
    (tmp_path / "score.json").write_text(printed.out)
    bounds = ("--min", "MRR>0.6", "--min", "FileMRR>0.6")
    done = call(capsys, "gate", tmp_path / "score.json", *bounds, "--format", "json")
    assert done.code == 0
    assert [(one["value"], one["verdict"]) for one in done.json["checks"]] == [
        (1.0, "pass"), (None, "skipped"),
    ]  # fmt: skip
    assert "FileMRR is skipped: " in done.err


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (
            ["FileMRR>0.9"],
            ["FileMRR is not in the run; rerun `chunkmark run` with -m FileMRR, and with -m for"],
        ),
        (["FileMRR>0.9", "IoU@5>0"], ["measure to keep\nalso: IoU@5 is not in the run"]),
        (["FileMRR>0"], ["no bound was checked"]),
        (["nDCG>0"], ["nDCG is not in the run; it has nDCG@5, nDCG@10; rerun"]),
    ],
)
def test_a_gate_that_checks_nothing_is_no_pass(scored, capsys, bounds, words):
    given = [part for one in bounds for part in ("--min", one)]
    for form in ("table", "json"):
        says(call(capsys, "gate", scored, *given, "--format", form), 2, *words)


def test_a_gate_on_failed_cells_alone_checks_nothing(tmp_path, capsys):
    failed = {"dataset": "d", "chunker": "c", "embedder": "none", "retriever": "bm25"}
    document = {"schema": "chunkmark.run/1", "cells": [], "failed": [failed]}
    (tmp_path / "run.json").write_text(json.dumps(document))
    says(call(capsys, "gate", tmp_path / "run.json", "--min", "MRR>0"), 2, "c on d failed")


def test_every_cell_of_a_run_folder_is_checked(finished, capsys):
    bounds = ("--min", "MRR>0", "--min", "SpanP@10000c>0.999")
    done = call(capsys, "gate", finished, *bounds, "--format", "json")
    assert done.code == 1
    seen = [(one["chunker"], one["measure"], one["verdict"]) for one in done.json["checks"]]
    assert seen == [
        ("ast:max_size=120", "MRR", "pass"), ("ast:max_size=120", "SpanP@10000c", "fail"),
        ("whole-file", "MRR", "pass"), ("whole-file", "SpanP@10000c", "fail"),
    ]  # fmt: skip
    for one in done.json["checks"]:
        assert (one["dataset"], one["embedder"], one["retriever"]) == ("small", "none", "bm25")
        assert one["n_queries"] == 4
    for key in (one["key"] for one in read_json(finished / "manifest.json")["cells"]):
        metrics = read_json(finished / "cells" / key / "metrics.json")["metrics"]
        assert metrics["MRR"]["mean"] in [one["value"] for one in done.json["checks"]]


def test_cells_of_earlier_runs_are_checked_too(tmp_path, capsys):
    for chunker in ("whole-file", "fixed"):
        grid(tmp_path, chunkers=(chunker,), retrievers=("bm25",), measures=("MRR",))
    done = call(capsys, "gate", tmp_path / "run", "--min", "MRR>0", "--format", "json")
    assert [one["chunker"] for one in done.json["checks"]] == ["fixed", "whole-file"]


def test_cells_of_another_data_set_are_named_and_noted(tmp_path, capsys):
    grid(tmp_path, chunkers=("fixed",), retrievers=("bm25",), measures=("MRR",))
    options = ("-c", "fixed", "-r", "bm25", "--limit", "3", "-o", tmp_path / "run")
    done = call(capsys, "run", *options)
    assert "also holds 1 earlier cell of small; compare, leaderboard, gate and verify" in done.err
    assert done.err.count("note: ") == 1
    bounds = ("--min", "MAP@10>0", "--min", "MRR>0")
    done = call(capsys, "gate", tmp_path / "run", *bounds, "--format", "json")
    assert [row["dataset"] for row in done.json["checks"]] == ["stdlib"] * 2 + ["small"] * 2
    assert "in 2 cells, MAP@10 is not in the run; rerun `chunkmark run` with -m MAP@10" in done.err


def test_what_run_prints_is_checked_as_its_folder_is(tmp_path, capsys):
    options = ("-c", "fixed", "-r", "bm25", "--limit", "3", "-o", tmp_path / "run")
    printed = call(capsys, "run", *options, "--format", "json")
    (tmp_path / "run.json").write_text(printed.out)
    bound = ("--min", "MRR>0.5", "--format", "json")
    folder, file = (call(capsys, "gate", tmp_path / one, *bound) for one in ("run", "run.json"))
    assert (folder.code, folder.json) == (file.code, file.json)


def test_forms_of_output(scored, capsys):
    bounds = ("--min", "MRR>0.6", "--min", "P@5>0.9")
    table = call(capsys, "gate", scored, *bounds)
    assert table.code == 1
    for word in ("0.611111", "> 0.6", "pass", "fail", "gate: fail"):
        assert word in table.out
    rows = list(
        csv.DictReader(io.StringIO(call(capsys, "gate", scored, *bounds, "--format", "csv").out))
    )
    assert [row["verdict"] for row in rows] == ["pass", "fail"]
    assert "| MRR |" in call(capsys, "gate", scored, *bounds, "--format", "markdown").out


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        ("{}", [], ["--min"]),
        ("{}", ["--min", "MRR"], ["'MRR'", "invalid bound"]),
        ("{}", ["--min", "nDGC@5>1"], ["nDGC@5"]),
        ("{}", ["--min", "MRR>0"], ["not a result"]),
        ("[]", ["--min", "MRR>0"], ["not a result"]),
        ("", ["--min", "MRR>0"], ["invalid JSON"]),
        ("q Q0 a 1 1 t", ["--min", "MRR>0"], ["invalid JSON"]),
        ('{"schema": NaN}', ["--min", "MRR>0"], ["NaN"]),
        ('{"schema": "chunkmark.run/1", "cells": []}', ["--min", "MRR>0"], ["no cell"]),
    ],
)
def test_wrong_usage_is_one_or_two_lines_and_exit_code_2(
    tmp_path, capsys, content, arguments, words
):
    (tmp_path / "x.json").write_text(content)
    says(call(capsys, "gate", tmp_path / "x.json", *arguments), 2, *words)


def test_what_is_no_finished_run_is_named(tmp_path, capsys):
    bound = ("--min", "MRR>0")
    says(call(capsys, "gate", tmp_path / "gone", *bound), 2, "gone does not exist")
    says(call(capsys, "gate", tmp_path, *bound), 2, "not a run folder")
    (tmp_path / "manifest.json").write_text('{"status": "complete", "cells": []}')
    says(call(capsys, "gate", tmp_path, *bound), 2, "has no schema", "another version wrote it")
    manifest = {
        "schema": "chunkmark.manifest/2", "config": dataclasses.asdict(RunConfig()), "planned": 1,
        "chunkers": {}, "embedders": {}, "datasets": {},
    }  # fmt: skip
    for status, cells, words in (
        ("running", [], ["incomplete"]),
        ("complete", [], ["no cell"]),
        ("complete", [3], ["manifest.json", "damaged"]),
        ("complete", [{"key": "0a"}], ["manifest.json is damaged, at cell 1.dataset"]),
        ("complete", [dict.fromkeys(PARTS, "a") | {"key": "0a"}], ["cell 0a", "not in cells"]),
        (None, [], ["manifest.json is damaged, at status; restore it"]),
    ):
        changed = manifest | {"status": status, "cells": cells}
        (tmp_path / "manifest.json").write_text(json.dumps(changed))
        says(call(capsys, "gate", tmp_path, *bound), 2, *words)
    (tmp_path / "manifest.json").write_text("{")
    says(call(capsys, "gate", tmp_path, *bound), 2, "manifest.json, line 1, column 2: invalid JSON")
