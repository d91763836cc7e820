"""The distinct texts of a cell, and their vectors."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chunkers.errors import InputError
from harness.embedding.embedder import Passage, PassageEmbedder
from harness.embedding.text_vectors import (
    Vectors,
    embed_passages,
    embed_texts,
    mean_vectors,
    split_windows,
    usable_vectors,
)
from harness.runs.failures import RewrittenError
from harness.support.sequences import LazySequence, Ragged, selected
from harness.support.space import MEMORY
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from harness.chunking.chunks import Chunk, FileChunks
    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.embedder import Embedder, Role
    from harness.embedding.vector_store import VectorStore
    from harness.measures.profiles import Profile
    from harness.model import Query
    from harness.support.space import Space

_COLUMNS = ("values", "tokens", "seconds", "share")


@dataclass(frozen=True)
class Texts:
    """The distinct texts of all corpora of a cell, with vectors if the retriever is dense.

    `all` are the indexed texts, one vector each: chunks, or windows of chunks if the best counts;
    `of_chunk` are the numbers of the texts of each corpus and chunk in it. `embedded` are the texts
    that the embedder gets: `all`, or windows that are averaged, in which `windows` numbers those of
    each text of `all`; None if they are the same. `documents` are the vectors of `embedded`.

    Where a vector depends on the file too, `passages` are the places of `all`, which then differ in
    text or file; else it is empty. `space` is where vectors are.
    """

    all: Sequence[str]
    of_chunk: tuple[Ragged, ...]
    embedded: Sequence[str]
    windows: Ragged | None = None
    passages: tuple[Passage, ...] = ()
    documents: Vectors | None = None
    queries: Vectors | None = None
    space: Space = MEMORY

    @cached_property
    def vectors(self) -> NDArray[np.float32] | None:
        """Vectors of `all`, not scaled, shape (len(all), d); None without an embedder."""
        if self.documents is None or self.windows is None:
            return None if self.documents is None else self.documents.values
        return mean_vectors(self.documents.values, self.windows, self.space)

    @property
    def embedded_of_chunk(self) -> tuple[Ragged, ...]:
        """For each corpus and chunk, the numbers of its texts in `embedded`."""
        if self.windows is None:
            return self.of_chunk
        return tuple(corpus.through(self.windows) for corpus in self.of_chunk)

    @property
    def unusable(self) -> int:
        """Number of zero or non-finite vectors, of `embedded` and of means."""
        if self.documents is None or self.vectors is None:
            return 0
        unusable = int((~usable_vectors(self.documents.values, self.space)).sum())
        if self.windows is not None:
            means = self.windows.lengths != 1
            unusable += int((~usable_vectors(self.vectors, self.space))[means].sum())
        return unusable

    @property
    def indexed(self) -> int | None:
        """Number of vectors that can be searched; None without an embedder."""
        return None if self.vectors is None else int(usable_vectors(self.vectors, self.space).sum())


def texts_of(chunked: Sequence[ChunkedCorpus], embedder: Embedder | None, windows: bool) -> Texts:
    """The distinct texts of all chunks, in windows if the embedder or `windows` says so.

    An embedder of passages gets the place of each chunk in its file, and never windows.

    Raises:
        InputError: The embedder has `windows=`, but no tokenizer or no known token limit.
        RewrittenError: The embedder needs the places of chunks, and a chunk has another text.
    """
    if isinstance(embedder, PassageEmbedder):
        return _passages(chunked, embedder.name)
    mode = None if embedder is None else embedder.windows
    if embedder is not None and mode is not None and embedder.limit is None:
        raise InputError(
            f"{embedder.name}: windows={mode} needs a tokenizer and a token limit, which this "
            "embedder does not have; leave windows out"
        )
    texts = _distinct(chunked)
    if embedder is None or (mode is None and not windows):
        return texts
    own, numbers = _numbered(split_windows(texts.all, embedder))
    if mode == "mean":
        return replace(texts, embedded=own, windows=numbers)
    return Texts(own, tuple(corpus.through(numbers) for corpus in texts.of_chunk), own)


def _distinct(chunked: Sequence[ChunkedCorpus]) -> Texts:
    """The distinct texts of all chunks, in the order in which they first occur."""
    numbers: dict[bytes, int] = {}
    firsts: list[tuple[FileChunks, list[int]]] = []  # which chunks of each file are the first

    def numbered(file: FileChunks) -> NDArray[np.int64]:
        known = len(numbers)
        own = [numbers.setdefault(key, len(numbers)) for key in file.digests()]
        column = np.array(own, dtype=np.int64)
        if len(numbers) > known:
            firsts.append((file, _first_places(column, known)))
        return column

    of_chunk = tuple(Ragged.of_one(column) for column in per_file(chunked, numbered))
    starts = [0, *accumulate(len(places) for _, places in firsts)]

    def item(number: int) -> str:
        at = bisect_right(starts, number) - 1
        file, places = firsts[at]
        return file.text(places[number - starts[at]])

    def items() -> Iterator[str]:
        for file, places in firsts:
            wanted = set(places)
            yield from (text for at, text in enumerate(file.texts()) if at in wanted)

    texts = LazySequence(len(numbers), item, items)
    return Texts(texts, of_chunk, texts)


def _first_places(numbers: NDArray[np.int64], known: int) -> list[int]:
    """Where numbers from `known` on first occur, ascending."""
    distinct, places = np.unique(numbers, return_index=True)
    return sorted(places[distinct >= known].tolist())


def per_file(
    chunked: Sequence[ChunkedCorpus], column_of: Callable[[FileChunks], NDArray[np.int64]]
) -> Iterator[NDArray[np.int64]]:
    """A column of each corpus, made file by file; of files that corpora share once."""
    known: dict[int, NDArray[np.int64]] = {}
    for corpus in chunked:
        columns = [np.zeros(0, np.int64)]
        for file in corpus.chunks.files:
            if id(file) not in known:
                known[id(file)] = column_of(file)
            columns.append(known[id(file)])
        yield np.concatenate(columns)


def _passages(chunked: Sequence[ChunkedCorpus], embedder: str) -> Texts:
    """The distinct places of all chunks in the texts of their files."""
    numbers: dict[Passage, int] = {}
    rewritten: list[str] = []

    def numbered(file: FileChunks) -> NDArray[np.int64]:
        text, own = file.source.text, []
        for chunk in file:
            place = _place(text, chunk)
            own.append(numbers.setdefault(place, len(numbers)))
            if chunk.text != place.own:
                rewritten.append(chunk.id)
        return np.array(own, dtype=np.int64)

    of_chunk = tuple(Ragged.of_one(column) for column in per_file(chunked, numbered))
    if rewritten:
        count = counted(len(rewritten), "chunk has", "chunks have")
        raise RewrittenError(
            f"since {count} another text than in the file, where {embedder} pools the tokens of a "
            f"chunk; first {rewritten[0]}"
        )
    texts = tuple(passage.own for passage in numbers)
    return Texts(texts, of_chunk, texts, passages=tuple(numbers))


def _place(file: str, chunk: Chunk) -> Passage:
    """The place of a chunk in its file; for a blank chunk, which has no vector, any file serves."""
    own = file[chunk.start : chunk.end]
    blank = not own.strip()
    return Passage(own, 0, len(own)) if blank else Passage(file, chunk.start, chunk.end)


def _numbered(lists: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], Ragged]:
    """The distinct texts in lists, and the numbers of those of each list."""
    numbers: dict[str, int] = {}
    found = Ragged.of([[numbers.setdefault(text, len(numbers)) for text in own] for own in lists])
    return tuple(numbers), found


def embed_chunks(
    texts: Texts, embedder: Embedder, store: VectorStore, progress: Callable[[int, int], None]
) -> Vectors:
    """Vectors of `texts.embedded`; a blank text has the zero vector."""
    if not texts.passages:
        return embed_documents(texts.embedded, embedder, store, progress, space=texts.space)

    def embed(full: Sequence[int]) -> Vectors:
        passages = selected(texts.passages, full)
        return embed_passages(passages, embedder, store, progress, texts.space)

    return _with_blanks(texts.embedded, embed, texts.space)


def embed_documents(
    texts: Sequence[str],
    embedder: Embedder,
    store: VectorStore,
    progress: Callable[[int, int], None],
    role: Role = "document",
    *,
    space: Space = MEMORY,
) -> Vectors:
    """Vectors of texts; a blank text has the zero vector."""

    def embed(full: Sequence[int]) -> Vectors:
        return embed_texts(selected(texts, full), embedder, store, role, progress, space=space)

    return _with_blanks(texts, embed, space)


def _with_blanks(
    texts: Sequence[str], embed: Callable[[Sequence[int]], Vectors], space: Space
) -> Vectors:
    """Vectors of texts; `embed` gets the numbers of those that are not blank."""
    full = [number for number, text in enumerate(texts) if text and not text.isspace()]
    vectors = embed(full)
    if len(full) == len(texts):
        return vectors

    def spread(column: NDArray[Any]) -> NDArray[Any]:
        rows = space.empty((len(texts), *column.shape[1:]), column.dtype)
        rows[:] = 0
        rows[full] = column
        return rows

    return _map_columns(spread, vectors)


def embed_queries(
    queries: Sequence[Query], profile: Profile, embedder: Embedder, store: VectorStore
) -> Vectors:
    """Vectors of the queries, in order.

    An over-long query keeps the end that its data set names, or its head if the profile says so.
    """
    keeps = np.array([kept_end(query, profile) for query in queries])
    roles: dict[str, Role] = {"head": "query-head", "tail": "query-tail"}
    numbers = [np.flatnonzero(keeps == kept) for kept in roles]
    parts = [
        embed_texts([queries[n].text for n in rows.tolist()], embedder, store, role)
        for rows, role in zip(numbers, roles.values(), strict=True)
        if len(rows)
    ]
    order = np.argsort(np.concatenate(numbers))
    return _map_columns(lambda *columns: np.concatenate(columns)[order], *parts)


def kept_end(query: Query, profile: Profile) -> Literal["head", "tail"]:
    """The end of an over-long query that a model sees."""
    return "head" if profile.truncate == "head" else query.truncate


def _map_columns(function: Callable[..., NDArray[Any]], *parts: Vectors) -> Vectors:
    columns = ([getattr(part, name) for part in parts] for name in _COLUMNS)
    computed = sum(part.computed for part in parts)
    values, tokens, seconds, share = (function(*parts) for parts in columns)
    return Vectors(values, tokens, seconds, share, computed)
