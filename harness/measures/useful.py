"""The units that hold gold of one query, and the search for the best ranking of a few of them.

The gold is cut into segments at every boundary of a piece or a target, so each unit holds a
segment whole or not at all. A ranking under a budget is a set of units delivered whole and at
most one more, cut at the budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.measures.inputs import Gold, Units

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

FAR = 2**40
"""Offset of a segment that a unit does not hold; above every size and budget."""


@dataclass(frozen=True)
class Useful:
    """n units over m segments of gold.

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

    def part(self, units: Ints, segments: Ints) -> Useful:
        """Some of the units and segments, without targets."""
        return Useful(self.size[units], self.offset[units][:, segments], self.length[segments])

    def prefix_gain(self, unit: int) -> Ints:
        """Gold characters in the first x characters of a unit, x from 0, shape (size + 1,)."""
        held = self.holds[unit]
        slope = np.zeros(int(self.size[unit]) + 1, dtype=np.int64)
        begin = self.offset[unit, held]
        np.add.at(slope, begin, 1)
        np.add.at(slope, begin + self.length[held], -1)
        return np.concatenate(([0], np.cumsum(np.cumsum(slope[:-1]))))


def useful_units(gold: Gold, units: Units) -> Useful:
    """The units of a corpus that hold gold of one query."""
    kept = gold.pieces.length > 0
    start, length = gold.pieces.gold[kept], gold.pieces.length[kept]
    numbers, row = np.unique(gold.pieces.unit[kept], return_inverse=True)
    stretches = [edge for target in gold.targets for stretch in target for edge in stretch]
    edges = np.unique(np.concatenate((start, start + length, np.array(stretches, dtype=np.int64))))
    first, behind = np.searchsorted(edges, start), np.searchsorted(edges, start + length)
    count = behind - first
    piece = np.repeat(np.arange(len(start)), count)
    segment = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    segment += first[piece]
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
    return Useful(units.size[numbers], offset, np.diff(edges), targets)


def without_dominated(useful: Useful) -> Useful:
    """Drop units that another one replaces: no longer, and every segment no later.

    Of equal units the first stays. No measure of spans loses by it.
    """
    shared = useful.holds.sum(axis=0) > 1
    alive = np.ones(len(useful.size), dtype=np.bool_)
    for unit in np.flatnonzero((useful.holds & shared).any(axis=1))[::-1].tolist():
        held = useful.holds[unit]
        better = (useful.offset[:, held] <= useful.offset[unit, held]).all(axis=1)
        better &= alive & (useful.size <= useful.size[unit])
        better[unit] = False
        alive[unit] = not better.any()
    kept = Useful(useful.size[alive], useful.offset[alive], useful.length, useful.targets)
    return useful if alive.all() else kept


@dataclass(frozen=True)
class Subsets:
    """All subsets of few units; bit i of a subset's number says that it has unit i.

    Attributes:
        useful: n units, 16 at most.
        total: Characters of each subset, shape (2**n,).
        credit: Distinct gold characters of each, shape (2**n,).
    """

    useful: Useful
    total: Ints
    credit: Ints

    @classmethod
    def of(cls, useful: Useful) -> Subsets:
        """Enumerate them."""
        total = np.zeros(1, dtype=np.int64)
        for size in useful.size:
            total = np.concatenate((total, total + size))
        credit = np.zeros(len(total), dtype=np.int64)
        numbers = np.arange(len(total))
        for bits, length in zip(_bits(useful), useful.length, strict=True):
            credit += np.where(numbers & bits, length, 0)
        return cls(useful, total, credit)

    def with_cut(self, budget: int) -> int:
        """Most gold characters that `budget` delivers, one unit being cut or none."""
        useful, numbers = self.useful, np.arange(len(self.total))
        best = int(self.credit[self.total <= budget].max())
        bits = _bits(useful)
        for unit, size in enumerate(useful.size):
            rest = budget - self.total
            bound = self.credit + np.minimum(rest, useful.gain[unit])
            free = (numbers >> unit & 1) == 0
            tried = np.flatnonzero(free & (rest > 0) & (rest < size) & (bound > best))
            gained = self.credit[tried]
            for segment in np.flatnonzero(useful.holds[unit]).tolist():
                got = np.clip(rest[tried] - useful.offset[unit, segment], 0, useful.length[segment])
                gained += np.where(tried & bits[segment], 0, got)
            best = max(best, int(gained.max(initial=0)))
        return best

    def cost_of_all(self) -> int:
        """Fewest characters that deliver every segment, the last unit being cut where it can."""
        useful, numbers = self.useful, np.arange(len(self.total))
        best = int(self.total[self.credit == useful.length.sum()].min())
        bits = _bits(useful)
        for unit in range(len(useful.size)):
            tried = numbers[((numbers >> unit & 1) == 0) & (self.total < best)]
            need = np.zeros(len(tried), dtype=np.int64)
            for segment, length in enumerate(useful.length.tolist()):
                end = useful.offset[unit, segment] + length
                need = np.where(tried & bits[segment], need, np.maximum(need, end))
            best = min(best, int((self.total[tried] + need).min(initial=FAR)))
        return best


def _bits(useful: Useful) -> Sequence[int]:
    """For each segment the units that hold it, as bits."""
    values = 1 << np.arange(len(useful.size), dtype=np.int64)
    return [int(one) for one in values @ useful.holds]
