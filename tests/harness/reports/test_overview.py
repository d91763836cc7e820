"""Latencies stand in every form of a run, and embedders and retrievers side by side."""

import csv
import io
import re

import pytest
from rich.console import Console
from worlds import grid

from harness.reports.document import run_document
from harness.reports.overview import overviews
from harness.reports.tables import as_csv, as_markdown, print_table


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    return run_document(grid(tmp_path_factory.mktemp("overview")))


def printed(document, width):
    out = io.StringIO()
    print_table(document, Console(width=width, file=out, markup=False, highlight=False))
    return out.getvalue()


def test_cells_of_several_retrievers_stand_in_one_table(document):
    (one,) = overviews(document)
    names = [(cell["chunker"], cell["embedder"], cell["retriever"]) for cell in document["cells"]]
    assert len(names) == 6
    assert [
        tuple(name.removesuffix(" [T]") for name in row[: one.parts]) for row in one.rows
    ] == names
    assert one.columns[: one.parts] == ("chunker", "embedder", "retriever")
    measures = list(document["cells"][0]["metrics"])
    shown = [name.removesuffix("*") for name in one.columns[one.parts : -4]]
    assert shown == measures
    for row, cell in zip(one.rows, document["cells"], strict=True):
        means = [float(value) for value in row[one.parts : -4]]
        assert means == pytest.approx([cell["metrics"][m]["mean"] for m in measures], abs=6e-4)
    assert one.heading == "small, profile default, side by side"


def test_what_all_cells_share_stands_in_the_heading(document):
    cells = [cell for cell in document["cells"] if cell["chunker"] == "whole-file"]
    (one,) = overviews(document | {"cells": cells})
    assert one.heading == "small, profile default, side by side, chunker whole-file"
    assert one.columns[: one.parts] == ("embedder", "retriever")


def test_one_embedder_and_retriever_need_no_such_table(document):
    cells = [cell for cell in document["cells"] if cell["retriever"] == "dense"]
    assert not list(overviews(document | {"cells": cells}))


def test_times_stay_where_measures_have_no_room(document):
    (wide,), (narrow,) = overviews(document), overviews(document, 110)
    assert narrow.columns[-3:] == wide.columns[-3:] == ("embed\nms", "search\nms", "total\nms")
    assert narrow.hidden
    assert not wide.hidden
    assert len(narrow.columns) + len(narrow.hidden) == len(wide.columns)


@pytest.mark.parametrize("width", [80, 100, 130, 200])
def test_no_column_of_a_table_is_cut(document, width):
    text = printed(document, width)
    assert "…" not in text
    for heading in ("embed", "search", "total"):
        assert re.search(rf"\b{heading}\b", text)
    tables = [line for line in text.split("\n") if "─" in line]
    assert all(len(line) <= width for line in tables)


def test_csv_and_markdown_hold_every_time(document):
    rows = [row for row in csv.DictReader(io.StringIO(as_csv(document)))
            if row["kind"] == "latency_ms"]  # fmt: skip
    assert len(rows) == 6 * 6
    for cell in document["cells"]:
        key = (cell["chunker"], cell["retriever"])
        same = [row for row in rows if (row["chunker"], row["retriever"]) == key]
        mine = {row["name"]: row["value"] for row in same}
        for phase, times in cell["latency_ms"].items():
            for at in ("p50", "p95"):
                expected = "" if times is None else str(times[at])
                assert mine[f"{phase}_{at}"] == expected
    markdown = as_markdown(document)
    assert markdown.count("| embed ms | search ms | total ms |") == 3
    assert "| chunker | embedder | retriever |" in markdown


def test_small_times_keep_two_digits():
    from harness.reports.columns import LATENCY

    cell = {"latency_ms": {"embedding": None, "search": {"p50": 0.0234, "p95": 0.31},
                           "total": {"p50": 9.96, "p95": 1234.5}}}  # fmt: skip
    assert [show(cell) for _, show in LATENCY] == ["-", "0.02 0.3", "10 1234"]
