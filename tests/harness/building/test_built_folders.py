"""A built folder that somebody edited, signed anew or not: refused by its file and line."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from commands import call

from chunkers.errors import InputError
from harness.building.build import BuildOptions, build
from harness.building.folder import FILES, SCHEMA, read_card, read_folder, write_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CODE = '''def area(radius):
    """Compute how much room a round field takes."""
    return 3.14 * radius**2
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo/a.py").write_text(CODE, "utf-8")
    (tmp_path / "repo/notes.md").write_text("nothing\n", "utf-8")
    write_folder(build(tmp_path / "repo", BuildOptions()), tmp_path / "out", {"limit": None})
    return tmp_path / "out"


def edit_card(folder: Path, **changes: Any) -> None:
    card = json.loads((folder / "dataset.json").read_text("utf-8"))
    (folder / "dataset.json").write_text(json.dumps({**card, **changes}), "utf-8")


def edit_row(folder: Path, name: str, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the first row of a file, and sign the file anew."""
    first, *more = (folder / name).read_text("utf-8").splitlines()
    row = json.loads(first)
    made = change(row)
    lines = [made if isinstance(made, str) else json.dumps(row), *more]
    (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    files = {one: hashlib.sha256((folder / one).read_bytes()).hexdigest() for one in FILES}
    edit_card(folder, files=files)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"left_out": [1]}, "left_out"),
        ({"left_out": {"a": "x"}}, "left_out: a must"),
        ({"left_out": {"a": -5}}, "left_out: a must"),
        ({"information": "x"}, "information"),
        ({"information": {"a": [1]}}, "information: a must"),
        ({"name": 5}, "name"),
        ({"options": 5}, "options"),
        ({"queries": {"a": 1}}, "queries"),
        ({"mask": 1}, "mask"),
        ({"fingerprint": None}, "fingerprint"),
        ({"files": {}}, "files"),
        ({"files": {"../../x": "0" * 64}}, "files"),
        ({"more": 1}, "more"),
        ({"schema": {"a": 1}}, "another version wrote it"),
        ({"schema": "chunkmark.dataset/1"}, "another version wrote it"),
    ],
)
def test_a_card_that_was_edited_is_refused_by_info_and_run_alike(
    folder: Path, capsys, changes: dict[str, Any], words: str
) -> None:
    edit_card(folder, **changes)
    told = {
        call(capsys, *command).err
        for command in (
            ("dataset", "info", folder),
            ("dataset", "info", f"built:{folder}"),
            ("run", "-d", f"built:{folder}", "-c", "fixed", "-r", "bm25"),
        )
    }
    (said,) = told
    assert f"{folder / 'dataset.json'}" in said
    assert words in said
    assert "unexpected" not in said


def test_counts_of_the_card_are_those_of_the_files(folder: Path) -> None:
    for key, value in (("queries", 7), ("files_skipped", {}), ("texts", 2)):
        card = (folder / "dataset.json").read_bytes()
        edit_card(folder, **{key: value})
        with pytest.raises(InputError, match=f"damaged: {key} differs from the files"):
            read_folder(folder)
        (folder / "dataset.json").write_bytes(card)


def put(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda row: row.update(changes)


def file_part(at: int, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda row: row["files"][0].__setitem__(at, value)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("queries", put(targets=[["a.py", 1, 1, float("inf")]]), "Infinity"),
        ("queries", lambda row: json.dumps(row).replace("1.0]", "1e999]"), "1e999"),
        ("queries", put(targets=[["a.py", 1, 1, -5.0]]), "grade -5"),
        ("queries", put(targets=[["a.py", 5, 1, 1.0]]), "invalid lines 5-1"),
        ("queries", put(targets=[["a.py", 1.5, 2, 1.0]]), "targets, item 1: item 2 must"),
        ("queries", put(targets=[["a.py", "1", "2", 1.0]]), "targets, item 1: item 2 must"),
        ("queries", put(targets=[["a.py", 1]]), "targets: item 1 must have 4 items, not 2"),
        ("queries", put(text=5), "text"),
        ("queries", put(text=None), "text"),
        ("queries", put(text="a\ud800"), "half of a surrogate pair"),
        ("queries", lambda row: json.dumps(row)[:-1] + ', "text": "b"}', "duplicate key 'text'"),
        ("queries", put(id=5), "id"),
        ("queries", put(tags={"a": 1}), "tags: a must"),
        ("queries", put(cluster=None), "cluster"),
        ("queries", put(truncate="middle"), "truncate"),
        ("queries", put(corpus="zz"), "unknown corpus 'zz'"),
        ("queries", put(region=["zz.py", 1, 1]), "the region zz.py:1-1 is not in its corpus"),
        ("queries", put(region=["a.py", 1, 99]), "the region a.py:1-99 is not in its corpus"),
        ("queries", put(region=["a.py", 9, 1]), "invalid lines 9-1"),
        ("corpora", file_part(0, "../../etc/passwd"), "not a path inside the corpus"),
        ("corpora", file_part(0, "/etc/passwd"), "not a path inside the corpus"),
        ("corpora", file_part(1, "klingon"), "an unknown language, 'klingon'"),
        ("corpora", file_part(1, 5), "files, item 1: item 2 must"),
        ("corpora", file_part(3, "0" * 64), "the text of a.py is missing"),
        ("corpora", put(id="zz"), "the corpus 'zz' must occur once"),
        ("corpora", lambda row: (json.dumps(row) + "\n") * 2, "line 2: the corpus 'repo' must"),
        ("texts", put(text=5), "text"),
        ("texts", put(text="x = 1\n"), "the text does not match its sha256"),
        ("skipped", put(skipped=[["x", 5]]), "skipped, item 1: item 2 must"),
        ("skipped", put(id="zz"), "corpora.jsonl, line 1: the corpus 'repo' must occur once"),
    ],
)
def test_a_row_that_no_builder_writes_is_refused_by_its_line(
    folder: Path, name: str, change: Callable[[dict[str, Any]], Any], words: str
) -> None:
    edit_row(folder, f"{name}.jsonl", change)
    with pytest.raises(InputError) as raised:
        read_folder(folder)
    said = str(raised.value)
    assert words in said
    assert f"{folder}/" in said
    assert ".jsonl, line " in said


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("queries", lambda row: (json.dumps(row) + "\n") * 2, "duplicate query id"),
        ("queries", lambda row: " ", "has no rows"),
        (
            "corpora",
            lambda row: row["files"].append(row["files"][0]),
            "duplicate file in repo id 'a.py'",
        ),
    ],
)
def test_what_no_single_row_is_to_blame_for_is_told_with_the_folder(
    folder: Path, name: str, change: Callable[[dict[str, Any]], Any], words: str
) -> None:
    edit_row(folder, f"{name}.jsonl", change)
    with pytest.raises(InputError) as raised:
        read_folder(folder)
    assert str(raised.value).startswith(str(folder))
    assert words in str(raised.value)


def test_what_was_built_is_read_as_it_was(folder: Path, tmp_path: Path) -> None:
    made = build(tmp_path / "repo", BuildOptions())
    assert read_folder(folder) == made
    assert read_card(folder)["schema"] == SCHEMA


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from harness.cli.program import guarded
sys.exit(guarded(["dataset", "build", sys.argv[2], "-o", sys.argv[3]]))
"""


@pytest.mark.parametrize("most", [300, 600])
def test_a_disk_that_is_full_leaves_nothing(folder: Path, tmp_path: Path, most: int) -> None:
    out = tmp_path / "deep/er"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(most), str(tmp_path / "repo"), str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert f"{out} cannot be written: File too large" in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out", "repo"]
