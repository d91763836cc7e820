"""What measures are computed from: the gold of every query in one cell, and its ranking.

A unit is what is ranked: a chunk, or a document where the gold is the document. Units are
numbered from 0 in corpus order (path, start, end), so an index is also the tie rule. Sizes and
offsets count the non-white-space characters of the source (`c`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _no_ints() -> NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Units:
    """The units of one corpus.

    Attributes:
        size: What delivering each unit costs, in `c`, shape (n,).
        file: Number of the file that each lies in, shape (n,).
        low: Characters of the file before each unit, shape (n,), so that a unit is the characters
            [low, low + size) of its file; empty where units do not lie in files.
        gap: Characters inside of units that they do not have: unit, first one in its file, behind
            the last, shape (g, 3), in order. They are not in `size`, so with them a unit ends so
            much later.
    """

    size: NDArray[np.int64]
    file: NDArray[np.int64]
    low: NDArray[np.int64] = field(default_factory=_no_ints)
    gap: NDArray[np.int64] = field(default_factory=lambda: _no_ints().reshape(0, 3))

    def take(self, numbers: NDArray[np.int64]) -> Units:
        """Some units that lie in files, ascending, numbered anew."""
        gap = self.gap[np.isin(self.gap[:, 0], numbers)]
        gap[:, 0] = np.searchsorted(numbers, gap[:, 0])
        return Units(self.size[numbers], self.file[numbers], self.low[numbers], gap)


@dataclass(frozen=True)
class Pieces:
    """Where units hold gold characters, one row for each stretch; row order is free.

    The distinct gold characters of a query are numbered 0 to gold_size-1. Row i says: the
    characters [offset, offset+length) of unit `unit` are the gold characters [gold, gold+length).
    A twin's rows carry the numbers of the target that it stands for, so a character that is
    delivered twice, from either place, is credited once. No character of a unit stands in two
    rows, so nothing delivered is credited twice.
    """

    unit: NDArray[np.int64] = field(default_factory=_no_ints)
    offset: NDArray[np.int64] = field(default_factory=_no_ints)
    length: NDArray[np.int64] = field(default_factory=_no_ints)
    gold: NDArray[np.int64] = field(default_factory=_no_ints)


@dataclass(frozen=True)
class Gold:
    """The gold of one query.

    Attributes:
        corpus: Number of the corpus in the cell.
        unit: Relevant units, ascending, shape (g,). One that the corpus lacks has a number below
            0, so that it is counted and never found.
        grade: Their grades, above 0, shape (g,).
        twins: Units of twins that are not relevant themselves, each with the relevant units that
            it may stand for, ascending: it counts as the first of them not yet found.
        again: Units that a scorer takes for a relevant unit once more, as (unit, relevant unit):
            each gains what that unit gains, and none is gold of its own. So an id that stands
            twice in a ranking counts each time.
        judged_zero: Units judged not relevant; None where every other unit counts as judged.
        named: Whether the gold was given by id rather than found by place or by text; gold that
            is lines of files never was.
        best_iou: Unit -> largest line IoU with any target, for units with any overlap.
        target_files: Distinct files of the targets, as numbers of `Units.file`; a file without a
            unit has the number -1 - i, so that it is counted and never found.
        pieces: Gold characters in units.
        gold_size: Number of distinct gold characters, covered by a unit or not.
        targets: For each target, its gold characters as stretches [lo, hi).
    """

    corpus: int
    unit: NDArray[np.int64]
    grade: NDArray[np.float64]
    twins: tuple[tuple[int, tuple[int, ...]], ...] = ()
    again: tuple[tuple[int, int], ...] = ()
    judged_zero: NDArray[np.int64] | None = None
    named: bool = True
    best_iou: tuple[tuple[int, float], ...] = ()
    target_files: NDArray[np.int64] = field(default_factory=_no_ints)
    pieces: Pieces = field(default_factory=Pieces)
    gold_size: int = 0
    targets: tuple[tuple[tuple[int, int], ...], ...] = ()


@dataclass(frozen=True)
class Runs:
    """The lines of one corpus in runs that no chunker has a say in.

    Non-blank lines are numbered from 0 over all files of the corpus, in corpus order.

    Attributes:
        edges: First line of each run, and behind it the number of lines, shape (n_runs + 1,). A
            run has 1 to 10 lines of one file.
        first: First line of each unit, shape (n_units,).
        behind: Behind its last line, shape (n_units,).
    """

    edges: NDArray[np.int64]
    first: NDArray[np.int64]
    behind: NDArray[np.int64]


@dataclass(frozen=True)
class Projection:
    """What is needed to carry the scores of units over to runs of lines.

    Attributes:
        runs: Of each corpus.
        gold: Of each query: its units, and those of its twins, are numbers of runs.
        scores: Of each query: a score for each unit of its ranking, NaN where there is none.
    """

    runs: tuple[Runs, ...]
    gold: tuple[Gold, ...]
    scores: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class Cell:
    """Everything that the measures of one cell need.

    Attributes:
        queries: Ids, in the order of all per-query arrays, shape (q,).
        corpora: The units of each corpus.
        gold: The gold of each query.
        ranking: For each query the unit numbers in rank order, without repeats.
        spans: Whether the gold is lines of files; without it span, file and IoU measures do not
            apply, and chunk-level columns are comparable across chunkers.
        absent: Which queries the run does not hold, shape (q,); None where it holds all.
        as_given: The rankings with equal scores in the order in which they were given, for a
            profile that takes MRR from them; None where they are no different.
        groups: For each corpus the number of the one that means and splits take it for, shape
            (len(corpora),); None where each is its own.
        projection: Lines and scores; None where the lines of files are not known, so that the
            projected measures do not apply.
    """

    queries: tuple[str, ...]
    corpora: tuple[Units, ...]
    gold: tuple[Gold, ...]
    ranking: tuple[NDArray[np.int64], ...]
    spans: bool = True
    absent: NDArray[np.bool_] | None = None
    as_given: tuple[NDArray[np.int64], ...] | None = None
    groups: tuple[int, ...] | None = None
    projection: Projection | None = None
