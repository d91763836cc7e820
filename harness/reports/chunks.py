"""How chunkers cut one file, side by side: a table of numbers, and the file with their cuts."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from harness.reports.columns import NONE, coverage, number, share
from harness.reports.plain import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chunkers.source import Source

Result = dict[str, Any]

_INSIDE, _LOST = "│", "·"
_BARS = "▁▂▃▄▅▆▇█"


def letters(count: int) -> list[str]:
    """Short names of chunkers: a, b, …, z, aa, ab, …."""
    more = [first + second for first in ascii_lowercase for second in ascii_lowercase]
    return [*ascii_lowercase, *more][:count]


def _definitions(key: str) -> Callable[[Result], str]:
    def shown(result: Result) -> str:
        boundaries = result["boundaries"]
        return str(boundaries[key]) if boundaries["definitions"] else NONE

    return shown


def _size(key: str) -> Callable[[Result], str]:
    return lambda result: str((result["boundaries"]["sizes"] or {}).get(key, NONE))


def _bars(result: Result) -> str:
    counts = [size["chunks"] for size in result["boundaries"]["histogram"]]
    top = max(counts)
    return "".join(_BARS[-(-count * len(_BARS) // top) - 1] if count else " " for count in counts)


COLUMNS: tuple[tuple[str, Callable[[Result], str]], ...] = (
    ("chunks", lambda result: str(len(result["chunks"]))),
    ("covered", lambda result: coverage(result["health"]["coverage"])),
    ("repeated", lambda result: share(result["health"]["repeated"])),
    ("duplicates", lambda result: str(result["boundaries"]["duplicates"])),
    ("over size", lambda result: str(result["health"]["over_size"])),
    ("p5", _size("p5")),
    ("p50", _size("p50")),
    ("p95", _size("p95")),
    ("largest", _size("max")),
    ("per 1,000 lines", lambda result: number(result["boundaries"]["per_1000_lines"], ".0f")),
    ("definitions", lambda result: str(result["boundaries"]["definitions"])),
    ("whole", _definitions("whole")),
    ("head cut off", _definitions("head_cut")),
    ("split", _definitions("split")),
    ("lost", _definitions("lost")),
    ("parse alone", lambda result: share(result["boundaries"]["parsed"])),
    ("sizes, 0 to 2000 and more", _bars),
)
"""The rows of the table of numbers; each chunker is a column."""


def numbers(results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """The heading and rows of the table of numbers, a column for each chunker."""
    names = [
        f"{letter}: {plain(result['chunker'])}"
        for letter, result in zip(letters(len(results)), results, strict=True)
    ]
    rows = [[name, *(show(result) for result in results)] for name, show in COLUMNS]
    return ["", *names], rows


def side_by_side(source: Source, results: Sequence[Result]) -> Iterator[str]:
    """The lines of a file, each after the number of the chunk that begins there.

    A bar marks further lines of a chunk, and a dot non-blank lines that are in none. `3-5` marks a
    line at which several chunks begin.
    """
    columns = [_marks(source, result["chunks"]) for result in results]
    widths = [max([1, *map(len, column)]) for column in columns]
    digits = len(str(source.lines.count))
    heads = (name.rjust(width) for name, width in zip(letters(len(results)), widths, strict=True))
    yield f"{'':>{digits}} {' '.join(heads)}".rstrip()
    for line in range(1, source.lines.count + 1):
        text = source.text[source.lines.start_of(line) : source.lines.end_of(line)]
        marks = (
            column[line - 1].rjust(width) for column, width in zip(columns, widths, strict=True)
        )
        shown = plain(text.rstrip("\r\n").expandtabs(4))
        yield f"{line:>{digits}} {' '.join(marks)}  {shown}".rstrip()


def _marks(source: Source, chunks: Sequence[dict[str, Any]]) -> list[str]:
    """The mark of each line of a source."""
    lines = source.lines
    marks = ["" if lines.blank(line) else _LOST for line in range(1, lines.count + 1)]
    begins: dict[int, list[int]] = {}
    for at, chunk in enumerate(chunks, start=1):
        first, last = chunk["start_line"], chunk["end_line"]
        begins.setdefault(first, []).append(at)
        marks[first - 1 : last] = [_INSIDE] * (last - first + 1)
    for line, numbers_here in begins.items():
        first, last = numbers_here[0], numbers_here[-1]
        marks[line - 1] = str(first) if first == last else f"{first}-{last}"
    return marks
