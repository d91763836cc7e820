"""The chunks of a file and of a corpus: rows of numbers, since a corpus may have millions."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate, chain, starmap
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from chunkers.source import Span
from harness.chunking.layout import squeezed
from harness.support.sequences import LazySequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from chunkers.source import Source

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPlace:
    """Where a chunk of a corpus is.

    `id` is `path:start_line-end_line`, with `#2`, … for further chunks of the same range. `start`
    and `end` are offsets; `nws` and `lines` are intervals of non-white-space characters and of
    non-blank lines of the file. `ref_id` is the id in the system that the chunker reproduces.
    `around` are non-white-space characters of the embedded text before and after the chunk's own
    text; None if it does not contain it. `gaps` are non-empty intervals of `nws`, in order, that
    are not part of the chunk.
    """

    id: str
    path: str
    start: int
    end: int
    start_line: int
    end_line: int
    nws: Interval
    lines: Interval
    ref_id: str | None = None
    around: Interval | None = (0, 0)
    gaps: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk(ChunkPlace):
    """One chunk of a corpus.

    `size` is in the chunker's unit, and `text` is what is embedded. `lacking` counts the
    non-white-space characters of the chunk's own text that `text` leaves out.
    """

    size: int
    text: str
    lacking: int = 0

    @property
    def parts(self) -> list[Interval]:
        """The intervals of `nws` between gaps, in order; one if there are no gaps."""
        return without_gaps(self.nws, self.gaps) if self.gaps else [self.nws]


def without_gaps(whole: Interval, gaps: Iterable[Interval]) -> list[Interval]:
    """An interval without gaps, which are in order; an empty interval is returned as it is."""
    begin, end = whole
    parts = []
    for low, high in gaps:
        parts.append((begin, min(low, end)))
        begin = max(begin, high)
    parts.append((begin, end))
    return [(low, high) for low, high in parts if low < high] or [(whole[0], whole[0])]


class Row(NamedTuple):
    """The numbers of a chunk; see `Chunk`.

    `copy` counts the chunks of the same lines, from 1. `before` and `after` are those of `around`,
    or -1. All fit 32 bits, since no file has more characters.
    """

    start: int
    end: int
    start_line: int
    end_line: int
    low: int
    high: int
    first: int
    stop: int
    copy: int = 1
    size: int = 0
    before: int = 0
    after: int = 0
    lacking: int = 0


_PLACES = {name: place for place, name in enumerate(Row._fields)}


@dataclass(frozen=True, slots=True)
class Special:
    """What few chunks have.

    Attributes:
        wrap: The embedded text, around the chunk's own if there are two parts.
        ref_id: The id in the system that the chunker reproduces.
        cut: Gaps as characters of the source.
        gaps: The same as non-white-space characters.
    """

    wrap: tuple[str, ...] = ("", "")
    ref_id: str | None = None
    cut: tuple[Interval, ...] = ()
    gaps: tuple[Interval, ...] = ()


PLAIN = Special()
"""A chunk that is embedded as it is."""


def table_of(rows: Sequence[Row]) -> NDArray[np.int32]:
    """Rows as a table, shape (n, 13)."""
    return np.array(rows, dtype=np.int32).reshape(-1, len(Row._fields))


def id_of(path: str, first: int, last: int, copy: int) -> str:
    """The id of a chunk; see `ChunkPlace`."""
    name = f"{path}:{first}-{last}"
    return name if copy == 1 else f"{name}#{copy}"


@dataclass(frozen=True, eq=False)
class FileRows:
    """The rows of the chunks of one file, in order of start and end.

    Attributes:
        path: The file.
        table: A row for each chunk, with the columns of `Row`, shape (n, 13).
        special: By the number of the chunk, where it is not `PLAIN`.
    """

    path: str
    table: NDArray[np.int32]
    special: Mapping[int, Special] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.table)

    def column(self, name: str) -> NDArray[np.int64]:
        """A column of the table, shape (n,)."""
        return self.table[:, _PLACES[name]].astype(np.int64)

    def row(self, at: int) -> Row:
        """The row of one chunk."""
        return Row(*self.table[at].tolist())

    def id_of(self, row: Row) -> str:
        """The id of a chunk."""
        return id_of(self.path, row.start_line, row.end_line, row.copy)

    def ids(self) -> Iterator[str]:
        """The ids of all chunks."""
        names = ("start_line", "end_line", "copy")
        columns = self.table[:, [_PLACES[name] for name in names]]
        return starmap(partial(id_of, self.path), columns.tolist())

    def place(self, at: int) -> dict[str, Any]:
        """The fields of `ChunkPlace` of one chunk."""
        row, kind = self.row(at), self.special.get(at, PLAIN)
        return {
            "id": self.id_of(row),
            "path": self.path,
            "start": row.start,
            "end": row.end,
            "start_line": row.start_line,
            "end_line": row.end_line,
            "nws": (row.low, row.high),
            "lines": (row.first, row.stop),
            "ref_id": kind.ref_id,
            "around": None if row.before < 0 else (row.before, row.after),
            "gaps": kind.gaps,
        }

    @property
    def gaps(self) -> Mapping[int, tuple[Interval, ...]]:
        """Gaps by the number of the chunk, where it has some."""
        return {at: kind.gaps for at, kind in self.special.items() if kind.gaps}

    @property
    def chars(self) -> NDArray[np.int64]:
        """Non-white-space characters of each chunk, shape (n,)."""
        sizes = self.column("high") - self.column("low")
        for at, gaps in self.gaps.items():
            row = self.row(at)
            parts = without_gaps((row.low, row.high), gaps)
            sizes[at] = sum(high - low for low, high in parts)
        return sizes

    def parts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The stretches of all chunks between gaps: their chunk, shape (m,), and they, (m, 2)."""
        intervals = np.stack((self.column("low"), self.column("high")), axis=1)
        owner = np.arange(len(self))
        gaps = self.gaps
        if not gaps:
            return owner, intervals
        cut = [
            (at, part)
            for at, whole in enumerate(intervals.tolist())
            for part in without_gaps((whole[0], whole[1]), gaps.get(at, ()))
        ]
        return np.array([at for at, _ in cut]), np.array([part for _, part in cut])

    @cached_property  # corpora share most of their files
    def uncovered(self) -> NDArray[np.int64]:
        """For each chunk, its characters (`c`) after the end of all earlier ones, shape (n,)."""
        ends = np.append(0, np.maximum.accumulate(self.column("high")))[:-1]
        owner, parts = self.parts()
        rest = np.maximum(0, parts[:, 1] - np.maximum(parts[:, 0], ends[owner]))
        return np.bincount(owner, rest, len(self)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class FileChunks(FileRows):
    """The chunks of one file, which several corpora may share.

    Attributes:
        source: The file.
    """

    source: Source = field(kw_only=True)

    def __iter__(self) -> Iterator[Chunk]:
        text = self.source.text
        return (self._chunk(at, text) for at in range(len(self)))

    def chunk(self, at: int) -> Chunk:
        """One of them."""
        return self._chunk(at, self.source.text)

    def _chunk(self, at: int, text: str) -> Chunk:
        row, kind = self.row(at), self.special.get(at, PLAIN)
        return Chunk(
            **self.place(at),
            size=row.size,
            text=_embedded(text, row.start, row.end, kind),
            lacking=row.lacking,
        )

    def text(self, at: int) -> str:
        """What is embedded of one of them."""
        start, end = self.table[at, :2].tolist()
        return _embedded(self.source.text, start, end, self.special.get(at, PLAIN))

    def texts(self) -> Iterator[str]:
        """What is embedded of each."""
        text = self.source.text
        for at, (start, end) in enumerate(self.table[:, :2].tolist()):
            kind = self.special.get(at)
            yield text[start:end] if kind is None else _embedded(text, start, end, kind)

    @cached_property
    def _digests(self) -> bytes:
        return b"".join(map(_digest, self.texts()))

    def digests(self) -> Iterator[bytes]:
        """16 bytes of each chunk's embedded text, by which equal ones are found."""
        joined = self._digests
        return (joined[at : at + 16] for at in range(0, len(joined), 16))

    @cached_property
    def embedded_chars(self) -> int:
        """Non-white-space characters of all embedded texts."""
        return sum(len(squeezed(text)) for text in self.texts())


def _embedded(text: str, start: int, end: int, kind: Special) -> str:
    own = Span(start, end, gaps=kind.cut).kept(text) if kind.cut else text[start:end]
    return own.join(kind.wrap)


F = TypeVar("F", bound=FileRows)
T = TypeVar("T")


class FileSequence(LazySequence[T], Generic[T, F]):
    """What there is of each chunk in files, one file after another.

    Args:
        files: The chunks of each file; perhaps none.
        item: Makes it of a file's number and the chunk's number in that file.

    Attributes:
        files: As given.
        starts: Number of the first chunk of each file, then of all, shape (files + 1,).
    """

    def __init__(self, files: Iterable[F], item: Callable[[int, int], T]) -> None:
        self.files = tuple(files)
        self.starts = [0, *accumulate(map(len, self.files))]
        super().__init__(self.starts[-1], lambda number: item(*self.place(number)))

    def place(self, number: int) -> tuple[int, int]:
        """The number of a chunk's file, and the chunk's in that file."""
        file = bisect_right(self.starts, number) - 1
        return file, number - self.starts[file]

    @property
    def ids(self) -> Sequence[str]:
        """The id of each chunk."""

        def item(number: int) -> str:
            file, at = self.place(number)
            return self.files[file].id_of(self.files[file].row(at))

        return LazySequence(
            len(self), item, lambda: chain.from_iterable(file.ids() for file in self.files)
        )

    def column(self, name: str) -> NDArray[np.int64]:
        """A column of `Row`, shape (n,)."""
        return _joined(file.table[:, _PLACES[name]] for file in self.files)

    @property
    def chars(self) -> NDArray[np.int64]:
        """Non-white-space characters of each chunk, shape (n,)."""
        sizes = self.column("high") - self.column("low")
        for start, file in zip(self.starts, self.files, strict=False):
            if file.special:
                sizes[start : start + len(file)] = file.chars
        return sizes

    @property
    def gaps(self) -> dict[int, tuple[Interval, ...]]:
        """Gaps by the number of the chunk, where it has some."""
        return {
            start + at: gaps
            for start, file in zip(self.starts, self.files, strict=False)
            for at, gaps in file.gaps.items()
        }

    @property
    def file_of(self) -> NDArray[np.int64]:
        """The number of each chunk's file, shape (n,)."""
        return np.repeat(np.arange(len(self.files)), np.diff(self.starts))


class Chunks(FileSequence[Chunk, FileChunks]):
    """The chunks of a corpus, in the order of its files, of which each is there."""

    def __init__(self, files: Iterable[FileChunks]) -> None:
        super().__init__(files, lambda file, at: self.files[file].chunk(at))

    def __iter__(self) -> Iterator[Chunk]:
        return chain.from_iterable(self.files)

    @property
    def texts(self) -> Sequence[str]:
        """What is embedded of each chunk."""

        def item(number: int) -> str:
            file, at = self.place(number)
            return self.files[file].text(at)

        return LazySequence(
            len(self), item, lambda: chain.from_iterable(file.texts() for file in self.files)
        )

    @property
    def uncovered(self) -> NDArray[np.int64]:
        """For each chunk, its characters (`c`) after all earlier ones of its file, shape (n,)."""
        return _joined(file.uncovered for file in self.files)


def _joined(columns: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int32), *columns]).astype(np.int64)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
