"""The gold of a cell as flat arrays, so that a measure is computed for all queries at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.measures.cell import Cell, Gold, Units
    from harness.measures.profiles import Profile

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """Things that belong to queries, one row each, in order of query.

    Attributes:
        query: Number of the query, shape (r,).
        item: Number of the unit or file, shape (r,). What the corpus lacks (a negative number in
            the cell) has the number `GoldTables.missing_unit` or `missing_file`.
        bounds: Rows `bounds[i]` to `bounds[i + 1]` are those of query i, shape (q + 1,).
    """

    query: Ints
    item: Ints
    bounds: Ints

    def of(self, query: int) -> slice:
        """The rows of one query."""
        return slice(int(self.bounds[query]), int(self.bounds[query + 1]))

    def count(self, among: Bools | None = None) -> Ints:
        """Rows of every query, or only those `among` marks, shape (q,)."""
        query = self.query if among is None else self.query[among]
        return np.bincount(query, minlength=len(self.bounds) - 1)


@dataclass(frozen=True)
class GoldTables:
    """What all queries of a cell look for, independent of any ranking.

    q is the number of queries; the arrays beside a `Rows` have one value a row.

    Attributes:
        profile: The conventions that every value rests on.
        corpus: Corpus of each query, shape (q,).
        group: The corpus that means take it for, shape (q,).
        n_units: Units in each query's corpus, shape (q,).
        missing_unit: A number above every unit of every corpus; nothing retrieves it.
        missing_file: The same for files.
        relevant: Relevant units, those that the corpus lacks included.
        grade: What each gains.
        n_relevant: Relevant units of each query, shape (q,).
        in_corpus: Which rows of `relevant` the corpus holds.
        ideal_grade: The grades of each query in descending order, rows as in `relevant`.
        ideal_rank: Their ranks, from 1.
        again: Units that count as a relevant one once more.
        again_grade: What each gains.
        named: Queries whose gold was given by id, shape (q,).
        twin: Units that may stand for a relevant one.
        twin_for: For each row of `twin`, the rows of `relevant` that it may stand for, in order.
        judged: Units judged not relevant.
        all_judged: Queries for which every unit counts as judged, shape (q,).
        overlapping: Units that share lines with a target.
        iou: Their largest line IoU.
        file: Files that hold targets.
        piece: Stretches of gold in units, by query and first gold character.
        piece_offset: Characters of the unit before the stretch.
        piece_length: Characters of the stretch, above 0.
        piece_start: First gold character, numbered over all queries.
        gold_size: Gold characters of each query, shape (q,).
        target: One row a target; the item is the target's number in its query.
        target_size: Gold characters of the target.
        stretch_target: Row of `target` that a stretch of gold belongs to, shape (s,).
        stretch_start: Its first gold character, numbered over all queries, shape (s,).
        stretch_end: The character behind its last.
    """

    profile: Profile
    corpus: Ints
    group: Ints
    n_units: Ints
    missing_unit: int
    missing_file: int
    relevant: Rows
    grade: Floats
    n_relevant: Ints
    in_corpus: Bools
    ideal_grade: Floats
    ideal_rank: Ints
    again: Rows
    again_grade: Floats
    named: Bools
    twin: Rows
    twin_for: tuple[tuple[int, ...], ...]
    judged: Rows
    all_judged: Bools
    overlapping: Rows
    iou: Floats
    file: Rows
    piece: Rows
    piece_offset: Ints
    piece_length: Ints
    piece_start: Ints
    gold_size: Ints
    target: Rows
    target_size: Ints
    stretch_target: Ints
    stretch_start: Ints
    stretch_end: Ints

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.corpus)

    @property
    def n_reachable(self) -> Ints:
        """Relevant units that the corpus holds, shape (q,)."""
        return self.relevant.count(self.in_corpus)


def gold_tables(cell: Cell, profile: Profile) -> GoldTables:
    """Lay the gold of a cell out flat, with the gains that the profile gives."""
    missing_unit = max((len(units.size) for units in cell.corpora), default=0)
    missing_file = max((n_files(units) for units in cell.corpora), default=0)
    relevant = _rows([gold.unit for gold in cell.gold], missing_unit)
    grade = np.concatenate([np.zeros(0), *(gold.grade for gold in cell.gold)])
    if profile.gain == "binary":
        grade = np.ones(len(grade))
    by_grade = np.lexsort((-grade, relevant.query))
    gold_size = np.array([gold.gold_size for gold in cell.gold], dtype=np.int64)
    base = np.cumsum(gold_size) - gold_size
    zeros = [gold.judged_zero for gold in cell.gold]
    empty = np.zeros(0, dtype=np.int64)
    corpus = np.array([gold.corpus for gold in cell.gold], dtype=np.int64)
    n_units = np.array([len(units.size) for units in cell.corpora], dtype=np.int64)
    target, target_size, stretches = _targets(cell.gold, base)
    piece, offset, length, start = _pieces(cell.gold, base, missing_unit)
    again, again_for = _again(cell.gold, relevant, missing_unit)
    return GoldTables(
        profile=profile,
        corpus=corpus,
        group=corpus if cell.groups is None else np.array(cell.groups, dtype=np.int64)[corpus],
        n_units=n_units[corpus],
        missing_unit=missing_unit,
        missing_file=missing_file,
        relevant=relevant,
        grade=grade,
        n_relevant=relevant.count(),
        in_corpus=relevant.item != missing_unit,
        ideal_grade=grade[by_grade],
        ideal_rank=np.arange(len(grade)) - relevant.bounds[relevant.query] + 1,
        again=again,
        again_grade=grade[again_for],
        named=np.array([gold.named and not cell.spans for gold in cell.gold], dtype=np.bool_),
        twin=_rows([[unit for unit, _ in gold.twins] for gold in cell.gold], missing_unit),
        twin_for=_twin_for(cell.gold, relevant),
        judged=_rows([empty if zero is None else zero for zero in zeros], missing_unit),
        all_judged=np.array([zero is None for zero in zeros], dtype=np.bool_),
        overlapping=_rows(
            [[unit for unit, _ in gold.best_iou] for gold in cell.gold], missing_unit
        ),
        iou=np.array([iou for gold in cell.gold for _, iou in gold.best_iou], dtype=np.float64),
        file=_rows([gold.target_files for gold in cell.gold], missing_file),
        piece=piece,
        piece_offset=offset,
        piece_length=length,
        piece_start=start,
        gold_size=gold_size,
        target=target,
        target_size=target_size,
        stretch_target=stretches[0],
        stretch_start=stretches[1],
        stretch_end=stretches[2],
    )


def sum_by(query: Ints, values: Floats, n_queries: int) -> Floats:
    """Sum of `values`, one a row, for each query; added in the order of the rows, shape (q,)."""
    # Of no rows at all, bincount makes integers.
    return np.bincount(query, weights=values, minlength=n_queries).astype(np.float64)


def n_files(units: Units) -> int:
    """One more than the largest file number."""
    return int(units.file.max()) + 1 if len(units.file) else 0


def _rows(parts: Sequence[Ints | list[int]], missing: int) -> Rows:
    counts = np.array([len(part) for part in parts], dtype=np.int64)
    item = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(np.asarray(part, dtype=np.int64) for part in parts)]
    )
    return Rows(
        query=np.repeat(np.arange(len(parts)), counts),
        item=np.where(item < 0, missing, item),
        bounds=np.concatenate(([0], np.cumsum(counts))),
    )


def _again(golds: Sequence[Gold], relevant: Rows, missing: int) -> tuple[Rows, Ints]:
    """One row a unit that counts again, and the rows of `relevant` that they count as."""
    rows = _rows([[unit for unit, _ in gold.again] for gold in golds], missing)
    counts_as: list[int] = []
    for query, gold in enumerate(golds):
        if gold.again:
            row_of = _row_of(query, gold, relevant)
            counts_as += [row_of[unit] for _, unit in gold.again]
    return rows, np.array(counts_as, dtype=np.int64)


def _row_of(query: int, gold: Gold, relevant: Rows) -> dict[int, int]:
    first = int(relevant.bounds[query])
    return {int(unit): first + i for i, unit in enumerate(gold.unit)}


def _twin_for(golds: Sequence[Gold], relevant: Rows) -> tuple[tuple[int, ...], ...]:
    rows = []
    for query, gold in enumerate(golds):
        if gold.twins:
            row_of = _row_of(query, gold, relevant)
            rows += [tuple(row_of[unit] for unit in stands_for) for _, stands_for in gold.twins]
    return tuple(rows)


def _pieces(golds: Sequence[Gold], base: Ints, missing: int) -> tuple[Rows, Ints, Ints, Ints]:
    """Rows in order of query and gold character, with their offset, length and first character."""
    units, offsets, lengths, starts = [], [], [], []
    for gold in golds:
        pieces = gold.pieces
        order = np.argsort(pieces.gold, kind="stable")
        order = order[pieces.length[order] > 0]
        units.append(pieces.unit[order])
        offsets.append(pieces.offset[order])
        lengths.append(pieces.length[order])
        starts.append(pieces.gold[order])
    rows = _rows(units, missing)
    none = np.zeros(0, dtype=np.int64)
    return (
        rows,
        np.concatenate([none, *offsets]),
        np.concatenate([none, *lengths]),
        np.concatenate([none, *starts]) + base[rows.query],
    )


def _targets(golds: Sequence[Gold], base: Ints) -> tuple[Rows, Ints, tuple[Ints, Ints, Ints]]:
    """One row a target, their sizes, and the stretches as target row, start and end."""
    target = _rows([list(range(len(gold.targets))) for gold in golds], 0)
    stretches = [
        (int(target.bounds[query]) + number, lo + int(base[query]), hi + int(base[query]))
        for query, gold in enumerate(golds)
        for number, one in enumerate(gold.targets)
        for lo, hi in one
    ]
    row, start, end = np.array(stretches, dtype=np.int64).reshape(-1, 3).T
    size = np.zeros(len(target.query), dtype=np.int64)
    np.add.at(size, row, end - start)
    return target, size, (row, start, end)
