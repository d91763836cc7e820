"""The ranks of the gold of a cell in its rankings, and the gold that a budget delivers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.gold_tables import BATCH, Rows, sum_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.measures.cell import Units
    from harness.measures.gold_tables import GoldTables
    from harness.support.arrays import Bools, Floats, Ints


NEVER = 2**61
"""Rank and position of units that are not retrieved."""

UNCUT = NEVER - 1
"""Cut-off of an uncut measure."""


@dataclass(frozen=True)
class Hits:
    """Retrieved units with a gain by query and rank, a twin as its relevant unit.

    Attributes:
        query: Shape (h,).
        rank: From 1, shape (h,).
        gain: The grade that is gained, above 0, shape (h,).
        nth: 1 for the first hit of its query, and so on, shape (h,).
    """

    query: Ints
    rank: Ints
    gain: Floats
    nth: Ints

    @classmethod
    def of(cls, query: Ints, rank: Ints, gain: Floats) -> Hits:
        """Number the hits of each query."""
        first = np.searchsorted(query, query, side="left")
        return cls(query, rank, gain, np.arange(len(query)) - first + 1)


@dataclass(frozen=True)
class Delivered:
    """The gold that a budget delivers.

    Attributes:
        credited: Distinct gold characters delivered, shape (q,).
        delivered: Characters delivered, shape (q,).
        complete: Whether every character of some target was delivered, shape (q,).
    """

    credited: Ints
    delivered: Ints
    complete: Bools


@dataclass(frozen=True)
class GoldRanks:
    """The ranks of the gold of each query.

    Attributes:
        gold: The gold, q queries.
        relevant: Rank of each row of `gold.relevant`, from 1; NEVER where not retrieved. `again`,
            `twin`, `judged`, `overlapping`: the same for these rows.
        file: The same for `gold.file`, among distinct files.
        before: Characters delivered before the unit of each row of `gold.piece`.
        retrieved: Units in the ranking, shape (q,).
        total: Characters in the ranking, shape (q,).
    """

    gold: GoldTables
    relevant: Ints
    again: Ints
    twin: Ints
    judged: Ints
    overlapping: Ints
    file: Ints
    before: Ints
    retrieved: Ints
    total: Ints

    @cached_property
    def graded(self) -> Hits:
        """Each unit with a gain once, and each repeat of it."""
        return Hits.of(*_hits(self))

    @cached_property
    def hits(self) -> Hits:
        """Those that are relevant to measures without grades."""
        graded, least = self.graded, self.gold.profile.rel
        if least is None:
            return graded
        kept = graded.gain >= least
        return Hits.of(graded.query[kept], graded.rank[kept], graded.gain[kept])

    @cached_property
    def judged_rank(self) -> Ints:
        """Rank of each of `graded` among the judged units alone, shape (h,)."""
        graded, gold = self.graded, self.gold
        query = np.concatenate((gold.judged.query[gold.pooled], graded.query))
        rank = np.concatenate((self.judged[gold.pooled], graded.rank))
        order = np.lexsort((rank, query))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        first = np.searchsorted(query[order], graded.query, side="left")
        among = place[len(order) - len(first) :] - first + 1
        return np.where(gold.all_judged[graded.query], graded.rank, among)

    def count(self, limit: int) -> Ints:
        """Hits in the first `limit` of every query, shape (q,)."""
        within = self.hits.rank <= limit
        return np.bincount(self.hits.query[within], minlength=self.gold.n_queries)

    def sum(self, values: Floats, among: Bools) -> Floats:
        """Sum of `values`, one a hit, over those `among` marks; in order of rank, shape (q,)."""
        return sum_by(self.hits.query[among], values[among], self.gold.n_queries)

    @cached_property
    def _budgets(self) -> dict[int, Delivered]:
        return {}

    def deliver(self, budget: int) -> Delivered:
        """The gold in the first `budget` characters, cached for the next measure."""
        if budget not in self._budgets:
            self._budgets[budget] = _deliver(self, budget)
        return self._budgets[budget]


def _hits(ranks: GoldRanks) -> tuple[Ints, Ints, Floats]:
    gold = ranks.gold
    rank = np.concatenate((ranks.relevant, ranks.twin, ranks.again))
    query = np.concatenate((gold.relevant.query, gold.twin.query, gold.again.query))
    gain = np.concatenate((gold.grade, np.zeros(len(ranks.twin)), gold.again_grade))
    order = np.flatnonzero(rank < NEVER)
    order = order[np.lexsort((rank[order], query[order]))]
    if len(ranks.twin):
        _credit_twins(gold, order, query, gain)
        order = order[gain[order] > 0]
    return query[order], rank[order], gain[order]


def _credit_twins(gold: GoldTables, order: Ints, query: Ints, gain: Floats) -> None:
    """Give every twin the gain of its first unit not yet retrieved, and later copies none."""
    n_relevant = len(gold.grade)
    with_twins = np.zeros(gold.n_queries, dtype=np.bool_)
    with_twins[gold.twin.query] = True
    credited: set[int] = set()
    n_both = n_relevant + len(gold.twin.item)  # after these are repeated units
    rows = order[with_twins[query[order]] & (order < n_both)]
    for row in rows.tolist():
        units = (row,) if row < n_relevant else gold.twin_for[row - n_relevant]
        free = next((unit for unit in units if unit not in credited), None)
        gain[row] = 0.0 if free is None else gold.grade[free]
        if free is not None:
            credited.add(free)


def _deliver(ranks: GoldRanks, budget: int) -> Delivered:
    gold = ranks.gold
    begin = ranks.before + gold.piece_offset
    length = np.clip(budget - begin, 0, gold.piece_length)
    # The rows are in order of their first character, so what a row adds to the union is what
    # reaches beyond all rows before it.
    end = gold.piece_start + length
    reached = np.concatenate(([0], np.maximum.accumulate(end)[:-1])) if len(end) else end
    start = np.maximum(gold.piece_start, reached)
    new = np.maximum(end - start, 0)
    credited = np.bincount(gold.piece.query, weights=new, minlength=gold.n_queries)
    seen = _covered(start, new, gold.stretch_end) - _covered(start, new, gold.stretch_start)
    of_target = np.bincount(gold.stretch_target, weights=seen, minlength=len(gold.target_size))
    complete = np.zeros(gold.n_queries, dtype=np.bool_)
    whole = (of_target == gold.target_size) & (gold.target_size > 0)
    complete[gold.target.query[whole]] = True
    return Delivered(credited.astype(np.int64), np.minimum(ranks.total, budget), complete)


def _covered(start: Ints, length: Ints, point: Ints) -> Ints:
    """Characters before each point in disjoint stretches that are sorted by start."""
    kept = length > 0
    start, length = start[kept], length[kept]
    if not len(start):
        return np.zeros(len(point), dtype=np.int64)
    before = np.concatenate(([0], np.cumsum(length)))
    at = np.searchsorted(start, point, side="right")
    last = np.maximum(at - 1, 0)
    inside = np.minimum(point - start[last], length[last])
    return np.where(at > 0, before[last] + inside, 0)


def gold_ranks(gold: GoldTables, corpora: Sequence[Units], rankings: Iterable[Ints]) -> GoldRanks:
    """Look the gold up in the rankings of its queries, which are units in rank order."""
    rows = list(rankings)
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    bounds = np.concatenate(([0], np.cumsum(counts)))
    kinds = {name: rows for name, rows, table in _lookups(gold) if table != "file"}
    places = dict(zip(kinds, _places(gold, rows, bounds), strict=True))
    piece, total, file = places.pop("before"), np.zeros_like(counts), gold.file.item
    if gold.gold_size.any() or len(file):
        ranked = Rows.of(counts, np.concatenate([np.zeros(0, dtype=np.int64), *rows]))
        piece, total = _characters(gold, corpora, ranked, piece)
        file = _file_ranks(gold, corpora, ranked)
    ranks = {
        name: np.where(place < NEVER, place - bounds[kinds[name].query] + 1, NEVER)
        for name, place in places.items()
    }
    return GoldRanks(gold=gold, file=file, before=piece, retrieved=counts, total=total, **ranks)


def _places(gold: GoldTables, rows: Sequence[Ints], bounds: Ints) -> list[Ints]:
    """The place of each unit of gold in all rankings together, or NEVER, kind by kind."""
    wanted = gold.wanted
    place = np.full(len(wanted.keys), NEVER, dtype=np.int64)
    if len(place) == 1:
        return np.split(place[wanted.row], wanted.bounds)
    edges = np.searchsorted(wanted.keys, np.arange(len(rows) + 1) * wanted.width)
    for first, hashed in zip(range(0, len(rows), BATCH), wanted.hashed, strict=False):
        part = rows[first : first + BATCH]
        query = np.arange(first, first + len(part))
        begin = bounds[first : first + len(part) + 1]
        units = np.concatenate(part)
        hashes = wanted.hashes(
            np.repeat(query.astype(np.uint32), np.diff(begin)), units.astype(np.uint32)
        )
        found = np.flatnonzero(hashed[hashes])
        query = query[np.searchsorted(begin, begin[0] + found, side="right") - 1]
        low, high = edges[first], edges[first + len(part)]
        keys = query * wanted.width + units[found]
        at = low + np.searchsorted(wanted.keys[low:high], keys)
        held = wanted.keys[at] == keys
        place[at[held]] = bounds[first] + found[held]
    return np.split(place[wanted.row], wanted.bounds)


def _search(ascending: Ints, keys: Ints) -> Ints:
    """Where each key is in distinct ascending values; their number where it is not."""
    at = np.searchsorted(ascending, keys)
    inside = at < len(ascending)
    inside[inside] = ascending[at[inside]] == keys[inside]
    return np.where(inside, at, len(ascending))


def _of_units(values: Sequence[Ints], gold: GoldTables, ranked: Rows) -> Ints:
    """The value of each unit that is ranked, from one array for each corpus."""
    base = np.cumsum([0, *(len(each) for each in values)])[gold.corpus]
    at = ranked.item + base[ranked.query]
    value: Ints = np.concatenate([np.zeros(0, dtype=np.int64), *values])[at]
    return value


def _characters(
    gold: GoldTables, corpora: Sequence[Units], ranked: Rows, place: Ints
) -> tuple[Ints, Ints]:
    """Characters delivered before each piece, and in all of each ranking."""
    sizes = _of_units([units.size for units in corpora], gold, ranked)
    begin = np.concatenate(([0], np.cumsum(sizes)))
    first, end = begin[ranked.bounds[:-1]], begin[ranked.bounds[1:]]
    before = begin[np.minimum(place, len(sizes))] - first[gold.piece.query]
    return np.where(place < NEVER, before, NEVER), end - first


def _file_ranks(gold: GoldTables, corpora: Sequence[Units], ranked: Rows) -> Ints:
    """The rank of each file of a target among the distinct files of its ranking, or NEVER."""
    width = gold.missing_file + 1
    files = _of_units([units.file for units in corpora], gold, ranked)
    distinct, first = np.unique(ranked.query * width + files, return_index=True)
    count = np.zeros(len(files) + 1, dtype=np.int64)
    count[first + 1] = 1
    count = np.cumsum(count)  # distinct files in the rows before each
    place = np.append(first, NEVER)[_search(distinct, gold.file.query * width + gold.file.item)]
    rank = count[np.minimum(place + 1, len(files))] - count[ranked.bounds[gold.file.query]]
    return np.where(place < NEVER, rank, NEVER)


def shared_gold_ranks(
    gold: GoldTables, corpora: Sequence[Units], orders: Sequence[Ints]
) -> GoldRanks:
    """Look the gold up in one order of each corpus, which its queries share."""
    shape = (len(corpora), gold.missing_unit + 1)
    rank = np.full(shape, NEVER, dtype=np.int64)
    before = np.full(shape, NEVER, dtype=np.int64)
    files = np.full((len(corpora), gold.missing_file + 1), NEVER, dtype=np.int64)
    for number, (units, order) in enumerate(zip(corpora, orders, strict=True)):
        sizes = units.size[order]
        rank[number, order] = np.arange(1, len(order) + 1)
        before[number, order] = np.cumsum(sizes) - sizes
        set_file_ranks(units.file[order], files[number])
    total = np.array([units.size.sum() for units in corpora], dtype=np.int64)
    tables = {"rank": rank, "before": before, "file": files}
    columns = {
        name: tables[kind][gold.corpus[rows.query], rows.item]
        for name, rows, kind in _lookups(gold)
    }
    return GoldRanks(gold=gold, retrieved=gold.n_units, total=total[gold.corpus], **columns)


def relevant_first(gold: GoldTables) -> GoldRanks:
    """The best ranking for measures of ranks.

    Graded units come first, by grade, with their repeats among them; nothing else is retrieved.
    Without any, the units judged not relevant are, or else any unit. Overlapping units and files
    are each ranked separately, best first.
    """
    relevant = gold.relevant.query
    first = _numbered(
        np.concatenate((relevant, gold.again.query)),
        np.concatenate((gold.in_corpus, gold.again.item != gold.missing_unit)),
        -np.concatenate((gold.grade, gold.again_grade)),
    )
    n_first = gold.relevant.count(gold.in_corpus) + gold.again.count()
    reachable = (gold.judged.item != gold.missing_unit) & (n_first == 0)[gold.judged.query]
    of_corpus = gold.file.item != gold.missing_file
    others = np.where(gold.all_judged, gold.n_units, gold.judged.count(reachable))
    # The best P of a whole ranking has no unit of a lower grade than `rel`.
    n_best = np.where(gold.n_reachable > 0, gold.n_reachable + gold.again.count(), n_first)
    return GoldRanks(
        gold=gold,
        relevant=first[: len(relevant)],
        again=first[len(relevant) :],
        twin=np.full(len(gold.twin.item), NEVER, dtype=np.int64),
        judged=_numbered(gold.judged.query, reachable, np.zeros(len(reachable))),
        overlapping=_numbered(gold.overlapping.query, gold.iou > 0, -gold.iou),
        file=_numbered(gold.file.query, of_corpus, np.zeros(len(of_corpus))),
        before=np.full(len(gold.piece.item), NEVER, dtype=np.int64),
        retrieved=np.where(n_first > 0, n_best, others),
        total=np.zeros(gold.n_queries, dtype=np.int64),
    )


def set_file_ranks(files: Ints, out: Ints) -> None:
    """Write the rank of each file among the distinct ones of a ranking to `out`."""
    steps = np.arange(len(files))
    out[files[::-1]] = steps[::-1]  # of repeated files the last write counts: their first place
    distinct = files[out[files] == steps]
    out[distinct] = np.arange(1, len(distinct) + 1)


@lru_cache(maxsize=1)
def _log_table(size: int) -> Floats:
    """log2(rank + 1) for the ranks 0 to size - 1; `math.log2`, whose bits do not vary."""
    return np.array([math.log2(rank + 1) for rank in range(size)])


def log_discount(rank: Ints) -> Floats:
    """log2(rank + 1) for ranks from 1, same shape."""
    largest = int(rank.max()) if len(rank) else 0
    return _log_table(max(1024, 2 ** (largest + 1).bit_length()))[rank]


def _lookups(gold: GoldTables) -> tuple[tuple[str, Rows, str], ...]:
    units = zip(("relevant", "again", "twin", "judged", "overlapping"), gold.units, strict=False)
    ranks = tuple((name, rows, "rank") for name, rows in units)
    return *ranks, ("file", gold.file, "file"), ("before", gold.piece, "before")


def _numbered(query: Ints, kept: Bools, key: Floats) -> Ints:
    """Ranks 1, 2, ... of the kept rows of each query by ascending key; NEVER for the others."""
    rank = np.full(len(query), NEVER, dtype=np.int64)
    order = np.lexsort((key, ~kept, query))
    order = order[kept[order]]
    of = query[order]
    rank[order] = np.arange(len(order)) - np.searchsorted(of, of, side="left") + 1
    return rank
