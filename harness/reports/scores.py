"""The JSON document of a scored file, and its forms as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.scoring.judging import STRATEGIES
from harness.stats.intervals import LABELS, intervals
from harness.support.arrays import mean
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.measures.profiles import Profile
    from harness.scoring.score_file import Column, FileScores

COLUMNS = ("measure", "mean", "ci95_low", "ci95_high", "n", "status")


def score_document(scored: FileScores, *, per_query: bool) -> dict[str, Any]:
    """The document `chunkmark.score/1`.

    Args:
        scored: A scored file.
        per_query: Whether the value of every query is in it.
    """
    ends = _intervals(scored.columns)
    document: dict[str, Any] = {
        "schema": "chunkmark.score/1",
        "profile": scored.profile.name,
        "n_queries": scored.n_queries,
        "strategies": {name: scored.strategies[name] for name in STRATEGIES},
        "interval": LABELS["queries"],
        "metrics": {
            name: _metric(name, column, ends[name], scored.profile)
            for name, column in scored.columns.items()
        },
        "left_out": _counted(scored.left_out),
        "as_zero": _counted(scored.as_zero),
        "merged": _counted(scored.merged),
        "texts": dict(scored.texts),
        "warnings": scored.warnings,
    }
    if per_query:
        document["per_query"] = {
            name: dict(zip(column.queries, column.values.tolist(), strict=True)) or None
            for name, column in scored.columns.items()
        }
    return document


def _counted(counts: Mapping[str, int]) -> dict[str, int]:
    return {why: n for why, n in counts.items() if n}


def _metric(
    name: str, column: Column, ends: list[float] | None, profile: Profile
) -> dict[str, Any]:
    n = len(column.queries)
    metric: dict[str, Any] = {
        "mean": profile.round(mean(column.values), name) if n else None,
        "ci95": ends,
        "n": n,
        "status": "ok" if n else "skipped",
    }
    return metric if n else metric | {"why": column.why}


def _intervals(columns: Mapping[str, Column]) -> dict[str, list[float] | None]:
    """The 95 % interval of each mean; every query is a cluster of its own."""
    ends: dict[str, list[float] | None] = dict.fromkeys(columns)
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, column in columns.items():
        groups.setdefault(tuple(column.queries), []).append(name)
    for queries, names in groups.items():
        members = [("", query) for query in queries]
        values = {name: columns[name].values for name in names}
        counted = dict.fromkeys(names, np.ones(len(queries), dtype=np.bool_))
        for name, interval in intervals(values, counted, members).items():
            ends[name] = None if interval is None else list(interval)
    return ends


def score_rows(document: Mapping[str, Any]) -> list[list[object]]:
    """A row for each measure, with `COLUMNS`; a missing number is empty."""
    rows: list[list[object]] = []
    for name, metric in document["metrics"].items():
        low, high = metric["ci95"] or ("", "")
        value = "" if metric["mean"] is None else metric["mean"]
        rows.append([name, value, low, high, metric["n"], metric["status"]])
    return rows


def query_rows(document: Mapping[str, Any]) -> tuple[list[str], list[list[object]]]:
    """Columns, and a row for each query with its value of each measure."""
    columns = document["per_query"]
    queries = sorted({query for column in columns.values() for query in column or ()})
    rows: list[list[object]] = [
        [query, *((column or {}).get(query, "") for column in columns.values())]
        for query in queries
    ]
    return ["query_id", *columns], rows


def csv_rows(document: Mapping[str, Any]) -> tuple[list[str], list[list[object]]]:
    """Columns and rows of means, without a query, and of the values of queries."""
    whys = [metric.get("why", "") for metric in document["metrics"].values()]
    rows: list[list[object]] = [
        ["", *row, why] for row, why in zip(score_rows(document), whys, strict=True)
    ]
    for name, column in document.get("per_query", {}).items():
        for query, value in (column or {}).items():
            rows.append([query, name, value, "", "", "", "", ""])
    return ["query_id", *COLUMNS, "why"], rows


def rounded(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """The rows as text, with four decimals."""
    return [[f"{c:.4f}" if isinstance(c, float) else str(c) for c in row] for row in rows]


def skipped(document: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """The reasons why measures are skipped, and the measures of each."""
    names: dict[str, list[str]] = {}
    for name, metric in document["metrics"].items():
        if metric["status"] == "skipped":
            names.setdefault(metric["why"], []).append(name)
    return sorted(names.items())


def score_notes(document: Mapping[str, Any]) -> list[str]:
    """The notes below a table."""
    rules = [f"{n} by {name}" for name, n in document["strategies"].items() if n]
    notes = [
        f"profile {document['profile']}; queries judged: {', '.join(rules) or 'none'}",
        f"95 % interval: {document['interval']}",
    ]
    notes += [f"skipped, {why}: {', '.join(names)}" for why, names in skipped(document)]
    notes += [
        f"left out: {counted(n, 'query', 'queries')}, {why}"
        for why, n in document["left_out"].items()
    ]
    notes += [
        f"0 in the means: {counted(n, 'query', 'queries')}, {why}"
        for why, n in document["as_zero"].items()
    ]
    notes += [f"counted once: {n} {why}" for why, n in document["merged"].items()]
    texts = ", ".join(f"{name} {n}" for name, n in document["texts"].items())
    return [*notes, *([f"texts: {texts}"] if texts else [])]
