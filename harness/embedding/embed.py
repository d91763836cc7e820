"""Texts to unit vectors through the store, and long texts to windows."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from chunkers.errors import InputError
from harness.embedding.store import Embedded, text_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from harness.embedding.store import VectorStore

_COMMIT_SECONDS = 1.0  # what a kill can cost at most, besides the batch under way


Role = Literal["document", "query-head", "query-tail"]
"""What a text is, and for a query which part of it is kept where it is over the limit."""

Windows = Literal["max", "mean"]
"""How a text that was cut into windows scores: as its best one, or by the mean of their vectors."""


class OutOfMemoryError(Exception):
    """A batch did not fit into memory; fewer rows may."""


class Embedder(Protocol):
    """Turns texts into vectors. A vector must be a function of its text alone.

    Attributes:
        name: The spec in canonical form.
        windows: How texts over the limit are embedded by windows; None where they are cut short.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def windows(self) -> Windows | None: ...  # noqa: D102

    @property
    def limit(self) -> int | None:
        """Tokens of a document that are seen, without special ones; None where nobody knows."""
        ...

    @property
    def query_limit(self) -> int | None:
        """The same of a query."""
        ...

    def named(self, name: str) -> Embedder:
        """The same embedder under another name."""
        ...

    def identity(self, role: Role) -> dict[str, Any]:
        """Everything that a vector depends on besides its text, as JSON values."""
        ...

    def fingerprint(self, role: Role = "document") -> str:
        """Hash of `identity`."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Tokens of each whole text, without special ones, shape (n,)."""
        ...

    def embed(self, texts: Sequence[str], role: Role) -> Iterator[list[tuple[int, Embedded]]]:
        """Yield the number of each text and what belongs into the store, a batch at a time."""
        ...

    def with_fewer_rows(self) -> Embedder:
        """The same embedder with smaller batches, which is another fingerprint."""
        ...


_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """The text with U+FFFD in place of what no encoding has: lone surrogates."""
    return text if text.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


@dataclass(frozen=True)
class Vectors:
    """The vectors of a list of texts, as the model gave them.

    Attributes:
        values: float32, shape (n, d).
        tokens: Tokens of each whole text, without special ones, shape (n,).
        seconds: Wall time of the batch that each text went through, shape (n,).
        share: Its share of that time, shape (n,).
        computed: How many distinct texts were embedded now; the others came from the store.
    """

    values: NDArray[np.float32]
    tokens: NDArray[np.int64]
    seconds: NDArray[np.float64]
    share: NDArray[np.float64]
    computed: int


def embed(
    texts: Sequence[str],
    embedder: Embedder,
    store: VectorStore,
    role: Role,
    progress: Callable[[int, int], None] | None = None,
) -> Vectors:
    """Embed texts; those that the store holds are not embedded again.

    Args:
        texts: Any texts; equal ones are embedded once.
        embedder: The model.
        store: Where vectors are kept.
        role: Document or query.
        progress: Told how many of how many texts are done, none first.

    Raises:
        OutOfMemoryError: A batch did not fit; what was done before it is stored.
    """
    fingerprint = embedder.fingerprint(role)
    keys = [text_key(text) for text in texts]
    by_key = dict(zip(keys, texts, strict=True))
    known = store.get(fingerprint, sorted(by_key))
    # Sorted by content, so that nothing depends on the order in which texts were met.
    missing = sorted(by_key.keys() - known.keys())
    held: list[tuple[bytes, Embedded]] = []
    done, last = 0, time.monotonic()
    try:
        if progress and missing:
            progress(0, len(missing))
        for batch in embedder.embed([by_key[key] for key in missing], role) if missing else ():
            held += [(missing[number], row) for number, row in batch]
            done += len(batch)
            if progress:
                progress(done, len(missing))
            if time.monotonic() - last > _COMMIT_SECONDS:
                known.update(held)
                store.put(fingerprint, embedder.name, held)
                held, last = [], time.monotonic()
    finally:
        if held:
            known.update(held)
            store.put(fingerprint, embedder.name, held)
    rows = [known[key] for key in keys]
    width = len(rows[0].vector) if rows else 0
    if any(len(row.vector) != width for row in rows):
        raise InputError(
            f"{embedder.name}: the store holds vectors of several widths; "
            "run `chunkmark cache clear`"
        )
    return Vectors(
        np.array([row.vector for row in rows], dtype=np.float32).reshape(len(rows), width),
        np.array([row.tokens for row in rows], dtype=np.int64),
        np.array([row.seconds for row in rows], dtype=np.float64),
        np.array([row.seconds / row.batch for row in rows], dtype=np.float64),
        len(missing),
    )


def split_windows(texts: Sequence[str], embedder: Embedder) -> list[list[str]]:
    """Cut each text into consecutive windows of whole lines that fill the embedder's limit.

    A window ends before the line that would pass the limit; a line over it is a window of its
    own, and its unseen tokens are counted like anybody's. Blank windows are left out, and a text
    that fits, or whose limit nobody knows, stays as it is.
    """
    limit = embedder.limit
    if limit is None:
        return [[text] for text in texts]
    totals = embedder.count_tokens(texts)
    long = [n for n, total in enumerate(totals) if total > limit]
    lines = {n: _lines(texts[n]) for n in long}
    distinct = sorted({line for one in lines.values() for line in one})
    tokens = dict(zip(distinct, embedder.count_tokens(distinct).tolist(), strict=True))
    return [
        _fill(lines[n], tokens, limit) if n in lines else [text] for n, text in enumerate(texts)
    ]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _fill(lines: list[str], tokens: dict[str, int], limit: int) -> list[str]:
    windows, held, size = [], "", 0
    for line in lines:
        if held and size + tokens[line] > limit:
            windows.append(held)
            held, size = "", 0
        held += line
        size += tokens[line]
    windows.append(held)
    return [window for window in windows if not window.isspace()]


def mean_vectors(
    values: NDArray[np.float32], windows: Sequence[Sequence[int]]
) -> NDArray[np.float32]:
    """One vector for each text that was cut into windows.

    Args:
        values: Vectors of the windows, as the model gave them, shape (n, d).
        windows: For each text the numbers of its windows, in order.

    Returns:
        Shape (len(windows), d). A text of one window has that window's vector, bit for bit. The
        vector of another is the mean of its windows' unit vectors, added in float64 in their
        order, as a unit vector; a window that is not usable adds nothing. Where the mean is zero,
        so is the vector.
    """
    firsts = np.array([one[0] if len(one) == 1 else -1 for one in windows], dtype=np.int64)
    result = np.zeros((len(windows), values.shape[1]), dtype=np.float32)
    result[firsts >= 0] = values[firsts[firsts >= 0]]
    unit, usable = unit_vectors(values)
    for text in np.flatnonzero(firsts < 0).tolist():
        total = np.zeros(values.shape[1])
        for window in windows[text]:
            total += unit[window]
        count = max(1, int(usable[list(windows[text])].sum()))
        result[text] = unit_vectors(total[None, :] / count)[0][0]
    return result


def unit_vectors(
    values: NDArray[np.float32] | NDArray[np.float64],
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Scale rows to unit length, in float64 and in fixed order.

    Returns:
        Rows as float32, shape (n, d), and which of them are usable, shape (n,): a zero or
        non-finite vector is not, and its row is zero.
    """
    wide = values.astype(np.float64)
    squares = np.zeros(len(wide))
    for column in range(wide.shape[1]):
        squares += wide[:, column] * wide[:, column]
    usable = np.isfinite(squares) & (squares > 0)
    norms = np.sqrt(np.where(usable, squares, 1.0))
    unit = np.where(usable[:, None], wide / norms[:, None], 0.0).astype(np.float32)
    return unit, usable
