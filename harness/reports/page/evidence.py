"""Why the chunks of a ranking count for a query, and what a budget delivers of its gold.

Nothing is judged here: the gold comes from the record by the rules that scored it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from harness.measures.grammar import family_of
from harness.measures.merged import Cuts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from harness.measures.cell import Gold, Pieces, Units
    from harness.runs.metric_options import MetricOptions
    from harness.runs.stored_values import Reading

    Ints = NDArray[np.int64]

RANKS = 10
"""First ranks that are always shown."""

Kind = Literal["relevant", "copy", "below", "blank-lines", "judged"]
"""`relevant`: shares text with a target; `copy`: of a relevant chunk; `below`: shares text, but too
little for the rule; `blank-lines`: shares only blank lines, which some profiles count; `judged`: a
document with a judgement."""


@dataclass(frozen=True)
class Reason:
    """Why a ranked unit counts, or why it does not although it has gold.

    Attributes:
        rank: From 0.
        kind: The rule that decides.
        grade: Its grade; 0 if it is not relevant.
        iou: Largest line IoU with a target, 0 where it overlaps none.
        shares: For each target that it has text of: its number, and the `c` of it.
        stands: The relevant units that a copy counts as.
    """

    rank: int
    kind: Kind
    grade: float
    iou: float = 0.0
    shares: tuple[tuple[int, int], ...] = ()
    stands: tuple[int, ...] = ()


@dataclass(frozen=True)
class Delivery:
    """What a budget delivers of a ranking.

    Attributes:
        rank: The rank, from 0, in which it ends; the number of ranks if it lasts longer.
        last: `c` delivered of the unit with that rank.
        chars: `c` delivered in all.
        gold: Delivered gold characters as intervals, ascending.
    """

    rank: int
    last: int
    chars: int
    gold: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Evidence:
    """The first ranks of a query's ranking.

    Attributes:
        corpus: The corpus it is ranked against.
        units: Numbers of the units in their corpus, in rank order.
        scores: Their scores; None where a unit has none.
        reasons: In order of rank.
        deliveries: For each budget.
        missed: Relevant units with lower ranks and their rank from 0, or None if not retrieved.
        relevant: Number of relevant units.
        ranked: Number of ranked units.
        targets: The first gold character of each target, and how many it has.
    """

    corpus: str
    units: tuple[int, ...]
    scores: tuple[float | None, ...]
    reasons: tuple[Reason, ...]
    deliveries: tuple[Delivery, ...]
    missed: tuple[tuple[int, int | None], ...]
    relevant: int
    ranked: int
    targets: tuple[tuple[int, int], ...]


def budgets_of(options: MetricOptions) -> list[int]:
    """The budgets of the measures of a cell, ascending, in `c`."""
    cuts = {m.cut for m in options.measures if family_of(m).cut == "budget"}
    return sorted(cut for cut in cuts if cut is not None)


def evidence(reading: Reading) -> Iterator[Evidence]:
    """The evidence of every query of a record, in its order."""
    record, options, judged = reading.record, reading.options, reading.judged
    cell = judged.cell
    corpora = sorted({query.ranked for query in record.queries})
    merges = options.profile.assemble == "merge" and cell.spans
    cuts = [Cuts.of(units) for units in cell.corpora] if merges else []
    budgets = budgets_of(options) if cell.spans else []
    for gold, ranking, row in zip(cell.gold, cell.ranking, record.rankings, strict=True):
        units = cell.corpora[gold.corpus]
        text = _merged(cuts[gold.corpus], ranking) if merges else _ranked(units, ranking)
        pieces = cuts[gold.corpus].cut(gold.pieces) if merges else gold.pieces
        deliveries = [_delivery(text, pieces, len(ranking), budget) for budget in budgets]
        shown = min(len(ranking), max([RANKS, *(d.rank + 1 for d in deliveries)]))
        scores = dict(zip(row.ids, row.scores, strict=True))
        names = judged.unit_ids[gold.corpus]
        places = {unit: rank for rank, unit in enumerate(ranking.tolist())}
        relevant = gold.unit[gold.grade >= options.profile.least_grade].tolist()
        yield Evidence(
            corpus=corpora[gold.corpus],
            units=tuple(ranking[:shown].tolist()),
            scores=tuple(scores[names[unit]] for unit in ranking[:shown].tolist()),
            reasons=tuple(_reasons(gold, places, shown, spans=cell.spans)),
            deliveries=tuple(deliveries),
            missed=tuple(
                (unit, places.get(unit)) for unit in relevant if places.get(unit, shown) >= shown
            ),
            relevant=len(relevant),
            ranked=len(ranking),
            targets=tuple((target[0][0], target[0][1] - target[0][0]) for target in gold.targets),
        )


@dataclass(frozen=True)
class _Text:
    """The text of a ranking in the order of delivery.

    Attributes:
        place: Number of each piece of text -> its place in that order.
        end: Characters up to the end of each place, shape (n,).
        rank: The rank that brings each place, shape (n,).
    """

    place: Mapping[int, int]
    end: Ints
    rank: Ints


def _ranked(units: Units, ranking: Ints) -> _Text:
    """The text of chunks, one after the other."""
    place = {unit: at for at, unit in enumerate(ranking.tolist())}
    return _Text(place, np.cumsum(units.size[ranking]), np.arange(len(ranking)))


def _merged(cuts: Cuts, ranking: Ints) -> _Text:
    """The text of merged chunks: each character once, with the first chunk that holds it."""
    order, ranks = cuts.order(ranking)
    place = {piece: at for at, piece in enumerate(order.tolist())}
    return _Text(place, np.cumsum(cuts.units.size[order]), ranks)


def _delivery(text: _Text, pieces: Pieces, ranks: int, budget: int) -> Delivery:
    """What a budget delivers of a text, whose ranking has so many ranks."""
    at = int(np.searchsorted(text.end, budget))  # the place in which the budget ends
    begin = np.concatenate((np.zeros(1, dtype=np.int64), text.end))
    rows = []
    for unit, offset, length, gold in zip(
        pieces.unit.tolist(),
        pieces.offset.tolist(),
        pieces.length.tolist(),
        pieces.gold.tolist(),
        strict=True,
    ):
        place = text.place.get(unit)
        left = 0 if place is None else min(length, budget - int(begin[place]) - offset)
        if left > 0:
            rows.append((gold, gold + left))
    gold_rows = tuple(_joined(rows))
    if at == len(text.end):
        return Delivery(ranks, 0, int(begin[-1]), gold_rows)
    rank = int(text.rank[at])
    first = int(np.searchsorted(text.rank, rank))  # ranks ascend in the order of delivery
    return Delivery(rank, budget - int(begin[first]), budget, gold_rows)


def _joined(intervals: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The union of intervals, ascending."""
    begin = end = -1
    for low, high in sorted(intervals):
        if low > end:
            if end > begin:
                yield begin, end
            begin = low
        end = max(end, high)
    if end > begin:
        yield begin, end


def _reasons(gold: Gold, places: Mapping[int, int], shown: int, *, spans: bool) -> Iterator[Reason]:
    """Why the shown units count, in order of rank; nothing for one without gold."""
    grades = dict(zip(gold.unit.tolist(), gold.grade.tolist(), strict=True))
    if not spans:
        zero = dict.fromkeys(() if gold.judged_zero is None else gold.judged_zero.tolist(), 0.0)
        judged = {unit: places[unit] for unit in {**zero, **grades} if unit in places}
        for unit, rank in sorted(judged.items(), key=lambda pair: pair[1]):
            if rank < shown:
                yield Reason(rank, "judged", grades.get(unit, 0.0))
        return
    shares = _shares(gold)
    copies, ious = dict(gold.twins), dict(gold.best_iou)
    touched = sorted({*grades, *copies, *shares} & places.keys(), key=lambda unit: places[unit])
    for unit in touched:
        if places[unit] >= shown:
            return
        kind: Kind = "below"
        if unit in grades:
            kind = "relevant" if unit in shares else "blank-lines"
        elif unit in copies:
            kind = "copy"
        yield Reason(
            rank=places[unit],
            kind=kind,
            grade=grades.get(unit, 0.0),
            iou=ious.get(unit, 0.0),
            shares=tuple(sorted(shares.get(unit, {}).items())),
            stands=copies.get(unit, ()),
        )


def _shares(gold: Gold) -> dict[int, dict[int, int]]:
    """How many characters of each target every unit has."""
    shares: dict[int, dict[int, int]] = {}
    rows = zip(
        gold.pieces.unit.tolist(),
        gold.pieces.gold.tolist(),
        gold.pieces.length.tolist(),
        strict=True,
    )
    for unit, begin, length in rows:
        for target, stretches in enumerate(gold.targets):
            both = sum(
                min(begin + length, hi) - max(begin, lo)
                for lo, hi in stretches
                if begin < hi and lo < begin + length
            )
            if both > 0:
                own = shares.setdefault(unit, {})
                own[target] = own.get(target, 0) + both
    return shares
