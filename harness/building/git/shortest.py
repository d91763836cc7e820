"""The shortest way to turn one text into another, by lines."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 1000
"""Lines removed and added in one piece up to which it is the shortest way."""
_FARTHEST = 100
"""Lines that a run is moved at most."""


def unmatched(old: Sequence[str], new: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Which lines have no equal in the other text, in order.

    Those that have keep their order, and there are as many as can be (E. Myers, "An O(ND)
    Difference Algorithm and Its Variations", 1986). Only if over a thousand would be without,
    lines that each text has once are taken to be equals first, as far as they keep their order,
    and what lies between two of these is compared; then there may be fewer.

    Equal lines leave a choice where a run of lines without one stands. It is moved to join
    another run, else to where lines come in the other text, else to where the lines at its two
    borders are indented least; then down.

    Returns:
        For every line of `old` and of `new`, whether it is without an equal.
    """
    numbers: dict[str, int] = {}
    a = [numbers.setdefault(line, len(numbers)) for line in old]
    b = [numbers.setdefault(line, len(numbers)) for line in new]
    gone, come = [True] * len(a), [True] * len(b)
    for at, to in _pairs(a, b):
        gone[at] = come[to] = False
    _slide(old, gone, come)
    _slide(new, come, gone)
    return gone, come


def _pairs(a: list[int], b: list[int]) -> list[tuple[int, int]]:
    """Indices of equal lines, in order."""
    first = 0
    while first < min(len(a), len(b)) and a[first] == b[first]:
        first += 1
    end, stop = len(a), len(b)
    while min(end, stop) > first and a[end - 1] == b[stop - 1]:
        end, stop = end - 1, stop - 1
    found = [(at, at) for at in range(first)]
    # A line that the other text has nowhere changes no other's equal.
    both = set(a[first:end]) & set(b[first:stop])
    left = [at for at in range(first, end) if a[at] in both]
    right = [to for to in range(first, stop) if b[to] in both]
    inner = [a[at] for at in left], [b[to] for to in right]
    middle = _myers(*inner)
    if middle is None:
        middle = _by_anchors(*inner)
    found += [(left[at], right[to]) for at, to in middle]
    found += [(end + at, stop + at) for at in range(len(a) - end)]
    return found


def _myers(a: list[int], b: list[int]) -> list[tuple[int, int]] | None:
    """Indices of equal numbers, in order, as many as can be; None if over `_MOST` are without."""
    n, m = len(a), len(b)
    reached = {1: 0}  # on each diagonal x - y = k, the largest x so far
    steps: list[list[int]] = []
    for size in range(min(n + m, _MOST) + 1):
        for k in range(-size, size + 1, 2):
            down = k == -size or (k != size and reached[k - 1] < reached[k + 1])
            x = reached[k + 1] if down else reached[k - 1] + 1
            while x < n and x - k < m and a[x] == b[x - k]:
                x += 1
            reached[k] = x
            if x >= n and x - k >= m:
                return _back(steps, n, m)
        steps.append([reached[k] for k in range(-size, size + 1, 2)])
    return None


def _back(steps: list[list[int]], x: int, y: int) -> list[tuple[int, int]]:
    """The way from the end, by how far every number of steps had come on every diagonal."""
    found = []
    for size in range(len(steps), 0, -1):
        before, k = steps[size - 1], x - y
        # Diagonal k of a step stands at (k + size) // 2; its neighbours stood beside it.
        at = (k + size) // 2
        down = at == 0 or (at != size and before[at - 1] < before[at])
        start = before[at] if down else before[at - 1] + 1
        while x > start:
            x, y = x - 1, y - 1
            found.append((x, y))
        x, y = (x, y - 1) if down else (x - 1, y)
    while x > 0:
        x, y = x - 1, y - 1
        found.append((x, y))
    return found[::-1]


def _by_anchors(a: list[int], b: list[int]) -> list[tuple[int, int]]:
    """Indices of equal numbers, in order, by way of those that stand once in each."""
    anchors = [(-1, -1), *_rising(_once(a, b)), (len(a), len(b))]
    found = []
    for (at, to), (after, behind) in pairwise(anchors):
        inner = _myers(a[at + 1 : after], b[to + 1 : behind]) or []
        found += [(at + 1 + x, to + 1 + y) for x, y in inner]
        if after < len(a):
            found.append((after, behind))
    return found


def _once(a: list[int], b: list[int]) -> list[tuple[int, int]]:
    in_a, in_b = Counter(a), Counter(b)
    place = {number: to for to, number in enumerate(b)}
    return [(at, place[number]) for at, number in enumerate(a) if in_a[number] == in_b[number] == 1]


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """As many of the pairs as can be so that the second number rises, as the first does."""
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, to) in enumerate(pairs):
        at = bisect_left(tops, to)
        before.append(ends[at - 1] if at else -1)
        tops[at : at + 1], ends[at : at + 1] = [to], [index]
    found, index = [], ends[-1] if ends else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]


def _slide(lines: Sequence[str], mine: list[bool], others: list[bool]) -> None:
    """Move runs of `mine` among equal lines to where they are read best; see `unmatched`."""
    # Where the other text has lines without an equal, by how many lines with one lie above.
    taken, above = set(), 0
    for odd in others:
        if odd:
            taken.add(above)
        above += not odd
    at, above = 0, 0
    while at < len(lines):
        if mine[at]:
            start, end, above = _joined(lines, mine, at, above)
            room = range(-_room(lines, mine, start, end, -1), _room(lines, mine, start, end, 1) + 1)
            beside = [by for by in room if above + by in taken]
            by = beside[-1] if beside else max(room, key=_Look(lines, start, end).at)
            _shift(mine, start, end, by)
            at, above = end + by, above + by
        else:
            at, above = at + 1, above + 1


def _joined(lines: Sequence[str], mine: list[bool], start: int, above: int) -> tuple[int, int, int]:
    """The run that begins at `start`, joined with all that it can be moved to touch.

    Returns:
        Its start and end, and how many lines with an equal now lie above.
    """
    end = start
    while True:
        while end < len(lines) and mine[end]:
            end += 1
        while start > 0 and mine[start - 1]:
            start -= 1
        up, down = (_room(lines, mine, start, end, step) for step in (-1, 1))
        if start > up and mine[start - up - 1]:
            by = -up
        elif end + down < len(lines) and mine[end + down]:
            by = down
        else:
            return start, end, above
        _shift(mine, start, end, by)
        start, end, above = start + by, end + by, above + by


def _room(lines: Sequence[str], mine: list[bool], start: int, end: int, step: int) -> int:
    """How far the run [start, end) can be moved up (`step` -1) or down (1) among equal lines."""
    comes, goes = (start - 1, end - 1) if step < 0 else (end, start)
    room = 0
    while room < _FARTHEST and 0 <= comes < len(lines) and not mine[comes]:
        if lines[comes] != lines[goes]:
            break
        comes, goes, room = comes + step, goes + step, room + 1
    return room


def _shift(mine: list[bool], start: int, end: int, by: int) -> None:
    for at in range(start, end):
        mine[at] = False
    for at in range(start + by, end + by):
        mine[at] = True


@dataclass(frozen=True, slots=True)
class _Look:
    """How well the run [start, end) is read where it could stand."""

    lines: Sequence[str]
    start: int
    end: int

    def at(self, by: int) -> tuple[int, int]:
        """The less the lines at its two borders are indented, the better; then the lower."""
        return -self._indent(self.start + by) - self._indent(self.end + by), by

    def _indent(self, at: int) -> int:
        """Columns before the next line that is not blank; none if there is none near."""
        for line in self.lines[at : at + _FARTHEST]:
            if not line.isspace():
                wide = line.expandtabs(8)
                return len(wide) - len(wide.lstrip())
        return 0
