"""The distinct texts of a cell, and their vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.embedding import Vectors, embed, split_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.chunking import ChunkedCorpus
    from harness.embedding import Embedder, Role
    from harness.model import Query
    from harness.runs.context import Parts
    from harness.store import VectorStore


@dataclass(frozen=True)
class Texts:
    """The distinct texts of a cell, over all its corpora, and the vectors of a dense one."""

    all: tuple[str, ...]
    of_chunk: tuple[tuple[tuple[int, ...], ...], ...]  # corpus -> chunk -> numbers in `all`
    documents: Vectors | None = None
    queries: Vectors | None = None


def texts_of(chunked: Sequence[ChunkedCorpus], embedder: Embedder | None, windows: bool) -> Texts:
    """The distinct texts of all chunks; by windows where the embedder or `windows` says so."""
    whole = [[chunk.text for chunk in one.chunks] for one in chunked]
    parts = [[[text] for text in texts] for texts in whole]
    if embedder is not None and (windows or embedder.windows == "max"):
        parts = [split_windows(texts, embedder) for texts in whole]
    numbers: dict[str, int] = {}
    of_chunk = tuple(
        tuple(tuple(numbers.setdefault(text, len(numbers)) for text in texts) for texts in corpus)
        for corpus in parts
    )
    return Texts(tuple(numbers), of_chunk)


def embed_documents(
    texts: Sequence[str],
    parts: Parts,
    embedder: Embedder,
    store: VectorStore,
    told: Callable[[int, int], None],
) -> Vectors:
    """Vectors of the texts; a blank one, where the profile keeps it, has the zero vector."""
    full = [number for number, text in enumerate(texts) if text and not text.isspace()]
    found = embed([texts[number] for number in full], embedder, store, "document", told)
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
    queries: Sequence[Query], parts: Parts, embedder: Embedder, store: VectorStore
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
            found.append(embed([queries[n].text for n in mine], embedder, store, role))
    order = np.argsort(numbers)
    return Vectors(
        np.concatenate([one.values for one in found])[order],
        np.concatenate([one.tokens for one in found])[order],
        np.concatenate([one.seconds for one in found])[order],
        np.concatenate([one.share for one in found])[order],
        sum(one.computed for one in found),
    )
