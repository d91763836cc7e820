"""The common part of chunkers that cut between lines: size limit, overlap, texts to embed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from chunkers.grammars.long_lines import LineCutter
from chunkers.sizes import check_limit, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chunkers.sizes import Lines, Unit
    from chunkers.source import Services, Source, Span

Cut: TypeAlias = "Callable[[Span], list[Span]]"
Runs: TypeAlias = "list[tuple[int, int]]"


def cut_at_words(cutter: LineCutter, spans: Sequence[Span]) -> Cut:
    """`LineChunker.split` of chunkers without regard to syntax."""
    del spans
    return cutter.cut


def cut_at_tokens(cutter: LineCutter, spans: Sequence[Span]) -> Cut:
    """`LineChunker.split` of chunkers along the syntax tree."""
    return cutter.at_tokens(spans).cut


@dataclass(frozen=True)
class LineChunker:
    """Cuts a source into runs of whole lines, each a span, and a line over the limit into several.

    Attributes:
        runs: Cuts all lines (at least one) into consecutive runs, within a limit if they have
            several lines.
        max_size: The limit, repeated lines included.
        unit: The unit of the limit.
        version: Changes whenever the output may.
        wants: The texts that `runs` will embed; None if it needs no embedder.
        split: Makes the function that cuts single lines over the limit.
        overlap: Lines, blank ones included, that a chunk repeats from before it.

    Raises:
        InputError: `max_size` is below 1, or `overlap` is not from 0 to below it.
    """

    runs: Callable[[Lines, Services, int], Runs]
    max_size: int
    unit: Unit
    version: str
    wants: Callable[[Lines, Services, int], list[str]] | None = None
    split: Callable[[LineCutter, Sequence[Span]], Cut] = cut_at_words
    overlap: int = 0

    def __post_init__(self) -> None:
        check_limit(self.max_size, self.overlap)

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
        sizes = (lines.size(*run) for run in runs)
        long = [span for span, size in zip(spans, sizes, strict=True) if size > self.max_size]
        if not long:
            return spans
        cut = self.split(LineCutter(source, self.max_size, self.unit, services), long)
        pieces = {span: cut(span) for span in long}
        return [piece for span in spans for piece in pieces.get(span, [span])]

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
