"""Chunks of as many whole lines as fit, whatever they hold."""

from chunkers.frame import LineChunker, Runs
from chunkers.sizes import Lines, Unit
from chunkers.source import Services


def _runs(lines: Lines, services: Services, limit: int) -> Runs:
    del services
    return lines.pack(0, lines.count - 1, limit)


def make(*, max_size: int = 600, unit: Unit = "nws") -> LineChunker:
    """As many whole lines as fit, whatever they hold.

    Args:
        max_size: No chunk is larger, unless it is a single line.
        unit: What `max_size` counts: `nws`, `chars` or `tokens`.

    Raises:
        InputError: `max_size` is below 1.
    """
    return LineChunker(_runs, max_size, unit, "1")
