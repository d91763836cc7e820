"""Sources whose texts are in a file instead of memory.

Within `text_space`, `kept` leaves the texts of sources in memory up to a share of the limit, and
writes all others to a file of the cache folder, which the system removes with the process. Results
do not depend on where a text is: a stored source equals a plain one of the same text and labels.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import weakref
from collections import Counter, deque
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from math import isinf
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from chunkers.recent import Recent
from chunkers.source import Source
from harness.support.data_folders import cache_dir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chunkers.source import LineIndex
    from harness.support.space import Space

_WITH_INDEX = 2  # a line index with the counts of `Layout` is hardly ever larger than its text
_OPEN = 1 << 21  # characters of stored texts that are in memory since they were used last

_store: ContextVar[TextStore | None] = ContextVar("_store", default=None)


class StoredSource(Source):
    """A source whose text is read from a file when it is used; made by `kept`.

    It equals a plain source with the same text, path, language, encoding and `left_out`, and has
    its hash. `dataclasses.replace` makes a plain one of it, since the text may be another;
    `relabelled` keeps it stored. Another process gets a plain one.
    """

    def __new__(cls, *values: Any, **fields: Any) -> Any:
        """A plain source: only `kept` knows where a text is."""
        return Source(*values, **fields)

    @classmethod
    def _of(cls, **attributes: Any) -> StoredSource:
        source: StoredSource = object.__new__(cls)
        source.__dict__.update(attributes)
        return source

    @property
    def text(self) -> str:
        """The text, from the file if it was not used lately."""
        return self._opened().text

    @property
    def lines(self) -> LineIndex:
        """The line index, built anew if the text was not used lately."""
        return self._opened().lines

    @property
    def length(self) -> int:
        """Number of characters."""
        return int(self.__dict__["_length"])

    @property
    def digest(self) -> str:
        """The sha256 of the text in UTF-8, in hexadecimal digits."""
        return bytes(self.__dict__["_digest"]).hex()

    @property
    def text_hash(self) -> int:
        """What `hash` gives for the text in this process."""
        return int(self.__dict__["_text_hash"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Source):
            return NotImplemented
        return self is other or (
            (self.path, self.language, self.encoding, self.left_out, self.length, self.text_hash)
            == (
                other.path,
                other.language,
                other.encoding,
                other.left_out,
                other.length,
                other.text_hash,
            )
            and self.digest == other.digest
        )

    __hash__ = Source.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Source, (self.text, self.path, self.language, self.encoding, self.left_out)

    def _opened(self) -> Source:
        values = self.__dict__
        store: TextStore = values["_store"]
        return store.opened(values["_start"], values["_size"], self.length)


class TextStore:
    """Texts in a file that ends with the last source in it.

    Args:
        limit: Bytes of memory for all texts that are there at a time, and their line indexes.
    """

    def __init__(self, limit: float) -> None:
        self.limit = self._left = limit
        # By the text's `id`, which no other text has as long as a source holds it: its size, and
        # the number of its sources.
        self._sizes: dict[int, int] = {}
        self._holders: Counter[int] = Counter()
        # A source may end in any thread, at any time: what it held is given back by `keep`.
        self._ended: deque[int] = deque()
        self._folder = cache_dir()
        self._file: Any = None
        self._end = 0
        self._open: Recent[int, Source] = Recent(_OPEN)

    def keep(self, source: Source) -> Source:
        """A source, stored if its text does not fit into memory.

        Raises:
            InputError: There is no room for the file.
        """
        if isinstance(source, StoredSource):
            return source
        text = source.text
        if self._holds(text):
            weakref.finalize(source, self._ended.append, id(text)).atexit = False
            return source
        octets = text.encode("utf-8", "surrogatepass")
        start = self._append(octets)
        return StoredSource._of(
            path=source.path,
            language=source.language,
            encoding=source.encoding,
            left_out=source.left_out,
            _store=self,
            _start=start,
            _size=len(octets),
            _length=len(text),
            _digest=hashlib.sha256(octets).digest(),
            _text_hash=hash(text),
        )

    def _holds(self, text: str) -> bool:
        """Whether the text of a new source may be in memory, or is there anyway."""
        while self._ended:
            key = self._ended.popleft()
            self._holders[key] -= 1
            if not self._holders[key]:
                del self._holders[key]
                self._left += self._sizes.pop(key)
        key = id(text)
        if key not in self._sizes:
            size = sys.getsizeof(text) * _WITH_INDEX
            if size > self._left:
                return False
            self._left -= size
            self._sizes[key] = size
        self._holders[key] += 1
        return True

    def opened(self, start: int, size: int, length: int) -> Source:
        """The text that begins at a byte, with its line index, as a source without a name.

        Raises:
            InputError: The file cannot be read.
        """
        return self._open.get(start, length, lambda: Source(self._read(start, size), ""))

    def _append(self, octets: bytes) -> int:
        start, done = self._end, 0
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            while done < len(octets):
                done += os.pwrite(self._file.fileno(), octets[done:], start + done)
        except OSError as error:
            raise InputError(
                f"{self._folder}: no room for the texts of the data set "
                f"({error.strerror or error}); choose another cache folder, or raise --memory"
            ) from error
        # An empty text takes a byte, so that a place belongs to one text.
        self._end = start + max(1, len(octets))
        return start

    def _read(self, start: int, size: int) -> str:
        parts, left = [], size
        try:
            while left:
                # Not mapped: a mapped file counts as memory of the process.
                part = os.pread(self._file.fileno(), left, start + size - left)
                if not part:
                    raise OSError("it is too short")
                parts.append(part)
                left -= len(part)
        except OSError as error:
            raise InputError(
                f"{self._folder}: the file of texts cannot be read ({error.strerror or error})"
            ) from error
        return b"".join(parts).decode("utf-8", "surrogatepass")


@contextmanager
def text_space(space: Space) -> Iterator[None]:
    """Let `kept` write texts to a file where they pass a share of a limit.

    Without a limit, `kept` does as before. Within a space of the same limit, texts count with those
    that are there: all of a run, of its data sets and their masks, take one share.
    """
    active = _store.get()
    if isinf(space.limit) or (active is not None and active.limit == space.share):
        yield
        return
    token = _store.set(TextStore(space.share))
    try:
        yield
    finally:
        _store.reset(token)


def bounded() -> bool:
    """Whether the memory of texts is bounded here."""
    return _store.get() is not None


def kept(source: Source) -> Source:
    """A source for a corpus: the given one, or a stored one within `text_space`.

    Raises:
        InputError: There is no room for the file.
    """
    store = _store.get()
    return source if store is None else store.keep(source)


def relabelled(source: Source, **labels: Any) -> Source:
    """A source with another path, language or encoding; its text is where it was."""
    if isinstance(source, StoredSource):
        return StoredSource._of(**{**source.__dict__, **labels})
    return kept(replace(source, **labels))  # holds the text when the other one has ended
