"""The best that any ranking of chunks, whatever their scores, can reach in projected measures.

The best order of chunks is not known in general. What is computed is a bound, and whether one of
a few rankings that should be good reaches it.

The bound: a run scores at most what its best line scores. A run that lies wholly in all chunks of
that line scores no less. So however the chunks score, some runs that are no gold come before a
run of gold, and cost it places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from harness.measures.projected import Board, by_corpus
from harness.measures.ranked import Found

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.measures.family import Family
    from harness.measures.inputs import Gold, Projection
    from harness.measures.ranked import Ranked
    from harness.measures.tables import GoldTables

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_STEPS = 2**20
_NOISE = 1e-12  # of adding the same discounts in another order

Way = Literal["share", "pure", "some"]
"""What a unit scores: its share of wanted lines, or whether it has them alone, or any."""
_WAYS: tuple[Way, ...] = ("share", "pure", "some")


@dataclass(frozen=True)
class BestRuns:
    """What no ranking passes, and rankings that may reach it."""

    bound: Ranked
    tried: tuple[Ranked, ...]

    def of(self, family: Family, k: int) -> tuple[Floats, Bools]:
        """The bound of a measure, and where it is reached, both shape (q,)."""
        bound = family.evaluate(self.bound, k)
        reached = np.max([family.evaluate(one, k) for one in self.tried], axis=0)
        return np.maximum(bound, reached), reached >= bound - _NOISE


def best_runs(projection: Projection, gold: GoldTables) -> BestRuns:
    """Bound every query of a cell.

    Args:
        projection: Its runs and gold; its scores play no part.
        gold: The gold in runs.
    """
    best = Found.nothing(gold)
    tried = {way: Found.nothing(gold) for way in _WAYS}
    for queries, runs in by_corpus(projection):
        places = _Places.of(Board.of(runs))
        for query in queries:
            wanted = _wanted(projection.gold[query])
            rows = gold.relevant.of(query)
            ranks = places.best_ranks(wanted)[: rows.stop - rows.start]
            best.relevant[rows.start : rows.start + len(ranks)] = ranks
            for way, found in tried.items():
                found.look_up(query, places.tried(wanted, way))
    return BestRuns(best.ranked(), tuple(found.ranked() for found in tried.values()))


def _wanted(gold: Gold) -> Ints:
    """Runs that can gain something, ascending."""
    return np.unique(
        np.concatenate((gold.unit, np.array([run for run, _ in gold.twins], np.int64)))
    )


@dataclass(frozen=True)
class _Places:
    """One corpus.

    Attributes:
        board: Its runs and units.
        low: For every line, the first run that lies in all units of the line, or -1 where no unit
            holds the line.
        high: Behind the last such run; there may be none.
    """

    board: Board
    low: Ints
    high: Ints

    @classmethod
    def of(cls, board: Board) -> _Places:
        runs = board.runs
        low = np.full(int(runs.edges[-1]) if len(runs.edges) else 0, -1, dtype=np.int64)
        high = low.copy()
        if len(board.line):
            first = np.maximum.reduceat(runs.first[board.unit], board.begin)
            behind = np.minimum.reduceat(runs.behind[board.unit], board.begin)
            low[board.line] = np.searchsorted(runs.edges, first, side="left")
            high[board.line] = np.searchsorted(runs.edges, behind, side="right") - 1
        return cls(board, low, high)

    def best_ranks(self, wanted: Ints) -> list[int]:
        """The best ranks that as many runs of `wanted` can have, ascending."""
        held = [run for run in wanted.tolist() if self._sets(run)]
        costs = sorted(self._cost(run, wanted) for run in held)
        return [place + cost for place, cost in enumerate(costs, 1)]

    def _sets(self, run: int) -> set[tuple[int, int]]:
        """Runs that lie in all units of a line, for each line of a run that lies in some unit."""
        lines = slice(int(self.board.runs.edges[run]), int(self.board.runs.edges[run + 1]))
        pairs = zip(self.low[lines].tolist(), self.high[lines].tolist(), strict=True)
        return {(low, max(low, high)) for low, high in pairs if low >= 0}

    def _cost(self, run: int, wanted: Ints) -> int:
        """How many runs that are not wanted come before this one at least.

        The units of its best line score either more than the run, so that all runs in them come
        before it; or exactly as much, so that all its lines score alike and every run in the
        units of one of them comes before it that does so in corpus order.
        """
        sets = self._sets(run)
        more = min(_count(low, high, wanted) for low, high in sets)
        earlier = {at for low, high in sets for at in range(low, min(high, run))}
        return min(more, len(earlier.difference(wanted.tolist())))

    def tried(self, wanted: Ints, way: Way) -> Ints:
        """Ranks of all runs where all units are ranked, and score as `way` says."""
        runs = self.board.runs
        is_wanted = np.zeros(len(runs.edges) - 1, dtype=np.int64)
        is_wanted[wanted] = 1
        lines = np.concatenate(([0], np.cumsum(np.repeat(is_wanted, np.diff(runs.edges)))))
        inside, of = lines[runs.behind] - lines[runs.first], runs.behind - runs.first
        level = {
            "share": inside * _STEPS // np.maximum(of, 1),
            "pure": ((inside == of) & (of > 0)).astype(np.int64),
            "some": (inside > 0).astype(np.int64),
        }[way]
        # The lowest level is that of lines in no unit.
        level -= level.min(initial=_STEPS)
        return self.board.ranks(np.arange(len(level)), level)


def _count(low: int, high: int, wanted: Ints) -> int:
    """Runs from `low` to before `high` that are not wanted."""
    within = np.searchsorted(wanted, (low, high))
    return high - low - int(within[1] - within[0])
