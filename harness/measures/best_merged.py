"""The best that any ranking can reach in the measures of spans where chunks are merged.

A ranking under a budget is a set of units, each character of them delivered once, and at most one
more unit of which a part is delivered. Units without gold never help: their characters cost what
they cost in any order. Exact where the units with gold do not overlap, as without merging, and
where they are few, by trying all sets of them; else a bound, as if every piece of text could be
delivered by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.best_spans import Best, Found, solve, stacked
from harness.measures.merged import Cuts
from harness.measures.useful import FAR, useful_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.measures.best_spans import BestSpans
    from harness.measures.inputs import Cell, Gold, Units

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

MOST_SEARCHED = 12
"""Units with gold, some of which overlap, beyond which only a bound is computed."""


def best_merged(
    cell: Cell, budgets: Sequence[int], most_searched: int = MOST_SEARCHED
) -> dict[int, BestSpans]:
    """Solve every query of a cell for every budget, as `best_spans` does without merging."""
    rows = [_solve(one, cell.corpora[one.corpus], budgets, most_searched) for one in cell.gold]
    return stacked(rows, budgets)


def _solve(gold: Gold, units: Units, budgets: Sequence[int], most_searched: int) -> list[Best]:
    numbers, local = np.unique(gold.pieces.unit[gold.pieces.length > 0], return_inverse=True)
    cuts = Cuts.of(units.take(numbers))
    if len(cuts.holder) == len(cuts.begin):
        return solve(useful_units(gold, units), gold.gold_size, budgets)
    kept = gold.pieces.length > 0
    pieces = replace(
        gold.pieces,
        unit=local.reshape(-1),
        offset=gold.pieces.offset[kept],
        length=gold.pieces.length[kept],
        gold=gold.pieces.gold[kept],
    )
    once = replace(gold, pieces=cuts.cut(pieces))
    if len(numbers) <= most_searched:
        sets = _Sets(_Strips.of(once, cuts))
        return [sets.best(budget, gold.gold_size) for budget in budgets]
    everything = int(cuts.units.size.sum())
    bounds = solve(useful_units(once, cuts.units), gold.gold_size, budgets)
    return [
        replace(
            bound,
            exact=everything <= budget,
            precision_exact=False,
            f1_exact=False,
            complete_exact=everything <= budget or not bound.complete,
        )
        for bound, budget in zip(bounds, budgets, strict=True)
    ]


@dataclass(frozen=True)
class _Strips:
    """The text of n units in s strips, each wholly one segment of gold or without gold.

    Attributes:
        n_units: n.
        length: Characters of each strip, in order, shape (s,).
        units: The units that hold it, as bits, shape (s,).
        segment: Its segment, or -1, shape (s,).
        lengths: Characters of each segment, shape (m,).
        targets: The segments of each target.
    """

    n_units: int
    length: Ints
    units: Ints
    segment: Ints
    lengths: Ints
    targets: tuple[Ints, ...]

    @classmethod
    def of(cls, gold: Gold, cuts: Cuts) -> _Strips:
        """Cut the pieces of text at the borders of gold."""
        bits = np.bitwise_or.reduceat(1 << cuts.holder, cuts.begin)
        useful = useful_units(gold, cuts.units)
        row = {piece: at for at, piece in enumerate(np.unique(gold.pieces.unit).tolist())}
        strips: list[tuple[int, int, int]] = []
        for piece, size in enumerate(cuts.units.size.tolist()):
            at = 0
            offsets = useful.offset[row[piece]] if piece in row else np.zeros(0, dtype=np.int64)
            for segment in np.argsort(offsets, kind="stable")[
                : int((offsets < FAR).sum())
            ].tolist():
                begin, length = int(offsets[segment]), int(useful.length[segment])
                strips += [(begin - at, int(bits[piece]), -1), (length, int(bits[piece]), segment)]
                at = begin + length
            strips.append((size - at, int(bits[piece]), -1))
        table = np.array([one for one in strips if one[0]], dtype=np.int64)
        length, units, segment = table.T
        return cls(len(cuts.low), length, units, segment, useful.length, useful.targets)


@dataclass(frozen=True)
class _Sets:
    """All sets of units; bit i of a set's number says that it has unit i."""

    strips: _Strips

    @cached_property
    def numbers(self) -> Ints:
        return np.arange(1 << self.strips.n_units)

    @cached_property
    def holders(self) -> Ints:
        """For each segment the units that hold it, as bits."""
        bits = np.zeros(len(self.strips.lengths), dtype=np.int64)
        gold = self.strips.segment >= 0
        np.bitwise_or.at(bits, self.strips.segment[gold], self.strips.units[gold])
        return bits

    @cached_property
    def total(self) -> Ints:
        """Distinct characters of each set."""
        return self._weigh(self.strips.units, self.strips.length)

    @cached_property
    def credit(self) -> Ints:
        """Distinct gold characters of each set."""
        return self._weigh(self.holders, self.strips.lengths)

    def _weigh(self, holders: Ints, weights: Ints) -> Ints:
        result = np.zeros(len(self.numbers), dtype=np.int64)
        for units in np.unique(holders).tolist():
            result += np.where(self.numbers & units, int(weights[holders == units].sum()), 0)
        return result

    @cached_property
    def cost(self) -> int:
        """Fewest characters that deliver a whole target."""
        return min((self._cost_of(target) for target in self.strips.targets), default=FAR)

    def best(self, budget: int, gold_size: int) -> Best:
        """The best values under one budget."""
        fits = self.total <= budget
        credit, total = self.credit[fits], self.total[fits]
        most = self._with_cut(budget) if budget < int(self.total[-1]) else int(self.credit[-1])
        found = Found.among(credit, total, gold_size, most, budget)
        share = (credit / np.maximum(total, 1)).max()
        return Best(
            recall=most / gold_size,
            precision=max(float(share), most / budget),
            f1=found.f1,
            iou=found.iou,
            complete=float(self.cost <= budget),
        )

    def _with_cut(self, budget: int) -> int:
        """Most gold characters that `budget` delivers, one unit being cut or none."""
        best = int(self.credit[self.total <= budget].max())
        for unit in range(self.strips.n_units):
            both = self.numbers | 1 << unit
            tried = (self.total < budget) & (self.total[both] > budget) & (self.credit[both] > best)
            sets = self.numbers[tried]
            rest, gained = budget - self.total[sets], self.credit[sets]
            for new, length, segment in self._strips_of(unit, sets):
                got = np.where(new, np.minimum(rest, length), 0)
                rest = rest - got
                if segment >= 0:
                    gained = gained + np.where(sets & self.holders[segment], 0, got)
            best = max(best, int(gained.max(initial=0)))
        return best

    def _cost_of(self, target: Ints) -> int:
        wanted = np.zeros(len(self.strips.lengths), dtype=np.bool_)
        wanted[target] = True
        whole = np.ones(len(self.numbers), dtype=np.bool_)
        for units in self.holders[wanted].tolist():
            whole &= (self.numbers & units) > 0
        if not len(target) or not whole.any():
            return FAR
        best = int(self.total[whole].min())
        for unit in range(self.strips.n_units):
            sets = self.numbers[whole[self.numbers | 1 << unit] & (self.total < best)]
            spent, need = np.zeros(len(sets), np.int64), np.zeros(len(sets), np.int64)
            for new, length, segment in self._strips_of(unit, sets):
                spent = spent + np.where(new, length, 0)
                if segment >= 0 and wanted[segment]:
                    need = np.where(sets & self.holders[segment], need, spent)
            best = min(best, int((self.total[sets] + need).min(initial=FAR)))
        return best

    def _strips_of(self, unit: int, sets: Ints) -> list[tuple[Bools, int, int]]:
        """The strips of a unit: where they are new to a set, their length, their segment.

        A second copy of a segment in the unit is no gold: the first one comes before it.
        """
        strips = self.strips
        seen: set[int] = set()
        result = []
        for at in np.flatnonzero(strips.units >> unit & 1).tolist():
            segment = int(strips.segment[at])
            first = segment not in seen
            seen.add(segment)
            new = (sets & strips.units[at]) == 0
            result.append((new, int(strips.length[at]), segment if first else -1))
        return result
