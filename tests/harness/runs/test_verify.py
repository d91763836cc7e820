"""Verification finds a changed digit or line, and names cell, query and measure."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from worlds import grid

from chunkers.errors import InputError
from harness.runs.verify import verify

pytestmark = pytest.mark.damages


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    chunkers = ("ast:max_size=120",)
    return grid(tmp_path_factory.mktemp("run"), chunkers=chunkers, retrievers=("dense",)).out


@pytest.fixture
def cell(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run")
    (folder,) = (tmp_path / "run" / "cells").iterdir()
    return folder


def differences(cell: Path):
    found = next(one for one in verify(cell.parents[1]) if one.cell == cell.name)
    assert all(one.cell == cell.name for one in found.differences)
    return {(one.query, one.measure) for one in found.differences}


def test_a_sound_run_passes_and_says_how_much_was_checked(cell):
    (found,) = verify(cell.parents[1])
    assert found.differences == ()
    assert found.values == 4 * 11
    assert found.outside == 3 * 7  # q alpha has a copy, which qrels cannot express


def test_a_missing_cell_is_a_difference(cell):
    shutil.rmtree(cell)
    (found,) = verify(cell.parents[1])
    assert (found.cell, found.values) == (cell.name, 0)
    assert "listed in manifest.json, but not in cells" in found.differences[0].detail


def test_a_digit_of_a_mean_is_found_and_its_measure_named(cell):
    path = cell / "metrics.json"
    document = json.loads(path.read_text())
    means = {name: repr(one["mean"]) for name, one in document["metrics"].items()}
    measure, mean = next((name, mean) for name, mean in means.items() if len(mean) > 12)
    digit = len(mean) - 4  # the last ones may not change the double
    changed = f"{mean[:digit]}{(int(mean[digit]) + 1) % 10}{mean[digit + 1 :]}"
    text = path.read_text()
    begin = text.index(mean, text.index(f'"{measure}": {{'))
    path.write_text(text[:begin] + changed + text[begin + len(mean) :])
    assert ("", measure) in differences(cell)


@pytest.mark.parametrize("part", ["ci95", "oracle", "random"])
def test_a_changed_anchor_or_interval_is_found(cell, part):
    path = cell / "metrics.json"
    document = json.loads(path.read_text())
    document["metrics"]["MRR"][part] = [0.1, 0.2] if part == "ci95" else 0.123
    path.write_text(json.dumps(document))
    assert differences(cell) == {("", "MRR")}


def test_a_changed_value_of_a_query_is_named(cell):
    path = cell / "per_query.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1]["metrics"]["R@5"] = 0.25
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert differences(cell) == {(rows[1]["query_id"], "R@5")}


def edit(path: Path, number: int, pattern: str, replacement: str) -> None:
    lines = path.read_text().splitlines(keepends=True)
    lines[number], count = re.subn(pattern, replacement, lines[number], count=1)
    assert count
    path.write_text("".join(lines))


def test_a_changed_line_of_a_ranking_is_found_and_its_query_and_measures_named(cell):
    path = cell / "run.trec"
    lines = path.read_text().splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if line.startswith("q%20alpha "))
    rows = [line.split(" ") for line in lines]
    assert rows[0][0] == "q%20alpha"
    rows[0][2], rows[last][2] = rows[last][2], rows[0][2]
    path.write_text("".join(map(" ".join, rows)))
    found = differences(cell)
    assert ("q alpha", "all") in found
    assert {query for query, _ in found} <= {"q alpha", ""}
    assert any(measure != "all" for _, measure in found)


def test_a_digit_of_a_score_is_found(cell):
    edit(cell / "scores.jsonl", 2, r"(\d)(?=[,\]])", lambda m: str((int(m[1]) + 1) % 10))
    query = json.loads((cell / "scores.jsonl").read_text().splitlines()[2])["query_id"]
    assert differences(cell) == {(query, "all")}


def test_a_changed_target_is_found(cell):
    edit(cell / "targets.jsonl", 1, r'"nws": \[(\d+)', r'"nws": [1\1')
    query = json.loads((cell / "targets.jsonl").read_text().splitlines()[1])["query_id"]
    found = differences(cell)
    assert (query, "all") in found
    assert any(measure not in ("all", "") for one, measure in found if one == query)


@pytest.mark.parametrize("name", ["run.trec", "scores.jsonl", "targets.jsonl", "chunks.jsonl"])
def test_a_removed_line_is_found(cell, name):
    lines = (cell / name).read_text().splitlines(keepends=True)
    (cell / name).write_text("".join(lines[:-1]))
    assert differences(cell)


@pytest.mark.parametrize(
    "name", ["run.trec", "scores.jsonl", "targets.jsonl", "chunks.jsonl", "qrels.trec",
             "queries.jsonl", "per_query.jsonl", "metrics.json", "cell.json"]
)  # fmt: skip
def test_a_missing_or_garbled_file_is_a_difference_not_a_crash(cell, name):
    (cell / name).write_bytes(b"\xff{]\n")
    assert differences(cell)
    (cell / name).unlink()
    assert differences(cell)


def test_a_cell_under_another_key_is_found(cell):
    moved = cell.with_name("0" * 64)
    cell.rename(moved)
    assert differences(moved) == {("", "all")}


def test_what_is_no_run_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="not a run folder"):
        verify(tmp_path)


def test_the_command_exits_with_1_on_a_difference(cell):
    command = [sys.executable, "-m", "harness.cli", "verify", str(cell.parents[1])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "no difference" in done.stdout) == (0, True)
    edit(cell / "scores.jsonl", 0, r"(\d)(?=[,\]])", lambda m: str((int(m[1]) + 1) % 10))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "q alpha" in done.stdout
    found = json.loads(
        subprocess.run(
            [*command, "--format", "json"], capture_output=True, text=True, check=False
        ).stdout
    )
    assert found["verdict"] == "fail"
