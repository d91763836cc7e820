"""The page on data sets names all of them, and the limits of the code."""

import re
from pathlib import Path

from harness.building.build import KINDS
from harness.building.tree import MOST_TEXT
from harness.datasets.cards import card_names
from harness.reading.reader import ReadRules

PAGE = (Path(__file__).parents[1] / "docs/datasets.md").read_text("utf-8")


def test_every_data_set_has_a_row():
    rows = "\n".join(line for line in PAGE.split("\n") if line.startswith("|"))
    assert set(card_names()) <= set(re.findall(r"`([a-z0-9-]+)`", rows))


def test_the_kinds_of_queries_and_the_limits_are_those_of_the_code():
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) >= {*KINDS, "FILE"}
    rules = ReadRules()
    assert f"{rules.max_bytes:,}" in PAGE
    assert f"{rules.max_line:,}" in PAGE
    assert f"{MOST_TEXT // 10**6} million characters" in " ".join(PAGE.split())
