"""The table of docs/languages.md is what its command prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from chunkers.grammars.loading import grammar_versions, library_version
from chunkers.languages import LANGUAGES

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/languages.md").read_text("utf-8")
COMMAND = "python -m benchmarks.languages"


def rows(text: str) -> list[list[str]]:
    """The cells of the table in the text, without its header."""
    table = text.partition(f"<!-- made by `{COMMAND}` -->")[2].partition("<!-- end -->")[0]
    cells = [line.strip("| ").split(" | ") for line in table.strip().split("\n")]
    return cells[2:]


def test_the_page_has_every_language_and_no_other():
    assert [row[0] for row in rows(PAGE)] == list(LANGUAGES)


def test_the_table_is_what_the_command_prints():
    if not library_version():
        pytest.skip("tree-sitter-languages is missing")
    pinned = dict(re.findall(r"^(tree-sitter[\w-]*)==(\S+)", constraints(), re.MULTILINE))
    if f"tree-sitter {pinned['tree-sitter']}," not in grammar_versions():
        pytest.skip("the page was made with another tree-sitter")
    done = subprocess.run(
        [sys.executable, *COMMAND.split()[1:]],
        cwd=ROOT, check=True, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    printed = [line.strip("| ").split(" | ") for line in done.stdout.strip().split("\n")][2:]
    for row, expected in zip(rows(PAGE), printed, strict=True):
        assert row == expected, f"run {COMMAND} --write"


def constraints() -> str:
    return (ROOT / "constraints.txt").read_text("utf-8")
