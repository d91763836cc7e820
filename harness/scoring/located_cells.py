"""Cells of outside rankings, for the measures of lines and files.

Every query is a corpus of its own whose units are what was retrieved for it, in rank order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chunkers.source import Source
from harness.chunking.layout import Layout
from harness.measures.cell import Cell, Gold, Units
from harness.model import Relevance
from harness.reading.reader import ReadRules, read_file
from harness.relevance.chunk_gold import ChunkTable, span_gold
from harness.relevance.targets import LocatedTarget

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.scoring.records import Location


@dataclass(frozen=True)
class LocatedQuery:
    """The locations of a query's gold, with grades above 0, and of what was retrieved for it.

    `retrieved` is in rank order; None for what has no location.
    """

    query: str
    retrieved: tuple[Location | None, ...]
    targets: tuple[tuple[Location, float], ...]

    @property
    def has_lines(self) -> bool:
        """Whether a target is lines of a file."""
        return any(place.first is not None for place, _ in self.targets)


def line_cell(cases: Sequence[LocatedQuery]) -> Cell:
    """What IoU, FileR and FileMRR are computed from: paths and line numbers alone."""
    return _cell(cases, [_line_parts(case, number) for number, case in enumerate(cases)])


_Row = tuple[str, tuple[int, int], tuple[int, int], tuple[int, int]]
_Parts = tuple[Units, Gold, list[int]]


def _cell(cases: Sequence[LocatedQuery], parts: Sequence[_Parts]) -> Cell:
    return Cell(
        queries=tuple(case.query for case in cases),
        corpora=tuple(units for units, _, _ in parts),
        gold=tuple(gold for _, gold, _ in parts),
        ranking=tuple(np.array(ranking, dtype=np.int64) for _, _, ranking in parts),
    )


def _line_parts(case: LocatedQuery, number: int) -> _Parts:
    numbers: dict[str, int] = {}
    n = len(case.retrieved)
    # What has no path is a file of its own, which is no target.
    files = [
        n + at if place is None else numbers.setdefault(place.path, len(numbers))
        for at, place in enumerate(case.retrieved)
    ]
    wanted = sorted({place.path for place, _ in case.targets})
    iou = {
        at: max(_iou(place, target) for target, _ in case.targets)
        for at, place in enumerate(case.retrieved)
        if place is not None
    }
    gold = Gold(
        corpus=number,
        unit=np.zeros(0, dtype=np.int64),
        grade=np.zeros(0),
        best_iou=tuple((at, value) for at, value in iou.items() if value > 0),
        target_files=np.array([numbers.get(path, -1 - at) for at, path in enumerate(wanted)]),
    )
    units = Units(size=np.zeros(n, dtype=np.int64), file=np.array(files, dtype=np.int64))
    return units, gold, list(range(n))


def _iou(place: Location, other: Location) -> float:
    """Line IoU; 0 where one of them has no lines."""
    if place.first is None or other.first is None:
        return 0.0
    shared = place.shared(other)
    (begin, end), (other_begin, other_end) = place.lines, other.lines
    return shared / ((end - begin) + (other_end - other_begin) - shared) if shared else 0.0


class SourceFolder:
    """The files that outside locations lie in; each is read once.

    Attributes:
        lost_items: Retrieved items that lie in no file of the folder, or beyond its end.
        lost_targets: Targets of that kind, and those of white space alone.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._read: dict[str, tuple[Source, Layout] | None] = {}
        self.lost_items = 0
        self.lost_targets = 0

    def cell(self, cases: Sequence[LocatedQuery]) -> Cell:
        """What the span measures are computed from, for the queries with a target to find.

        A retrieved item is the whole lines that it names. One that cannot be found is left out
        of the ranking, neither charged nor credited, and counted.
        """
        kept: list[LocatedQuery] = []
        parts: list[_Parts] = []
        for case in cases:
            targets = [self._target(place, grade) for place, grade in case.targets]
            places = [place for place in targets if place is not None]
            self.lost_targets += len(targets) - len(places)
            if places:
                parts.append(self._parts(case, places, len(kept)))
                kept.append(case)
        return _cell(kept, parts)

    def _parts(self, case: LocatedQuery, targets: Sequence[LocatedTarget], number: int) -> _Parts:
        all_rows = [None if place is None else self._row(place) for place in case.retrieved]
        rows = [row for row in all_rows if row is not None]
        self.lost_items += len(all_rows) - len(rows)
        order = sorted(range(len(rows)), key=rows.__getitem__)
        table = ChunkTable.of([rows[at] for at in order])
        unit = {at: place for place, at in enumerate(order)}
        gold = span_gold(targets, table, number, Relevance())
        return table.units, gold, [unit[at] for at in range(len(rows))]

    def _target(self, place: Location, grade: float) -> LocatedTarget | None:
        row = self._row(place)
        if row is None or row[1][0] == row[1][1]:
            return None
        path, (low, high), lines, _ = row
        first, last = place.first, place.last
        return LocatedTarget(path, first, last, grade, (path, low, high), lines)

    def _row(self, place: Location) -> _Row | None:
        """Path, characters, non-blank lines and lines of a place, as `ChunkTable.of` takes them."""
        if place.path not in self._read:
            self._read[place.path] = self._file(place.path)
        file = self._read[place.path]
        if file is None:
            return None
        source, layout = file
        first, last = place.first, place.last
        if first is None or last is None:
            first, last = 1, source.lines.count
        if not 1 <= first <= last <= source.lines.count:
            return None
        nws = layout.interval(*source.lines.offsets_of(first, last))
        return place.path, nws, layout.lines(*nws), (first - 1, last - 1)

    def _file(self, path: str) -> tuple[Source, Layout] | None:
        file = (self._root / path).resolve()
        if not file.is_relative_to(self._root):
            return None
        source = read_file(file, path, ReadRules(guess="cp1252"))
        return (source, Layout.of(source)) if isinstance(source, Source) else None
