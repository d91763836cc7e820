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
    from harness.support.arrays import Bools, Floats, Ints


def _no_ints() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Units:
    """The units of one corpus.

    Attributes:
        size: What delivering each unit costs, in `c`, shape (n,).
        file: Number of the file that each lies in, shape (n,).
        low: Characters of the file before each unit, shape (n,), so that a unit is the characters
            [low, low + size) of its file; empty where units do not lie in files.
        gap: Characters inside a unit that it does not have: unit, first and last + 1 in its file,
            shape (g, 3), in order. They are not in `size`; a unit ends that much later.
    """

    size: Ints
    file: Ints
    low: Ints = field(default_factory=_no_ints)
    gap: Ints = field(default_factory=lambda: _no_ints().reshape(0, 3))

    def take(self, numbers: Ints) -> Units:
        """Some units that lie in files, ascending, numbered anew."""
        gap = self.gap[np.isin(self.gap[:, 0], numbers)]
        gap[:, 0] = np.searchsorted(numbers, gap[:, 0])
        return Units(self.size[numbers], self.file[numbers], self.low[numbers], gap)


@dataclass(frozen=True)
class Pieces:
    """The gold characters in units, one row for each stretch, in any order.

    The distinct gold characters of a query are numbered 0 to gold_size-1. Row i says: the
    characters [offset, offset+length) of unit `unit` are the gold characters [gold, gold+length).
    A twin's rows carry the numbers of its target, so a character that is delivered from both
    places is credited once. No character of a unit is in two rows.
    """

    unit: Ints = field(default_factory=_no_ints)
    offset: Ints = field(default_factory=_no_ints)
    length: Ints = field(default_factory=_no_ints)
    gold: Ints = field(default_factory=_no_ints)


@dataclass(frozen=True)
class Gold:
    """The gold of one query.

    Attributes:
        corpus: Number of the corpus in the cell.
        unit: Relevant units, ascending, shape (g,). A unit that the corpus lacks has a number
            below 0, so that it is counted and never retrieved.
        grade: Their grades, above 0, shape (g,).
        twins: Units of twins that are not relevant themselves, each with its relevant units,
            ascending: it counts as the first of them not yet retrieved.
        again: Units that repeat a relevant unit, as (unit, relevant unit): each gains as much, but
            is not gold itself. So a repeated id in a ranking counts each time.
        judged_zero: Units judged not relevant; None where every other unit counts as judged.
        negative: Those of them with a grade below 0.
        named: Whether the gold was given by id rather than derived from places or texts.
        best_iou: Unit -> largest line IoU with any target, for units with any overlap.
        target_files: Distinct files of the targets, as numbers of `Units.file`; a file without a
            unit has the number -1 - i, so that it is counted and never retrieved.
        pieces: Gold characters in units.
        gold_size: Number of distinct gold characters, covered by a unit or not.
        targets: For each target, its gold characters as stretches [lo, hi).
    """

    corpus: int
    unit: Ints
    grade: Floats
    twins: tuple[tuple[int, tuple[int, ...]], ...] = ()
    again: tuple[tuple[int, int], ...] = ()
    judged_zero: Ints | None = None
    negative: Ints = field(default_factory=_no_ints)
    named: bool = True
    best_iou: tuple[tuple[int, float], ...] = ()
    target_files: Ints = field(default_factory=_no_ints)
    pieces: Pieces = field(default_factory=Pieces)
    gold_size: int = 0
    targets: tuple[tuple[tuple[int, int], ...], ...] = ()


@dataclass(frozen=True)
class Runs:
    """The lines of one corpus in runs that do not depend on the chunker.

    Non-blank lines are numbered from 0 over all files of the corpus, in corpus order.

    Attributes:
        edges: First line of each run, and last the number of lines, shape (n_runs + 1,). A run
            has 1 to 10 lines of one file.
        first: First line of each unit, shape (n_units,).
        stop: Its last line + 1, shape (n_units,).
    """

    edges: Ints
    first: Ints
    stop: Ints


@dataclass(frozen=True)
class Projection:
    """Inputs for the scores of runs of lines.

    Attributes:
        runs: The runs of each corpus.
        gold: The gold of each query; its units, and its twins, are numbers of runs.
        scores: For each query the score of each unit of its ranking, or NaN.
    """

    runs: tuple[Runs, ...]
    gold: tuple[Gold, ...]
    scores: tuple[Floats, ...]


@dataclass(frozen=True, eq=False)
class Cell:
    """The inputs of the measures of one cell; equal to itself alone.

    Attributes:
        queries: Ids, in the order of all per-query arrays, shape (q,).
        corpora: The units of each corpus.
        gold: The gold of each query.
        ranking: For each query the unit numbers in rank order, without repeats.
        spans: Whether the gold is lines of files; without it span, file and IoU measures do not
            apply, and chunk-level columns are comparable across chunkers.
        absent: Which queries the run does not hold, shape (q,); None where it holds all.
        mrr_ranking: The rankings in the order of the profile's `mrr`; None where they are the same.
        groups: For each corpus the number of its group in means and splits, shape (len(corpora),);
            None where each is its own.
        projection: Lines and scores; None where the lines of files are unknown, so that projected
            measures do not apply.
    """

    queries: tuple[str, ...]
    corpora: tuple[Units, ...]
    gold: tuple[Gold, ...]
    ranking: tuple[Ints, ...]
    spans: bool = True
    absent: Bools | None = None
    mrr_ranking: tuple[Ints, ...] | None = None
    groups: tuple[int, ...] | None = None
    projection: Projection | None = None
