"""Means over parts of the queries: of a language, a folder, a corpus, a file, a tag."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError, suggestion
from chunkers.languages import language_of
from harness.building.built_queries import folder_of
from harness.reports.columns import NONE, CellDocument, column_name, number
from harness.support.arrays import mean
from harness.support.json_files import stored_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from harness.model import Dataset

BREAKDOWNS = ("language", "folder", "corpus", "source", "name-overlap")
"""Break-downs of every data set, besides its own tags."""

NOT_READ = "not read: "
"""Start of a chunker's note on files in a language that it does not read."""

_GROUPED = ("language", "folder", "corpus", "source")
"""Break-downs, with `folder:N`, whose values are groups that a mean may weigh alike."""

_DEPTH = re.compile(r"folder:([1-9][0-9]?)")
_NONE, _SEVERAL = "none", "several"
_WIDE = 8  # values that are columns; more values are rows
_TALL = 30  # rows, for the values with most queries
_NAMED = 5  # values with one query that a note names


def refuse_breakdowns(names: Iterable[str], datasets: Iterable[Dataset]) -> None:
    """Check the names of break-downs before any work.

    Raises:
        InputError: A name is neither in `BREAKDOWNS`, nor `folder:N`, nor a tag of a query.
    """
    tags = {tag for dataset in datasets for query in dataset.queries for tag in query.tags}
    known = sorted({*BREAKDOWNS, *tags})
    for name in names:
        if name not in known and _DEPTH.fullmatch(name) is None:
            parts = name.split(",")
            advice = suggestion(name, known)
            if name.startswith("folder:"):
                advice = "write folder:N with a number from 1 to 99"
            if len(parts) > 1 and set(parts) <= set(known):
                advice = f"repeat the option: --by {' --by '.join(parts)}"
            raise InputError(f"--by {name or repr(name)}: no query has this tag; {advice}")


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
    scores = [row for row in stored_rows(cell / "per_query.jsonl") if row["included"]]
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
    for row in stored_rows(cell / "targets.jsonl"):
        if "path" in row:
            paths[row["query_id"]].add(row["path"])
    return {
        query["query_id"]: _value(name, query, paths[query["query_id"]])
        for query in stored_rows(cell / "queries.jsonl")
    }


def means_of(cell: CellDocument, tag: str, value: str) -> dict[str, str]:
    """The means of the queries with a tag; `-` if the chunker does not read their language."""
    unread = tag == "language" and f"{NOT_READ}{value}" in cell["health"]["notes"]
    metrics = cell["by"][tag][value]["metrics"]
    return {name: NONE if unread else number(mean) for name, mean in metrics.items()}


def group_means(by: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Means over groups, each of which counts once however many queries it has.

    Args:
        by: The break-downs of a cell.

    Returns:
        For `language`, `folder`, `corpus` and `source` with several values `n`, their number, and
        `metrics`, the mean over them.
    """
    return {
        tag: {
            "n": len(values),
            "metrics": {
                name: _mean([part["metrics"] for part in values.values()], name)
                for name in next(iter(values.values()))["metrics"]
            },
        }
        for tag, values in by.items()
        if tag.partition(":")[0] in _GROUPED and len(values) > 1
    }


def single_queries(tag: str, values: Mapping[str, Any]) -> str:
    """A note on the values of a break-down that have one query; empty without any."""
    names = [value for value, part in values.items() if part["n"] == 1]
    if not names:
        return ""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (
        f"by {tag}, one query alone: {', '.join(names[:_NAMED])}{more}; such a mean says nothing "
        "about other queries"
    )


def breakdown_tables(
    cells: Sequence[CellDocument],
) -> Iterator[tuple[list[str], list[list[str]], list[str]]]:
    """Columns, rows and notes for each break-down of the first measure, for a terminal.

    Beside groups stand the mean over queries and the mean over groups.
    """
    headline = next(iter(cells[0]["metrics"]))
    for tag, values in cells[0]["by"].items():
        title = f"{column_name(headline, cells[0])} by {tag}"
        notes = [note for note in (single_queries(tag, values),) if note]
        overall: list[tuple[str, int, list[float | None]]] = []
        if tag in cells[0]["by_groups"]:
            over_queries = [cell["metrics"][headline]["mean"] for cell in cells]
            over_groups = [cell["by_groups"][tag]["metrics"][headline] for cell in cells]
            overall = [
                ("all queries", cells[0]["n_queries"], over_queries),
                ("mean of groups", len(values), over_groups),
            ]
        if len(values) <= _WIDE:
            columns = [title, *(f"{value}\nn={part['n']}" for value, part in values.items())]
            columns += [f"{name}\nn={n}" for name, n, _ in overall]
            table = [
                [cell["chunker"], *(means_of(cell, tag, value)[headline] for value in values)]
                + [number(means[at]) for _, _, means in overall]
                for at, cell in enumerate(cells)
            ]
            yield columns, table, notes
            continue
        largest = sorted(values, key=lambda value: (-values[value]["n"], value))
        rows = [
            [value, str(values[value]["n"]), *(means_of(c, tag, value)[headline] for c in cells)]
            for value in largest[:_TALL]
        ]
        if hidden := len(values) - len(rows):
            notes.insert(0, f"{hidden} more with fewer queries; use --format markdown")
        rows += [[name, str(n), *map(number, means)] for name, n, means in overall]
        yield [title, "n", *(cell["chunker"] for cell in cells)], rows, notes


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
