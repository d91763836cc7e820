"""Scores runs of lines by the scores of chunks, and finds the best values of any ranking.

Scores become whole numbers first. So the mean of a run is exact, and two runs of equal scores
tie, with any number and order of lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from harness.measures.cell import Cell, Units
from harness.measures.gold_ranks import NEVER, GoldRanks, gold_ranks
from harness.measures.gold_tables import GoldTables, gold_tables
from harness.support.arrays import ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.measures.cell import Gold, Projection, Runs
    from harness.measures.family import Family
    from harness.measures.profiles import Profile
    from harness.support.arrays import Bools, Floats, Ints


_LEVEL_BITS = 48
"""Bits of the highest level, at most; ten of them, times `_SHARE`, fit into 64."""

_SHARE = 2520
"""A multiple of every number of lines that a run can have."""

_STEPS = 2**20
_NOISE = 1e-12  # of adding the same discounts in another order

Scoring = Literal["share", "pure", "some"]
"""What a unit scores: its share of wanted lines, or whether it has them alone, or any."""
_SCORINGS: tuple[Scoring, ...] = ("share", "pure", "some")


def run_units(projection: Projection) -> tuple[Units, ...]:
    """The runs of each corpus as units; one more is any run that no ranked unit shows."""
    counts = [len(runs.edges) for runs in projection.runs]
    return tuple(Units(np.ones(n, np.int64), np.zeros(n, np.int64)) for n in counts)


def run_gold(
    cell: Cell, projection: Projection, corpora: tuple[Units, ...], profile: Profile
) -> GoldTables:
    """The gold of a cell in runs: each gains 1, and the ideal is over all of them."""
    runs = Cell(cell.queries, corpora, projection.gold, ())
    return gold_tables(runs, replace(profile, gain="binary", ideal="all-gold", repeats="refused"))


def levels(scores: Floats) -> Ints:
    """The scores of one ranking as whole numbers from 0, for the lowest, to at most 2**48.

    Scores that never rise along the ranking keep their proportions. Where they do rise, as after
    a rerank of the first units alone, the ranking counts: each place is one step. Units without a
    score after the last scored one are as low as the lowest.

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
        steps = _LEVEL_BITS - math.frexp(spread)[1]
        result[:count] = np.rint(np.ldexp(head - head[-1], steps)).astype(np.int64)
    return result


@dataclass(frozen=True)
class RunLayout:
    """The runs of one corpus, ready for any number of rankings.

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
    def of(cls, runs: Runs) -> RunLayout:
        """Lay the units out by line."""
        unit, line = ranges(runs.first, runs.stop - runs.first)
        order = np.argsort(line, kind="stable")
        distinct, begin = np.unique(line[order], return_index=True)
        return cls(runs, distinct, begin, unit[order], _SHARE // np.diff(runs.edges))

    def order(self, ranking: Ints, level: Ints) -> Ints:
        """The runs in rank order, ties in corpus order, shape (n_runs,).

        A run without a line in a ranked unit takes its place as the number n_runs: no ranked unit
        shows it, so it cannot be found.

        Args:
            ranking: Units in rank order.
            level: The level of each.
        """
        n_runs = len(self.share)
        if not n_runs:
            return np.zeros(0, dtype=np.int64)
        by_unit = np.full(len(self.runs.first), -1, dtype=np.int64)
        by_unit[ranking] = level
        by_line = np.full(int(self.runs.edges[-1]), -1, dtype=np.int64)
        if len(self.line):
            by_line[self.line] = np.maximum.reduceat(by_unit[self.unit], self.begin)
        starts = self.runs.edges[:-1]
        total = np.add.reduceat(np.maximum(by_line, 0), starts) * self.share
        order = np.argsort(-total, kind="stable")
        shown = np.maximum.reduceat(by_line, starts) >= 0
        return np.where(shown[order], order, n_runs)

    @cached_property
    def _within(self) -> tuple[Ints, Ints]:
        """For every line, the first run that lies in all units of the line, and the next one after.

        The first is -1 where no unit holds the line. There may be no such run.
        """
        runs = self.runs
        low = np.full(int(runs.edges[-1]) if len(runs.edges) else 0, -1, dtype=np.int64)
        high = low.copy()
        if len(self.line):
            first = np.maximum.reduceat(runs.first[self.unit], self.begin)
            stop = np.minimum.reduceat(runs.stop[self.unit], self.begin)
            low[self.line] = np.searchsorted(runs.edges, first, side="left")
            high[self.line] = np.searchsorted(runs.edges, stop, side="right") - 1
        return low, high

    def best_ranks(self, wanted: Ints) -> list[int]:
        """The best ranks that as many runs of `wanted` can have, ascending.

        A run scores at most what its best line scores. A run that lies wholly in all units of that
        line scores no less. So however the units score, some runs that are not wanted come before
        a wanted one, and cost it places.
        """
        costs = sorted(
            self._cost(run, sets, wanted) for run in wanted.tolist() if (sets := self._sets(run))
        )
        return [place + cost for place, cost in enumerate(costs, 1)]

    def _sets(self, run: int) -> set[tuple[int, int]]:
        """Runs that lie in all units of a line, for each line of a run that lies in some unit."""
        lines = slice(int(self.runs.edges[run]), int(self.runs.edges[run + 1]))
        pairs = zip(*(ends[lines].tolist() for ends in self._within), strict=True)
        return {(low, max(low, high)) for low, high in pairs if low >= 0}

    def _cost(self, run: int, sets: set[tuple[int, int]], wanted: Ints) -> int:
        """How many runs that are not wanted come before this one at least.

        The units of its best line score either more than the run, so that all runs in them come
        before it; or exactly as much, so that all its lines score alike and every run in the
        units of one of them comes before it that does so in corpus order.
        """
        others = [high - low - int(np.diff(np.searchsorted(wanted, (low, high)))[0])
                  for low, high in sets]  # fmt: skip
        earlier = {at for low, high in sets for at in range(low, min(high, run))}
        return min(*others, len(earlier.difference(wanted.tolist())))

    def order_by(self, wanted: Ints, scoring: Scoring) -> Ints:
        """The runs in rank order where all units are ranked, and score as `scoring` says."""
        runs = self.runs
        is_wanted = np.zeros(len(runs.edges) - 1, dtype=np.int64)
        is_wanted[wanted] = 1
        lines = np.concatenate(([0], np.cumsum(np.repeat(is_wanted, np.diff(runs.edges)))))
        inside, size = lines[runs.stop] - lines[runs.first], runs.stop - runs.first
        level = {
            "share": inside * _STEPS // np.maximum(size, 1),
            "pure": ((inside == size) & (size > 0)).astype(np.int64),
            "some": (inside > 0).astype(np.int64),
        }[scoring]
        # The lowest level is that of lines in no unit.
        level -= level.min(initial=_STEPS)
        return self.order(np.arange(len(level)), level)


@dataclass(frozen=True)
class BestRuns:
    """A bound that no ranking of chunks passes, and rankings that may reach it.

    The best order of chunks is not known in general.
    """

    bound: GoldRanks
    tried: tuple[GoldRanks, ...]

    @classmethod
    def of(
        cls,
        projection: Projection,
        gold: GoldTables,
        corpora: Sequence[Units],
        layouts: Sequence[RunLayout],
    ) -> BestRuns:
        """Bound every query of a cell; the scores of the projection play no part.

        `gold` is that of the projection as tables, `corpora` are from `run_units`.
        """
        wanted = [_wanted(each) for each in projection.gold]
        best = np.full(len(gold.grade), NEVER, dtype=np.int64)
        for query, each in enumerate(projection.gold):
            rows = gold.relevant.part(query)
            ranks = layouts[each.corpus].best_ranks(wanted[query])[: rows.stop - rows.start]
            best[rows.start : rows.start + len(ranks)] = ranks

        def orders(scoring: Scoring) -> Iterator[Ints]:
            for each, runs in zip(projection.gold, wanted, strict=True):
                yield layouts[each.corpus].order_by(runs, scoring)

        tried = tuple(gold_ranks(gold, corpora, orders(scoring)) for scoring in _SCORINGS)
        no_twin = np.full(len(gold.twin.item), NEVER, dtype=np.int64)
        return cls(replace(tried[0], relevant=best, twin=no_twin), tried)

    def values(self, family: Family, k: int) -> tuple[Floats, Bools]:
        """The bound of a measure, and where it is reached, both shape (q,)."""
        bound = family.evaluate(self.bound, k)
        reached = np.max([family.evaluate(ranks, k) for ranks in self.tried], axis=0)
        return np.maximum(bound, reached), reached >= bound - _NOISE


def _wanted(gold: Gold) -> Ints:
    """Runs that can gain something, ascending."""
    twins = np.array([run for run, _ in gold.twins], np.int64)
    return np.unique(np.concatenate((gold.unit, twins)))
