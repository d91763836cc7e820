"""The JSON document of a scored file, and its forms as tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.stats import intervals
from harness.support.arrays import mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from harness.measures.profiles import Profile
    from harness.scoring.score_file import Column, FileScores

MOST_RESAMPLED = 10_000
"""Queries up to which intervals are resampled; beyond, the normal one is as good and quick."""

_NORMAL = f"normal over {MOST_RESAMPLED:,} queries, else {intervals.LABEL}"
_QUANTILE = 1.959963984540054

COLUMNS = ("measure", "mean", "ci95_low", "ci95_high", "n", "status")


def score_document(scored: FileScores, *, per_query: bool) -> dict[str, Any]:
    """The document `chunkmark.score/1`.

    Args:
        scored: A scored file.
        per_query: Whether the value of every query is in it.
    """
    ends = _intervals(scored.columns)
    most = max((len(one.queries) for one in scored.columns.values()), default=0)
    document: dict[str, Any] = {
        "schema": "chunkmark.score/1",
        "profile": scored.profile.name,
        "n_queries": scored.n_queries,
        "strategies": {name: scored.strategies[name] for name in ("qrels", "span", "file", "text")},
        "interval": intervals.LABEL if most <= MOST_RESAMPLED else _NORMAL,
        "metrics": {
            name: _metric(column, ends[name], scored.profile)
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


def _metric(column: Column, ends: list[float] | None, profile: Profile) -> dict[str, Any]:
    n = len(column.queries)
    found: dict[str, Any] = {
        "mean": _rounded_mean(column.values, profile) if n else None,
        "ci95": ends,
        "n": n,
        "status": "ok" if n else "skipped",
    }
    return found if n else found | {"why": column.why}


def _rounded_mean(values: NDArray[np.float64], profile: Profile) -> float:
    exact = mean(values)
    return exact if profile.places is None else round(exact, profile.places)


def _intervals(columns: Mapping[str, Column]) -> dict[str, list[float] | None]:
    """The 95 % interval of every mean; None of fewer than two queries."""
    found: dict[str, list[float] | None] = dict.fromkeys(columns)
    for n in sorted({len(column.queries) for column in columns.values()}):
        values = {name: one.values for name, one in columns.items() if len(one.queries) == n}
        if n > MOST_RESAMPLED:
            found |= {name: _normal(one) for name, one in values.items()}
        else:
            ends = intervals.intervals(values, np.ones(n, dtype=np.bool_))
            found |= {name: None if one is None else list(one) for name, one in ends.items()}
    return found


def _normal(values: NDArray[np.float64]) -> list[float]:
    middle = mean(values)
    squares = float(np.cumsum((values - middle) ** 2)[-1])
    half = _QUANTILE * math.sqrt(squares / (len(values) - 1) / len(values))
    return [middle - half, middle + half]


def score_rows(document: Mapping[str, Any]) -> list[list[object]]:
    """One row a measure, as `COLUMNS` names them; empty where there is no number."""
    rows: list[list[object]] = []
    for name, one in document["metrics"].items():
        low, high = one["ci95"] or ("", "")
        mean = "" if one["mean"] is None else one["mean"]
        rows.append([name, mean, low, high, one["n"], one["status"]])
    return rows


def query_rows(document: Mapping[str, Any]) -> tuple[list[str], list[list[object]]]:
    """The value of every measure for every query: names of the columns, one row a query."""
    columns = document["per_query"]
    queries = sorted({query for column in columns.values() for query in column or ()})
    rows: list[list[object]] = [
        [query, *((column or {}).get(query, "") for column in columns.values())]
        for query in queries
    ]
    return ["query_id", *columns], rows


def csv_rows(document: Mapping[str, Any]) -> tuple[list[str], list[list[object]]]:
    """One table of everything: means have no query, and values of queries no interval."""
    rows: list[list[object]] = [["", *row] for row in score_rows(document)]
    for name, column in document.get("per_query", {}).items():
        for query, value in (column or {}).items():
            rows.append([query, name, value, "", "", "", ""])
    return ["query_id", *COLUMNS], rows


def rounded(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """The rows with numbers of four decimals."""
    return [[f"{one:.4f}" if isinstance(one, float) else str(one) for one in row] for row in rows]


def score_notes(document: Mapping[str, Any]) -> list[str]:
    """What stands below a table."""
    rules = [f"{n} by {name}" for name, n in document["strategies"].items() if n]
    notes = [
        f"profile {document['profile']}; queries judged: {', '.join(rules) or 'none'}",
        f"95 % interval: {document['interval']}",
    ]
    skipped = {one["why"] for one in document["metrics"].values() if one["status"] == "skipped"}
    notes += [
        f"skipped, {why}: "
        + ", ".join(name for name, one in document["metrics"].items() if one.get("why") == why)
        for why in sorted(skipped)
    ]
    notes += [f"left out: {n} queries, {why}" for why, n in document["left_out"].items()]
    notes += [f"0 in the means: {n} queries, {why}" for why, n in document["as_zero"].items()]
    notes += [f"counted once: {n} {why}" for why, n in document["merged"].items()]
    texts = ", ".join(f"{name} {n}" for name, n in document["texts"].items())
    return [*notes, *([f"texts: {texts}"] if texts else [])]
