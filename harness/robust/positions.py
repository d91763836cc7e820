"""Where the characters of a text are after it was edited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Interval = tuple[int, int]
Edit = tuple[int, int, "str | Interval"]
"""Start and end in the old text, and what comes there: a text, or characters from elsewhere."""


@dataclass(frozen=True)
class Rewriting:
    """A new text and its pieces, in order.

    `pieces` are where each begins, the characters [start, end) of the old text that it stands for,
    and its length if it is another text than they were.
    """

    text: str
    pieces: tuple[tuple[int, Interval, int | None], ...]

    @classmethod
    def of(cls, old: str, edits: Iterable[Edit]) -> Rewriting:
        """Edit a text.

        Args:
            old: The text.
            edits: They do not overlap; characters from elsewhere go to one place each.
        """
        parts: list[tuple[Interval, str | None]] = []
        at = 0
        for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
            parts.append(((at, start), None))
            parts.append(((start, end), new) if isinstance(new, str) else (new, None))
            at = end
        parts.append(((at, len(old)), None))
        texts, pieces, place = [], [], 0
        for span, text in parts:
            texts.append(old[slice(*span)] if text is None else text)
            if text is not None or span[0] < span[1]:
                pieces.append((place, span, None if text is None else len(text)))
            place += len(texts[-1])
        return cls("".join(texts), tuple(pieces))

    def span(self, start: int, end: int) -> Interval:
        """The new characters that hold what stands for the old ones [start, end), at least one.

        A text that replaced some of them belongs to it as a whole.
        """
        images = []
        for place, (low, high), size in self.pieces:
            if low < end and start < high:
                first, last = max(start, low) - low, min(end, high) - low
                first, last = (first, last) if size is None else (0, size)
                images += [place + first, place + last]
        return min(images), max(images)
