"""The distinct texts of a cell, and their vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
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
from harness.support.space import MEMORY
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from harness.chunking.corpus import Chunk, ChunkedCorpus
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
    each text of `all`. `documents` are the vectors of `embedded`.

    Where a vector depends on the file too, `passages` are the places of `all`, which then differ in
    text or file; else it is empty. `space` is where vectors are.
    """

    all: tuple[str, ...]
    of_chunk: tuple[tuple[tuple[int, ...], ...], ...]
    embedded: tuple[str, ...]
    windows: tuple[tuple[int, ...], ...]
    passages: tuple[Passage, ...] = ()
    documents: Vectors | None = None
    queries: Vectors | None = None
    space: Space = MEMORY

    @cached_property
    def vectors(self) -> NDArray[np.float32] | None:
        """Vectors of `all`, not scaled, shape (len(all), d); None without an embedder."""
        if self.documents is None or self.all == self.embedded:
            return None if self.documents is None else self.documents.values
        return mean_vectors(self.documents.values, self.windows, self.space)

    @property
    def embedded_of_chunk(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """For each corpus and chunk, the numbers of its texts in `embedded`."""
        return tuple(
            tuple(tuple(n for text in texts for n in self.windows[text]) for texts in corpus)
            for corpus in self.of_chunk
        )

    @property
    def unusable(self) -> int:
        """Number of zero or non-finite vectors, of `embedded` and of means."""
        if self.documents is None or self.vectors is None:
            return 0
        unusable = int((~usable_vectors(self.documents.values, self.space)).sum())
        if self.all != self.embedded:
            means = np.array([len(windows) != 1 for windows in self.windows], dtype=np.bool_)
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
    whole = [[chunk.text for chunk in corpus.chunks] for corpus in chunked]
    mode = None if embedder is None else embedder.windows
    if embedder is not None and mode is not None and embedder.limit is None:
        raise InputError(
            f"{embedder.name}: windows={mode} needs a tokenizer and a token limit, which this "
            "embedder does not have; leave windows out"
        )
    if embedder is None or (mode is None and not windows):
        return _distinct([[[text] for text in texts] for texts in whole])
    if mode != "mean":
        # Corpora may share most of their chunks, so each text is split once.
        distinct = list(dict.fromkeys(text for texts in whole for text in texts))
        split = dict(zip(distinct, split_windows(distinct, embedder), strict=True))
        return _distinct([[split[text] for text in texts] for texts in whole])
    texts = _distinct([[[text] for text in texts] for texts in whole])
    embedded = _distinct([split_windows(texts.all, embedder)])
    return replace(texts, embedded=embedded.all, windows=embedded.of_chunk[0])


def _passages(chunked: Sequence[ChunkedCorpus], embedder: str) -> Texts:
    """The distinct places of all chunks in the texts of their files."""
    numbers: dict[Passage, int] = {}
    places: dict[int, Passage] = {}  # by chunk, since corpora may share most of theirs
    rewritten: list[str] = []
    for corpus in chunked:
        files = {source.path: source.text for source in corpus.corpus.sources}
        for chunk in corpus.chunks:
            if id(chunk) not in places:
                place = places[id(chunk)] = _place(files[chunk.path], chunk)
                numbers.setdefault(place, len(numbers))
                if chunk.text != place.own:
                    rewritten.append(chunk.id)
    if rewritten:
        count = counted(len(rewritten), "chunk has", "chunks have")
        raise RewrittenError(
            f"since {count} another text than in the file, where {embedder} pools the tokens of a "
            f"chunk; first {rewritten[0]}"
        )
    of_chunk = tuple(
        tuple((numbers[places[id(chunk)]],) for chunk in corpus.chunks) for corpus in chunked
    )
    texts = tuple(passage.own for passage in numbers)
    return Texts(texts, of_chunk, texts, tuple((n,) for n in numbers.values()), tuple(numbers))


def _place(file: str, chunk: Chunk) -> Passage:
    """The place of a chunk in its file; for a blank chunk, which has no vector, any file serves."""
    own = file[chunk.start : chunk.end]
    blank = not own.strip()
    return Passage(own, 0, len(own)) if blank else Passage(file, chunk.start, chunk.end)


def _distinct(corpora: Sequence[Sequence[Sequence[str]]]) -> Texts:
    """Number the texts of every chunk of every corpus."""
    numbers: dict[str, int] = {}
    of_chunk = tuple(
        tuple(tuple(numbers.setdefault(text, len(numbers)) for text in texts) for texts in corpus)
        for corpus in corpora
    )
    return Texts(tuple(numbers), of_chunk, tuple(numbers), tuple((n,) for n in numbers.values()))


def embed_chunks(
    texts: Texts, embedder: Embedder, store: VectorStore, progress: Callable[[int, int], None]
) -> Vectors:
    """Vectors of `texts.embedded`; a blank text has the zero vector."""
    if not texts.passages:
        return embed_documents(texts.embedded, embedder, store, progress, space=texts.space)

    def embed(full: Sequence[int]) -> Vectors:
        passages = [texts.passages[number] for number in full]
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
        some = [texts[number] for number in full]
        return embed_texts(some, embedder, store, role, progress, space=space)

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
