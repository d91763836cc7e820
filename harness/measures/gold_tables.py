"""The gold of a cell as flat arrays, so that a measure is computed for all queries at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.measures.cell import Cell, Gold, Units
    from harness.measures.profiles import Profile
    from harness.support.arrays import Bools, Floats, Ints

    _RowOf = dict[tuple[int, int], int]


_NOTHING: Ints = np.zeros(0, dtype=np.int64)


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

    @classmethod
    def of(cls, counts: Ints, item: Ints) -> Rows:
        """Rows from the number of items of each query."""
        bounds = np.concatenate(([0], np.cumsum(counts)))
        return cls(np.repeat(np.arange(len(counts)), counts), item, bounds)

    def part(self, query: int) -> slice:
        """The rows of one query."""
        return slice(int(self.bounds[query]), int(self.bounds[query + 1]))

    def count(self, among: Bools | None = None) -> Ints:
        """Rows of every query, or only those `among` marks, shape (q,)."""
        query = self.query if among is None else self.query[among]
        return np.bincount(query, minlength=len(self.bounds) - 1)


BATCH = 256
"""Queries that are looked up at a time, so that rankings and tables stay in a cache."""


@dataclass(frozen=True)
class Wanted:
    """Pairs of a query and a unit, to be found in rankings.

    Attributes:
        width: A number above that of every unit; a pair has the key query · width + unit.
        keys: Distinct keys, ascending, and one above all of them, shape (k + 1,).
        row: The key of each row, kind after kind.
        bounds: The first row of each kind but the first.
        hashed: Whether a pair of a batch of queries has a hash, shape (batches, hashes). Most of a
            ranking is not gold, and this drops nearly all of that before a search.
    """

    width: int
    keys: Ints
    row: Ints
    bounds: Ints
    hashed: Bools

    @classmethod
    def of(cls, kinds: Sequence[Rows], width: int) -> Wanted:
        """The pairs of all rows of several kinds."""
        every = [rows.query * width + rows.item for rows in kinds]
        keys, row = np.unique(np.concatenate(every), return_inverse=True)
        query, unit = np.divmod(keys, width)
        largest = int(np.bincount(query // BATCH).max(initial=1))
        size = 1 << min(16, (16 * largest + 1).bit_length())
        wanted = cls(
            width=width,
            keys=np.append(keys, np.iinfo(np.int64).max),
            row=row,
            bounds=np.cumsum([len(each) for each in every[:-1]]),
            hashed=np.zeros((int(query.max(initial=0)) // BATCH + 1, size), dtype=np.bool_),
        )
        hashes = wanted.hashes(query.astype(np.uint32), unit.astype(np.uint32))
        wanted.hashed[query // BATCH, hashes] = True
        return wanted

    def hashes(self, query: NDArray[np.uint32], unit: NDArray[np.uint32]) -> Ints:
        """Fibonacci hashes (Knuth, The Art of Computer Programming, volume 3, section 6.4).

        They are taken from the lower 32 bits: a hash need not tell two pairs apart.
        """
        shift = np.uint32(33 - self.hashed.shape[1].bit_length())
        hashes = (unit * np.uint32(0x9E3779B1) + query * np.uint32(0x85EBCA6B)) >> shift
        return hashes.astype(np.intp)  # an index of another type costs ten times as much


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
        given_grade: Their grades.
        again: Units that repeat a relevant one.
        again_for: The rows of `relevant` that they repeat.
        named: Queries whose gold was given by id, shape (q,).
        twin: Units that may count as a relevant one.
        twin_for: For each row of `twin`, the rows of `relevant` that it may count as, in order.
        judged: Units judged not relevant.
        below: Which of them have a grade below 0.
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
    given_grade: Floats
    again: Rows
    again_for: Ints
    named: Bools
    twin: Rows
    twin_for: tuple[tuple[int, ...], ...]
    judged: Rows
    below: Bools
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

    @cached_property
    def grade(self) -> Floats:
        """The gain of each row of `relevant`."""
        binary = self.profile.gain == "binary"
        return np.ones(len(self.given_grade)) if binary else self.given_grade

    @cached_property
    def again_grade(self) -> Floats:
        """The gain of each row of `again`."""
        return self.grade[self.again_for]

    @cached_property
    def counts(self) -> Bools:
        """Which rows of `relevant` are relevant to measures without grades."""
        return self.given_grade >= self.profile.least_grade

    @cached_property
    def n_relevant(self) -> Ints:
        """How many are, of each query, shape (q,)."""
        return self.relevant.count(self.counts)

    @cached_property
    def in_corpus(self) -> Bools:
        """Which rows of `relevant` the corpus holds."""
        held: Bools = self.relevant.item != self.missing_unit
        return held

    @cached_property
    def ideal_grade(self) -> Floats:
        """The grades of each query in descending order, rows as in `relevant`."""
        return self.grade[np.lexsort((-self.grade, self.relevant.query))]

    @cached_property
    def ideal_rank(self) -> Ints:
        """Their ranks, from 1."""
        rows = self.relevant
        return np.arange(len(rows.query)) - rows.bounds[rows.query] + 1

    @cached_property
    def pooled(self) -> Bools:
        """Which rows of `judged` Bpref and nDCG(judged) take as judged."""
        return ~self.below | (self.profile.negative == "not-relevant")

    @property
    def units(self) -> tuple[Rows, ...]:
        """The rows whose items are units."""
        return self.relevant, self.again, self.twin, self.judged, self.overlapping, self.piece

    @cached_property
    def wanted(self) -> Wanted:
        """All rows of `units`, to be found in rankings."""
        return Wanted.of(self.units, self.missing_unit + 1)

    @property
    def n_reachable(self) -> Ints:
        """Units of `n_relevant` that the corpus holds, shape (q,)."""
        return self.relevant.count(self.in_corpus & self.counts)


@lru_cache(maxsize=4)
def gold_tables(cell: Cell, profile: Profile) -> GoldTables:
    """The gold of a cell as flat arrays; kept for the oracle and the random values of the cell."""
    missing_unit = max((len(units.size) for units in cell.corpora), default=0)
    missing_file = max((n_files(units) for units in cell.corpora), default=0)
    golds = cell.gold
    gold_size = np.array([gold.gold_size for gold in golds], dtype=np.int64)
    base = np.cumsum(gold_size) - gold_size
    zeros = [_NOTHING if gold.judged_zero is None else gold.judged_zero for gold in golds]
    below = [
        np.isin(zero, gold.negative) if len(gold.negative) else np.zeros(len(zero), dtype=np.bool_)
        for zero, gold in zip(zeros, golds, strict=True)
    ]
    corpus = np.array([gold.corpus for gold in golds], dtype=np.int64)
    n_units = np.array([len(units.size) for units in cell.corpora], dtype=np.int64)
    target, target_size, stretches = _targets(golds, base)
    piece, offset, length, start = _pieces(golds, base, missing_unit)
    row_of: _RowOf = {}
    if any(gold.twins or gold.again for gold in golds):
        keys = [(query, unit) for query, gold in enumerate(golds) for unit in gold.unit.tolist()]
        row_of = {key: row for row, key in enumerate(keys)}
    again = [row_of[query, to] for query, gold in enumerate(golds) for _, to in gold.again]
    return GoldTables(
        profile=profile,
        corpus=corpus,
        group=corpus if cell.groups is None else np.array(cell.groups, dtype=np.int64)[corpus],
        n_units=n_units[corpus],
        missing_unit=missing_unit,
        missing_file=missing_file,
        relevant=_rows([gold.unit for gold in golds], missing_unit),
        given_grade=np.concatenate([np.zeros(0), *(gold.grade for gold in golds)]),
        again=_rows([[unit for unit, _ in gold.again] for gold in golds], missing_unit),
        again_for=np.array(again, dtype=np.int64),
        named=np.array([gold.named and not cell.spans for gold in golds], dtype=np.bool_),
        twin=_rows([[unit for unit, _ in gold.twins] for gold in golds], missing_unit),
        twin_for=tuple(
            tuple(row_of[query, unit] for unit in units)
            for query, gold in enumerate(golds)
            for _, units in gold.twins
        ),
        judged=_rows(zeros, missing_unit),
        below=np.concatenate([np.zeros(0, dtype=np.bool_), *below]),
        all_judged=np.array([gold.judged_zero is None for gold in golds], dtype=np.bool_),
        overlapping=_rows([[unit for unit, _ in gold.best_iou] for gold in golds], missing_unit),
        iou=np.array([iou for gold in golds for _, iou in gold.best_iou], dtype=np.float64),
        file=_rows([gold.target_files for gold in golds], missing_file),
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


def graded_tables(
    profile: Profile,
    *,
    named: Bools,
    relevant: Ints,
    grade: Floats,
    again: Ints,
    again_for: Ints,
    judged: Ints,
    below: Bools,
) -> GoldTables:
    """The gold of documents that are known by their ids alone.

    The arguments are those of `GoldTables`, with the queries of `Rows`, ascending, in their place.
    """
    n = len(named)
    none = np.zeros(n, dtype=np.int64)
    nothing = Rows.of(none, _NOTHING)

    def documents(query: Ints) -> Rows:
        return Rows.of(np.bincount(query, minlength=n), np.zeros(len(query), dtype=np.int64))

    return GoldTables(
        profile=profile,
        corpus=none,
        group=none,
        n_units=none,
        missing_unit=1,
        missing_file=1,
        relevant=documents(relevant),
        given_grade=grade,
        again=documents(again),
        again_for=again_for,
        named=named,
        twin=nothing,
        twin_for=(),
        judged=documents(judged),
        below=below,
        all_judged=np.zeros(n, dtype=np.bool_),
        overlapping=nothing,
        iou=np.zeros(0),
        file=nothing,
        piece=nothing,
        piece_offset=_NOTHING,
        piece_length=_NOTHING,
        piece_start=_NOTHING,
        gold_size=none,
        target=nothing,
        target_size=_NOTHING,
        stretch_target=_NOTHING,
        stretch_start=_NOTHING,
        stretch_end=_NOTHING,
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
    item = np.concatenate([_NOTHING, *(part for part in parts if len(part))])
    return Rows.of(counts, np.where(item < 0, missing, item))


def _pieces(golds: Sequence[Gold], base: Ints, missing: int) -> tuple[Rows, Ints, Ints, Ints]:
    """Rows in order of query and gold character, with their offset, length and first character."""
    pieces = [gold.pieces for gold in golds]
    count = np.array([len(each.unit) for each in pieces], dtype=np.int64)
    query = np.repeat(np.arange(len(golds)), count)
    pieces = [each for each in pieces if len(each.unit)]
    unit, offset, length, start = (
        np.concatenate([_NOTHING, *(getattr(each, name) for each in pieces)])
        for name in ("unit", "offset", "length", "gold")
    )
    order = np.lexsort((start, query))
    order = order[length[order] > 0]
    query = query[order]
    item = np.where(unit[order] < 0, missing, unit[order])
    rows = Rows.of(np.bincount(query, minlength=len(golds)), item)
    return rows, offset[order], length[order], start[order] + base[query]


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
