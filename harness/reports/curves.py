"""Span curves: SpanR over budgets, and where the order of two chunkers turns over."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.measures.grammar import Measure
from harness.reports.recommendation import points
from harness.runs.stored_values import read_judged
from harness.stats.clusters import clusters_of
from harness.stats.comparison import adjust
from harness.stats.intervals import FLIPS, intervals
from harness.stats.power import ALPHA
from harness.stats.sign_flips import estimates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from harness.reports.contests import Contest
    from harness.runs.stored_values import Reading, StoredCell
    from harness.stats.clusters import Member
    from harness.stats.sign_flips import Estimate

BUDGETS = (500, 1000, 2500, 5000, 10000, 20000)
"""Budgets of a curve, in non-white-space characters."""

TURNS = 5
"""Turns that are printed; the document has all."""


Values = dict["Path", "dict[str, list[float]] | None"]
"""SpanR of each query at the budgets of a curve, by cell: several contests may share a cell."""


def curves(contest: Contest, seed: int = 0, known: Values | None = None) -> dict[str, Any] | None:
    """The span curves of a contest, from the stored rankings.

    Args:
        contest: The cells to draw.
        seed: 0 or above.
        known: Values that were computed before; new ones are added.

    Returns:
        `chunkers`: by name, a mean and a 95 % interval for each of `budgets`. `too_shallow`:
        budgets beyond the rankings of some cell, which have no values. `turns`: see `turns_of`.
        None where the gold is documents.
    """
    known = {} if known is None else known
    budgets = budgets_of(next(iter(contest.cells.values())))  # all cells have one
    columns: dict[str, NDArray[np.float64]] = {}
    for name, cell in contest.cells.items():
        if cell.folder not in known:
            known[cell.folder] = curve_values(cell, read_judged(cell))
        if (values := known[cell.folder]) is None:
            return None
        columns[name] = np.array([values[query] for query in contest.queries])
    return {
        "measure": "SpanR",
        "budgets": budgets,
        "too_shallow": [budget for budget in BUDGETS if budget not in budgets],
        "interval": "95 % at each budget alone; means over queries",
        "chunkers": {
            name: _curve(contest, budgets, values, seed) for name, values in columns.items()
        },
        "turns": turns_of(contest.members, budgets, columns, seed),
    }


def budgets_of(cell: StoredCell) -> list[int]:
    """The budgets of a curve that the rankings of a cell are deep enough for."""
    return [budget for budget in BUDGETS if budget <= int(cell.cell["identity"]["budget"])]


def curve_values(cell: StoredCell, reading: Reading) -> dict[str, list[float]] | None:
    """SpanR of each query at the budgets of a curve; None where the gold is documents."""
    return reading.values([Measure("SpanR", budget, "c") for budget in budgets_of(cell)])


def _curve(
    contest: Contest, budgets: Sequence[int], values: NDArray[np.float64], seed: int
) -> list[dict[str, Any]]:
    """Mean and interval at each budget, from values of shape (queries, budgets)."""
    names = [str(budget) for budget in budgets]
    counted = dict.fromkeys(names, np.ones(len(values), dtype=np.bool_))
    ends = intervals(dict(zip(names, values.T, strict=True)), counted, contest.members, seed=seed)
    return [
        {
            "budget": budget,
            "mean": float(values[:, at].mean()),
            "ci95": None if (end := ends[str(budget)]) is None else list(end),
        }
        for at, budget in enumerate(budgets)
    ]


def turns_of(
    members: Sequence[Member],
    budgets: Sequence[int],
    columns: Mapping[str, NDArray[np.float64]],
    seed: int,
) -> list[dict[str, Any]]:
    """Where the means of two chunkers change their order.

    Args:
        members: Corpus and cluster of each query.
        budgets: Ascending.
        columns: SpanR of each chunker, shape (queries, budgets).
        seed: 0 or above.

    Returns:
        `a` has the larger mean at the first budget of `between`, `b` at the second; `differences`
        are a - b there. `shown`: some budget up to the first shows that a is better, and some
        budget from the second on that b is. P-values are adjusted for all pairs and budgets by
        Benjamini and Hochberg's method.
    """
    pairs = list(itertools.combinations(columns, 2))
    if not pairs or not budgets:
        return []
    clusters = clusters_of(members)
    tests = [
        estimates(
            np.stack([columns[a][:, at] - columns[b][:, at] for a, b in pairs], axis=1),
            clusters,
            seed,
            FLIPS,
        )
        for at in range(len(budgets))
    ]
    flat = adjust([test.p for row in tests for test in row], "benjamini-hochberg")
    p = np.array(flat).reshape(len(budgets), len(pairs))
    turns = []
    for number, (a, b) in enumerate(pairs):
        own = [row[number] for row in tests]
        signs = [_sign(test, p[at, number]) for at, test in enumerate(own)]
        order = [at for at, test in enumerate(own) if abs(test.mean) > 1e-12]
        for left, right in itertools.pairwise(order):
            before, after = own[left].mean, own[right].mean
            if before * after > 0:
                continue
            ahead = 1 if before > 0 else -1
            turns.append(
                {
                    "a": a if ahead > 0 else b,
                    "b": b if ahead > 0 else a,
                    "between": [budgets[left], budgets[right]],
                    "differences": [ahead * before, ahead * after],
                    "shown": ahead in signs[: left + 1] and -ahead in signs[right:],
                }
            )
    return turns


def _sign(test: Estimate, p_adjusted: float) -> int:
    """Which of two chunkers a budget shows to be better: 1, -1, or 0 for none."""
    return test.sign if p_adjusted < ALPHA else 0


def curve_table(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the curves of a contest, in points."""
    columns = ["SpanR", *(f"{budget}c" for budget in document["budgets"])]
    rows = []
    for name, curve in document["chunkers"].items():
        cells = [_cell(point["mean"], point["ci95"]) for point in curve]
        rows.append([name, *cells])
    return columns, rows


def _cell(mean: float, interval: Sequence[float] | None) -> str:
    ends = "" if interval is None else f" {100 * interval[0]:.0f}-{100 * interval[1]:.0f}"
    return f"{points(mean)}{ends}"


def curve_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """What the curves say of the order of chunkers, those that the data show first."""
    if document["too_shallow"]:
        shown = ", ".join(f"{budget}c" for budget in document["too_shallow"])
        yield f"the rankings are too short for {shown}; run with a measure at this budget"
    turns = sorted(document["turns"], key=lambda turn: (not turn["shown"], -_size(turn)))
    for turn in turns[:TURNS]:
        low, high = turn["between"]
        how = "" if turn["shown"] else "; these data do not show it"
        yield (
            f"{turn['a']} is ahead of {turn['b']} at {low}c, and behind at {high}c "
            f"({points(turn['differences'][0])} and {points(turn['differences'][1])} points{how})"
        )
    if len(turns) > TURNS:
        yield f"{len(turns) - TURNS} further turns are in --format json"


def _size(turn: Mapping[str, Any]) -> float:
    before, after = turn["differences"]
    return float(min(before, -after))
