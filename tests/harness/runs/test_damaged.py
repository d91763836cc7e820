"""Whatever became of a run folder: a line that names the file, or the same numbers; no crash."""

import json
import shutil

import pytest
from worlds import grid

from chunkers.errors import InputError
from harness.audit.audit import audit_run
from harness.reports.document import run_document
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


def test_each_part_that_a_cell_lacks_is_named(cell, tmp_path):
    whole = json.loads((cell / "cell.json").read_text())
    for name in set(whole) - {"schema", "key", "names", "times"}:
        part = {key: value for key, value in whole.items() if key != name}
        (cell / "cell.json").write_text(json.dumps(part))
        with pytest.raises(InputError, match=rf"cell\.json is damaged, at {name}"):
            again(tmp_path)


def test_what_another_version_wrote_is_refused(cell, tmp_path):
    for file, schema in (
        (cell / "cell.json", "cell"),
        (tmp_path / "run/manifest.json", "manifest"),
    ):
        text = file.read_text("utf-8")
        file.write_text(text.replace(f"chunkmark.{schema}/1", f"chunkmark.{schema}/9"), "utf-8")
        says = rf"{schema}\.json has the schema 'chunkmark\.{schema}/9', .* chunkmark\.{schema}/1;"
        with pytest.raises(InputError, match=says):
            list(read_stored_cells(tmp_path / "run"))
    with pytest.raises(InputError, match="another version wrote it"):
        grid(tmp_path, **ASKED)
