"""The distinct texts of a cell, and their vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import InputError
from harness.embedding.text_vectors import (
    Vectors,
    embed_texts,
    mean_vectors,
    split_windows,
    unit_vectors,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.embedder import Embedder, Role
    from harness.embedding.vector_store import VectorStore
    from harness.model import Query
    from harness.runs.pipeline import Pipeline


@dataclass(frozen=True)
class Texts:
    """The distinct texts of a cell, over all its corpora, and the vectors of a dense one.

    Attributes:
        all: What is indexed, one vector each: distinct chunks or, where the best window counts,
            their distinct windows.
        of_chunk: For each corpus and chunk the numbers of its texts in `all`.
        embedded: What the embedder is given: `all`, or distinct windows whose mean counts.
        windows: For each text of `all` the numbers of its windows in `embedded`.
        documents: Vectors of `embedded`.
        queries: Vectors of the queries.
    """

    all: tuple[str, ...]
    of_chunk: tuple[tuple[tuple[int, ...], ...], ...]
    embedded: tuple[str, ...]
    windows: tuple[tuple[int, ...], ...]
    documents: Vectors | None = None
    queries: Vectors | None = None

    @cached_property
    def vectors(self) -> NDArray[np.float32] | None:
        """Of `all`, not scaled, shape (len(all), d); None where there are none."""
        if self.documents is None or self.all == self.embedded:
            return None if self.documents is None else self.documents.values
        return mean_vectors(self.documents.values, self.windows)

    @property
    def embedded_of_chunk(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """For each corpus and chunk the numbers of what was embedded of it."""
        return tuple(
            tuple(tuple(n for text in texts for n in self.windows[text]) for texts in corpus)
            for corpus in self.of_chunk
        )

    @cached_property
    def unusable(self) -> int:
        """Vectors that are zero or not finite, of `embedded` and of means."""
        if self.documents is None or self.vectors is None:
            return 0
        lost = int((~unit_vectors(self.documents.values)[1]).sum())
        means = np.array([len(one) != 1 for one in self.windows], dtype=np.bool_)
        return lost + int((~unit_vectors(self.vectors[means])[1]).sum())

    @property
    def indexed(self) -> int | None:
        """Vectors that can be searched; None where there are none."""
        return None if self.vectors is None else int(unit_vectors(self.vectors)[1].sum())


def texts_of(chunked: Sequence[ChunkedCorpus], embedder: Embedder | None, windows: bool) -> Texts:
    """The distinct texts of all chunks, by windows where the embedder or else `windows` says so.

    Raises:
        InputError: The embedder's windows are asked for, and nobody knows its tokens or limit.
    """
    whole = [[chunk.text for chunk in one.chunks] for one in chunked]
    asked = None if embedder is None else embedder.windows
    if embedder is not None and asked is not None and embedder.limit is None:
        raise InputError(
            f"{embedder.name}: windows={asked} needs a tokenizer and a limit of tokens, which "
            f"this embedder does not have; leave windows out"
        )
    if embedder is None or (asked is None and not windows):
        return _distinct([[[text] for text in texts] for texts in whole])
    if asked != "mean":
        # Corpora may share most of their chunks, so each text is split once.
        distinct = list(dict.fromkeys(text for texts in whole for text in texts))
        split = dict(zip(distinct, split_windows(distinct, embedder), strict=True))
        return _distinct([[split[text] for text in texts] for texts in whole])
    texts = _distinct([[[text] for text in texts] for texts in whole])
    embedded = _distinct([split_windows(texts.all, embedder)])
    return replace(texts, embedded=embedded.all, windows=embedded.of_chunk[0])


def _distinct(parts: Sequence[Sequence[Sequence[str]]]) -> Texts:
    """Number the texts of every chunk of every corpus, each embedded as it is."""
    numbers: dict[str, int] = {}
    of_chunk = tuple(
        tuple(tuple(numbers.setdefault(text, len(numbers)) for text in texts) for texts in corpus)
        for corpus in parts
    )
    every = tuple(numbers)
    return Texts(every, of_chunk, every, tuple((n,) for n in range(len(every))))


def embed_documents(
    texts: Sequence[str],
    embedder: Embedder,
    store: VectorStore,
    told: Callable[[int, int], None],
    role: Role = "document",
) -> Vectors:
    """Vectors of the texts; a blank one, where the profile keeps it, has the zero vector."""
    full = [number for number, text in enumerate(texts) if text and not text.isspace()]
    found = embed_texts([texts[number] for number in full], embedder, store, role, told)
    if len(full) == len(texts):
        return found
    spread = Vectors(
        np.zeros((len(texts), found.values.shape[1]), dtype=np.float32),
        np.zeros(len(texts), dtype=np.int64),
        np.zeros(len(texts)),
        np.zeros(len(texts)),
        found.computed,
    )
    for name in ("values", "tokens", "seconds", "share"):
        getattr(spread, name)[full] = getattr(found, name)
    return spread


def embed_queries(
    queries: Sequence[Query], parts: Pipeline, embedder: Embedder, store: VectorStore
) -> Vectors:
    """Vectors of the queries, in order; each keeps the end that its data set or profile names."""
    roles: dict[str, Role] = {"head": "query-head", "tail": "query-tail"}
    if parts.profile.truncate == "head":
        roles["tail"] = "query-head"
    numbers: list[int] = []
    found: list[Vectors] = []
    for kept, role in roles.items():
        mine = [number for number, query in enumerate(queries) if query.truncate == kept]
        if mine:
            numbers += mine
            found.append(embed_texts([queries[n].text for n in mine], embedder, store, role))
    order = np.argsort(numbers)
    return Vectors(
        np.concatenate([one.values for one in found])[order],
        np.concatenate([one.tokens for one in found])[order],
        np.concatenate([one.seconds for one in found])[order],
        np.concatenate([one.share for one in found])[order],
        sum(one.computed for one in found),
    )
