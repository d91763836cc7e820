"""Chunks by definition: each function or method is one, the rest of a file is grouped."""

from chunkers.builtin._lines import LineChunker, cut_at_tokens
from chunkers.grammars.definitions import definition_runs
from chunkers.grammars.syntax import version
from chunkers.sizes import Unit

FAMILY = "syntax"


def make(*, max_size: int = 600, unit: Unit = "nws") -> LineChunker:
    """One chunk per function or method; the rest grouped.

    What is too large is split as `ast` does.

    Args:
        max_size: No chunk is larger; a line that is larger is cut at tokens of the tree.
        unit: What `max_size` counts: `nws`, `chars` or `tokens`.

    Raises:
        InputError: `max_size` is below 1, or a grammar's wheel is missing.
    """
    return LineChunker(definition_runs, max_size, unit, version(), split=cut_at_tokens)
