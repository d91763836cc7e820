"""Chunks of as many whole lines as fit, whatever they hold."""

from dataclasses import dataclass

import numpy as np

from chunkers.errors import InputError
from chunkers.sizes import Lines, Unit, check_max_size, measure
from chunkers.source import Services, Source, Span


@dataclass(frozen=True)
class Fixed:
    """The chunker; see `make`."""

    max_size: int
    unit: Unit
    overlap: int
    version: str = "1"

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Spans with every non-blank character of `source` in at least one."""
        lines = measure(source, services, self.unit)
        if self.overlap == 0:
            return lines.spans(lines.pack(0, lines.count - 1, self.max_size))
        return lines.spans(_overlapping(lines, self.max_size, self.overlap))


def _overlapping(lines: Lines, limit: int, overlap: int) -> list[tuple[int, int]]:
    runs = []
    last = lines.count - 1
    first, end = 0, -1
    while end < last:
        # Fewer lines are repeated where there would be no room for the next one.
        while first <= end and lines.reach(first, last, limit) <= end:
            first += 1
        end = lines.reach(first, last, limit)
        runs.append((first, end))
        repeated = int(np.searchsorted(lines.rows, lines.rows[end] - overlap + 1))
        first = max(first + 1, repeated)
    return runs


def make(*, max_size: int = 600, unit: Unit = "nws", overlap: int = 0) -> Fixed:
    """As many whole lines as fit, whatever they hold.

    Args:
        max_size: No chunk is larger, unless it is a single line.
        unit: What `max_size` counts: `nws`, `chars` or `tokens`.
        overlap: Lines, blank ones included, that a chunk repeats from the one before.

    Raises:
        InputError: `max_size` is below 1 or `overlap` below 0.
    """
    check_max_size(max_size)
    if overlap < 0:
        raise InputError(f"overlap={overlap}: it is a number of lines, 0 or more")
    return Fixed(max_size, unit, overlap)
