"""Which lines of a text a change took away, and which targets follow.

Only LF ends a line. A changed line is one removed and one added. Lines that merely stand round a
change never count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.building.git.patches import Changed, PatchFile, Run, parse_patch, runs_to_changed
from harness.building.git.shortest import unmatched
from harness.model import Target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chunkers.source import LineIndex, Source

__all__ = ["Changed", "Gold", "PatchFile", "changed_lines", "gold_of", "parse_patch"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LINE_OF_BYTES = re.compile(rb"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Gold:
    """The targets of a change.

    Attributes:
        targets: In order of path and line.
        insert_only: Whether nothing was removed or changed, so that they are the lines next to
            what was inserted.
    """

    targets: tuple[Target, ...]
    insert_only: bool


def changed_lines(old: str, new: str) -> Changed:
    """Compare two texts line by line.

    As few lines as possible are removed and added, as `harness.building.git.shortest` says. A line
    end that is missing at a text's end makes a line another one.
    """
    before, after = _LINE.findall(old), _LINE.findall(new)
    gone, come = unmatched(before, after)
    runs: list[Run] = []
    at, to = 0, 0
    while at < len(before) or to < len(after):
        start, first = at, to
        while at < len(before) and gone[at]:
            at += 1
        while to < len(after) and come[to]:
            to += 1
        if (start, first) == (at, to):
            at, to = at + 1, to + 1
        else:
            runs.append((start, before[start:at], after[first:to]))
    return runs_to_changed(runs)


def gold_of(files: Iterable[tuple[Source, Changed]], *, elsewhere: bool = False) -> Gold:
    """The targets of a change to some files.

    They are the runs of lines that it removed or changed, without blank lines at their ends. If
    there are none in all files, they are the nearest non-blank line on each side of every place
    where it inserted something. Where a change does both, what it inserted elsewhere has no
    target: lines round a change are none.

    Args:
        files: The old text of every indexed file that the change touches, and how. Each path once.
        elsewhere: Whether it removed or changed lines of others, so that it is no insertion alone.

    Raises:
        InputError: A line is not in its file.
    """
    ordered = sorted(files, key=lambda one: one[0].path)
    removed, beside = [], []
    for source, changed in ordered:
        _refuse_beyond(source, changed)
        for first, last in changed.removed:
            lines = _stripped(source.lines, first, last)
            if lines:
                removed.append(Target(source.path, *lines))
        for line in _neighbours(source.lines, changed.inserted):
            beside.append(Target(source.path, line, line))
    insert_only = not (removed or elsewhere)
    return Gold(tuple(beside if insert_only else removed), insert_only)


def only_inserted(old: bytes, new: bytes) -> bool:
    """Whether all lines of a content are in another one in their order, but for blank ones."""
    after = iter(_LINE_OF_BYTES.findall(new))
    return all(line in after for line in _LINE_OF_BYTES.findall(old) if line.strip())


def _refuse_beyond(source: Source, changed: Changed) -> None:
    ends = [last for _, last in changed.removed]
    last = max([*ends, *changed.inserted], default=0)
    if last > source.lines.count:
        raise InputError(
            f"{source.path}: the change names line {last}, but the file has "
            f"{source.lines.count} lines; it is another version"
        )


def _stripped(lines: LineIndex, first: int, last: int) -> tuple[int, int] | None:
    """A run without the blank lines at its ends; None if there is no other."""
    while first <= last and lines.blank(first):
        first += 1
    while first <= last and lines.blank(last):
        last -= 1
    return (first, last) if first <= last else None


def _neighbours(lines: LineIndex, places: Iterable[int]) -> list[int]:
    """The non-blank lines next to places between lines, in order, each once."""
    found = set()
    for place in places:
        above, below = place, place + 1
        while above and lines.blank(above):
            above -= 1
        while below <= lines.count and lines.blank(below):
            below += 1
        found |= {line for line in (above, below) if 1 <= line <= lines.count}
    return sorted(found)
