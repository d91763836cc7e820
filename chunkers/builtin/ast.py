"""Chunks along the syntax tree: split, then merge (the idea of cAST), by whole lines."""

from chunkers.builtin._lines import LineChunker, cut_at_tokens
from chunkers.grammars.syntax import syntax_runs, version
from chunkers.sizes import Unit

FAMILY = "syntax"


def make(*, max_size: int = 600, unit: Unit = "nws") -> LineChunker:
    """Splits along the syntax tree, then merges small pieces.

    Args:
        max_size: No chunk is larger; a line that is larger is cut at tokens of the tree.
        unit: What `max_size` counts: `nws`, `chars` or `tokens`.

    Raises:
        InputError: `max_size` is below 1, or a grammar's wheel is missing.
    """
    return LineChunker(syntax_runs, max_size, unit, version(), split=cut_at_tokens)
