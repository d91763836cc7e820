"""Carries the scores of units over to runs of lines, and ranks these.

Scores become whole numbers first. So the mean of a run is exact, and two runs that score alike
score the same, however many lines they have and in whatever order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.inputs import Cell, Units
from harness.measures.ranked import NEVER, Found, place_shared
from harness.measures.tables import GoldTables, gold_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.measures.inputs import Projection, Runs
    from harness.measures.profiles import Profile
    from harness.measures.ranked import Ranked

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

_STEPS = 48
"""Bits of the highest level, at most; ten of them, times `_SHARE`, fit into 64."""

_SHARE = 2520
"""A multiple of every number of lines that a run can have."""


def run_tables(cell: Cell, projection: Projection, profile: Profile) -> GoldTables:
    """The gold of a cell in runs: each gains 1, and the ideal is over all of them."""
    units = tuple(
        Units(np.ones(len(one.edges) - 1, dtype=np.int64), np.zeros(len(one.edges) - 1, np.int64))
        for one in projection.runs
    )
    runs = Cell(cell.queries, units, projection.gold, ())
    return gold_tables(runs, replace(profile, gain="binary", ideal="all-gold", repeats="refused"))


def place_runs(cell: Cell, projection: Projection, gold: GoldTables) -> Ranked:
    """Look the gold up in the runs as the rankings of the cell order them."""
    found = Found.nothing(gold)
    for queries, runs in by_corpus(projection):
        board = Board.of(runs)
        for query in queries:
            level = levels(projection.scores[query])
            found.look_up(query, board.ranks(cell.ranking[query], level))
    return found.ranked()


def by_corpus(projection: Projection) -> list[tuple[list[int], Runs]]:
    """The numbers of the queries of each corpus, and its runs."""
    queries: list[list[int]] = [[] for _ in projection.runs]
    for number, gold in enumerate(projection.gold):
        queries[gold.corpus].append(number)
    return list(zip(queries, projection.runs, strict=True))


def place_shared_runs(gold: GoldTables, boards: Sequence[Board], orders: Sequence[Ints]) -> Ranked:
    """Look the gold up in one order of all units of each corpus; each place is one step down."""
    table = np.full((len(boards), gold.missing_unit + 1), NEVER, dtype=np.int64)
    for number, (board, order) in enumerate(zip(boards, orders, strict=True)):
        table[number, : board.n_runs] = board.ranks(order, np.arange(len(order))[::-1])
    none = np.full((len(boards), 1), NEVER, dtype=np.int64)
    return place_shared(gold, table, none, none, np.zeros(len(boards), dtype=np.int64))


def levels(scores: Floats) -> Ints:
    """The scores of one ranking as whole numbers from 0, for the lowest, to at most 2**48.

    Scores that never rise along the ranking keep their proportions. Where they do rise, as after
    a rerank of the first units alone, the ranking counts: each place is one step. What has no
    score and stands behind all that have one is as low as the lowest.

    Args:
        scores: In rank order, NaN where there is none, shape (n,).
    """
    result = np.zeros(len(scores), dtype=np.int64)
    scored = np.flatnonzero(~np.isnan(scores))
    if not len(scored):
        return result
    count = int(scored[-1]) + 1
    head = scores[:count]
    spread = float(head[0]) - float(head[-1])
    if not (np.isfinite(head).all() and math.isfinite(spread)) or (np.diff(head) > 0).any():
        result[:count] = np.arange(count)[::-1]
    elif spread > 0:
        # By a power of two, so that what is a tie between sums of scores stays one.
        steps = _STEPS - math.frexp(spread)[1]
        result[:count] = np.rint(np.ldexp(head - head[-1], steps)).astype(np.int64)
    return result


@dataclass(frozen=True)
class Board:
    """One corpus, ready for any number of rankings.

    Attributes:
        runs: The corpus.
        line: Lines in some unit, ascending, shape (m,).
        begin: For each of them its first row of `unit`, shape (m,).
        unit: Units by line: every unit of a line has a row.
        share: What a run's sum counts, so that sums compare as means do, shape (n_runs,).
    """

    runs: Runs
    line: Ints
    begin: Ints
    unit: Ints
    share: Ints

    @classmethod
    def of(cls, runs: Runs) -> Board:
        """Lay the units out by line."""
        count = runs.behind - runs.first
        unit = np.repeat(np.arange(len(count)), count)
        line = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        line += runs.first[unit]
        order = np.argsort(line, kind="stable")
        distinct, begin = np.unique(line[order], return_index=True)
        return cls(runs, distinct, begin, unit[order], _SHARE // np.diff(runs.edges))

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return len(self.share)

    def ranks(self, ranking: Ints, level: Ints) -> Ints:
        """The rank of every run, from 1, ties in corpus order, shape (n_runs,).

        A run without a line in a ranked unit takes its place and has the rank NEVER: nobody can
        find what no ranked unit shows.

        Args:
            ranking: Units in rank order.
            level: The level of each.
        """
        if not self.n_runs:
            return np.zeros(0, dtype=np.int64)
        by_unit = np.full(len(self.runs.first), -1, dtype=np.int64)
        by_unit[ranking] = level
        by_line = np.full(int(self.runs.edges[-1]), -1, dtype=np.int64)
        if len(self.line):
            by_line[self.line] = np.maximum.reduceat(by_unit[self.unit], self.begin)
        starts = self.runs.edges[:-1]
        total = np.add.reduceat(np.maximum(by_line, 0), starts) * self.share
        rank = np.empty(self.n_runs, dtype=np.int64)
        rank[np.argsort(-total, kind="stable")] = np.arange(1, self.n_runs + 1)
        return np.where(np.maximum.reduceat(by_line, starts) >= 0, rank, NEVER)
