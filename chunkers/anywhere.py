"""Any number of strings found in one long text, each in time that hardly grows with the text.

What `str.find` needs for one string in a text of n characters is n steps, which for n strings out
of order is too much. Here the text's windows of 1, 2, 4, 8… characters are sorted by a hash once,
and a string is looked for by the two that cover it, at its beginning and at its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2^64
_INVERSE = pow(_BASE, -1, 1 << 64)
_FIRST = 8  # candidates that are compared at first,
_MORE = 16  # and so many times as many each time that none of them is it
_EFFORT = 16  # candidates in all, for each character of the text


@dataclass
class Anywhere:
    """A text in which strings are looked for.

    Attributes:
        text: The text, of n characters.
        left: Candidates that may yet be compared. It runs out where very many strings begin and
            end as very many places do, but are found at none of them; no more is found then.
    """

    text: str
    left: int = field(init=False)
    _codes: NDArray[np.uint64] = field(init=False)
    _powers: NDArray[np.uint64] = field(init=False)  # of the base, shape (n + 1,)
    _inverses: NDArray[np.uint64] = field(init=False)
    _sums: NDArray[np.uint64] = field(init=False)  # of codes times powers, before each character
    _levels: dict[int, _Level] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.left = _EFFORT * len(self.text)
        self._codes = _codes(self.text)
        self._powers = _powers(_BASE, len(self.text) + 1)
        self._inverses = _powers(_INVERSE, len(self.text) + 1)
        self._sums = np.zeros(len(self.text) + 1, np.uint64)
        np.cumsum(self._codes * self._powers[:-1], out=self._sums[1:])

    def find(self, wanted: str, low: int) -> int:
        """The first place at or behind `low` where a string stands, or -1, as `str.find` has it.

        Args:
            wanted: The string, not empty.
            low: A place, 0 or more.
        """
        length = len(wanted)
        if low + length > len(self.text):
            return -1
        width = 1 << (length.bit_length() - 1)
        level = self._levels.get(width)
        if level is None:
            level = self._levels[width] = _Level.of(self._hashes(width))
        codes = _codes(wanted)
        first, last = (
            (part * self._powers[:width]).sum(dtype=np.uint64)
            for part in (codes[:width], codes[-width:])
        )
        # By the rarer of the two, to be compared by the other.
        behind = length - width
        places, ends = level.places_of(first), level.places_of(last)
        if len(places) <= len(ends):
            return self._compare(places, level.hashes[behind:], last, wanted, low)
        ends = ends[int(ends.searchsorted(behind)) :]
        return self._compare(ends - behind, level.hashes, first, wanted, low)

    def _compare(
        self,
        places: NDArray[np.int64],
        hashes: NDArray[np.uint64],
        value: np.uint64,
        wanted: str,
        low: int,
    ) -> int:
        """The first of the places from `low` on with a hash of this value, and with the string."""
        at, size = int(places.searchsorted(low)), _FIRST
        high = int(places.searchsorted(len(self.text) - len(wanted), "right"))
        while at < high and self.left > 0:
            some = places[at : min(at + size, high)]
            self.left -= len(some)
            for place in some[hashes[some] == value].tolist():
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
class _Level:
    """The windows of one width.

    Attributes:
        hashes: By place.
        order: Places sorted by hash, and by place where hashes are equal.
    """

    hashes: NDArray[np.uint64]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, hashes: NDArray[np.uint64]) -> _Level:
        return cls(hashes, np.argsort(hashes, kind="stable"))

    def places_of(self, value: np.uint64) -> NDArray[np.int64]:
        """Where a hash stands, in increasing order."""
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
