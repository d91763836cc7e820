"""Chunks that end where the meaning turns: between neighbours that are far apart."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chunkers.builtin._lines import LineChunker, Runs
from chunkers.builtin._semantics import pack_units, similarities, small_units, texts_of, vectors_of
from chunkers.errors import InputError
from chunkers.grammars.syntax import version
from chunkers.sizes import Lines, Unit
from chunkers.source import Services

FAMILY = "semantic"


@dataclass(frozen=True)
class _Breaks:
    """Where to break; see `make`."""

    unit_size: int
    buffer: int
    percentile: float
    min_size: int

    def texts(self, lines: Lines, services: Services, limit: int) -> list[str]:
        """What must be embedded; nothing where no break is possible."""
        units = small_units(lines, services, min(self.unit_size, limit))
        # One distance alone never exceeds a percentile of all.
        return texts_of(lines, units, self.buffer) if len(units) > 2 else []

    def runs(self, lines: Lines, services: Services, limit: int) -> Runs:
        units = small_units(lines, services, min(self.unit_size, limit))
        if len(units) < 3:
            return pack_units(lines, units, limit)
        vectors = vectors_of(texts_of(lines, units, self.buffer), services)
        distances = 1 - similarities(vectors, 1)
        far = distances > np.percentile(distances, self.percentile)
        breaks = (np.flatnonzero(far) + 1).tolist()
        runs = [
            run
            for first, after in pairwise([0, *breaks, len(units)])
            for run in pack_units(lines, units[first:after], limit)
        ]
        borders = dict(zip((first for first, _ in units[1:]), distances.tolist(), strict=True))
        return _join_small(lines, runs, borders, self.min_size, limit)


def _join_small(
    lines: Lines, runs: Runs, borders: dict[int, float], min_size: int, limit: int
) -> Runs:
    """Join every run below the least size with the nearer neighbour that it fits into one with.

    Args:
        lines: The lines.
        runs: Of all lines.
        borders: First line of a unit -> distance from the unit before; inside a unit it is 0.
        min_size: The least size, what is repeated left out.
        limit: What joined runs do not exceed.
    """
    plain = lines.plain
    held: Runs = []
    coming = runs[::-1]
    while coming:
        first, last = coming.pop()
        choices = []
        if plain.size(first, last) < min_size:
            if held and lines.size(held[-1][0], last) <= limit:
                choices.append((borders.get(first, 0.0), 0))
            if coming and lines.size(first, coming[-1][1]) <= limit:
                choices.append((borders.get(coming[-1][0], 0.0), 1))
        if not choices:
            held.append((first, last))
        elif min(choices)[1] == 0:
            held[-1] = (held[-1][0], last)
        else:
            coming[-1] = (first, coming[-1][1])
    return held


def make(
    *,
    max_size: int = 600,
    unit: Unit = "nws",
    unit_size: int = 100,
    buffer: int = 0,
    percentile: int | float = 95,
    min_size: int = 100,
) -> LineChunker:
    """Breaks between small units whose vectors are farther apart than most of the file's.

    Units are statements along the syntax tree, or lines. A chunk ends where the cosine distance of
    one unit from the next exceeds a percentile of all such distances of the file; that is Greg
    Kamradt's percentile splitter, with its usual percentile of 95. Its usual buffer of 1 is an
    option: units that are embedded with their neighbours share text across a change of subject, and
    breaks come a unit early or late. A chunk over `max_size` is then packed anew from its units,
    and one below `min_size` is joined with the nearer neighbour, the one before where both are as
    near.

    Args:
        max_size: No chunk is larger, unless it is a single line.
        unit: What sizes count: `nws`, `chars` or `tokens`.
        unit_size: No unit is larger, unless it is a single line; small statements are merged.
        buffer: Units before and behind each one that are embedded with it.
        percentile: Of the distances in a file: from 0 to 100; a lower one breaks more often.
        min_size: Chunks below are joined where `max_size` allows.

    Raises:
        InputError: A number is out of range, or a grammar's wheel is missing.
    """
    if unit_size < 1 or buffer < 0 or min_size < 0 or not 0 <= percentile <= 100:
        raise InputError(
            f"unit_size={unit_size}, buffer={buffer}, percentile={percentile}, "
            f"min_size={min_size}: at least 1, 0, 0 to 100, and 0 are possible"
        )
    breaks = _Breaks(unit_size, buffer, percentile, min_size)
    return LineChunker(breaks.runs, max_size, unit, version(), wants=breaks.texts)
