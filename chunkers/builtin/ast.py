"""Chunks along the syntax tree: split, then merge (the idea of cAST), by whole lines."""

from dataclasses import dataclass

from chunkers.sizes import Unit, check_max_size, measure
from chunkers.source import Services, Source, Span
from chunkers.syntax import syntax_runs, version


@dataclass(frozen=True)
class Ast:
    """The chunker; see `make`."""

    max_size: int
    unit: Unit
    version: str

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Spans with every non-blank character of `source` in exactly one."""
        lines = measure(source, services, self.unit)
        return lines.spans(syntax_runs(lines, services, self.max_size))


def make(*, max_size: int = 600, unit: Unit = "nws") -> Ast:
    """Whole lines along the syntax tree: neighbours merged, what is too large split.

    Args:
        max_size: No chunk is larger, unless it is a single line.
        unit: What `max_size` counts: `nws`, `chars` or `tokens`.

    Raises:
        InputError: `max_size` is below 1, or a grammar's wheel is missing.
    """
    check_max_size(max_size)
    return Ast(max_size, unit, version())
