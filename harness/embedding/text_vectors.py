"""Vectors of texts and passages, through the store: whole, or by windows of a long text."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, get_args

import numpy as np

from chunkers.errors import InputError
from harness.embedding.embedder import PassageEmbedder, Role
from harness.embedding.vector_store import StoredVector, text_key
from harness.support.space import MEMORY, Space
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from harness.embedding.embedder import Embedder, Passage
    from harness.embedding.vector_store import VectorStore
    from harness.support.sequences import Ragged

_Item = TypeVar("_Item")
_LOOKED_UP = 5000  # vectors that are read from the store at once
_EMBEDDED = 1 << 14  # texts that are handed out at once, and are in memory
_COMMIT_SECONDS = 1.0  # what a kill can cost at most, besides the current batch


@dataclass(frozen=True)
class Vectors:
    """The vectors of a list of texts, as the model returned them.

    Attributes:
        values: float32, shape (n, d).
        tokens: Tokens of each whole text, without special ones, shape (n,).
        seconds: Wall time that each text takes alone, shape (n,).
        share: Each text's share of the time of its batch, shape (n,).
        computed: Number of distinct texts that were embedded now; the others were stored.
    """

    values: NDArray[np.float32]
    tokens: NDArray[np.int64]
    seconds: NDArray[np.float64]
    share: NDArray[np.float64]
    computed: int


def embed_texts(
    texts: Sequence[str],
    embedder: Embedder,
    store: VectorStore,
    role: Role,
    progress: Callable[[int, int], None] | None = None,
    *,
    space: Space = MEMORY,
) -> Vectors:
    """Embed texts; those whose vectors are stored are not embedded again.

    Args:
        texts: Any texts; equal texts are embedded once.
        embedder: The model.
        store: The store of vectors.
        role: The role of the texts.
        progress: Called with the number of texts that are done and their total, from 0 on.
        space: Where the vectors are.

    Raises:
        OutOfMemoryError: A batch did not fit; the batches before it are stored.
        InputError: A vector has another width than the model's stored ones; it is not stored.
    """
    return _embed(
        texts,
        [text_key(text) for text in texts],
        lambda missing: embedder.embed(missing, role),
        embedder,
        store=store,
        role=role,
        progress=progress,
        space=space,
    )


def embed_passages(
    passages: Sequence[Passage],
    embedder: Embedder,
    store: VectorStore,
    progress: Callable[[int, int], None] | None = None,
    space: Space = MEMORY,
) -> Vectors:
    """Embed chunks in their files; those whose vectors are stored are not embedded again.

    Args:
        passages: Any passages; equal ones are embedded once.
        embedder: A `PassageEmbedder`.
        store: The store of vectors.
        progress: Called with the number of passages that are done and their total, from 0 on.
        space: Where the vectors are.

    Raises:
        OutOfMemoryError, InputError: As `embed_texts`.
    """
    if not isinstance(embedder, PassageEmbedder):
        raise TypeError(f"{embedder.name} embeds texts without their files")
    return _embed(
        passages,
        passage_keys(passages),
        embedder.embed_passages,
        embedder,
        store=store,
        role="document",
        progress=progress,
        space=space,
        at_once=max(1, len(passages)),  # those of a file share its windows
    )


def passage_keys(passages: Iterable[Passage]) -> list[bytes]:
    """The addresses of passages: each the sha256 of its file's text and its place in it.

    No text has such an address: what is hashed is not UTF-8.
    """
    files: dict[str, bytes] = {}
    keys = []
    for passage in passages:
        if passage.text not in files:
            files[passage.text] = text_key(passage.text)
        place = f"{passage.start}:{passage.end}".encode()
        keys.append(hashlib.sha256(b"\xff" + files[passage.text] + place).digest())
    return keys


def _embed(
    items: Sequence[_Item],
    keys: Sequence[bytes],
    embed: Callable[[list[_Item]], Iterable[list[tuple[int, StoredVector]]]],
    embedder: Embedder,
    *,
    store: VectorStore,
    role: Role,
    progress: Callable[[int, int], None] | None,
    space: Space,
    at_once: int = _EMBEDDED,
) -> Vectors:
    """The vectors of texts or passages with their addresses, stored or embedded now."""
    fingerprint = embedder.fingerprint(role)
    # A model's documents and queries are compared, so they have one width.
    roles = sorted({embedder.fingerprint(name) for name in get_args(Role)})

    def check(width: int | None, rows: Sequence[StoredVector]) -> int | None:
        return _checked_width(width, rows, embedder.name, roles)

    table = _Table(keys, space, check)
    table.width = store.width(roles)
    # Sorted by content, so that nothing depends on the order of the items.
    distinct = sorted(table.places)
    count = min(_LOOKED_UP, table.at_once)
    for start in range(0, len(distinct), count):
        table.add(store.get(fingerprint, distinct[start : start + count]).items())
    missing = [key for key in distinct if not table.has(key)]
    pending: list[tuple[bytes, StoredVector]] = []
    done, last = 0, time.monotonic()
    try:
        if progress and missing:
            progress(0, len(missing))
        for start in range(0, len(missing), at_once):
            wanted = missing[start : start + at_once]
            for batch in embed([items[table.places[key]] for key in wanted]):
                rows = [(wanted[index], vector) for index, vector in batch]
                table.add(rows)
                pending += rows
                done += len(batch)
                if progress:
                    progress(done, len(missing))
                if time.monotonic() - last > _COMMIT_SECONDS or len(pending) >= table.at_once:
                    store.put(fingerprint, embedder.name, pending)
                    pending, last = [], time.monotonic()
    finally:
        if pending:
            store.put(fingerprint, embedder.name, pending)
    if lacking := [key for key in missing if not table.has(key)]:
        raise InputError(
            f"{embedder.name}: no vector for {len(lacking)} of {counted(len(missing), 'text')}"
        )
    return table.vectors(len(missing))


class _Table:
    """The vectors of items, filled in any order.

    Args:
        keys: The address of each item; equal items have equal ones.
        space: Where the vectors are.
        check: Gets the width so far and rows; returns the width of all, or raises an InputError.

    Attributes:
        width: The width of the vectors; None if it is not known yet.
        places: The first place of each key.
    """

    def __init__(
        self,
        keys: Sequence[bytes],
        space: Space,
        check: Callable[[int | None, Sequence[StoredVector]], int | None],
    ) -> None:
        self.width: int | None = None
        self._space, self._check = space, check
        self.places: dict[bytes, int] = {}
        self._repeats: dict[bytes, list[int]] = {}
        for place, key in enumerate(keys):
            if self.places.setdefault(key, place) != place:
                self._repeats.setdefault(key, []).append(place)
        self._values: NDArray[np.float32] | None = None
        self._filled = np.zeros(len(keys), dtype=np.bool_)
        self._tokens = np.zeros(len(keys), dtype=np.int64)
        self._seconds = np.zeros(len(keys))
        self._share = np.zeros(len(keys))

    @property
    def at_once(self) -> int:
        """Vectors that may be outside of the table at once."""
        return self._space.rows(4 * max(1, self.width or 1))

    def has(self, key: bytes) -> bool:
        """Whether there is a vector for a key."""
        return bool(self._filled[self.places[key]])

    def add(self, rows: Iterable[tuple[bytes, StoredVector]]) -> None:
        """Fill the places of some items."""
        rows = list(rows)
        if not rows:
            return
        self.width = self._check(self.width, [row for _, row in rows])
        if self._values is None:
            self._values = self._space.empty((len(self._filled), self.width or 0))
        for key, row in rows:
            for place in (self.places[key], *self._repeats.get(key, ())):
                self._values[place] = row.vector
                self._tokens[place] = row.tokens
                self._seconds[place] = row.seconds
                self._share[place] = row.seconds / row.batch
                self._filled[place] = True

    def vectors(self, computed: int) -> Vectors:
        """All of them."""
        values = self._values
        if values is None:
            values = np.zeros((0, self.width or 0), dtype=np.float32)
        return Vectors(values, self._tokens, self._seconds, self._share, computed)


def _checked_width(
    width: int | None, rows: Sequence[StoredVector], name: str, fingerprints: Sequence[str]
) -> int | None:
    """The one width of a model's vectors, known so far or None, after some more of them."""
    for row in rows:
        width = len(row.vector) if width is None else width
        if len(row.vector) != width:
            models = " ".join(f"--model {fingerprint[:12]}" for fingerprint in fingerprints)
            raise InputError(
                f"{name}: a vector of width {len(row.vector)} after stored ones of width {width}: "
                f"is it another model? `chunkmark cache clear {models}` removes its vectors alone"
            )
    return width


def split_windows(texts: Sequence[str], embedder: Embedder) -> list[list[str]]:
    """Split each text into consecutive windows of whole lines that fill the embedder's limit.

    A window ends before the line that would pass the limit; a line over the limit is a window of
    its own, and is truncated like any text. Blank windows are left out. A text that fits, or for
    which the limit is unknown, stays whole.
    """
    limit = embedder.limit
    if limit is None:
        return [[text] for text in texts]
    totals = embedder.count_tokens(texts)
    lines = {n: _lines(texts[n]) for n, total in enumerate(totals) if total > limit}
    distinct = sorted({line for text_lines in lines.values() for line in text_lines})
    tokens = dict(zip(distinct, embedder.count_tokens(distinct).tolist(), strict=True))
    return [
        _fill(lines[n], tokens, limit) if n in lines else [text] for n, text in enumerate(texts)
    ]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _fill(lines: list[str], tokens: dict[str, int], limit: int) -> list[str]:
    windows, window, size = [], "", 0
    for line in lines:
        if window and size + tokens[line] > limit:
            windows.append(window)
            window, size = "", 0
        window += line
        size += tokens[line]
    windows.append(window)
    return [window for window in windows if not window.isspace()]


def mean_vectors(
    values: NDArray[np.float32], windows: Ragged, space: Space = MEMORY
) -> NDArray[np.float32]:
    """One vector for each text that was split into windows.

    Args:
        values: Vectors of the windows, as the model returned them, shape (n, d).
        windows: For each text the indices of its windows, in order.
        space: Where the vectors are.

    Returns:
        Shape (len(windows), d). A text of one window has that window's vector, bit for bit. The
        vector of another text is the mean of its windows' unit vectors, added in float64 in
        their order, scaled to unit length; a window that is not usable adds nothing. Where the
        mean is zero, so is the vector.
    """
    single = windows.lengths == 1
    result: NDArray[np.float32] = space.empty((len(windows), values.shape[1]))
    for text in np.flatnonzero(single).tolist():
        result[text] = values[windows[text][0]]
    unit, usable = unit_vectors(values, space)
    for text in np.flatnonzero(~single).tolist():
        total = np.zeros(values.shape[1])
        for window in windows[text]:
            total += unit[window]
        count = max(1, int(usable[windows[text]].sum()))
        result[text] = unit_vectors(total[None, :] / count)[0][0]
    return result


def unit_vectors(
    values: NDArray[np.float32] | NDArray[np.float64],
    space: Space = MEMORY,
    out: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Scale rows to unit length, in float64 and in fixed order.

    Args:
        values: Shape (n, d).
        space: Where the result is.
        out: Takes the result, and may be `values`; None for a new array.

    Returns:
        Rows as float32, shape (n, d), and which of them are usable, shape (n,): a zero or
        non-finite vector is not, and its row is zero.
    """
    unit = space.empty(values.shape) if out is None else out
    usable = np.zeros(len(values), dtype=np.bool_)
    block = space.rows(8 * max(1, values.shape[1]))
    for start in range(0, len(values), block):
        rows = slice(start, start + block)
        wide = values[rows].astype(np.float64)
        squares = _squares(wide)
        usable[rows] = np.isfinite(squares) & (squares > 0)
        norms = np.sqrt(np.where(usable[rows], squares, 1.0))
        unit[rows] = np.where(usable[rows][:, None], wide / norms[:, None], 0.0)
    return unit, usable


def usable_vectors(values: NDArray[np.float32], space: Space = MEMORY) -> NDArray[np.bool_]:
    """Which rows can be scaled: neither zero nor non-finite, shape (n,)."""
    block = space.rows(8 * max(1, values.shape[1]))
    parts = (values[start : start + block] for start in range(0, len(values), block))
    squares = [_squares(part.astype(np.float64)) for part in parts]
    total = np.concatenate([*squares, np.zeros(0)])
    usable: NDArray[np.bool_] = np.isfinite(total) & (total > 0)
    return usable


def _squares(wide: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared lengths of rows, added dimension by dimension."""
    squares = np.zeros(len(wide))
    for column in range(wide.shape[1]):
        squares += wide[:, column] * wide[:, column]
    return squares
