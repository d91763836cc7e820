"""Inverted indexes over the tokens of chunks, made in bounded memory.

A text that several corpora share is read once. Each text becomes a row: pairs of a token's number
and its count. Rows are remembered up to a limit; those of a corpus that are beyond it go to a
file, so that besides the postings only that limit and a block of rows are in memory.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from harness.retrieval.lexical import tokenize
from harness.support.arrays import ranges
from harness.support.space import MEMORY, Scratch, Space

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sized

    from numpy.typing import NDArray

    from harness.retrieval.lexical import Tokens

_REMEMBERED = 64 << 20  # bytes of rows
_ROW = 256  # bytes that a row takes besides its numbers: key, object, and places in tables
_OTHERS = 1 << 17  # tokens of other corpora whose numbers are kept
_PAIR = 8  # bytes of a posting in a row
_AT_ONCE = 1 << 18  # postings that are sorted together


@dataclass(frozen=True)
class Postings:
    """Which chunks hold each token of a corpus, and how often.

    Attributes:
        places: Number of every token of the corpus.
        starts: First posting of each token, shape (tokens + 1,).
        chunks: The chunk of each posting, ascending for a token, shape (postings,).
        counts: The token's count in that chunk, shape (postings,).
        lengths: Number of tokens of each chunk, shape (chunks,).
    """

    places: Mapping[str, int]
    starts: NDArray[np.int64]
    chunks: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int64]


@dataclass(frozen=True)
class _Places(Mapping[str, int]):
    """The tokens of a corpus, without a copy of those that all corpora share.

    Attributes:
        numbers: Number of each token of all corpora; tokens may be added later.
        place: For each number, that in this corpus, or -1.
    """

    numbers: dict[str, int]
    place: NDArray[np.int32]

    def __getitem__(self, token: str) -> int:
        number = self.numbers.get(token, len(self.place))
        place = int(self.place[number]) if number < len(self.place) else -1
        if place < 0:
            raise KeyError(token)
        return place

    def __iter__(self) -> Iterator[str]:
        return (token for token in self.numbers if token in self)

    def __len__(self) -> int:
        return int(self.place.max(initial=-1)) + 1


class _Rows:
    """The rows of a corpus, in order."""

    def __init__(self) -> None:
        self._rows: list[bytes | None] = []  # None: in the file
        self._sizes = array("q")  # postings
        self._file = Scratch()

    def __len__(self) -> int:
        return len(self._rows)

    def append(self, row: bytes, *, remembered: bool) -> None:
        """Add a row, to the file unless it is remembered anyway."""
        if not remembered:
            self._file.write(row)
        self._rows.append(row if remembered else None)
        self._sizes.append(len(row) // _PAIR)

    def mostly_new(self, remembered: Sized) -> bool:
        """Whether rows found no room beside remembered ones of which this corpus has few."""
        stored = self._rows.count(None)
        return stored > 0 and 2 * (len(self) - stored) < len(remembered)

    def blocks(self) -> Iterator[_Block]:
        """Consecutive rows, in all as many postings as are sorted at once, or one row with more."""
        self._file.rewind()
        sizes = np.array(self._sizes)
        for some in batches(sizes, _AT_ONCE):
            rows = (
                self._file.read(size * _PAIR) if row is None else row
                for row, size in zip(self._rows[some], self._sizes[some], strict=True)
            )
            pairs = np.frombuffer(b"".join(rows), np.int32).reshape(-1, 2)
            yield _Block(some.start, np.append(0, np.cumsum(sizes[some])), *pairs.T)


@dataclass(frozen=True)
class _Block:
    """Rows of consecutive chunks.

    Attributes:
        first: The first chunk.
        starts: Where the postings of each chunk start, and the last ones end.
        numbers: The token of each posting.
        counts: Its count.
    """

    first: int
    starts: NDArray[np.int64]
    numbers: NDArray[np.int32]
    counts: NDArray[np.int32]


@dataclass
class TokenCounter:
    """Makes postings; corpora that share most of their chunks cost what differs.

    Attributes:
        kind: The kind of tokens.
    """

    kind: Tokens
    _numbers: dict[str, int] = field(init=False, repr=False)
    _rows: dict[bytes, bytes] = field(init=False, repr=False)
    _size: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._forget()

    def postings(self, chunks: Iterable[str], space: Space = MEMORY) -> Postings:
        """The postings of a corpus.

        Args:
            chunks: Their texts, read once and in order.
            space: Where the chunks and counts of the postings are.

        Raises:
            InputError: There is no room for a file.
        """
        rows = self._read(chunks, min(_REMEMBERED, space.share))
        frequency = np.zeros(len(self._numbers), np.int64)
        lengths = np.zeros(len(rows), np.int64)
        for block in rows.blocks():
            frequency += np.bincount(block.numbers, minlength=len(frequency))
            totals = np.append(0, np.cumsum(block.counts, dtype=np.int64))[block.starts]
            lengths[block.first :][: len(totals) - 1] = np.diff(totals)
        # The numbers of this corpus leave out the tokens that only others have.
        own = np.flatnonzero(frequency)
        place = np.full(len(frequency), -1, np.int32)
        place[own] = np.arange(len(own))
        places, starts = _Places(self._numbers, place), np.append(0, np.cumsum(frequency[own]))
        if rows.mostly_new(self._rows) or len(place) > 2 * len(own) + _OTHERS:
            self._forget()
        return Postings(places, starts, *_by_token(rows, place, starts, space), lengths)

    def _forget(self) -> None:
        """Begin anew, with other numbers."""
        self._numbers, self._rows, self._size = defaultdict(), {}, 0
        self._numbers.default_factory = self._numbers.__len__

    def _read(self, chunks: Iterable[str], limit: float) -> _Rows:
        """The rows of the chunks, new ones remembered up to a limit in bytes."""
        rows = _Rows()
        for text in chunks:
            key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            row = self._rows.get(key)
            remembered = row is not None
            if row is None:
                row = self._count(text)
                size = len(row) + _ROW
                if remembered := self._size + size <= limit:
                    self._rows[key] = row
                    self._size += size
            rows.append(row, remembered=remembered)
        return rows

    def _count(self, text: str) -> bytes:
        """The tokens of a text, each as a number and its count."""
        terms = Counter(tokenize(text, self.kind))
        row = array("i", bytes(_PAIR * len(terms)))
        row[::2] = array("i", map(self._numbers.__getitem__, terms))
        row[1::2] = array("i", terms.values())
        return row.tobytes()


def _by_token(
    rows: _Rows, place: NDArray[np.int32], starts: NDArray[np.int64], space: Space
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Chunk and count of every posting, put where its token's are, block after block."""
    from scipy.sparse import csr_array

    after = starts[:-1].copy()  # of each token, where its next posting goes
    chunks, counts = (space.empty((int(starts[-1]),), np.int32) for _ in range(2))
    for block in rows.blocks():
        shape = len(block.starts) - 1, len(after)
        sparse = csr_array((block.counts, place[block.numbers], block.starts), shape).tocsc()
        size = np.diff(sparse.indptr)
        tokens = np.flatnonzero(size)
        _, at = ranges(after[tokens], size[tokens])
        chunks[at] = sparse.indices + block.first
        counts[at] = sparse.data
        after += size
    return chunks, counts


def batches(counts: NDArray[np.int64], at_once: int) -> Iterator[slice]:
    """Consecutive places with up to so many postings in all, or one place with more."""
    totals, start = np.cumsum(counts), 0
    while start < len(counts):
        before = int(totals[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(totals, before + at_once, side="right")))
        yield slice(start, end)
        start = end
