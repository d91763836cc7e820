"""Finds a library's strings in a source: spans for chunkers that return text without offsets.

Libraries strip white space, expand tabs and change line ends. So strings are compared by their
other characters; a match is exact if the slice of the source equals the string.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from chunkers.lazy import np
from chunkers.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from chunkers.source import Services, Source

How = Literal["exact", "spaced", "body", "blank", "missing"]

_BOM = "\ufeff"
_WINDOW = 1 << 14  # characters after the last match in which most strings are found
_SCANS = 16  # of the whole text, before it is worth an index
_BODY = 0.5  # share of a string that must be found, if it does not follow the one before at once
_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2^64
_INVERSE = pow(_BASE, -1, 1 << 64)
_FIRST = 8  # candidates in the first comparison
_MORE = 16  # factor by which this number grows
_EFFORT = 16  # maximum number of candidates, for each character of the text


@dataclass(frozen=True, slots=True)
class Located:
    """The position of one string.

    Attributes:
        start: First character.
        end: After the last character.
        how: `exact`: the slice equals the string; `spaced`: but for white space; `body`: the
            slice is the end of the string, whose first lines are not of the source; `blank`: the
            string is white space alone, and the span is empty; `missing`: not found.
    """

    start: int
    end: int
    how: How


def locate(source: Source, texts: Iterable[str], overlap: int = 0) -> list[Located]:
    """Find strings in a source, in order.

    Each is searched after the previous one, so equal strings have increasing positions; then where
    it overlaps the previous one; then anywhere, for strings out of order. The time is linear in the
    length of the source and of the strings, but for a logarithm.

    Args:
        source: The source.
        texts: The library's strings.
        overlap: Maximum number of characters that a string repeats from the one before it.

    Returns:
        One position for each string.
    """
    search = _Search(source.text, _visible(source), source.lines.nws)
    return [search.next(text, overlap) for text in texts]


def spans_of(
    source: Source, texts: Iterable[str], services: Services, overlap: int = 0
) -> list[Span]:
    """The spans of a library's strings, in order of `start`, each with the string as embed text.

    A string that is not found is left out and noted as `unlocated`. Arguments as for `locate`.
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
    """Offsets of the non-white-space characters."""
    return np.flatnonzero(np.diff(source.lines.nws))


@dataclass
class _Text:
    """A text that is searched; equal strings get different positions.

    Attributes:
        text: The text.
        taken: String -> positions where it was found.
        passed: String -> a position before which all of its positions are taken.
        scans: Number of scans of the whole text that are left before an index is made.
        index: The index, once it is made.
    """

    text: str
    taken: dict[str, set[int]] = field(default_factory=dict)
    passed: dict[str, int] = field(default_factory=dict)
    scans: int = _SCANS
    index: TextIndex | None = None

    def near(self, wanted: str, low: int) -> int:
        """A free position at or shortly after `low`, or -1."""
        at = self.text.find(wanted, low, low + max(_WINDOW, 2 * len(wanted)))
        return -1 if at in self.taken.get(wanted, ()) else at

    def far(self, wanted: str, low: int) -> int:
        """A position from `low` on, else a free one anywhere, else a taken one, else -1."""
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
            self.index = self.index or TextIndex(self.text)
            return self.index.find(wanted, low)
        at = self.text.find(wanted, low)
        scanned = len(self.text) if at < 0 else at - low
        self.scans -= scanned > _WINDOW
        return at


@dataclass
class _Search:
    """One pass over a source. Positions count visible characters, unless they are called offsets.

    Attributes:
        source: The text.
        offsets: Offset of every visible character, shape (n,).
        before: Visible characters before every offset, shape (len(text) + 1,).
        squeezed: The visible characters.
        marked: Whether they include byte order marks.
        first: Start of the last match.
        after: End of the last match.
    """

    source: str
    offsets: NDArray[np.int64]
    before: NDArray[np.int64]
    exact: _Text = field(init=False)
    squeezed: _Text = field(init=False)
    marked: bool = field(init=False)
    first: int = 0
    after: int = 0

    def __post_init__(self) -> None:
        self.exact = _Text(self.source)
        self.squeezed = _Text("".join(self.source.split()))
        self.marked = _BOM in self.squeezed.text

    def next(self, piece: str, overlap: int) -> Located:
        """The position of the next string."""
        wanted = self._squeeze(piece)
        if not wanted:
            offset = self._end(self.after)
            return Located(offset, offset, "blank")
        at = self._find(piece, wanted, overlap)
        if at >= 0:
            return self._take(at, wanted, piece)
        return self._body(piece, overlap)

    def _squeeze(self, piece: str) -> str:
        squeezed = "".join(piece.split())
        return squeezed if self.marked else squeezed.removeprefix(_BOM)

    def _find(self, piece: str, wanted: str, overlap: int) -> int:
        """The position of a string, or -1: next, nearby, anywhere; exact, or except for space."""
        back = self.after
        if overlap and back:
            # As far back as the overlap reaches, but after the start of the previous string.
            back = int(self.before[max(0, self._end(back) - overlap)])
            back = max(back, self.first + 1)
        elif self.squeezed.text.startswith(wanted, back):
            return back
        lows = dict.fromkeys((back, min(self.after, self.first + 1)))
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
        self.first, self.after = at, at + len(wanted)
        return Located(start, end, how)

    def _exact(self, at: int, start: int, end: int, piece: str) -> int:
        """The offset of an exact match, or -1."""
        margin = len(piece) - len(piece.lstrip())
        if margin <= start and self.source.startswith(piece, start - margin):
            return start - margin
        if at == self.after:
            return -1  # it follows the previous string at once, so it cannot be further on
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
        if best is None or (best[0] != self.after and len(best[1]) < _BODY * rest[0]):
            offset = self._end(self.after)
            return Located(offset, offset, "missing")
        return self._take(*best, "body")

    def _end(self, place: int) -> int:
        """Offset after the visible character before a position."""
        return int(self.offsets[place - 1]) + 1 if place else 0


@dataclass
class TextIndex:
    """Finds any number of strings in one long text, each in nearly constant time.

    `str.find` takes n steps for one string in a text of n characters, which is too slow for n
    strings out of order. Here the windows of 1, 2, 4, 8… characters are sorted by a hash once; a
    string is found by the two windows that cover it, at its beginning and at its end.

    Attributes:
        text: The text, of n characters.
        left: Number of comparisons that are left. It runs out only if many strings begin and end
            like many positions without a match; then no more strings are found.
    """

    text: str
    left: int = field(init=False)
    _codes: NDArray[np.uint64] = field(init=False)
    _powers: NDArray[np.uint64] = field(init=False)  # of the base, shape (n + 1,)
    _inverses: NDArray[np.uint64] = field(init=False)
    _sums: NDArray[np.uint64] = field(init=False)  # of codes times powers, before each character
    _windows: dict[int, _Windows] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.left = _EFFORT * len(self.text)
        self._codes = _codes(self.text)
        self._powers = _powers(_BASE, len(self.text) + 1)
        self._inverses = _powers(_INVERSE, len(self.text) + 1)
        self._sums = np.zeros(len(self.text) + 1, np.uint64)
        np.cumsum(self._codes * self._powers[:-1], out=self._sums[1:])

    def find(self, wanted: str, low: int) -> int:
        """The first position of a non-empty string at or after `low`, or -1, as `str.find`."""
        length = len(wanted)
        if low + length > len(self.text):
            return -1
        width = 1 << (length.bit_length() - 1)
        windows = self._windows.get(width)
        if windows is None:
            windows = self._windows[width] = _Windows.of(self._hashes(width))
        codes = _codes(wanted)
        first, last = (
            (part * self._powers[:width]).sum(dtype=np.uint64)
            for part in (codes[:width], codes[-width:])
        )
        # By the rarer of the two, to be compared by the other.
        tail = length - width
        places, ends = windows.places_of(first), windows.places_of(last)
        if len(places) <= len(ends):
            return self._compare(places, windows.hashes[tail:], last, wanted, low)
        ends = ends[int(ends.searchsorted(tail)) :]
        return self._compare(ends - tail, windows.hashes, first, wanted, low)

    def _compare(
        self,
        places: NDArray[np.int64],
        hashes: NDArray[np.uint64],
        value: np.uint64,
        wanted: str,
        low: int,
    ) -> int:
        """The first of the positions from `low` on with this hash that holds the string, or -1."""
        at, size = int(places.searchsorted(low)), _FIRST
        high = int(places.searchsorted(len(self.text) - len(wanted), "right"))
        while at < high and self.left > 0:
            batch = places[at : min(at + size, high)]
            self.left -= len(batch)
            for place in batch[hashes[batch] == value].tolist():
                if self.text.startswith(wanted, place):
                    return int(place)
                self.left -= len(wanted)
            at, size = at + size, size * _MORE
        return -1

    def _hashes(self, width: int) -> NDArray[np.uint64]:
        """The hash of every window of a width, shape (n - width + 1,)."""
        windows = len(self.text) - width + 1
        return (self._sums[width:] - self._sums[:windows]) * self._inverses[:windows]


@dataclass(frozen=True)
class _Windows:
    """The windows of one width: hashes by position, and positions sorted by hash, then position."""

    hashes: NDArray[np.uint64]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, hashes: NDArray[np.uint64]) -> _Windows:
        return cls(hashes, np.argsort(hashes, kind="stable"))

    def places_of(self, value: np.uint64) -> NDArray[np.int64]:
        """The positions of a hash, in increasing order."""
        low = self.hashes.searchsorted(value, "left", self.order)
        return self.order[low : self.hashes.searchsorted(value, "right", self.order)]


def _codes(text: str) -> NDArray[np.uint64]:
    """The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    """1, base, base², … modulo 2^64."""
    factors = np.full(count, base, np.uint64)
    factors[0] = 1
    return np.multiply.accumulate(factors)
