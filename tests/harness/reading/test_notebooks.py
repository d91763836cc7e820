"""Notebooks: the code cells, at their own lines of the file."""

import json
from pathlib import Path

import pytest

from chunkers.source import Source
from harness.building.build import BuildOptions, build
from harness.model import Skipped
from harness.reading.reader import ReadRules, decode

CODE = """def rain(days):
    '''Sum up the rain of several days.'''
    return sum(days)


x = "\\n é\""""


def cell(text: str, kind: str = "code") -> dict[str, object]:
    outputs = [{"data": {"image/png": "A" * 20_000, "text/plain": ["def no():\n"]}}]
    more = {"execution_count": 1, "outputs": outputs} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True), **more}


def notebook(*cells: dict[str, object], language: str = "python") -> dict[str, object]:
    return {
        "cells": list(cells),
        "metadata": {"language_info": {"name": language}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def read(document: object, indent: int | None = 1) -> Source | Skipped:
    text = json.dumps(document, indent=indent, ensure_ascii=False) + "\n"
    return decode(text.encode(), "rain.ipynb", ReadRules())


def code(document: object) -> Source:
    source = read(document)
    assert isinstance(source, Source), source
    return source


def test_code_cells_stand_at_the_lines_of_the_file() -> None:
    document = notebook(
        cell("# Rain\nof a week", "markdown"), cell(CODE), cell(""), cell("rain([1])")
    )
    source = code(document)
    assert source.language == "python"
    raw = (json.dumps(document, indent=1, ensure_ascii=False) + "\n").split("\n")
    lines = source.text.split("\n")
    assert len(lines) == len(raw)
    filled = [(number, line) for number, line in enumerate(lines) if line]
    assert [line for _, line in filled] == [*filter(None, CODE.split("\n")), "rain([1])"]
    for number, line in filled:
        assert json.loads(raw[number].strip().rstrip(",")).rstrip("\n") == line
    assert "A" * 100 not in source.text


def test_questions_are_made_of_notebooks(tmp_path: Path) -> None:
    text = json.dumps(notebook(cell("import os"), cell(CODE)), indent=1)
    (tmp_path / "rain.ipynb").write_text(text, encoding="utf-8")
    (query,) = build(tmp_path, BuildOptions()).queries
    assert query.text == "Sum up the rain of several days."
    first = text.split("\n")[query.targets[0].start_line - 1]
    assert "def rain(days)" in first


def test_commands_of_ipython_are_comments() -> None:
    cells = (
        cell("%matplotlib inline\n!pip list\nx = 1"),
        cell("%%bash\nls | wc\n"),
        cell("%%time\ny = 2"),
    )
    lines = list(filter(None, code(notebook(*cells)).text.split("\n")))
    assert lines == [
        "# %matplotlib inline", "# !pip list", "x = 1", "# %%bash", "# ls | wc",
        "# %%time", "y = 2",
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "language"), [("R", "r"), ("julia", "julia"), ("", "python")])
def test_the_language_is_that_of_the_kernel(name: str, language: str) -> None:
    assert code(notebook(cell("x <- 1"), language=name)).language == language


def test_a_notebook_of_version_3() -> None:
    old = {"cell_type": "code", "input": ["x = 1\n", "y = 2"], "outputs": []}
    source = code({"worksheets": [{"cells": [old]}], "metadata": {}, "nbformat": 3})
    assert source.text.split() == ["x", "=", "1", "y", "=", "2"]


@pytest.mark.parametrize("document", [[], {}, {"cells": 1}, "x", {"cells": [1]}])
def test_other_json_is_no_notebook(document: object) -> None:
    assert read(document) == Skipped("rain.ipynb", "not a notebook")


def test_lines_that_cannot_be_placed_are_a_reason() -> None:
    reason = "a notebook whose cells are not written line by line"
    assert read(notebook(cell(CODE)), indent=None) == Skipped("rain.ipynb", reason)
    whole = {"cell_type": "code", "source": CODE, "outputs": []}
    assert read(notebook(whole)) == Skipped("rain.ipynb", reason)
