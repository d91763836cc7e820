"""Means over parts of the queries: of a language, a folder, a corpus, a file, a tag."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError, suggestion
from chunkers.languages import language_of
from harness.building.built_queries import folder_of
from harness.reports.columns import NONE, CellDocument, column_name, number
from harness.support.arrays import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from harness.model import Dataset

BREAKDOWNS = ("language", "folder", "corpus", "source", "name-overlap")
"""Break-downs of every data set, besides its own tags."""

NOT_READ = "not read: "
"""Start of a chunker's note on files in a language that it does not read."""

_DEPTH = re.compile(r"folder:([1-9][0-9]?)")
_NONE, _SEVERAL = "none", "several"
_WIDE = 8  # values that are columns; more values are rows
_TALL = 30  # rows, for the values with most queries


def refuse_breakdowns(names: Iterable[str], datasets: Iterable[Dataset]) -> None:
    """Check the names of break-downs before any work.

    Raises:
        InputError: A name is neither in `BREAKDOWNS`, nor `folder:N`, nor a tag of a query.
    """
    tags = {tag for dataset in datasets for query in dataset.queries for tag in query.tags}
    known = sorted({*BREAKDOWNS, *tags})
    for name in names:
        if name not in known and _DEPTH.fullmatch(name) is None:
            raise InputError(f"--by {name}: no query has this tag; {suggestion(name, known)}")


def break_down(cell: Path, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Means of a stored cell over the queries of each value, as `by` in its metrics.json.

    A tag of the query comes first. Else the value is that of the files of its targets, `several` if
    they differ and `none` without any: the language by the table of suffixes, the folder by
    `folder_of`, with N parts for `folder:N`, the source by the whole path.

    Args:
        cell: Its folder in a run folder.
        names: From `BREAKDOWNS`, or tags.
    """
    values = {name: values_by_query(cell, name) for name in names}
    scores = [row for row in _rows(cell / "per_query.jsonl") if row["included"]]
    by: dict[str, dict[str, Any]] = {}
    for name in names:
        parts: defaultdict[str, list[dict[str, float | None]]] = defaultdict(list)
        for score in scores:
            parts[values[name][score["query_id"]]].append(score["metrics"])
        by[name] = {
            value: {"n": len(part), "metrics": {key: _mean(part, key) for key in part[0]}}
            for value, part in sorted(parts.items())
        }
    return by


def values_by_query(cell: Path, name: str) -> dict[str, str]:
    """The value of a break-down for each query of a stored cell, as `break_down` says."""
    paths: defaultdict[str, set[str]] = defaultdict(set)
    for row in _rows(cell / "targets.jsonl"):
        if "path" in row:
            paths[row["query_id"]].add(row["path"])
    return {
        query["query_id"]: _value(name, query, paths[query["query_id"]])
        for query in _rows(cell / "queries.jsonl")
    }


def means_of(cell: CellDocument, tag: str, value: str) -> dict[str, str]:
    """The means of the queries with a tag; `-` if the chunker does not read their language."""
    unread = tag == "language" and f"{NOT_READ}{value}" in cell["health"]["notes"]
    metrics = cell["by"][tag][value]["metrics"]
    return {name: NONE if unread else number(mean) for name, mean in metrics.items()}


def breakdown_tables(
    cells: Sequence[CellDocument],
) -> Iterator[tuple[list[str], list[list[str]], str]]:
    """Columns, rows and a note for each break-down of the first measure, for a terminal."""
    headline = next(iter(cells[0]["metrics"]))
    for tag, values in cells[0]["by"].items():
        title = f"{column_name(headline, cells[0])} by {tag}"
        if len(values) <= _WIDE:
            columns = [title, *(f"{value}\nn={part['n']}" for value, part in values.items())]
            means = [[means_of(cell, tag, value)[headline] for value in values] for cell in cells]
            yield columns, [[c["chunker"], *row] for c, row in zip(cells, means, strict=True)], ""
            continue
        largest = sorted(values, key=lambda value: (-values[value]["n"], value))
        rows = [
            [value, str(values[value]["n"]), *(means_of(c, tag, value)[headline] for c in cells)]
            for value in largest[:_TALL]
        ]
        hidden = len(values) - len(rows)
        note = f"{hidden} more with fewer queries; use --format markdown" if hidden else ""
        yield [title, "n", *(cell["chunker"] for cell in cells)], rows, note


def _value(name: str, query: dict[str, Any], paths: set[str]) -> str:
    if name in query["tags"]:
        return str(query["tags"][name])
    if name == "corpus":
        return str(query["corpus"])
    values = {_path_value(name, path) for path in paths} - {None}
    if not values:
        return _NONE
    return str(values.pop()) if len(values) == 1 else _SEVERAL


def _path_value(name: str, path: str) -> str | None:
    if name == "language":
        return language_of(path)
    if name == "folder":
        return folder_of(path)
    if depth := _DEPTH.fullmatch(name):
        return folder_of(path, int(depth[1]))
    return path if name == "source" else None


def _mean(rows: Sequence[dict[str, float | None]], name: str) -> float | None:
    values = [value for row in rows if (value := row[name]) is not None]
    return mean(values) if len(values) == len(rows) else None


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8", errors="surrogatepass") as lines:
        for line in lines:
            yield json.loads(line)
