"""The runs of lines that scores of chunks are carried over to, and the gold among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import InputError
from harness.measures.inputs import Gold, Runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.relevance.gold import Place
    from harness.runs.record import ChunkRow, FileRow

RUN = 10
"""Non-blank lines of a run; the last one of a file may have fewer."""


@dataclass(frozen=True)
class LineRuns:
    """One corpus in runs.

    Attributes:
        runs: Its runs and the lines of its chunks.
        first: Number of the first run of each file, by path.
        lines: Non-blank lines of each file, by path.
    """

    runs: Runs
    first: Mapping[str, int]
    lines: Mapping[str, int]

    @classmethod
    def of(cls, files: Sequence[FileRow], chunks: Sequence[ChunkRow]) -> LineRuns:
        """Cut a corpus; nothing but `Runs.first` and `Runs.behind` depends on its chunks.

        Raises:
            InputError: A chunk lies in none of the files, or beyond the end of one.
        """
        lines = {file.path: file.lines for file in files}
        for chunk in chunks:
            _check(chunk.path, chunk.lines, lines)
        begin: dict[str, int] = {}
        first: dict[str, int] = {}
        edges: list[int] = []
        total = 0
        for path, count in lines.items():
            begin[path], first[path] = total, len(edges)
            edges += range(total, total + count, RUN)
            total += count
        base = np.array([begin[chunk.path] for chunk in chunks], dtype=np.int64)
        of_chunk = np.array([chunk.lines for chunk in chunks], dtype=np.int64).reshape(-1, 2)
        runs = Runs(np.array([*edges, total], dtype=np.int64), *(of_chunk + base[:, None]).T)
        return cls(runs, first, lines)

    def gold(self, places: Sequence[Place], corpus: int) -> Gold:
        """Runs with a line of a target and, for runs with a line of a copy, what they stand for.

        Raises:
            InputError: A place lies in none of the files, or beyond the end of one.
        """
        own = [self._touched(place.path, place.lines) for place in places]
        unit = sorted({run for runs in own for run in runs})
        stands: dict[int, set[int]] = {}
        for place, runs in zip(places, own, strict=True):
            for (path, *_), lines in zip(place.twins, place.twin_lines, strict=True):
                for run in self._touched(path, lines):
                    if run not in unit:
                        stands.setdefault(run, set()).update(runs)
        return Gold(
            corpus=corpus,
            unit=np.array(unit, dtype=np.int64),
            grade=np.ones(len(unit)),
            twins=tuple((run, tuple(sorted(stands[run]))) for run in sorted(stands)),
        )

    def _touched(self, path: str, lines: tuple[int, int]) -> range:
        _check(path, lines, self.lines)
        first, behind = lines
        return range(self.first[path] + first // RUN, self.first[path] + (behind - 1) // RUN + 1)


def _check(path: str, lines: tuple[int, int], known: Mapping[str, int]) -> None:
    if lines[1] > known.get(path, -1):
        raise InputError(f"files.jsonl does not fit: {path} has no non-blank line {lines[1]}")
