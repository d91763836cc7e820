"""The common part of chunkers that cut between lines: size limit, overlap, texts to embed."""

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
        runs: Cuts all lines (at least one) into consecutive runs, within a limit if they have
            several lines.
        max_size: The limit, repeated lines included.
        unit: The unit of the limit.
        version: Changes whenever the output may.
        wants: The texts that `runs` will embed; None if it needs no embedder.
        split: Cuts the span of a single line over the limit; None leaves it whole.
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
        """With an overlap, text is repeated, but none is lost."""
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
        """The texts that `chunk` will embed, so that those of many files are embedded at once."""
        lines = self._lines(source, services)
        if self.wants is None or lines.count == 0:
            return []
        return self.wants(lines, services, self.max_size)

    def _lines(self, source: Source, services: Services) -> Lines:
        return measure(source, services, self.unit).repeating(self.overlap, self.max_size)


def pack_lines(lines: Lines, services: Services, limit: int) -> Runs:
    """`LineChunker.runs` of chunkers of fixed size: as many lines in each run as fit."""
    del services
    return lines.pack(0, lines.count - 1, limit)
