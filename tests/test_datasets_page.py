"""The page on data sets names every one of them, and no command that is not there."""

import re
import subprocess
import sys
from pathlib import Path

from harness.building.build import KINDS
from harness.building.tree import MOST_TEXT
from harness.datasets.cards import card_names
from harness.reading.reader import ReadRules

PAGE = (Path(__file__).parents[1] / "docs/datasets.md").read_text("utf-8")


def test_every_data_set_has_a_row():
    rows = "\n".join(line for line in PAGE.split("\n") if line.startswith("|"))
    assert set(card_names()) <= set(re.findall(r"`([a-z-]+)`", rows))


def test_the_kinds_of_queries_and_the_limits_are_those_of_the_code():
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) >= {*KINDS, "FILE"}
    rules = ReadRules()
    assert f"{rules.max_bytes:,}" in PAGE
    assert f"{rules.max_line:,}" in PAGE
    assert f"{round(MOST_TEXT / 1e6)} million characters" in " ".join(PAGE.split())


def test_its_links_lead_somewhere():
    for name in re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE):
        assert (Path(__file__).parents[1] / "docs" / name).is_file(), name


def test_the_options_that_it_shows_exist():
    for command in (["dataset", "build"], ["run"]):
        told = subprocess.run(
            [sys.executable, "-m", "harness.cli", *command, "--help"],
            check=True, capture_output=True, text=True, env={"COLUMNS": "200", "TERM": "dumb"},
        ).stdout  # fmt: skip
        shown = re.findall(rf"^chunkmark {' '.join(command)} (.*?)(?: #.*)?$", PAGE, re.MULTILINE)
        assert shown
        for option in re.findall(r"(?<!\S)--?[a-z-]+", " ".join(shown)):
            assert option in told, option
