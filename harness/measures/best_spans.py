"""The best values that any ranking of a corpus reaches in the measures of spans.

A ranking under a budget is a set of units delivered whole, and at most one more unit, cut at the
budget. Every measure here rises with the gold credited and falls with the characters delivered, so
the best sets are among those that credit most for what they deliver. Units without gold never help.

The gold of a query is cut into segments at every boundary of a piece or a target, so each unit
holds a segment whole or not at all.

Exact where the units share no gold, by dynamic programming, and where few units share some, by
trying all sets of them. Elsewhere the values are bounds. With merged chunks each character is
charged once; then a bound treats every piece of text as a unit of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.merged import Cuts
from harness.support.arrays import ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from harness.measures.cell import Cell, Gold, Units
    from harness.support.arrays import Bools, Floats, Ints

    Best = dict[str, tuple[float, bool]]

MEASURES = ("SpanR", "SpanP", "SpanF1", "SpanIoU", "Complete")

MOST_SEARCHED = 16
"""Units that share gold, beyond which only a bound is computed; 2**n sets are tried."""

MOST_SEARCHED_MERGED = 12
"""The same where chunks are merged."""

FAR = 2**40
"""Offset of a segment that a unit does not hold; above every size and budget."""


def best_spans(
    cell: Cell, budgets: Sequence[int], *, merge: bool = False, most_searched: int | None = None
) -> dict[int, dict[str, tuple[Floats, Bools]]]:
    """Solve every query of a cell for every budget; its rankings play no part.

    Args:
        cell: Its gold and units.
        budgets: In characters.
        merge: Whether chunks that touch or overlap are merged before they are charged.
        most_searched: Units that share gold, up to which all sets are tried.

    Returns:
        By budget and by each of `MEASURES`: the largest values, and where a ranking reaches them
        rather than none passing them, both shape (q,).
    """
    solve = _solve_merged if merge else _solve
    most = most_searched or (MOST_SEARCHED_MERGED if merge else MOST_SEARCHED)
    rows = [solve(gold, cell.corpora[gold.corpus], budgets, most) for gold in cell.gold]
    return {
        budget: {
            name: (
                np.array([row[at][name][0] for row in rows], dtype=np.float64),
                np.array([row[at][name][1] for row in rows], dtype=np.bool_),
            )
            for name in MEASURES
        }
        for at, budget in enumerate(budgets)
    }


@dataclass(frozen=True)
class GoldUnits:
    """n units over the m segments of gold of one query.

    Attributes:
        size: Characters of each unit, shape (n,).
        offset: Characters of a unit before its first copy of a segment, or FAR, shape (n, m).
        length: Characters of each segment, shape (m,).
        targets: The segments of each target.
    """

    size: Ints
    offset: Ints
    length: Ints
    targets: tuple[Ints, ...] = ()

    @cached_property
    def holds(self) -> Bools:
        """Whether a unit holds a segment, shape (n, m)."""
        return self.offset < FAR

    @cached_property
    def gain(self) -> Ints:
        """Gold characters of each unit, shape (n,)."""
        return self.holds @ self.length

    @cached_property
    def union(self) -> int:
        """Gold characters that the units hold together."""
        return int(self.length[self.holds.any(axis=0)].sum())

    @cached_property
    def disjoint(self) -> bool:
        """Whether no two units hold the same segment."""
        return self.union == int(self.gain.sum())

    def part(self, units: Ints | Bools, segments: Ints | slice = slice(None)) -> GoldUnits:
        """Some of the units, and of the segments; the latter without targets."""
        targets = self.targets if isinstance(segments, slice) else ()
        offset = self.offset[units][:, segments]
        return GoldUnits(self.size[units], offset, self.length[segments], targets)

    def prefix_gain(self, unit: int) -> Ints:
        """Gold characters in the first x characters of a unit, x from 0, shape (size + 1,)."""
        held = self.holds[unit]
        slope = np.zeros(int(self.size[unit]) + 1, dtype=np.int64)
        begin = self.offset[unit, held]
        np.add.at(slope, begin, 1)
        np.add.at(slope, begin + self.length[held], -1)
        return np.concatenate(([0], np.cumsum(np.cumsum(slope[:-1]))))


def gold_units(gold: Gold, units: Units, numbers: Ints | None = None) -> GoldUnits:
    """The units of a corpus that hold gold of one query; or those of ascending `numbers`."""
    kept = gold.pieces.length > 0
    start, length = gold.pieces.gold[kept], gold.pieces.length[kept]
    numbers = np.unique(gold.pieces.unit[kept]) if numbers is None else numbers
    row = np.searchsorted(numbers, gold.pieces.unit[kept])
    stretches = [edge for target in gold.targets for stretch in target for edge in stretch]
    edges = np.unique(np.concatenate((start, start + length, np.array(stretches, dtype=np.int64))))
    first, stop = np.searchsorted(edges, start), np.searchsorted(edges, start + length)
    piece, segment = ranges(first, stop - first)
    offset = np.full((len(numbers), max(len(edges) - 1, 0)), FAR, dtype=np.int64)
    at = gold.pieces.offset[kept][piece] + edges[segment] - start[piece]
    np.minimum.at(offset, (row[piece], segment), at)
    targets = tuple(
        np.concatenate(
            [np.arange(np.searchsorted(edges, lo), np.searchsorted(edges, hi)) for lo, hi in target]
            or [np.zeros(0, dtype=np.int64)]
        )
        for target in gold.targets
    )
    return GoldUnits(units.size[numbers], offset, np.diff(edges), targets)


def without_dominated(units: GoldUnits) -> GoldUnits:
    """Drop units that another one replaces: no longer, and every segment no later.

    Of equal units the first stays. No measure of spans loses by it.
    """
    shared = units.holds.sum(axis=0) > 1
    alive = np.ones(len(units.size), dtype=np.bool_)
    for unit in np.flatnonzero((units.holds & shared).any(axis=1))[::-1].tolist():
        held = units.holds[unit]
        better = (units.offset[:, held] <= units.offset[unit, held]).all(axis=1)
        better &= alive & (units.size <= units.size[unit])
        better[unit] = False
        alive[unit] = not better.any()
    return units if alive.all() else units.part(alive)


def _solve(gold: Gold, units: Units, budgets: Sequence[int], most_searched: int) -> list[Best]:
    return _solve_units(gold_units(gold, units), gold.gold_size, budgets, most_searched)


def _solve_units(
    units: GoldUnits, gold_size: int, budgets: Sequence[int], most_searched: int
) -> list[Best]:
    """The best values of one query for each budget.

    No set has a higher share of gold than its best unit. So SpanP is the best share of a unit that
    fits whole, or the most gold in exactly the budget.
    """
    if not len(units.size):
        return [dict.fromkeys(MEASURES, (0.0, True))] * len(budgets)
    costs = [_completion(units, target, budgets, most_searched) for target in units.targets]
    units = units if units.disjoint else without_dominated(units)
    if not units.disjoint and len(units.size) <= most_searched:
        return _search(Subsets.of(units), gold_size, budgets, costs)
    share = units.gain / units.size
    everything = int(units.size.sum())
    results: list[Best] = []
    for budget, (most, f1, iou) in zip(budgets, _knapsack(units, gold_size, budgets), strict=True):
        exact = units.disjoint
        reached = exact or everything <= budget
        precision = max(float(share[units.size <= budget].max(initial=0.0)), most / budget)
        results.append(
            {
                "SpanR": (most / gold_size, reached),
                "SpanP": (precision, reached),
                "SpanF1": (f1, exact),
                "SpanIoU": (iou, exact),
                "Complete": _complete(costs, budget),
            }
        )
    return results


def _solve_merged(
    gold: Gold, units: Units, budgets: Sequence[int], most_searched: int
) -> list[Best]:
    kept = gold.pieces.length > 0
    numbers, row = np.unique(gold.pieces.unit[kept], return_inverse=True)
    cuts = Cuts.of(units.take(numbers))
    if len(cuts.holder) == len(cuts.begin):  # no two units overlap
        return _solve(gold, units, budgets, MOST_SEARCHED)
    pieces = replace(
        gold.pieces,
        unit=row.reshape(-1),
        offset=gold.pieces.offset[kept],
        length=gold.pieces.length[kept],
        gold=gold.pieces.gold[kept],
    )
    once = replace(gold, pieces=cuts.cut(pieces))
    if len(numbers) <= most_searched:
        every = gold_units(once, cuts.units, np.arange(len(cuts.units.size)))
        subsets = Subsets.of(every, np.bitwise_or.reduceat(1 << cuts.holder, cuts.begin))
        costs = [(cost := subsets.cost_of(target), cost) for target in every.targets]
        return _search(subsets, gold.gold_size, budgets, costs)
    everything = int(cuts.units.size.sum())
    bounds = _solve(once, cuts.units, budgets, MOST_SEARCHED)
    for bound, budget in zip(bounds, budgets, strict=True):
        complete = bound["Complete"][0]
        exact = {"SpanR": everything <= budget, "Complete": everything <= budget or not complete}
        bound |= {name: (value, exact.get(name, False)) for name, (value, _) in bound.items()}
    return bounds


def _complete(costs: Sequence[tuple[int, int]], budget: int) -> tuple[float, bool]:
    complete = any(most <= budget for _, most in costs)
    value = complete or any(least <= budget for least, _ in costs)
    return float(value), complete or all(least > budget for least, _ in costs)


def _reach(
    credit: Ints, delivered: Ints, gold: int, most: int, spent: int
) -> tuple[int, float, float]:
    """The most gold credited, and the best F1 and IoU.

    Sets of whole units credit `credit` of the `gold` characters in `delivered`; `most` are in
    exactly `spent` characters, one unit being cut or none.
    """
    credit, delivered = np.append(credit, most), np.append(delivered, spent)
    f1 = float((2 * credit / (delivered + gold)).max())
    return most, f1, float((credit / (delivered + gold - credit)).max())


@dataclass(frozen=True)
class Subsets:
    """All sets of n units; bit i of a set's number says that it has unit i.

    The text is cut into s strips, each wholly one segment of gold or without gold.

    Attributes:
        n_units: n, 16 at most.
        length: Characters of each strip, in order, shape (s,).
        units: The units that have it, as bits, shape (s,).
        segment: Its segment, or -1, shape (s,).
        lengths: Characters of each segment, shape (m,).
    """

    n_units: int
    length: Ints
    units: Ints
    segment: Ints
    lengths: Ints

    @classmethod
    def of(cls, pieces: GoldUnits, holders: Ints | None = None) -> Subsets:
        """Cut pieces of text at the borders of gold.

        Args:
            pieces: The pieces.
            holders: For each the units that hold it, as bits; None where each is a unit.
        """
        holders = 1 << np.arange(len(pieces.size)) if holders is None else holders
        strips: list[tuple[int, int, int]] = []
        for size, units, offset in zip(
            pieces.size.tolist(), holders.tolist(), pieces.offset, strict=True
        ):
            at = 0
            held = np.argsort(offset, kind="stable")[: int((offset < FAR).sum())]
            for segment in held.tolist():
                begin, length = int(offset[segment]), int(pieces.length[segment])
                strips += [(begin - at, units, -1), (length, units, segment)]
                at = begin + length
            strips.append((size - at, units, -1))
        table = np.array([strip for strip in strips if strip[0]], dtype=np.int64)
        length, units_of, segments = table.T
        n_units = int(holders.max()).bit_length()
        return cls(n_units, length, units_of, segments, pieces.length)

    @cached_property
    def numbers(self) -> Ints:
        """The number of every set, shape (2**n,)."""
        return np.arange(1 << self.n_units)

    @cached_property
    def holders(self) -> Ints:
        """For each segment the units that hold it, as bits."""
        bits = np.zeros(len(self.lengths), dtype=np.int64)
        gold = self.segment >= 0
        np.bitwise_or.at(bits, self.segment[gold], self.units[gold])
        return bits

    @cached_property
    def total(self) -> Ints:
        """Characters of each set, shape (2**n,)."""
        return self._weigh(self.units, self.length)

    @cached_property
    def credit(self) -> Ints:
        """Distinct gold characters of each set, shape (2**n,)."""
        return self._weigh(self.holders, self.lengths)

    def _weigh(self, holders: Ints, weights: Ints) -> Ints:
        result = np.zeros(len(self.numbers), dtype=np.int64)
        for units in np.unique(holders).tolist():
            result += np.where(self.numbers & units, int(weights[holders == units].sum()), 0)
        return result

    def with_cut(self, budget: int) -> int:
        """Most gold characters that `budget` delivers, one unit being cut or none."""
        best = int(self.credit[self.total <= budget].max())
        for unit in range(self.n_units):
            with_unit = self.numbers | 1 << unit
            bound = np.minimum(self.credit[with_unit], self.credit + budget - self.total)
            tried = (self.total < budget) & (self.total[with_unit] > budget) & (bound > best)
            sets = self.numbers[tried]
            rest, gained = budget - self.total[sets], self.credit[sets]
            for new, length, segment in self._strips(unit, sets):
                length_delivered = np.where(new, np.minimum(rest, length), 0)
                rest = rest - length_delivered
                if segment >= 0:
                    gained = gained + np.where(sets & self.holders[segment], 0, length_delivered)
            best = max(best, int(gained.max(initial=0)))
        return best

    def cost_of(self, target: Ints) -> int:
        """Fewest characters that deliver all segments of a target, the last unit being cut."""
        wanted = np.zeros(len(self.lengths), dtype=np.bool_)
        wanted[target] = True
        whole = np.ones(len(self.numbers), dtype=np.bool_)
        for units in self.holders[wanted].tolist():
            whole &= (self.numbers & units) > 0
        if not len(target) or not whole.any():
            return FAR
        best = int(self.total[whole].min())
        for unit in range(self.n_units):
            sets = self.numbers[whole[self.numbers | 1 << unit] & (self.total < best)]
            spent, need = np.zeros(len(sets), np.int64), np.zeros(len(sets), np.int64)
            for new, length, segment in self._strips(unit, sets):
                spent = spent + np.where(new, length, 0)
                if segment >= 0 and wanted[segment]:
                    need = np.where(sets & self.holders[segment], need, spent)
            best = min(best, int((self.total[sets] + need).min(initial=FAR)))
        return best

    def _strips(self, unit: int, sets: Ints) -> Iterator[tuple[Bools, int, int]]:
        """The strips of a unit: where they are new to a set, their length, their segment.

        A second copy of a segment in the unit is not gold: the first copy comes before it.
        """
        seen: set[int] = set()
        for at in np.flatnonzero(self.units >> unit & 1).tolist():
            segment = int(self.segment[at])
            new = (sets & self.units[at]) == 0
            yield new, int(self.length[at]), -1 if segment in seen else segment
            seen.add(segment)


def _search(
    subsets: Subsets, gold_size: int, budgets: Sequence[int], costs: Sequence[tuple[int, int]]
) -> list[Best]:
    """The best values over all sets of units."""
    results: list[Best] = []
    for budget in budgets:
        fits = subsets.total <= budget
        credit, total = subsets.credit[fits], subsets.total[fits]
        all_fits = budget >= int(subsets.total[-1])
        most = int(subsets.credit[-1]) if all_fits else subsets.with_cut(budget)
        _, f1, iou = _reach(credit, total, gold_size, most, budget)
        share = float((credit / np.maximum(total, 1)).max())
        values = (most / gold_size, max(share, most / budget), f1, iou)
        best: Best = {name: (value, True) for name, value in zip(MEASURES, values, strict=False)}
        results.append(best | {"Complete": _complete(costs, budget)})
    return results


def _knapsack(
    units: GoldUnits, gold: int, budgets: Sequence[int]
) -> list[tuple[int, float, float]]:
    """As `_reach`: exact where the units share no gold, else limited by their union alone."""
    everything = int(units.size.sum())
    pure = int(units.size[units.gain == units.size].sum())
    reached: dict[int, tuple[int, float, float]] = {}
    hard = []
    for budget in budgets:
        if everything <= budget and units.disjoint:
            # The best share of gold first: with nothing cut, F1 peaks at a prefix of this order.
            order = np.argsort(-units.gain / units.size, kind="stable")
            credit, total = np.cumsum(units.gain[order]), np.cumsum(units.size[order])
            reached[budget] = _reach(credit, total, gold, units.union, everything)
        elif budget <= min(pure, units.union):
            nothing = np.zeros(0, dtype=np.int64)
            reached[budget] = _reach(nothing, nothing, gold, budget, budget)
        else:
            hard.append(budget)
    if hard:
        widths = [min(budget, everything) for budget in hard]
        credit, cut = _fill(units, widths)
        delivered = np.arange(len(credit))
        for budget, width, most in zip(hard, widths, cut, strict=True):
            whole = slice(width + 1)
            gained = min(most, units.union)
            reached[budget] = _reach(credit[whole], delivered[whole], gold, gained, width)
    return [reached[budget] for budget in budgets]


def _fill(units: GoldUnits, widths: Sequence[int]) -> tuple[Ints, list[int]]:
    """Most gold by whole units in up to 0, 1, ... characters, and with one cut in each width."""
    most = [0] * len(widths)
    whole = np.zeros(max(widths) + 1, dtype=np.int32)
    for unit, others in _leave_one_out(units, 0, len(units.size), whole):
        begun = units.prefix_gain(unit).astype(np.int32)
        for number, width in enumerate(widths):
            longest = min(len(begun) - 1, width)
            rest = others[width - longest : width + 1][::-1]
            most[number] = max(most[number], int((rest + begun[: longest + 1]).max()))
        if unit == 0:
            whole = others.copy()
            _add(whole, int(units.size[0]), int(units.gain[0]))
    return np.minimum(whole, units.union).astype(np.int64), most


def _leave_one_out(
    units: GoldUnits, begin: int, end: int, best: NDArray[np.int32]
) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """For every unit, the most gold in each width by the others; halving shares the work."""
    if end - begin == 1:
        yield begin, best
        return
    middle = (begin + end) // 2
    for (low, high), (other, stop) in (
        ((begin, middle), (middle, end)),
        ((middle, end), (begin, middle)),
    ):
        with_others = best.copy()
        for unit in range(other, stop):
            _add(with_others, int(units.size[unit]), int(units.gain[unit]))
        yield from _leave_one_out(units, low, high, with_others)


def _add(best: NDArray[np.int32], size: int, gain: int) -> None:
    if size < len(best):
        np.maximum(best[size:], best[:-size] + np.int32(gain), out=best[size:])


def _completion(
    units: GoldUnits, target: Ints, budgets: Sequence[int], most_searched: int
) -> tuple[int, int]:
    """Bounds of the fewest characters that deliver a whole target; equal where exact."""
    part = units.part(np.flatnonzero(units.holds[:, target].any(axis=1)), target)
    size = int(part.length.sum())
    if not size or part.union < size:
        return FAR, FAR
    part = part if part.disjoint else without_dominated(part)
    everything = int(part.size.sum())
    if part.disjoint:
        need = np.where(part.holds, part.offset + part.length, 0).max(axis=1)
        cost = everything - int((part.size - need).max())
        return cost, cost
    if len(part.size) > most_searched or not any(size <= each < everything for each in budgets):
        return size, everything
    cost = Subsets.of(part).cost_of(np.arange(len(part.length)))
    return cost, cost
