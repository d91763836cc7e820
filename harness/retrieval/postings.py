"""Inverted indexes over the tokens of chunks, made in bounded memory.

A text that several corpora share is read once. Each text becomes a row: the numbers of its tokens,
then their counts. Rows are remembered up to a limit; those of a corpus that are beyond it go to a
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

    _Block = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]

_REMEMBERED = 64 << 20  # bytes of rows
_ROW = 256  # bytes that a row takes besides its numbers: key, object, and places in tables
_OTHERS = 1 << 17  # tokens of other corpora whose numbers are kept
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
        # A row that is remembered anyway, or the length of one that is in the file.
        self._rows: list[bytes | int] = []
        self._file = Scratch()
        self._stored = 0

    def __len__(self) -> int:
        return len(self._rows)

    def append(self, row: bytes) -> None:
        """Add a row that is remembered."""
        self._rows.append(row)

    def store(self, row: bytes) -> None:
        """Add a row that is not remembered."""
        self._file.write(row)
        self._rows.append(len(row))
        self._stored += 1

    def mostly_new(self, remembered: Sized) -> bool:
        """Whether rows found no room beside remembered ones of which this corpus has few."""
        return self._stored > 0 and 2 * (len(self) - self._stored) < len(remembered)

    def blocks(self) -> Iterator[_Block]:
        """Numbers, counts and chunk of the postings of consecutive chunks."""
        self._file.rewind()
        block: list[bytes] = []
        first = size = 0
        for at, kept in enumerate(self._rows):
            row = self._file.read(kept) if isinstance(kept, int) else kept
            block.append(row)
            size += len(row)
            if size >= 8 * _AT_ONCE or at + 1 == len(self._rows):
                yield _block(block, first)
                block, first, size = [], at + 1, 0


def _block(rows: list[bytes], first: int) -> _Block:
    sizes = np.array([len(row) // 8 for row in rows])
    values = np.frombuffer(b"".join(rows), np.int32)
    is_number = np.repeat(np.tile([True, False], len(rows)), np.repeat(sizes, 2))
    chunks = np.repeat(np.arange(first, first + len(rows), dtype=np.int32), sizes)
    return values[is_number], values[~is_number], chunks


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
        for numbers, counts, of_chunk in rows.blocks():
            frequency += np.bincount(numbers, minlength=len(frequency))
            np.add.at(lengths, of_chunk, counts.astype(np.int64))
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
            if row is not None:
                rows.append(row)
                continue
            row = self._count(text)
            size = len(row) + _ROW
            if self._size + size <= limit:
                self._rows[key] = row
                self._size += size
                rows.append(row)
            else:
                rows.store(row)
        return rows

    def _count(self, text: str) -> bytes:
        """Numbers and counts of the tokens of a text."""
        terms = Counter(tokenize(text, self.kind))
        return array("i", [*map(self._numbers.__getitem__, terms), *terms.values()]).tobytes()


def _by_token(
    rows: _Rows, place: NDArray[np.int32], starts: NDArray[np.int64], space: Space
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Chunk and count of every posting, put where its token's are, block after block."""
    after = starts[:-1].copy()  # of each token, where its next posting goes
    chunks, counts = (space.empty((int(starts[-1]),), np.int32) for _ in range(2))
    for numbers, block_counts, of_chunk in rows.blocks():
        # Positions make keys differ, so that this order is that of a stable sort.
        keys = place[numbers].astype(np.int64) << 32
        keys |= np.arange(len(keys))
        keys.sort()
        order, tokens = keys & 0xFFFFFFFF, keys >> 32
        first = np.flatnonzero(np.diff(tokens, prepend=-1))
        size = np.diff(first, append=len(tokens))
        _, at = ranges(after[tokens[first]], size)
        chunks[at] = of_chunk[order]
        counts[at] = block_counts[order]
        after[tokens[first]] += size
    return chunks, counts
