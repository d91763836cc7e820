"""Which units are relevant to a query, and which gold characters each of them holds.

Everything is intervals of non-white-space characters and of non-blank lines, so neither blank
lines nor indentation can make a chunk relevant or weigh anything. A target is whole lines;
therefore a chunk shares a non-blank line with it exactly when they share a character.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from harness.measures.cell import Gold, Pieces, Units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.chunking.chunks import FileSequence, Interval
    from harness.model import Relevance
    from harness.relevance.targets import LocatedTarget, Stretch


Overlap = Literal["non-blank-line", "any-line"]


@dataclass(frozen=True)
class ChunkTable:
    """The chunks of one corpus as columns, each of shape (n,), in corpus order.

    Attributes:
        numbers: Number of every file that has a chunk, by path.
        file: Those numbers, ascending.
        low: First character of each chunk.
        high: After its last character.
        first: Its first non-blank line.
        stop: After its last non-blank line.
        begin: Its first line, blank or not, from 0.
        end: Its last line, blank or not, from 0.
        gaps: Intervals between `low` and `high` that a chunk does not have, by its number.
    """

    numbers: Mapping[str, int]
    file: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    first: NDArray[np.int64]
    stop: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    gaps: Mapping[int, Sequence[tuple[int, int]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        rows: Sequence[tuple[str, tuple[int, int], tuple[int, int], tuple[int, int]]],
    ) -> ChunkTable:
        """The chunks of a corpus.

        Args:
            rows: Path, characters, non-blank lines and lines of every chunk, in corpus order.
        """
        numbers: dict[str, int] = {}
        for path, *_ in rows:
            numbers.setdefault(path, len(numbers))
        flat = [(numbers[path], *nws, *lines, *whole) for path, nws, lines, whole in rows]
        return cls(numbers, *np.array(flat, dtype=np.int64).reshape(-1, 7).T)

    @classmethod
    def of_files(
        cls,
        chunks: FileSequence[Any, Any],
        ref_lines: Callable[[str], Interval | None] | None = None,
    ) -> ChunkTable:
        """The chunks of the files of a corpus.

        Args:
            chunks: The chunks.
            ref_lines: Takes the id of a chunk in the system that a chunker reproduces; returns its
                first and last line from 0, or None where it names none.
        """
        named = [number for number, file in enumerate(chunks.files) if len(file)]
        numbers = {chunks.files[number].path: at for at, number in enumerate(named)}
        begin, end = chunks.column("start_line") - 1, chunks.column("end_line") - 1
        for start, file in zip(chunks.starts, chunks.files, strict=False):
            for at, kind in file.special.items():
                lines = ref_lines(kind.ref_id) if ref_lines and kind.ref_id else None
                if lines is not None:
                    begin[start + at], end[start + at] = lines
        file_of = np.searchsorted(named, chunks.file_of)
        low, high, first, stop = map(chunks.column, ("low", "high", "first", "stop"))
        return cls(numbers, file_of, low, high, first, stop, begin, end, chunks.gaps)

    @property
    def units(self) -> Units:
        """The chunks as units."""
        gaps = [(number, *gap) for number, intervals in self.gaps.items() for gap in intervals]
        gap = np.array(gaps, dtype=np.int64).reshape(-1, 3)
        size = self.high - self.low
        np.subtract.at(size, gap[:, 0], gap[:, 2] - gap[:, 1])
        return Units(size, self.file, self.low, gap)

    def touching(self, stretch: Stretch) -> NDArray[np.int64]:
        """Numbers of the chunks that share a character with a stretch, ascending."""
        path, low, high = stretch
        inside = self._of_file(path)
        held = self.low[inside] < self.high[inside]
        here = held & (self.low[inside] < high) & (self.high[inside] > low)
        units = np.arange(inside.start, inside.stop)[here]
        return units[self.held(units, low, high) > 0] if self.gaps else units

    def held(self, units: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
        """How many of the characters [low, high) of their file each of some chunks has."""
        counts = np.minimum(self.high[units], high) - np.maximum(self.low[units], low)
        for at, unit in enumerate(units.tolist()) if self.gaps else ():
            for begin, end in self.gaps.get(unit, ()):
                counts[at] -= max(0, min(end, high) - max(begin, low))
        return counts

    def pieces(self, units: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
        """Stretches of the characters [low, high) of their file that some chunks have.

        Returns:
            Chunk, offset in what the chunk has, length, and first character, shape (4, n).
        """
        begin = np.maximum(self.low[units], low)
        length = np.minimum(self.high[units], high) - begin
        rows = np.stack((units, begin - self.low[units], length, begin))
        if self.gaps.keys().isdisjoint(units.tolist()):
            return rows
        cut: list[tuple[int, int, int, int]] = []
        for unit, offset, size, start in rows.T.tolist():
            at, lost = start, 0
            for gap, stop in (*self.gaps.get(unit, ()), (start + size, start + size)):
                if at < min(gap, start + size):
                    cut.append((unit, offset + at - start - lost, min(gap, start + size) - at, at))
                lost += stop - gap
                at = max(at, stop)
        return np.array(cut, dtype=np.int64).reshape(-1, 4).T

    def sharing_a_line(self, path: str, first: int, last: int) -> NDArray[np.int64]:
        """Numbers of the chunks that share one of the lines `first` to `last`, from 0."""
        inside = self._of_file(path)
        here = (self.begin[inside] <= last) & (self.end[inside] >= first)
        return np.arange(inside.start, inside.stop)[here]

    def _of_file(self, path: str) -> slice:
        if path not in self.numbers:
            return slice(0, 0)
        file = self.numbers[path]
        begin, end = np.searchsorted(self.file, (file, file + 1))
        return slice(int(begin), int(end))


def span_gold(
    places: Sequence[LocatedTarget],
    table: ChunkTable,
    corpus: int,
    relevance: Relevance,
    overlap: Overlap = "non-blank-line",
) -> Gold:
    """The gold of a query whose targets are lines of files.

    Args:
        places: Its targets.
        table: The chunks of its corpus.
        corpus: Number of that corpus in the cell.
        relevance: The rule.
        overlap: What a chunk must share with a target, in the first place: a non-blank line, or
            any line, blank ones included.
    """
    grades: dict[int, float] = {}
    iou: dict[int, float] = {}
    own: list[tuple[int, ...]] = []
    for place in places:
        units = table.touching(place.stretch)
        ious, shares = _overlaps(table, units, place.stretch, place.lines)
        passed = _passed(relevance, ious, shares)
        worth = place.grade * (shares if relevance.rule == "graded" else np.ones(len(units)))
        for unit, value in zip(units.tolist(), ious.tolist(), strict=True):
            iou[unit] = max(iou.get(unit, 0.0), value)
        for unit, value in zip(units[passed].tolist(), worth[passed].tolist(), strict=True):
            grades[unit] = max(grades.get(unit, 0.0), value)
        if overlap == "any-line" and place.start_line and place.end_line:
            lines = (place.start_line - 1, place.end_line - 1)
            for unit in table.sharing_a_line(place.path, *lines).tolist():
                grades[unit] = max(grades.get(unit, 0.0), place.grade)
        own.append(tuple(units[passed].tolist()))
    unit = sorted(grades)
    stretches, targets, size = _number(places)
    return Gold(
        corpus=corpus,
        unit=np.array(unit, dtype=np.int64),
        grade=np.array([grades[number] for number in unit], dtype=np.float64),
        twins=_twin_units(places, own, table, relevance, grades),
        best_iou=tuple(sorted(iou.items())),
        target_files=_target_files(places, table),
        pieces=_pieces(stretches, table),
        gold_size=size,
        targets=targets,
    )


def _passed(
    relevance: Relevance, ious: NDArray[np.float64], shares: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which units the rule takes."""
    values = {"iou": ious, "share": shares}.get(relevance.rule)
    return np.ones(len(ious), dtype=np.bool_) if values is None else values >= relevance.threshold


def _overlaps(
    table: ChunkTable, units: NDArray[np.int64], stretch: Stretch, lines: tuple[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Line IoU of each unit with a target, and the share of its characters that each holds."""
    first, stop = lines
    shared = np.minimum(table.stop[units], stop) - np.maximum(table.first[units], first)
    union = (table.stop[units] - table.first[units]) + (stop - first) - shared
    _, low, high = stretch
    return shared / union, table.held(units, low, high) / (high - low)


def _twin_units(
    places: Sequence[LocatedTarget],
    own: Sequence[tuple[int, ...]],
    table: ChunkTable,
    relevance: Relevance,
    grades: Mapping[int, float],
) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The chunks of copies, each with the relevant chunk that holds most of the same characters.

    A chunk of several copies has one for each; of equal ones the first counts.
    """
    stands: dict[int, set[int]] = {}
    for place, units in zip(places, own, strict=True):
        gold = np.array(units, dtype=np.int64)
        _, target, _ = place.stretch
        for twin, lines in zip(place.twins, place.twin_lines, strict=True):
            touching = table.touching(twin)
            passed = _passed(relevance, *_overlaps(table, touching, twin, lines))
            for unit in touching[passed].tolist():
                if unit in grades or not units:
                    continue
                # The characters of the target that the chunk has a copy of.
                low = target + max(0, int(table.low[unit]) - twin[1])
                high = target + min(twin[2], int(table.high[unit])) - twin[1]
                shared = np.maximum(table.held(gold, low, high), 0)
                if shared.any():
                    stands.setdefault(unit, set()).add(units[int(shared.argmax())])
    return tuple((unit, tuple(sorted(stands[unit]))) for unit in sorted(stands))


def _target_files(places: Sequence[LocatedTarget], table: ChunkTable) -> NDArray[np.int64]:
    paths = sorted({place.path for place in places})
    numbers = [table.numbers.get(path, -1 - n) for n, path in enumerate(paths)]
    return np.array(numbers, dtype=np.int64)


def _number(
    places: Sequence[LocatedTarget],
) -> tuple[list[tuple[Stretch, int]], tuple[tuple[tuple[int, int], ...], ...], int]:
    """Number the distinct gold characters of a query.

    Returns:
        Stretches of the corpus with the number of their first character (targets joined where
        they touch, then twins), the numbers of each target, and how many there are.
    """
    joined: list[Stretch] = []
    for file, low, high in sorted(place.stretch for place in places):
        if joined and joined[-1][0] == file and low <= joined[-1][2]:
            joined[-1] = (file, joined[-1][1], max(joined[-1][2], high))
        else:
            joined.append((file, low, high))
    stretches: list[tuple[Stretch, int]] = []
    size = 0
    for stretch in joined:
        stretches.append((stretch, size))
        size += stretch[2] - stretch[1]
    targets = []
    twins = []
    for place in places:
        file, low, high = place.stretch
        begin = next(
            number + low - start
            for (name, start, stop), number in stretches
            if name == file and start <= low and high <= stop
        )
        targets.append(((begin, begin + high - low),))
        twins += [(twin, begin) for twin in place.twins]
    return stretches + twins, tuple(targets), size


def _pieces(stretches: Sequence[tuple[Stretch, int]], table: ChunkTable) -> Pieces:
    rows = []
    for stretch, number in stretches:
        _, low, high = stretch
        *places, begin = table.pieces(table.touching(stretch), low, high)
        rows.append(np.stack((*places, number + begin - low)))
    if not rows:
        return Pieces()
    return Pieces(*np.concatenate(rows, axis=1).astype(np.int64))


def document_gold(qrels: Mapping[str, float], units: Mapping[str, int], corpus: int) -> Gold:
    """The gold of a query whose qrels name documents.

    Args:
        qrels: Document id -> grade.
        units: Number of every document that can be ranked, by id; one that cannot gets a number
            below 0, so that it is counted and never found.
        corpus: Number of its corpus in the cell.
    """
    graded = sorted(
        (units.get(name, -1 - place), grade) for place, (name, grade) in enumerate(qrels.items())
    )
    relevant = [(unit, grade) for unit, grade in graded if grade > 0]
    return Gold(
        corpus=corpus,
        unit=np.array([unit for unit, _ in relevant], dtype=np.int64),
        grade=np.array([grade for _, grade in relevant], dtype=np.float64),
        judged_zero=np.array([unit for unit, grade in graded if grade <= 0], dtype=np.int64),
        negative=np.array([unit for unit, grade in graded if grade < 0], dtype=np.int64),
    )
