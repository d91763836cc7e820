"""Means over parts of the queries: of a language, a folder, a corpus, a file, a tag."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from chunkers.languages import language_of
from chunkers.plugins.registry import suggestion
from harness.building.query_set import folder_of
from harness.reports.marks import column_name
from harness.reports.numbers import NONE, number
from harness.support.arrays import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from harness.model import Dataset
    from harness.reports.marks import Cell

BREAKDOWNS = ("language", "folder", "corpus", "source", "name-overlap")
"""What every data set can be split by, beside its own tags."""

NOT_READ = "not read: "
"""What a chunker notes of a file in a language that it does not know."""

_NONE, _SEVERAL = "none", "several"
_WIDE = 8  # values that stand side by side; of more each has a row
_TALL = 30  # rows, of the values with most queries


def refuse_breakdowns(names: Iterable[str], datasets: Iterable[Dataset]) -> None:
    """Stop before the work where nothing can be split by a name.

    Raises:
        InputError: It is neither in `BREAKDOWNS` nor a tag of a query; the message says what is.
    """
    tags = {tag for dataset in datasets for query in dataset.queries for tag in query.tags}
    known = sorted({*BREAKDOWNS, *tags})
    for name in names:
        if name not in known:
            raise InputError(f"--by {name}: no query is split by this; {suggestion(name, known)}")


def broken_down(cell: Path, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Means of a stored cell over the queries of each value, as `by` in its metrics.json.

    A tag of the query goes first. Else its value is that of its targets' files, `several` where
    they differ and `none` where there is none: the language by the table of suffixes, the folder
    by the first part of the path, the source by the whole path.

    Args:
        cell: Its folder in a run folder.
        names: From `BREAKDOWNS`, or tags.
    """
    paths: defaultdict[str, set[str]] = defaultdict(set)
    for row in _rows(cell / "targets.jsonl"):
        if "path" in row:
            paths[row["query_id"]].add(row["path"])
    rows = list(_rows(cell / "queries.jsonl"))
    scored = {row["query_id"]: row for row in _rows(cell / "per_query.jsonl")}
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        parts: defaultdict[str, list[dict[str, float | None]]] = defaultdict(list)
        for row in rows:
            one = scored[row["query_id"]]
            if one["included"]:
                parts[_value(name, row, paths[row["query_id"]])].append(one["metrics"])
        found[name] = {
            value: {"n": len(of), "metrics": {key: _mean(of, key) for key in of[0]}}
            for value, of in sorted(parts.items())
        }
    return found


def means_of(cell: Cell, tag: str, value: str) -> dict[str, str]:
    """The means of the queries with a tag; `-` where the chunker does not read their language."""
    unread = tag == "language" and f"{NOT_READ}{value}" in cell["health"]["notes"]
    metrics = cell["by"][tag][value]["metrics"]
    return {name: NONE if unread else number(mean) for name, mean in metrics.items()}


def tables_of(cells: Sequence[Cell]) -> Iterator[tuple[list[str], list[list[str]], str]]:
    """For a terminal: headings, rows and a note for each break-down, of the first measure."""
    headline = next(iter(cells[0]["metrics"]))
    for tag, values in cells[0]["by"].items():
        title = f"{column_name(headline, cells[0])} by {tag}"
        if len(values) <= _WIDE:
            heads = [title, *(f"{value}\nn={one['n']}" for value, one in values.items())]
            means = [[means_of(cell, tag, value)[headline] for value in values] for cell in cells]
            yield heads, [[c["chunker"], *row] for c, row in zip(cells, means, strict=True)], ""
            continue
        largest = sorted(values, key=lambda value: (-values[value]["n"], value))
        rows = [
            [value, str(values[value]["n"]), *(means_of(c, tag, value)[headline] for c in cells)]
            for value in largest[:_TALL]
        ]
        hidden = len(values) - len(rows)
        note = f"{hidden} more of fewer queries: see --format markdown" if hidden else ""
        yield [title, "n", *(cell["chunker"] for cell in cells)], rows, note


def _value(name: str, query: dict[str, Any], paths: set[str]) -> str:
    if name in query["tags"]:
        return str(query["tags"][name])
    if name == "corpus":
        return str(query["corpus"])
    values = {_of_path(name, path) for path in paths} - {None}
    if not values:
        return _NONE
    return str(values.pop()) if len(values) == 1 else _SEVERAL


def _of_path(name: str, path: str) -> str | None:
    if name == "language":
        return language_of(path)
    if name == "folder":
        return folder_of(path)
    return path if name == "source" else None


def _mean(rows: Sequence[dict[str, float | None]], name: str) -> float | None:
    values = [value for row in rows if (value := row[name]) is not None]
    return mean(values) if len(values) == len(rows) else None


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8", errors="surrogatepass") as lines:
        for line in lines:
            yield json.loads(line)
