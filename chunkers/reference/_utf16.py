"""Text as JavaScript counts it: UTF-16 code units, and white space by its own rules."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

from chunkers.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tree_sitter import Node

#: What `\s` matches and `trim` removes in JavaScript.
SPACES = "\t\n\v\f\r \xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
SPACES += "\u2028\u2029\u202f\u205f\u3000\ufeff"


@cache
def _visible() -> NDArray[np.bool_]:
    r"""Whether a code unit is no `\s`, shape (0x10000,)."""
    visible = np.ones(0x10000, dtype=bool)
    visible[[ord(space) for space in SPACES]] = False
    return visible


class Utf16Text:
    """A text with offsets in UTF-16 code units.

    Attributes:
        text: The text.
        octets: Its UTF-16-LE form, two bytes a unit.
        units: Its code units, shape (n,).
        line_starts: Offset of every line; only LF ends one, and behind a last LF is one more,
            empty line.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.octets = text.encode("utf-16-le", "surrogatepass")
        self.units: NDArray[np.uint16] = np.frombuffer(self.octets, dtype="<u2")
        self.line_starts: NDArray[np.int64] = np.append(0, np.flatnonzero(self.units == 0x0A) + 1)

    def __len__(self) -> int:
        """Number of code units."""
        return len(self.units)

    def slice(self, start: int, end: int) -> str:
        """The units [start, end); half of a surrogate pair stays as it is."""
        return self.octets[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")

    def node(self, node: Node) -> str:
        """The text of a node of a tree that was parsed from `octets`."""
        return self.slice(node.start_byte // 2, node.end_byte // 2)

    def row_of(self, offset: int) -> int:
        """Number of LFs before `offset`."""
        return int(np.searchsorted(self.line_starts, offset, side="right")) - 1

    def line_start(self, row: int) -> int:
        """Offset of the row, counted from 0; the text's length behind the last."""
        return int(self.line_starts[row]) if row < len(self.line_starts) else len(self)

    def line_end(self, row: int) -> int:
        """Offset behind the row, its LF not included."""
        behind = row + 1
        return self.line_start(behind) - (behind < len(self.line_starts))

    @cached_property
    def above_space(self) -> NDArray[np.int64]:
        """Units above 32 before every offset, shape (n + 1,)."""
        return _running(self.units > 0x20)

    @cached_property
    def visible(self) -> NDArray[np.int64]:
        r"""Units that are no `\s` before every offset, shape (n + 1,)."""
        return _running(_visible()[self.units])

    @cached_property
    def _char_starts(self) -> NDArray[np.int64] | None:
        """Unit at which every character starts, and the length; None where both count alike."""
        if len(self.units) == len(self.text):
            return None
        codes = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return np.append(0, np.cumsum(1 + (codes > 0xFFFF)))

    def chars(self, start: int, end: int) -> tuple[int, int]:
        """The units [start, end) as characters [start, end), with those cut in half."""
        starts = self._char_starts
        if starts is None:
            return start, end
        first = int(np.searchsorted(starts, start, side="right")) - 1
        return first, int(np.searchsorted(starts, end, side="left"))


def _running(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    sums = np.zeros(len(mask) + 1, dtype=np.int64)
    np.cumsum(mask, out=sums[1:])
    return sums
