"""The input and output of a chunker: source text, lines, spans, services.

Conventions: offsets count characters of the decoded text and are half-open; lines are 1-based and
inclusive, and only LF ends a line; white space is defined by `str.isspace`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Protocol

from chunkers.errors import InputError
from chunkers.lazy import np
from chunkers.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_VISIBLE_ASCII = bytes(not chr(code).isspace() for code in range(256))


class LineIndex:
    """Maps character offsets of one text to its lines, and counts its non-white-space characters.

    Attributes:
        count: Number of lines. Text after the last LF is a line, an empty rest is not.
        starts: Offset of the first character of every line, shape (count,).
        line_nws: Non-white-space characters before every line, then in all, shape (count + 1,).
    """

    def __init__(self, text: str) -> None:
        codes, visible = _characters(text)
        starts = np.concatenate(([0], np.flatnonzero(codes == 0x0A) + 1))
        if starts[-1] == len(text):
            starts = starts[:-1]
        self._text = text
        self.count = len(starts)
        self.starts: NDArray[np.int64] = starts
        self.line_nws: NDArray[np.int64] = np.zeros(len(starts) + 1, dtype=np.int64)
        if self.count:
            np.cumsum(np.add.reduceat(visible, starts, dtype=np.int64), out=self.line_nws[1:])
        # All chunkers share one index, so it is read-only.
        self.starts.flags.writeable = self.line_nws.flags.writeable = False

    @property
    def nws(self) -> NDArray[np.int64]:
        """Non-white-space characters before every offset, shape (len(text) + 1,).

        Kept for the texts used last alone: it is eight times as large as an ASCII text.
        """
        return _NWS.get(self._text, len(self._text), self._counted)

    @cached_property
    def text_starts(self) -> NDArray[np.int64]:
        """Non-white-space characters before every non-blank line, shape (number of them,)."""
        return self.line_nws[:-1][np.diff(self.line_nws) > 0]

    def _counted(self) -> NDArray[np.int64]:
        nws = np.zeros(len(self._text) + 1, dtype=np.int64)
        np.cumsum(_characters(self._text)[1], out=nws[1:])
        nws.flags.writeable = False
        return nws

    def line_of(self, offset: int) -> int:
        """The line that holds the character at `offset`."""
        return int(np.searchsorted(self.starts, offset, side="right"))

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """First and last line of the characters [start, end); for an empty span that of `start`."""
        return self.line_of(start), self.line_of(max(start, end - 1))

    def start_of(self, line: int) -> int:
        """Offset of the first character of `line`; the text's length for `count + 1`."""
        return int(self.starts[line - 1]) if line <= self.count else len(self._text)

    def end_of(self, line: int) -> int:
        """Offset after `line` and its LF."""
        return self.start_of(line + 1)

    def offsets_of(self, first: int, last: int) -> tuple[int, int]:
        """Start and end offset of the lines `first` to `last`, both included."""
        return self.start_of(first), self.end_of(last)

    def text_of(self, first: int, last: int) -> str:
        """The text of the lines `first` to `last`, both included."""
        return self._text[slice(*self.offsets_of(first, last))]

    def size(self, start: int, end: int) -> int:
        """Non-white-space characters in [start, end)."""
        return int(self.nws[end] - self.nws[start])

    def blank(self, line: int) -> bool:
        """Whether `line` holds only white space."""
        return bool(self.line_nws[line] == self.line_nws[line - 1])


_NWS: Recent[str, NDArray[np.int64]] = Recent(1 << 20)


def _characters(text: str) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]]:
    """The code of every character, and 1 if it is not white space; shape (len(text),) each."""
    if text.isascii():
        octets = text.encode()
        visible = np.frombuffer(octets.translate(_VISIBLE_ASCII), dtype=np.uint8)
        return np.frombuffer(octets, dtype=np.uint8), visible
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return codes, _visible()[np.minimum(codes, 0x3001)].view(np.uint8)


@cache
def _visible() -> NDArray[np.bool_]:
    """Whether a character is not white space, by its code up to U+3001; all above are not."""
    return np.array([not chr(code).isspace() for code in range(0x3001)] + [True])


@dataclass(frozen=True)
class Source:
    """One decoded text file.

    Attributes:
        text: The text as read, without newline translation and without a byte order mark.
        path: Path inside the corpus, parts separated by `/`; a document's id in a collection.
        language: Name in `chunkers.languages`, or None for plain text.
        encoding: What the bytes were decoded by.
        left_out: Characters of very long lines that the text lacks.
    """

    text: str
    path: str
    language: str | None = None
    encoding: str = "utf-8"
    left_out: int = 0

    @cached_property
    def lines(self) -> LineIndex:
        """The line index, built once."""
        return LineIndex(self.text)

    @property
    def length(self) -> int:
        """Number of characters."""
        return len(self.text)

    @property
    def digest(self) -> str:
        """The sha256 of the text in UTF-8, in hexadecimal digits."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def text_hash(self) -> int:
        """What `hash` gives for the text in this process."""
        return hash(self.text)

    def __hash__(self) -> int:
        return hash((self.text_hash, self.path, self.language, self.encoding, self.left_out))


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, end) of a source.

    Attributes:
        start: First character.
        end: After the last character.
        embed_text: The text to embed, if it is not the text of the span.
        ref_id: The chunk's id in the system that a chunker reproduces.
        gaps: Characters [start, end) inside, in order, that the chunk lacks because a library
            dropped them.
    """

    start: int
    end: int
    embed_text: str | None = None
    ref_id: str | None = None
    gaps: tuple[tuple[int, int], ...] = ()

    def kept(self, text: str) -> str:
        """The chunk's part of the source's text: the slice without its gaps."""
        borders = [self.start, *(border for gap in self.gaps for border in gap), self.end]
        pairs = zip(borders[::2], borders[1::2], strict=True)
        return "".join(text[start:end] for start, end in pairs)


@dataclass
class Services:
    """What the harness offers a chunker: vectors, token counts, and notes for the user.

    Attributes:
        embed: Texts to unit vectors, shape (n, d); None without an embedder. A text that has no
            vector has a row of zeros.
        count_tokens: Tokens of a text without special ones; None without a tokenizer.
        corpus: Id of the corpus that the source belongs to; may be empty.
        notes: Counts of what the chunker reported, such as `fallback: fixed (ruby)`.
    """

    embed: Callable[[Sequence[str]], NDArray[np.float32]] | None = None
    count_tokens: Callable[[str], int] | None = None
    corpus: str = ""
    notes: Counter[str] = field(default_factory=Counter)
    _line_tokens: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    def note(self, what: str) -> None:
        """Count something that the user should know about this file."""
        self.notes[what] += 1

    def need_tokens(self) -> Callable[[str], int]:
        """The token counter; raises InputError without one."""
        if self.count_tokens is None:
            raise InputError("a size in tokens needs a tokenizer: run it with an embedder")
        return self.count_tokens

    def need_embed(self) -> Callable[[Sequence[str]], NDArray[np.float32]]:
        """The function from texts to unit vectors; raises InputError without one."""
        if self.embed is None:
            raise InputError("cutting by meaning needs an embedder: run it with one")
        return self.embed

    def line_tokens(self) -> Callable[[str], int]:
        """A token counter for single lines with a memory; raises InputError without one."""
        count, known = self.need_tokens(), self._line_tokens

        def counted(line: str) -> int:
            if line not in known:
                known[line] = count(line)
            return known[line]

        return counted


class Chunker(Protocol):
    """Cuts one source into spans, in order of `start`.

    Optional attributes: `version` (str, changes whenever its output may), `max_size` and `unit`
    (its declared limit), `windows` (`"max"`: its long chunks are embedded by windows), `embeds`
    (True if it needs `services.embed`), `texts(source, services) -> list[str]` (the texts that it
    will embed, so that those of all files are embedded at once), `languages` (names of the
    languages that it reads, if not all), `exceptions` (names of the checks in `chunkers.testing`
    that it is known to fail).
    """

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Spans of `source`; white space may lie between them."""
        ...
