"""Delivery of merged chunks: repeated text is neither charged nor delivered again.

Chunks that touch or overlap are merged before they are charged. So a ranking delivers the part of
each chunk that no chunk before it holds, from start to end, until the budget is spent. Here the
text is cut at every edge of a chunk into pieces. A piece is then a unit that nothing overlaps, at
the rank of the first chunk that holds it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.cell import Gold, Pieces, Units
from harness.measures.gold_ranks import NEVER
from harness.measures.gold_tables import n_files
from harness.support.arrays import ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.measures.cell import Cell
    from harness.support.arrays import Bools, Ints


def merged_gold(cell: Cell, cuts: Sequence[Cuts]) -> Cell:
    """The same cell with pieces for units, without rankings; only what budgets need is there."""
    nothing = np.zeros(0, dtype=np.int64)
    gold = tuple(
        Gold(
            corpus=each.corpus,
            unit=nothing,
            grade=np.zeros(0),
            pieces=cuts[each.corpus].cut(each.pieces),
            gold_size=each.gold_size,
            targets=each.targets,
        )
        for each in cell.gold
    )
    return replace(cell, corpora=tuple(cut.units for cut in cuts), gold=gold, ranking=())


@dataclass(frozen=True)
class Cuts:
    """One corpus, cut at every edge of a unit.

    The characters of all files are numbered one after the other.

    Attributes:
        low: First character of each unit, shape (n,).
        units: The pieces that lie in some unit, m of them, in order.
        start: First character of each piece, shape (m,).
        begin: For each piece its first row of `holder`, shape (m,).
        holder: Units by piece: every unit that holds a piece has a row.
        gap: Unit, first and last + 1 of the characters that a unit does not have.
    """

    low: Ints
    units: Units
    start: Ints
    begin: Ints
    holder: Ints
    gap: Ints

    @classmethod
    def of(cls, units: Units) -> Cuts:
        """Cut a corpus whose units have offsets."""
        ends = np.zeros(n_files(units), dtype=np.int64)
        stop = units.low + units.size
        np.add.at(stop, units.gap[:, 0], units.gap[:, 2] - units.gap[:, 1])
        np.maximum.at(ends, units.file, stop)
        base = (np.cumsum(ends) - ends)[units.file]
        low, high = units.low + base, stop + base
        gap = units.gap[:, 1:] + base[units.gap[:, 0], None]
        edges = np.unique(np.concatenate((low, high, gap.reshape(-1))))
        first = np.searchsorted(edges, low)
        holder, piece = ranges(first, np.searchsorted(edges, high) - first)
        kept = ~_inside(holder, edges[piece], units.gap[:, 0], gap)
        holder, piece = holder[kept], piece[kept]
        order = np.argsort(piece, kind="stable")
        distinct, begin = np.unique(piece[order], return_index=True)
        held = Units(np.diff(edges)[distinct], units.file[holder[order][begin]])
        gaps = np.column_stack((units.gap[:, 0], gap))
        return cls(low, held, edges[distinct], begin, holder[order], gaps)

    def cut(self, pieces: Pieces) -> Pieces:
        """Gold characters in units as gold characters in pieces, each once.

        For a piece in several units, the first unit decides the gold in it.
        """
        owner = self.holder[self.begin]
        start, end = self.start, self.start + self.units.size
        rows: list[tuple[int, int, int, int]] = []
        columns = (pieces.unit, pieces.offset, pieces.length, pieces.gold)
        for unit, offset, length, gold in np.stack(columns, axis=1).tolist():
            low = self._place(unit, offset)
            first = int(np.searchsorted(end, low, side="right"))
            for piece in range(first, int(np.searchsorted(start, low + length))):
                if owner[piece] == unit:
                    at = int(start[piece])
                    begin, stop = max(low, at), min(low + length, int(end[piece]))
                    rows.append((piece, begin - at, stop - begin, gold + begin - low))
        return Pieces(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)

    def _place(self, unit: int, offset: int) -> int:
        """The character at an offset in the text of a unit."""
        place = int(self.low[unit]) + offset
        for _, begin, stop in self.gap[self.gap[:, 0] == unit].tolist():
            place += stop - begin if begin <= place else 0
        return place

    def order(self, ranking: Ints) -> tuple[Ints, Ints]:
        """The pieces in the order in which a ranking of units delivers them.

        Returns:
            The k pieces that lie in a ranked unit, and for each the first rank that holds it,
            ascending; shapes (k,).
        """
        rank = np.full(len(self.low), NEVER, dtype=np.int64)
        rank[ranking] = np.arange(len(ranking))
        if not len(self.begin):  # reduceat needs a row
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing
        first = np.minimum.reduceat(rank[self.holder], self.begin)
        pieces = np.argsort(first, kind="stable")[: int((first < NEVER).sum())]
        return pieces, first[pieces]


def _inside(holder: Ints, place: Ints, unit: Ints, gap: Ints) -> Bools:
    """Which places lie in a gap of their holder."""
    lost = np.zeros(len(holder), dtype=np.bool_)
    for owner, (begin, stop) in zip(unit.tolist(), gap.tolist(), strict=True):
        lost |= (holder == owner) & (place >= begin) & (place < stop)
    return lost
