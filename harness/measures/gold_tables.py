"""The gold of a cell as flat arrays, so that a measure is computed for all queries at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.measures.cell import Cell, Gold, Units
    from harness.measures.profiles import Profile
    from harness.support.arrays import Bools, Floats, Ints

    _RowOf = dict[tuple[int, int], int]


@dataclass(frozen=True)
class Rows:
    """Items of queries, one row each, in order of query.

    Attributes:
        query: Number of the query, shape (r,).
        item: Number of the unit or file, shape (r,). An item that the corpus lacks (a negative
            number in the cell) has the number `GoldTables.missing_unit` or `missing_file`.
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
    """The gold of all queries of a cell, independent of any ranking.

    q is the number of queries; the arrays listed after a `Rows` have one value a row.

    Attributes:
        profile: The conventions.
        corpus: Corpus of each query, shape (q,).
        group: Group of that corpus in means, shape (q,).
        n_units: Units in each query's corpus, shape (q,).
        missing_unit: A number above every unit of every corpus; it is never retrieved.
        missing_file: The same for files.
        relevant: Units with a grade above 0, those that the corpus lacks included.
        grade: The gain of each.
        counts: Which of them are relevant to measures without grades.
        n_relevant: How many are, of each query, shape (q,).
        in_corpus: Which rows of `relevant` the corpus holds.
        ideal_grade: The grades of each query in descending order, rows as in `relevant`.
        ideal_rank: Their ranks, from 1.
        again: Units that repeat a relevant one.
        again_grade: The gain of each.
        named: Queries whose gold was given by id, shape (q,).
        twin: Units that may count as a relevant one.
        twin_for: For each row of `twin`, the rows of `relevant` that it may count as, in order.
        judged: Units judged not relevant.
        pooled: Which of them Bpref and nDCG(judged) take as judged.
        all_judged: Queries for which every unit counts as judged, shape (q,).
        overlapping: Units that share lines with a target.
        iou: Their largest line IoU.
        file: Files that hold targets.
        piece: Stretches of gold in units, by query and first gold character.
        piece_offset: Characters of the unit before the stretch.
        piece_length: Characters of the stretch, above 0.
        piece_start: First gold character, numbered over all queries.
        gold_size: Gold characters of each query, shape (q,).
        target: One row for each target; the item is its number in the query.
        target_size: Gold characters of the target.
        stretch_target: Row of `target` that a stretch of gold belongs to, shape (s,).
        stretch_start: Its first gold character, numbered over all queries, shape (s,).
        stretch_end: Its last gold character + 1.
    """

    profile: Profile
    corpus: Ints
    group: Ints
    n_units: Ints
    missing_unit: int
    missing_file: int
    relevant: Rows
    grade: Floats
    counts: Bools
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
    pooled: Bools
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
        """Units of `n_relevant` that the corpus holds, shape (q,)."""
        return self.relevant.count(self.in_corpus & self.counts)


def gold_tables(cell: Cell, profile: Profile) -> GoldTables:
    """The gold of a cell as flat arrays, with the gains of the profile."""
    missing_unit = max((len(units.size) for units in cell.corpora), default=0)
    missing_file = max((n_files(units) for units in cell.corpora), default=0)
    relevant = _rows([gold.unit for gold in cell.gold], missing_unit)
    grade = np.concatenate([np.zeros(0), *(gold.grade for gold in cell.gold)])
    counts = grade >= profile.least_grade
    if profile.gain == "binary":
        grade = np.ones(len(grade))
    by_grade = np.lexsort((-grade, relevant.query))
    gold_size = np.array([gold.gold_size for gold in cell.gold], dtype=np.int64)
    base = np.cumsum(gold_size) - gold_size
    empty = np.zeros(0, dtype=np.int64)
    zeros = [empty if gold.judged_zero is None else gold.judged_zero for gold in cell.gold]
    below = [np.isin(zero, gold.negative) for zero, gold in zip(zeros, cell.gold, strict=True)]
    corpus = np.array([gold.corpus for gold in cell.gold], dtype=np.int64)
    n_units = np.array([len(units.size) for units in cell.corpora], dtype=np.int64)
    target, target_size, stretches = _targets(cell.gold, base)
    piece, offset, length, start = _pieces(cell.gold, base, missing_unit)
    row_of: _RowOf = {}
    if any(gold.twins or gold.again for gold in cell.gold):
        keys = [
            (query, unit) for query, gold in enumerate(cell.gold) for unit in gold.unit.tolist()
        ]
        row_of = {key: row for row, key in enumerate(keys)}
    again, again_for = _again(cell.gold, row_of, missing_unit)
    return GoldTables(
        profile=profile,
        corpus=corpus,
        group=corpus if cell.groups is None else np.array(cell.groups, dtype=np.int64)[corpus],
        n_units=n_units[corpus],
        missing_unit=missing_unit,
        missing_file=missing_file,
        relevant=relevant,
        grade=grade,
        counts=counts,
        n_relevant=relevant.count(counts),
        in_corpus=relevant.item != missing_unit,
        ideal_grade=grade[by_grade],
        ideal_rank=np.arange(len(grade)) - relevant.bounds[relevant.query] + 1,
        again=again,
        again_grade=grade[again_for],
        named=np.array([gold.named and not cell.spans for gold in cell.gold], dtype=np.bool_),
        twin=_rows([[unit for unit, _ in gold.twins] for gold in cell.gold], missing_unit),
        twin_for=tuple(
            tuple(row_of[query, unit] for unit in units)
            for query, gold in enumerate(cell.gold)
            for _, units in gold.twins
        ),
        judged=_rows(zeros, missing_unit),
        pooled=~np.concatenate([np.zeros(0, dtype=np.bool_), *below])
        | (profile.negative == "not-relevant"),
        all_judged=np.array([gold.judged_zero is None for gold in cell.gold], dtype=np.bool_),
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
    """Sum of `values`, one a row, for each query; added in row order, shape (q,)."""
    # Without rows, bincount makes integers.
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


def _again(golds: Sequence[Gold], row_of: _RowOf, missing: int) -> tuple[Rows, Ints]:
    """One row for each repeated unit, and the rows of `relevant` that they repeat."""
    rows = _rows([[unit for unit, _ in gold.again] for gold in golds], missing)
    repeated = [row_of[query, to] for query, gold in enumerate(golds) for _, to in gold.again]
    return rows, np.array(repeated, dtype=np.int64)


def _pieces(golds: Sequence[Gold], base: Ints, missing: int) -> tuple[Rows, Ints, Ints, Ints]:
    """Rows in order of query and gold character, with their offset, length and first character."""
    columns = []
    for gold in golds:
        pieces = gold.pieces
        order = np.argsort(pieces.gold, kind="stable")
        order = order[pieces.length[order] > 0]
        each = np.stack((pieces.unit, pieces.offset, pieces.length, pieces.gold))
        columns.append(each[:, order])
    rows = _rows([each[0] for each in columns], missing)
    none = np.zeros((4, 0), dtype=np.int64)
    _, offset, length, start = np.concatenate([none, *columns], axis=1)
    return rows, offset, length, start + base[rows.query]


def _targets(golds: Sequence[Gold], base: Ints) -> tuple[Rows, Ints, tuple[Ints, Ints, Ints]]:
    """One row for each target, their sizes, and the stretches as target row, start and end."""
    target = _rows([list(range(len(gold.targets))) for gold in golds], 0)
    stretches = [
        (int(target.bounds[query]) + number, lo + int(base[query]), hi + int(base[query]))
        for query, gold in enumerate(golds)
        for number, target_stretches in enumerate(gold.targets)
        for lo, hi in target_stretches
    ]
    row, start, end = np.array(stretches, dtype=np.int64).reshape(-1, 3).T
    size = np.zeros(len(target.query), dtype=np.int64)
    np.add.at(size, row, end - start)
    return target, size, (row, start, end)
