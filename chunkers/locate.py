"""Where a library's strings stand in a source: spans for chunkers that return text alone.

White space is no evidence: libraries strip it, expand tabs and change line ends. So a string is
looked for by its other characters, and is called exact where the slice equals it to the letter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from chunkers.anywhere import Anywhere
from chunkers.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from chunkers.source import Services, Source

How = Literal["exact", "spaced", "body", "blank", "missing"]

_BOM = "\ufeff"
_WINDOW = 1 << 14  # characters behind the last find in which most strings are found
_SCANS = 16  # of the whole text, before it is worth an index
_BODY = 0.5  # share of a string that must be found, if it does not follow the one before at once


@dataclass(frozen=True, slots=True)
class Located:
    """Where one string stands.

    Attributes:
        start: First character.
        end: Behind the last character.
        how: `exact`: the slice equals the string; `spaced`: but for white space; `body`: the
            slice is the end of the string, whose first lines are not of the source; `blank`: the
            string is white space alone, and the span is empty; `missing`: not found.
    """

    start: int
    end: int
    how: How


def locate(source: Source, texts: Iterable[str], overlap: int = 0) -> list[Located]:
    """Find strings in a source, in order.

    Each is looked for behind the one before, so equal strings have increasing places; then where
    it overlaps the one before; then anywhere, for strings out of order. The time is linear in the
    length of the source and of the strings, but for a logarithm.

    Args:
        source: The source.
        texts: What the library returned.
        overlap: Characters that a string may repeat of the one before it, at most.

    Returns:
        One place for each string.
    """
    search = _Search(source.text, _visible(source), source.lines.nws)
    return [search.next(text, overlap) for text in texts]


def spans_of(
    source: Source, texts: Iterable[str], services: Services, overlap: int = 0
) -> list[Span]:
    """The spans of a library's strings, in order of `start`, each with the string as embed text.

    A string that is not found is left out and noted as `unlocated`.

    Args:
        source: The source.
        texts: What the library returned.
        services: Where notes go.
        overlap: As for `locate`.
    """
    spans = []
    texts = list(texts)
    for text, place in zip(texts, locate(source, texts, overlap), strict=True):
        if place.how == "missing":
            services.note("unlocated")
            continue
        same = source.text[place.start : place.end] == text
        spans.append(Span(place.start, place.end, None if same else text))
    return sorted(spans, key=lambda span: (span.start, span.end))


def _visible(source: Source) -> NDArray[np.int64]:
    """Offsets of the characters that are no white space."""
    return np.flatnonzero(np.diff(source.lines.nws))


@dataclass
class _Text:
    """A text in which strings are looked for; equal ones have places of their own.

    Attributes:
        text: The text.
        taken: String -> where it was found.
        passed: String -> a place before which all of its places are taken.
        scans: How often the whole text may yet be searched without an index.
        index: Made when it may not.
    """

    text: str
    taken: dict[str, set[int]] = field(default_factory=dict)
    passed: dict[str, int] = field(default_factory=dict)
    scans: int = _SCANS
    index: Anywhere | None = None

    def near(self, wanted: str, low: int) -> int:
        """A free place a little behind `low` at most, or -1."""
        at = self.text.find(wanted, low, low + max(_WINDOW, 2 * len(wanted)))
        return -1 if at in self.taken.get(wanted, ()) else at

    def far(self, wanted: str, low: int) -> int:
        """A place behind `low`, a free one anywhere, or a taken one if there is no other; or -1."""
        ahead = self._find(wanted, low)
        taken = self.taken.get(wanted)
        if not taken or (ahead >= 0 and ahead not in taken):
            return ahead if ahead >= 0 or not low else self._find(wanted, 0)
        at = self._find(wanted, self.passed.get(wanted, 0))
        while at in taken:
            at = self._find(wanted, at + 1)
        self.passed[wanted] = at if at >= 0 else len(self.text)
        return at if at >= 0 else max(ahead, min(taken))

    def take(self, wanted: str, at: int) -> None:
        """Note a find."""
        self.taken.setdefault(wanted, set()).add(at)

    def _find(self, wanted: str, low: int) -> int:
        if self.scans == 0:
            self.index = self.index or Anywhere(self.text)
            return self.index.find(wanted, low)
        at = self.text.find(wanted, low)
        scanned = len(self.text) if at < 0 else at - low
        self.scans -= scanned > _WINDOW
        return at


@dataclass
class _Search:
    """One pass over a source. Places are numbers of visible characters, unless they say offset.

    Attributes:
        source: The text.
        offsets: Offset of every visible character, shape (n,).
        before: Visible characters before every offset, shape (len(text) + 1,).
        squeezed: The visible characters.
        marked: Whether byte order marks are among them.
        first: Where the last find begins,
        behind: and the place behind it.
    """

    source: str
    offsets: NDArray[np.int64]
    before: NDArray[np.int64]
    exact: _Text = field(init=False)
    squeezed: _Text = field(init=False)
    marked: bool = field(init=False)
    first: int = 0
    behind: int = 0

    def __post_init__(self) -> None:
        self.exact = _Text(self.source)
        self.squeezed = _Text("".join(self.source.split()))
        self.marked = _BOM in self.squeezed.text

    def next(self, piece: str, overlap: int) -> Located:
        """The place of the next string."""
        wanted = self._squeeze(piece)
        if not wanted:
            offset = self._end(self.behind)
            return Located(offset, offset, "blank")
        at = self._find(piece, wanted, overlap)
        if at >= 0:
            return self._take(at, wanted, piece)
        return self._body(piece, overlap)

    def _squeeze(self, piece: str) -> str:
        squeezed = "".join(piece.split())
        return squeezed if self.marked else squeezed.removeprefix(_BOM)

    def _find(self, piece: str, wanted: str, overlap: int) -> int:
        """Where a string stands, or -1: next, nearby, anywhere; to the letter, or but for space."""
        back = self.behind
        if overlap and back:
            # As far back as the overlap reaches, but behind the beginning of the string before.
            back = int(self.before[max(0, self._end(back) - overlap)])
            back = max(back, self.first + 1)
        elif self.squeezed.text.startswith(wanted, back):
            return back
        lows = dict.fromkeys((back, min(self.behind, self.first + 1)))
        for look, all_lows in ((_Text.near, lows), (_Text.far, (back,))):
            for low in all_lows:
                offset = look(self.exact, piece, self._end(low))
                if offset >= 0:
                    return int(self.before[offset])
            for low in all_lows:
                at = look(self.squeezed, wanted, low)
                if at >= 0:
                    return at
        return -1

    def _take(self, at: int, wanted: str, piece: str, how: How = "spaced") -> Located:
        """Note a find; exact where the slice, or one a little further on, equals the string."""
        start, end = int(self.offsets[at]), int(self.offsets[at + len(wanted) - 1]) + 1
        exact = self._exact(at, start, end, piece)
        if exact >= 0:
            self.exact.take(piece, exact)
            if how == "spaced":
                start, end, how = exact, exact + len(piece), "exact"
                at = int(self.before[start])
        self.squeezed.take(wanted, at)
        self.first, self.behind = at, at + len(wanted)
        return Located(start, end, how)

    def _exact(self, at: int, start: int, end: int, piece: str) -> int:
        """Offset at which the string stands to the letter, or -1."""
        margin = len(piece) - len(piece.lstrip())
        if margin <= start and self.source.startswith(piece, start - margin):
            return start - margin
        if at == self.behind:
            return -1  # it follows the one before without a gap: nothing further on is meant
        return self.source.find(piece, start, end + 2 * len(piece))

    def _body(self, piece: str, overlap: int) -> Located:
        """The longest end of the string, by lines, that is of the source: headers are added."""
        lines = piece.split("\n")
        sizes = np.array([len("".join(line.split())) for line in lines])
        rest = np.cumsum(sizes[::-1])[::-1]
        # Whether the rest from a line on is found is true from some line on, for all later ones.
        low, high = 1, int((rest > 0).sum())
        best: tuple[int, str, str] | None = None
        while low < high:
            middle = (low + high) // 2
            body = "\n".join(lines[middle:])
            wanted = self._squeeze(body)
            at = self._find(body, wanted, overlap) if wanted else -1
            if at >= 0:
                best, high = (at, wanted, body), middle
            else:
                low = middle + 1
        if best is None or (best[0] != self.behind and len(best[1]) < _BODY * rest[0]):
            offset = self._end(self.behind)
            return Located(offset, offset, "missing")
        return self._take(*best, "body")

    def _end(self, place: int) -> int:
        """Offset behind the visible character before a place."""
        return int(self.offsets[place - 1]) + 1 if place else 0
