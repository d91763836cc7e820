"""Whatever became of a run folder: a line that names the file, or the same numbers; no crash."""

import json
import re
import shutil

import pytest
from commands import call, says
from worlds import grid

from chunkers.errors import InputError
from harness.audit.audit import audit_run
from harness.reports.document import run_document
from harness.runs.folder import read_cell
from harness.runs.record import read_record
from harness.runs.stored_values import read_stored_cells
from harness.runs.verify import verify

pytestmark = pytest.mark.damages

ASKED = {"chunkers": ("ast:max_size=120",), "retrievers": ("bm25",)}
DERIVED = ("metrics.json", "per_query.jsonl")
STORED = ("cell.json", "chunks.jsonl", "files.jsonl", "qrels.trec", "queries.jsonl", "run.trec",
          "scores.jsonl", "targets.jsonl")  # fmt: skip
GARBAGE = {
    "empty": b"",
    "no UTF-8": b"\xff{]\n",
    "deep": b"[" * 100_000,
    "list": b"[]\n",
    "null": b"null\n",
    "number": b"1\n",
    "object": b"{}\n",
    "strange": b'{"query_id": 1, "scores": 3, "nws": 2, "gold": [], "files": [1]}\n',
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return grid(tmp_path_factory.mktemp("run"), **ASKED).out


@pytest.fixture
def cell(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run")
    (folder,) = (tmp_path / "run" / "cells").iterdir()
    return folder


def again(tmp_path):
    """What the same run says over the folder."""
    return [one["metrics"] for one in run_document(grid(tmp_path, **ASKED))["cells"]]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return again(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("kind", GARBAGE)
@pytest.mark.parametrize("name", DERIVED)
def test_what_can_be_computed_again_is(cell, tmp_path, sound, name, kind):
    (cell / name).write_bytes(GARBAGE[kind])
    assert any(name in each.detail for each in verify(tmp_path / "run")[0].differences)
    assert again(tmp_path) == sound
    assert not verify(tmp_path / "run")[0].differences


@pytest.mark.parametrize("kind", GARBAGE)
@pytest.mark.parametrize("name", STORED)
def test_what_cannot_is_named(cell, tmp_path, name, kind):
    (cell / name).write_bytes(GARBAGE[kind])
    assert any(name in each.detail for each in verify(tmp_path / "run")[0].differences)
    with pytest.raises(InputError, match=cell.name):
        audit_run(tmp_path / "run")
    (cell / "metrics.json").unlink()
    with pytest.raises(InputError, match=cell.name):
        again(tmp_path)


@pytest.mark.parametrize("number", [1 << 40, "many", None, -(1 << 70)])
def test_a_number_that_no_chunk_has_is_damage(cell, number):
    first, *rest = (cell / "chunks.jsonl").read_text().splitlines(keepends=True)
    row = json.loads(first) | {"end": number}
    (cell / "chunks.jsonl").write_text("".join([json.dumps(row) + "\n", *rest]))
    with pytest.raises(InputError, match="is damaged"):
        read_record(cell)


OBJECTS = {"names", "identity", "health", "cost", "latency_ms", "files"}
"""Parts of a cell of which every key is needed; other parts have keys of their data."""


def test_each_part_that_a_cell_lacks_is_named(cell):
    whole = json.loads((cell / "cell.json").read_text())
    lacking = {name: {key: whole[key] for key in whole.keys() - {name}} for name in whole}
    for part in OBJECTS:
        for name in whole[part]:
            rest = {key: whole[part][key] for key in whole[part].keys() - {name}}
            lacking[f"{part}.{name}"] = whole | {part: rest}
    assert len(lacking) > 80
    del lacking["schema"]
    for place, document in lacking.items():
        (cell / "cell.json").write_text(json.dumps(document))
        with pytest.raises(InputError, match=rf"cell\.json is damaged, at {re.escape(place)};"):
            read_cell(cell)


def test_each_part_that_a_manifest_lacks_is_named(cell, tmp_path):
    file = tmp_path / "run/manifest.json"
    whole = json.loads(file.read_text())
    for name in ("status", "config", "chunkers", "embedders", "datasets", "planned", "cells"):
        file.write_text(json.dumps({key: whole[key] for key in whole.keys() - {name}}))
        with pytest.raises(InputError, match=rf"manifest\.json is damaged, at {name}; restore it"):
            grid(tmp_path, **ASKED)
    read = ("languages", "margin", "match_size", "primary", "seed")
    dataset = whole["datasets"]["small"]
    for place, part, names in (
        ("config", whole["config"], read),
        ("small", dataset, list(dataset)),
    ):
        for name in names:
            value = part.pop(name)
            file.write_text(json.dumps(whole))
            with pytest.raises(InputError, match=rf"is damaged, at {place}\.{name}; restore it"):
                list(read_stored_cells(tmp_path / "run"))
            part[name] = value


def test_what_another_version_wrote_is_refused_and_left_as_it_is(cell, tmp_path, capsys):
    run = tmp_path / "run"
    files = {
        cell / "cell.json": "delete its folder, and repeat `chunkmark run`",
        run / "manifest.json": f"run again into another folder with -o, or delete {run} first",
    }
    for file, advice in files.items():
        name = f"chunkmark.{file.stem}"
        file.write_text(file.read_text("utf-8").replace(f"{name}/2", f"{name}/1"), "utf-8")
        line = (
            f"{file} has the schema '{name}/1', but this version of chunkmark reads {name}/2; "
            f"another version wrote it; {advice}"
        )
        with pytest.raises(InputError, match=f"^{re.escape(line)}$"):
            list(read_stored_cells(run))
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    for command in (("run", "-d", "stdlib", "-r", "bm25", "-o", run), ("verify", run)):
        says(call(capsys, *command), 2, line)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_run_does_not_replace_a_cell_of_another_version(cell, tmp_path):
    text = (cell / "cell.json").read_text("utf-8").replace("chunkmark.cell/2", "chunkmark.cell/1")
    (cell / "cell.json").write_text(text, "utf-8")
    before = {path: path.read_bytes() for path in cell.iterdir()}
    with pytest.raises(InputError, match="another version wrote it; delete its folder"):
        grid(tmp_path, **ASKED)
    assert {path: path.read_bytes() for path in cell.iterdir()} == before
