"""`chunkmark dataset show`, and data sets without what a person rejected."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from chunkers.errors import InputError
from harness.building.build import BuildOptions, build
from harness.cli import show
from harness.cli.commands import app

if TYPE_CHECKING:
    from pathlib import Path

CODE = "/* Adds two numbers, e.g. one and two. */\nint add(int a, int b) {\n  return a + b;\n}\n"
MORE = "\n/* Prints add for every row of a table. */\nint rows(void) {\n  return 2;\n}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.c").write_text(CODE + MORE)
    return tmp_path


def test_a_question_is_shown_beside_its_lines(folder: Path) -> None:
    ran = CliRunner().invoke(app, ["dataset", "show", f"repo:{folder}", "--query", "a.c::add"])
    assert ran.output.splitlines() == [
        "a.c::add",
        "  Adds two numbers, e.g. one and two.",
        "  [folder ., language c, name-overlap no, name-whole no]",
        "  a.c:1-3",
        "  >     1 int add(int a, int b) {",
        "  >     2   return a + b;",
        "  >     3 }",
        "        4 ",
        "        5 int rows(void) {",
    ]


def test_the_same_as_json(folder: Path) -> None:
    ran = CliRunner().invoke(app, ["dataset", "show", f"repo:{folder}", "--format", "json"])
    first, second = json.loads(ran.output)["queries"]
    assert (first["id"], second["id"]) == ("a.c::add", "a.c::rows")
    assert second["targets"][0]["start_line"] == 5
    assert second["targets"][0]["lines"][-1] == [7, "}"]


def test_ids_that_a_person_rejects_are_written_and_left_out(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path_factory.mktemp("bad") / "bad.txt"
    answers = iter(["g", "x", "b"])
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    show.show(f"repo:{folder}", sample=25, seed=0, query=None, bad=bad)
    assert bad.read_text() == "a.c::rows\n"
    made = build(folder, BuildOptions(leave_out=bad))
    assert [query.id for query in made.queries] == ["a.c::add"]
    assert made.left_out["rejected by hand"] == 1
    bad.write_text("a.c::gone\n")
    with pytest.raises(InputError, match=r"no query has the id 'a\.c::gone'"):
        build(folder, BuildOptions(leave_out=bad))


def test_without_a_terminal_nothing_is_asked(folder: Path) -> None:
    ran = CliRunner().invoke(app, ["dataset", "show", f"repo:{folder}", "--bad", "x.txt"])
    assert "needs a terminal" in str(ran.exception)


def test_an_unknown_id_is_an_error(folder: Path) -> None:
    ran = CliRunner().invoke(app, ["dataset", "show", f"repo:{folder}", "--query", "a.c::ad"])
    assert "no query has the id 'a.c::ad'" in str(ran.exception)


def test_a_name_is_taken_out_where_it_stands_whole(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_text(
        "package p\n\n// Close closes all files that are open.\nfunc Close() {\n}\n"
    )
    (kept,) = build(tmp_path, BuildOptions()).queries
    (stripped,) = build(tmp_path, BuildOptions(names="stripped")).queries
    assert (kept.text, kept.tags["name-whole"]) == ("Close closes all files that are open.", "yes")
    assert stripped.text == "closes all files that are open."
    assert stripped.tags["name-whole"] == "no"
    with pytest.raises(InputError, match="names= needs queries=docstring"):
        build(tmp_path, BuildOptions(queries="calls", names="stripped"))
