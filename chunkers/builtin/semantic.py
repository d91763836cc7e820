"""Chunks that end where the meaning changes: between neighbours with distant vectors."""

from dataclasses import dataclass
from itertools import pairwise

from chunkers.builtin._lines import LineChunker, Runs, cut_at_tokens
from chunkers.builtin._semantics import pack_units, similarities, small_units, texts_of, vectors_of
from chunkers.errors import InputError
from chunkers.grammars.syntax import version
from chunkers.lazy import np
from chunkers.sizes import Lines, Unit
from chunkers.source import Services

FAMILY = "semantic"


@dataclass(frozen=True)
class _Breaks:
    """The options of `make`."""

    unit_size: int
    buffer: int
    percentile: float
    min_size: int

    def texts(self, lines: Lines, services: Services, limit: int) -> list[str]:
        """The texts to embed; none if no break is possible."""
        units = small_units(lines, services, min(self.unit_size, limit))
        # A single distance never exceeds its percentile.
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
    """Join every run below `min_size` with the nearer of the neighbours that fit.

    Args:
        lines: The lines.
        runs: The runs of all lines.
        borders: First line of a unit -> distance from the unit before; inside a unit it is 0.
        min_size: The minimum size, repeated lines left out.
        limit: The maximum size of joined runs.
    """
    plain = lines.plain
    joined: Runs = []
    pending = runs[::-1]
    while pending:
        first, last = pending.pop()
        choices = []
        if plain.size(first, last) < min_size:
            if joined and lines.size(joined[-1][0], last) <= limit:
                choices.append((borders.get(first, 0.0), 0))
            if pending and lines.size(first, pending[-1][1]) <= limit:
                choices.append((borders.get(pending[-1][0], 0.0), 1))
        if not choices:
            joined.append((first, last))
        elif min(choices)[1] == 0:
            joined[-1] = (joined[-1][0], last)
        else:
            pending[-1] = (first, pending[-1][1])
    return joined


def make(
    *,
    max_size: int = 600,
    unit: Unit = "nws",
    unit_size: int = 100,
    buffer: int = 0,
    percentile: int | float = 95,
    min_size: int = 100,
) -> LineChunker:
    """Breaks between small units whose vectors are far apart.

    Far apart means farther than most neighbours in the file.

    Units are statements along the syntax tree, or lines. A chunk ends where the cosine distance of
    a unit from the next exceeds a percentile of all such distances of the file. This is Greg
    Kamradt's percentile splitter, with its usual percentile of 95. Its usual buffer of 1 is not the
    default: units embedded with their neighbours share text across a change of subject, and breaks
    come a unit early or late. A chunk over `max_size` is then packed again from its units, and a
    chunk below `min_size` is joined with the nearer neighbour, or the one before if both are equal.

    Args:
        max_size: No chunk is larger; a line that is larger is cut at tokens of the tree.
        unit: What sizes count: `nws`, `chars` or `tokens`.
        unit_size: No unit is larger, unless it is a single line; small statements are merged.
        buffer: Units before and after each unit that are embedded with it.
        percentile: Percentile of the distances in a file, 0 to 100; lower values break more often.
        min_size: Smaller chunks are joined if `max_size` allows.

    Raises:
        InputError: A number is out of range, or a grammar's wheel is missing.
    """
    if unit_size < 1 or buffer < 0 or min_size < 0 or not 0 <= percentile <= 100:
        raise InputError(
            f"unit_size={unit_size}, buffer={buffer}, percentile={percentile}, "
            f"min_size={min_size}: at least 1, 0, 0 to 100, and 0 are possible"
        )
    breaks = _Breaks(unit_size, buffer, percentile, min_size)
    return LineChunker(
        breaks.runs, max_size, unit, version(), wants=breaks.texts, split=cut_at_tokens
    )
