"""The Pareto front of quality against cost: which chunkers are worse and no cheaper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.reports.contests import Contest, MeasureResult
    from harness.stats.comparison import Difference

COSTS = {
    "chars_delivered": "characters in the first ten chunks",
    "vectors": "vectors",
    "chunks": "chunks to index",
    "tokens": "tokens to embed",
}
"""The costs that are compared, where all cells have one; seconds vary with the machine."""


def pareto_front(contest: Contest, result: MeasureResult) -> dict[str, Any]:
    """The contenders that no other one dominates.

    One dominates another if its mean is not lower and no cost is higher, and one of them differs.

    Returns:
        `costs`: the costs compared. `chunkers`: for each its `mean`, its costs, and who it is
        `dominated_by`. Each of these has `shown`: whether the data show the higher mean.
    """
    columns = contest.columns(result.measure)
    names = [name for name in contest.contenders if name in columns]
    costs = {name: _costs_of(contest.cells[name].cell) for name in names}
    known = [key for key in COSTS if all(costs[name].get(key) is not None for name in names)]
    if "vectors" in known:
        known.remove("chunks")
    # Lower is better in every place.
    points = {
        name: (-float(columns[name].mean()), *(float(costs[name][key]) for key in known))
        for name in names
    }
    better = {
        (first.a, first.b)
        for pair in result.of_these_corpora
        for first in (pair, pair.reversed())
        if _is_better(first)
    }
    tested = [{pair.a, pair.b} for pair in result.differences]
    return {
        "measure": result.measure,
        "costs": known,
        "chunkers": [
            {
                "chunker": name,
                "mean": -points[name][0],
                **{key: costs[name][key] for key in known},
                "dominated_by": [
                    {
                        "chunker": other,
                        "shown": (other, name) in better if {other, name} in tested else None,
                    }
                    for other in names
                    if _dominates(points[other], points[name])
                ],
            }
            for name in names
        ],
    }


def _costs_of(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {**cell["cost"], "chunks": cell["health"]["chunks"]}


def _is_better(pair: Difference) -> bool:
    return pair.verdict in ("better", "better, but negligible")


def _dominates(point: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return point != other and all(a <= b for a, b in zip(point, other, strict=True))


def front_line(front: Mapping[str, Any]) -> str:
    """The front in a line; empty if there is nothing to compare."""
    rows = front["chunkers"]
    if len(rows) < 2 or not front["costs"]:
        return ""
    kept = [row["chunker"] for row in rows if not row["dominated_by"]]
    out = [_dominated(row) for row in rows if row["dominated_by"]]
    costs = ", ".join(COSTS[key] for key in front["costs"])
    line = f"not dominated by {front['measure']} against {costs}: {', '.join(kept)}"
    return f"{line}; dominated: {', '.join(out)}" if out else line


def _dominated(row: Mapping[str, Any]) -> str:
    by = sorted(row["dominated_by"], key=lambda other: not other["shown"])
    told_apart = by[0]["shown"] is not False
    shown = "" if told_apart else "; the data do not show the means to differ"
    return f"{row['chunker']} (by {by[0]['chunker']}{shown})"
