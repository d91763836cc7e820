"""Cuts at blank lines."""

from dataclasses import dataclass

from chunkers import Services, Source, Span


@dataclass(frozen=True)
class BlankLines:
    """The chunker; see `make`."""

    max_size: int
    version: str = "1.0"  # raise it with every change of what it returns
    unit: str = "nws"

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Spans that follow each other without a gap."""
        lines = source.lines
        spans, start, gap = [], 0, 0
        for line in range(1, lines.count + 1):
            while lines.size(start, lines.end_of(line)) > self.max_size:
                cut = gap if gap > start else lines.start_of(line)
                if cut == start:
                    break  # a single line that is too large
                spans.append(Span(start, cut))
                start = cut
            if lines.blank(line):
                gap = lines.end_of(line)
        return [*spans, Span(start, len(source.text))]


def make(*, max_size: int = 600) -> BlankLines:
    """As many lines as fit, cut at a blank line where there is one."""
    return BlankLines(max_size)
