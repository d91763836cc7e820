"""Chunks of as many whole lines as fit, without regard to syntax."""

from chunkers.builtin._lines import LineChunker, pack_lines
from chunkers.sizes import Unit

FAMILY = "fixed"


def make(*, max_size: int = 600, unit: Unit = "nws") -> LineChunker:
    """As many whole lines as fit, without regard to syntax.

    Args:
        max_size: No chunk is larger; a line that is larger is cut between words.
        unit: What `max_size` counts: `nws`, `chars` or `tokens`.

    Raises:
        InputError: `max_size` is below 1.
    """
    return LineChunker(pack_lines, max_size, unit, "2")
