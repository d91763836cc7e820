"""What a record of an outside system says, whatever file it stood in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WHOLE = (-(2**62), 2**62)
"""The lines of a file that are not numbered."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file, or lines of it, both included; `last` is None exactly where `first` is.

    Lines that end before they begin meet nothing.
    """

    path: str
    first: int | None = None
    last: int | None = None

    @property
    def lines(self) -> tuple[int, int]:
        """First line and the one behind the last; a file without lines has all of them."""
        if self.first is None or self.last is None:
            return WHOLE
        return self.first, max(self.first, self.last + 1)

    def shared(self, other: Place) -> int:
        """Number of lines that both have."""
        (begin, end), (other_begin, other_end) = self.lines, other.lines
        return max(0, min(end, other_end) - max(begin, other_begin)) * (self.path == other.path)


@dataclass(frozen=True, slots=True)
class Item:
    """Something retrieved; each part may be missing."""

    id: str | None = None
    text: str | None = None
    place: Place | None = None


@dataclass(frozen=True)
class Record:
    """One query.

    Attributes:
        query: Its id.
        where: Where it stands, for messages.
        items: What was retrieved, in rank order.
        relevant: Ids of what is relevant; empty where the record does not say.
        targets: Places of what is relevant, with grades above 0.
        expected: The expected answer.
        answer: The answer given.
        correct: Whether it was judged correct.
        k: Where the ranking is cut.
        raw: An EvalResult as it stood there; None for another record.
    """

    query: str
    where: str
    items: tuple[Item, ...]
    relevant: frozenset[str] = frozenset()
    targets: tuple[tuple[Place, float], ...] = ()
    expected: str | None = None
    answer: str | None = None
    correct: bool | None = None
    k: int | None = None
    raw: dict[str, Any] | None = None
