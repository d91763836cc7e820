"""The best that any ranking of a corpus's units can reach in the measures of spans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.useful import FAR, Subsets, Useful, useful_units, without_dominated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from harness.measures.inputs import Cell

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

MOST_SEARCHED = 16
"""Useful units that share gold beyond which only a bound is computed."""


@dataclass(frozen=True)
class BestSpans:
    """The largest values under one budget, each over all rankings, all of shape (q,).

    Attributes:
        recall: Of SpanR.
        precision: Of SpanP.
        exact: Where the first of them is reached by a ranking; else no ranking is above it.
        precision_exact: Where the second is reached.
        f1: Of SpanF1.
        iou: Of SpanIoU.
        f1_exact: Where these two are reached.
        complete: Of Complete.
        complete_exact: Where it is reached.
    """

    recall: Floats
    precision: Floats
    exact: Bools
    precision_exact: Bools
    f1: Floats
    iou: Floats
    f1_exact: Bools
    complete: Floats
    complete_exact: Bools


@dataclass(frozen=True)
class Best:
    """The same for one query."""

    recall: float = 0.0
    precision: float = 0.0
    exact: bool = True
    precision_exact: bool = True
    f1: float = 0.0
    iou: float = 0.0
    f1_exact: bool = True
    complete: float = 0.0
    complete_exact: bool = True


def best_spans(
    cell: Cell, budgets: Sequence[int], most_searched: int = MOST_SEARCHED
) -> dict[int, BestSpans]:
    """Solve every query of a cell for every budget.

    Exact where the useful units share no gold, by dynamic programming, and where at most
    `most_searched` share some, by trying all sets of them; else a bound.
    """
    rows = []
    for gold in cell.gold:
        useful = useful_units(gold, cell.corpora[gold.corpus])
        rows.append(solve(useful, gold.gold_size, budgets, most_searched))
    return stacked(rows, budgets)


def stacked(rows: Sequence[Sequence[Best]], budgets: Sequence[int]) -> dict[int, BestSpans]:
    """The best values of all queries, a row each, by budget."""
    return {
        budget: BestSpans(
            **{
                name: np.array([getattr(row[number], name) for row in rows])
                for name in Best.__dataclass_fields__
            }
        )
        for number, budget in enumerate(budgets)
    }


def solve(
    useful: Useful, gold_size: int, budgets: Sequence[int], most_searched: int = MOST_SEARCHED
) -> list[Best]:
    """The best values of one query for each budget.

    Every measure here rises with the gold credited and falls with the characters delivered, so
    the best sets are among those that credit most for what they deliver. No set has a higher
    share of gold than its best unit; therefore SpanP is the best share of a unit that fits whole,
    or the most gold in exactly the budget.
    """
    if not len(useful.size):
        return [Best()] * len(budgets)
    completion = [_completion(useful, target, budgets, most_searched) for target in useful.targets]
    useful = useful if useful.disjoint else without_dominated(useful)
    searched = not useful.disjoint and len(useful.size) <= most_searched
    pairs = _by_search if searched else _by_knapsack
    share = useful.gain / useful.size
    results = []
    for budget, found in zip(budgets, pairs(useful, gold_size, budgets), strict=True):
        fits = useful.size <= budget
        complete = any(most <= budget for _, most in completion)
        exact = searched or useful.disjoint
        results.append(
            Best(
                recall=found.credit / gold_size,
                precision=max(share[fits].max(initial=0.0), found.credit / budget),
                exact=exact or int(useful.size.sum()) <= budget,
                precision_exact=exact or int(useful.size.sum()) <= budget,
                f1=found.f1,
                iou=found.iou,
                f1_exact=exact,
                complete=float(complete or any(least <= budget for least, _ in completion)),
                complete_exact=complete or all(least > budget for least, _ in completion),
            )
        )
    return results


@dataclass(frozen=True)
class Found:
    """The most gold that a budget credits, and the best F1 and IoU under it."""

    credit: int
    f1: float
    iou: float

    @classmethod
    def among(cls, credit: Ints, delivered: Ints, gold: int, most: int, budget: int) -> Found:
        """From pairs of credited and delivered, and the most credited by the whole budget."""
        credit = np.append(credit, most)
        delivered = np.append(delivered, budget)
        return cls(
            credit=most,
            f1=float((2 * credit / (delivered + gold)).max()),
            iou=float((credit / (delivered + gold - credit)).max()),
        )


def _by_search(useful: Useful, gold: int, budgets: Sequence[int]) -> list[Found]:
    subsets = Subsets.of(useful)
    everything = int(useful.size.sum())
    found = []
    for budget in budgets:
        fits = subsets.total <= budget
        credit, total = subsets.credit[fits], subsets.total[fits]
        most = subsets.with_cut(budget) if budget < everything else useful.union
        found.append(Found.among(credit, total, gold, most, budget))
    return found


def _by_knapsack(useful: Useful, gold: int, budgets: Sequence[int]) -> list[Found]:
    """Exact where the units share no gold; else a bound, as if only their union were limited."""
    everything = int(useful.size.sum())
    pure = int(useful.size[useful.gain == useful.size].sum())
    found: dict[int, Found] = {}
    hard = []
    for budget in budgets:
        if everything <= budget and useful.disjoint:
            # The best share of gold first: with nothing cut, F1 peaks at a prefix of this order.
            order = np.argsort(-useful.gain / useful.size, kind="stable")
            credit, total = np.cumsum(useful.gain[order]), np.cumsum(useful.size[order])
            found[budget] = Found.among(credit, total, gold, useful.union, everything)
        elif budget <= min(pure, useful.union):
            nothing = np.zeros(0, dtype=np.int64)
            found[budget] = Found.among(nothing, nothing, gold, budget, budget)
        else:
            hard.append(budget)
    if hard:
        widths = [min(budget, everything) for budget in hard]
        credit, most = _fill(useful, widths)
        delivered = np.arange(len(credit))
        for budget, width, one in zip(hard, widths, most, strict=True):
            found[budget] = Found.among(
                credit[: width + 1], delivered[: width + 1], gold, min(one, useful.union), width
            )
    return [found[budget] for budget in budgets]


def _fill(useful: Useful, widths: Sequence[int]) -> tuple[Ints, list[int]]:
    """Most gold by whole units in up to 0, 1, ... characters, and with one cut in each width."""
    most = [0] * len(widths)
    whole = np.zeros(max(widths) + 1, dtype=np.int32)
    for unit, others in _leave_one_out(useful, 0, len(useful.size), whole):
        begun = useful.prefix_gain(unit).astype(np.int32)
        for number, width in enumerate(widths):
            longest = min(len(begun) - 1, width)
            rest = others[width - longest : width + 1][::-1]
            most[number] = max(most[number], int((rest + begun[: longest + 1]).max()))
        if unit == 0:
            whole = others.copy()
            _add(whole, int(useful.size[0]), int(useful.gain[0]))
    return np.minimum(whole, useful.union).astype(np.int64), most


def _leave_one_out(
    useful: Useful, begin: int, end: int, best: NDArray[np.int32]
) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """For every unit, the most gold in each width by the others; halving shares the work."""
    if end - begin == 1:
        yield begin, best
        return
    middle = (begin + end) // 2
    for (low, high), (other, behind) in (
        ((begin, middle), (middle, end)),
        ((middle, end), (begin, middle)),
    ):
        with_others = best.copy()
        for unit in range(other, behind):
            _add(with_others, int(useful.size[unit]), int(useful.gain[unit]))
        yield from _leave_one_out(useful, low, high, with_others)


def _add(best: NDArray[np.int32], size: int, gain: int) -> None:
    if size < len(best):
        np.maximum(best[size:], best[:-size] + np.int32(gain), out=best[size:])


def _completion(
    useful: Useful, target: Ints, budgets: Sequence[int], most_searched: int
) -> tuple[int, int]:
    """Bounds of the fewest characters that deliver a whole target; equal where exact."""
    holders = np.flatnonzero(useful.holds[:, target].any(axis=1))
    part = useful.part(holders, target)
    size = int(part.length.sum())
    if not size or part.union < size:
        return FAR, FAR
    part = part if part.disjoint else without_dominated(part)
    everything = int(part.size.sum())
    if part.disjoint:
        need = np.where(part.holds, part.offset + part.length, 0).max(axis=1)
        cost = everything - int((part.size - need).max())
        return cost, cost
    if len(part.size) > most_searched or not any(size <= one < everything for one in budgets):
        return size, everything
    cost = Subsets.of(part).cost_of_all()
    return cost, cost
