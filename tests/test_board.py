"""The board of chunkers: its suite, its packages, and the page that is made of its runs."""

import contextlib
import dataclasses
import importlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from chunkers import list_chunkers
from harness.cli.main import main
from harness.datasets.suites import load_suite
from harness.runs.config import RunConfig
from harness.runs.stored_values import read_stored_cells
from harness.support.files import file_sha256

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/board.md"
FUNCTION = '''def {name}(value):
    """{text}."""
    total = value + {number}
    return [total, "{name}", {number}]


'''
TEXTS = (
    "Open the valve of the water tank",
    "Count the sheep that jump over a fence",
    "Send a postcard to every cousin",
    "Measure how tall the old oak grew",
)


@pytest.fixture(scope="module")
def board():
    """The modules of the board, which are not installed."""
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield lambda name: importlib.import_module(f"benchmarks.{name}")
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "benchmarks":
            sys.modules.pop(name)


def tables(page):
    """The tables of a page: heads and rows, split where a bar is not escaped."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", page, re.MULTILINE)
    for block in blocks:
        heads, rule, *rows = (
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in block.splitlines()
        )
        assert all(re.fullmatch(r":?-+:?", cell) for cell in rule)
        assert all(len(row) == len(heads) for row in (rule, *rows)), heads
        yield heads, rows


def test_each_figure_of_the_page_has_the_fingerprint_of_its_data_and_the_key_of_its_cell():
    text = PAGE.read_text("utf-8")
    every = list(tables(text))
    (data,) = (rows for heads, rows in every if "fingerprint" in heads)
    fingerprints = {row[0]: row[4] for row in data}
    assert all(re.fullmatch(r"[0-9a-f]{12}", value) for value in fingerprints.values())
    keys = {}
    for task, block in re.findall(r"<summary>(.+?), \w+</summary>\n\n(.+?)</details>", text, re.S):
        for _, rows in tables(block):
            keys.setdefault(task, {}).update({row[0]: row[1:] for row in rows})
    checked = 0
    for heads, rows in every:
        if heads[:2] != ["chunker", "rank"]:
            continue
        for row in rows:
            own = dict(zip(heads, row, strict=True))
            for task in set(heads) & set(fingerprints):
                if re.fullmatch(r"\d\.\d{3}", own[task]):
                    shown = keys[task][row[0].removesuffix(" (control)")]
                    assert all(re.fullmatch(r"[0-9a-f]{12}", key) for key in shown)
                    checked += 1
                else:
                    assert own[task] in ("missing", "failed")
    assert checked > 300


def test_the_suite_has_every_chunker_that_needs_no_program():
    named = [each.name for each in list_chunkers() if each.name != "process"]
    assert sorted(load_suite(Path("chunkers")).chunkers) == sorted(named)


@pytest.fixture(scope="module")
def runs(board, tmp_path_factory):
    """A small board: two tasks of doc comments by bm25, and one of calls that was not run."""
    tasks, page = board("board.tasks"), board("board.page")
    folder = tmp_path_factory.mktemp("board")
    every = []
    for name in ("first", "second"):
        for at, text in enumerate(TEXTS):
            file = folder / name / f"file{at}.py"
            file.parent.mkdir(exist_ok=True)
            own = [
                FUNCTION.format(name=f"{name}_{at}_{n}", text=f"{text} {word}", number=n)
                for n, word in enumerate(("at dawn", "by night", "in the rain"))
            ]
            file.write_text("".join(own))
        spec = f'repo:"FOLDER/{name}",queries=docstring'
        every.append(tasks.Task(name, "docstring", spec, dense=name == "second"))
    every.append(tasks.Task("third", "calls", 'repo:"FOLDER/third",queries=calls'))
    with pytest.MonkeyPatch.context() as patch:
        use(patch, tasks, page, every)
        for step in tasks.steps():
            if step.part == "bm25" and step.task.name != "third":
                with contextlib.redirect_stdout(io.StringIO()), pytest.raises(SystemExit) as left:
                    main([*step.arguments(str(folder)), "--format", "json"])
                assert not left.value.code
    return folder, every


def use(patch, tasks, page, every):
    """Put tasks and chunkers in place of those of the board."""
    for module in (tasks, page):
        patch.setattr(module, "TASKS", tuple(every))
    plain = ("ast", "fixed:max_size=100", "whole-file", "random-cuts")
    patch.setattr(tasks, "suite_chunkers", lambda: (plain, ("semantic",), plain[:2]))


@pytest.fixture
def made(runs, board, monkeypatch):
    """The folder of the small board, and the module of its page."""
    use(monkeypatch, board("board.tasks"), board("board.page"), runs[1])
    return runs[0], board("board.page")


def test_the_same_runs_give_the_same_bytes_and_every_figure_its_fingerprint(made, tmp_path):
    folder, page = made
    absent = {"third": "its package could not be downloaded: no network"}
    written = [page.write_page(folder, absent, {}, tmp_path / name) for name in ("a", "b")]
    texts = [[path.read_bytes() for path in paths] for paths in written]
    assert texts[0] == texts[1]
    text = written[0][0].read_text("utf-8")
    assert list(tables(text))
    for name in ("first", "second"):
        for cell in read_stored_cells(folder / "runs" / f"{name}-bm25"):
            assert cell.folder.name[:12] in text
            assert cell.cell["identity"]["dataset"][:12] in text
            assert f"{cell.metrics['metrics']['SpanR@2500c']['mean']:.3f}" in text
    assert "- third: its package could not be downloaded: no network." in text
    assert "`dense` is not complete on second (0 of 4 cells)." in text
    assert str(tmp_path) not in text


def test_values_stand_in_the_row_and_column_of_their_cell(made, tmp_path):
    folder, page = made
    text = page.write_page(folder, {}, {}, tmp_path / "docs")[0].read_text("utf-8")
    heads, rows = next((h, r) for h, r in tables(text) if h[0] == "chunker")
    assert heads[:5] == ["chunker", "rank", "mean", "first", "second"]
    by_name = {row[0].removesuffix(" (control)"): row for row in rows}
    assert set(by_name) == {"ast", "fixed:max\\_size=100", "whole-file", "random-cuts"}
    for at, name in enumerate(("first", "second"), 3):
        for cell in read_stored_cells(folder / "runs" / f"{name}-bm25"):
            mean = cell.metrics["metrics"]["SpanR@10000c"]["mean"]
            assert by_name[cell.names["chunker"].replace("_", "\\_")][at] == f"{mean:.3f}"


@pytest.mark.parametrize("status", ["running", "complete"])
def test_what_was_stopped_is_missing_and_does_not_count(made, tmp_path, status):
    folder, page = tmp_path / "copy", made[1]
    shutil.copytree(made[0], folder)
    run = folder / "runs" / "second-bm25"
    manifest = (run / "manifest.json").read_text("utf-8")
    (run / "manifest.json").write_text(manifest.replace('"complete"', f'"{status}"'))
    results = list(page.read_steps(folder))
    one = page.ranking("docstring", results, "bm25", "SpanR@10000c")
    assert list(one.board.tasks) == ["first", "second"][: 1 + (status == "complete")]
    alone = page.ranking("docstring", results[1:], "bm25", "SpanR@10000c")
    assert list(alone.board.tasks) == ["second"]
    page_text = page.write_page(folder, {}, {}, tmp_path / "docs")[0].read_text("utf-8")
    assert ("`bm25` is not complete on second (4 of 4 cells)" in page_text) == (status == "running")


def test_a_package_with_another_hash_is_refused(board, monkeypatch, tmp_path):
    cuts = board("cuts")
    archive = tmp_path / "small.tar"
    with tarfile.open(archive, "w") as opened:
        opened.add(ROOT / "LICENSE", "LICENSE")
    monkeypatch.setattr(cuts, "COMMANDS", {"npm": ("cp", "-t", "."), "none": ("no-such-client",)})
    with pytest.raises(OSError, match="does not have the sha256 00"):
        cuts.fetch(tmp_path / "out", "npm", str(archive), "0" * 64)
    right = cuts.fetch(tmp_path / "out", "npm", str(archive), file_sha256(archive))
    assert [path.name for path in right.iterdir()] == ["LICENSE"]
    archive.unlink()  # what is there is not fetched again
    assert cuts.fetch(tmp_path / "out", "npm", str(archive)) == right
    with pytest.raises(OSError, match=r"cp did not give /nowhere: cp: .*No such file"):
        cuts.fetch(tmp_path / "out", "npm", "/nowhere")
    with pytest.raises(OSError, match="no-such-client is not installed"):
        cuts.fetch(tmp_path / "out", "none", "small")


def test_every_package_is_pinned(board):
    for package in board("board.tasks").PACKAGES.values():
        assert re.fullmatch(r".+(==|@|=)\d[\w.-]+", package.name)
        assert re.fullmatch(r"[0-9a-f]{64}", package.sha256)


def test_a_stopped_board_goes_on_and_a_step_that_fails_is_named(
    board, monkeypatch, tmp_path, capsys
):
    command, tasks = board("board.__main__"), board("board.tasks")
    codes = {
        "first-bm25": 0,
        "second-bm25": 3,
        "third-bm25": 2,
        "fourth-bm25": 130,
        "fifth-bm25": 0,
    }
    ran = []

    def run(arguments, **_):
        name = Path(arguments[arguments.index("-o") + 1]).name
        ran.append(name)
        return subprocess.CompletedProcess(arguments, codes[name])

    monkeypatch.setattr(command.subprocess, "run", run)
    every = [
        tasks.Step(
            tasks.Task(name.partition("-")[0], "docstring", "stdlib"), "bm25", ("ast",), ("bm25",)
        )
        for name in codes
    ]
    complete = tmp_path / "runs" / "first-bm25"
    complete.mkdir(parents=True)
    manifest = {
        "schema": "chunkmark.manifest/2", "status": "complete", "planned": 1, "cells": [],
        "config": dataclasses.asdict(RunConfig()), "chunkers": {}, "embedders": {}, "datasets": {},
    }  # fmt: skip
    (complete / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SystemExit) as left:
        command.run_steps(every, tmp_path)
    assert left.value.code == 130
    assert ran == ["second-bm25", "third-bm25", "fourth-bm25"]
    printed = capsys.readouterr().out
    assert "third-bm25 failed with code 2" in printed
    assert "second-bm25 failed" not in printed
    codes["fourth-bm25"] = 0
    assert command.run_steps(every, tmp_path) == ["third-bm25"]


def test_tasks_without_package_or_data_are_left_out_by_name(board, monkeypatch, tmp_path):
    tasks = board("board.tasks")

    def refuse(folder, registry, *_):
        raise OSError(f"{registry} is not installed")

    monkeypatch.setattr(tasks, "fetch", refuse)
    monkeypatch.setattr(tasks, "histories", lambda folder: refuse(folder, "apt-get"))
    monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))
    absent = tasks.prepare(tmp_path)
    assert set(absent) == {task.name for task in tasks.TASKS} - {"stdlib"}
    assert absent["mocha calls"] == "its package could not be downloaded: npm is not installed"
    assert (
        absent["go-git commits"] == "its package could not be downloaded: apt-get is not installed"
    )
    assert absent["CoSQA"] == "its files are missing: `chunkmark dataset fetch cosqa`"


def test_a_chunker_is_matched_only_on_languages_that_it_reads(board):
    steps = [step for step in board("board.tasks").steps() if step.part == "matched"]
    reads = {step.task.name: "astchunk" in step.chunkers for step in steps}
    assert {name for name, read in reads.items() if read} == {
        "stdlib", "flask", "rxjs", "react-native",
    }  # fmt: skip
    assert all("ast" in step.chunkers and "code-chunk-ast" in step.chunkers for step in steps)
