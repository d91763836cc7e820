"""One chunk for each file: a control for every way of cutting."""

from dataclasses import dataclass

from chunkers.source import Services, Source, Span

FAMILY = "control"


@dataclass(frozen=True)
class WholeFile:
    """The chunker; see `make`."""

    version: str = "1"
    windows: str = "max"

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """One span of the whole source, or none if it is blank."""
        text = source.text
        return [Span(0, len(text))] if text and not text.isspace() else []


def make() -> WholeFile:
    """One chunk for each file, embedded by windows."""
    return WholeFile()
