"""Chunks by definition: each function or method is one, the rest of a file is grouped."""

from dataclasses import dataclass

from chunkers.definitions import definition_runs
from chunkers.sizes import Unit, check_max_size, measure
from chunkers.source import Services, Source, Span
from chunkers.syntax import version


@dataclass(frozen=True)
class Function:
    """The chunker; see `make`."""

    max_size: int
    unit: Unit
    version: str

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Spans with every non-blank character of `source` in exactly one."""
        lines = measure(source, services, self.unit)
        return lines.spans(definition_runs(lines, services, self.max_size))


def make(*, max_size: int = 600, unit: Unit = "nws") -> Function:
    """One chunk a function or method; the rest grouped, what is too large split as `ast` does.

    Args:
        max_size: No chunk is larger, unless it is a single line.
        unit: What `max_size` counts: `nws`, `chars` or `tokens`.

    Raises:
        InputError: `max_size` is below 1, or a grammar's wheel is missing.
    """
    check_max_size(max_size)
    return Function(max_size, unit, version())
