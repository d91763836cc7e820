"""What all chunkers by whole lines share: a limit and its unit, overlap, and what they embed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from chunkers.errors import InputError
from chunkers.sizes import check_max_size, measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from chunkers.sizes import Lines, Unit
    from chunkers.source import Services, Source, Span

Runs: TypeAlias = "list[tuple[int, int]]"


@dataclass(frozen=True)
class LineChunker:
    """Cuts a source into runs of whole lines, each a span.

    Attributes:
        runs: Cuts all lines, of which there is one at least, into runs that follow each other
            without a gap and are within a limit where they have several lines.
        max_size: The limit, what is repeated included.
        unit: What it counts.
        version: Changes whenever the output may.
        wants: The texts whose vectors `runs` asks for; None where it needs none.
        split: Cuts the span of a line that alone exceeds the limit; None leaves it whole.
        overlap: Lines, blank ones included, that a chunk repeats from before it.

    Raises:
        InputError: `max_size` is below 1 or `overlap` below 0.
    """

    runs: Callable[[Lines, Services, int], Runs]
    max_size: int
    unit: Unit
    version: str
    wants: Callable[[Lines, Services, int], list[str]] | None = None
    split: Callable[[Source, Services, Span, int], list[Span]] | None = None
    overlap: int = 0

    def __post_init__(self) -> None:
        check_max_size(self.max_size)
        if self.overlap < 0:
            raise InputError(f"overlap={self.overlap}: must be >= 0 lines")

    @property
    def embeds(self) -> bool:
        """Whether it needs an embedder."""
        return self.wants is not None

    @property
    def exceptions(self) -> tuple[str, ...]:
        """What it is known to fail: with an overlap, text is repeated, but none lost."""
        return ("repeats",) if self.overlap else ()

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Spans with every non-blank character in exactly one, apart from what is repeated."""
        lines = self._lines(source, services)
        runs = self.runs(lines, services, self.max_size) if lines.count else []
        spans = lines.spans(runs)
        if self.split is None:
            return spans
        cut: list[Span] = []
        for run, span in zip(runs, spans, strict=True):
            fits = lines.size(*run) <= self.max_size
            cut += [span] if fits else self.split(source, services, span, self.max_size)
        return cut

    def texts(self, source: Source, services: Services) -> list[str]:
        """What `chunk` will embed, so that the texts of many files can be embedded at once."""
        lines = self._lines(source, services)
        if self.wants is None or lines.count == 0:
            return []
        return self.wants(lines, services, self.max_size)

    def _lines(self, source: Source, services: Services) -> Lines:
        return measure(source, services, self.unit).repeating(self.overlap, self.max_size)


def pack_lines(lines: Lines, services: Services, limit: int) -> Runs:
    """As many lines in each run as fit, whatever they hold; `LineChunker.runs` of what is fixed."""
    del services
    return lines.pack(0, lines.count - 1, limit)
