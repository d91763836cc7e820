"""Computes one cell: chunks, vectors, rankings, and what they cost."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.embedding import Vectors, embed, split_windows, unit_vectors
from harness.parity.dot_over_norms import DotOverNorms
from harness.retrieval import Material, Order, Question, Rankable, id_places, rank
from harness.runs.health import health, truncation
from harness.runs.record import ChunkRow, QueryRow, RankingRow, Record, finite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from chunkers.loading import LoadedChunker
    from harness.chunking import ChunkedCorpus
    from harness.embedding import Embedder, Role
    from harness.model import Query
    from harness.profiles import Profile
    from harness.retrieval import Index, Ranking, Retriever
    from harness.runs.prepare import Prepared
    from harness.store import VectorStore


DELIVERED = 10
"""Units of every ranking whose size is the cost `chars_delivered`, in `c` and on average."""


@dataclass
class Watch:
    """Wall time of phases, in seconds, and where progress is told."""

    tell: Callable[[str, int, int], None]
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def phase(self, name: str) -> Iterator[Callable[[int, int], None]]:
        """Time a phase; yields what is to be told how many of how many are done."""
        started = time.perf_counter()
        try:
            yield lambda done, total: self.tell(name, done, total)
        finally:
            self.seconds[name] += time.perf_counter() - started


@dataclass(frozen=True)
class Parts:
    """What a cell is made with; `embedder` is None for a lexical retriever.

    Of the profile the fields count that speak of a run.
    """

    chunker: LoadedChunker
    embedder: Embedder | None
    retriever: Retriever
    order: Order
    profile: Profile


@dataclass(frozen=True)
class Computed:
    """A cell fresh from computing.

    Attributes:
        record: What metrics are computed from.
        health: What was lost or cut short.
        cost: What it took, without times.
        latency: Seconds for each query: `embedding` (None without an embedder), `search`.
        failures: Corpus, path and reason of files that the chunker failed on.
    """

    record: Record
    health: dict[str, Any]
    cost: dict[str, float | None]
    latency: dict[str, NDArray[np.float64] | None]
    failures: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class _Texts:
    """The distinct texts of a cell, over all its corpora, and the vectors of a dense one."""

    all: tuple[str, ...]
    of_chunk: tuple[tuple[tuple[int, ...], ...], ...]  # corpus -> chunk -> numbers in `all`
    documents: Vectors | None = None
    queries: Vectors | None = None


def compute(
    prepared: Prepared,
    chunked: Sequence[ChunkedCorpus],
    parts: Parts,
    store: VectorStore,
    watch: Watch,
) -> Computed:
    """Compute a cell.

    Args:
        prepared: Corpora and queries.
        chunked: The corpora, cut by the cell's chunker.
        parts: What the cell is made with.
        store: Where vectors are kept.
        watch: Where times and progress go.

    Raises:
        OutOfMemoryError: An embedding batch did not fit.
        InputError: The embedder cannot be used here.
    """
    by_windows = prepared.dataset.gold == "span" and parts.chunker.windows == "max"
    with watch.phase("windows"):
        texts = _texts(chunked, parts.embedder, by_windows)
    if parts.embedder is not None:
        with watch.phase("embedding") as told:
            texts = replace(
                texts,
                documents=_embed_documents(texts.all, parts, parts.embedder, store, told),
                queries=_embed_queries(prepared.queries, parts, parts.embedder, store),
            )
    vectors, queries = texts.documents, texts.queries
    ranked = _rank(prepared, chunked, texts, parts, watch)
    record = _record(prepared, chunked, ranked.rankings)
    lost = truncation(parts.embedder, vectors, queries, texts.of_chunk)
    zero = 0 if vectors is None else int((~unit_vectors(vectors.values)[1]).sum())
    return Computed(
        record=record,
        health=health(prepared, chunked, parts.chunker, record)
        | lost
        | {"zero_vectors": zero, "disturbed": ranked.disturbed},
        cost={
            "tokens": _seen_tokens(parts.embedder, vectors),
            "vectors": None if vectors is None else len(texts.all) - zero,
            "embedded_now": _embedded_now(vectors, queries),
            "index_bytes": ranked.index_bytes,
            "embedding_seconds": _embedding_cost(parts.embedder, vectors, queries),
            "chars_delivered": round(float(ranked.delivered.mean())),
        },
        latency={
            "embedding": _embedding_seconds(parts.embedder, queries),
            "search": ranked.seconds,
        },
        failures=tuple((one.corpus.id, path, why) for one in chunked for path, why in one.failures),
    )


def _texts(chunked: Sequence[ChunkedCorpus], embedder: Embedder | None, windows: bool) -> _Texts:
    whole = [[chunk.text for chunk in one.chunks] for one in chunked]
    parts = [[[text] for text in texts] for texts in whole]
    if embedder is not None and (windows or embedder.windows == "max"):
        parts = [split_windows(texts, embedder) for texts in whole]
    numbers: dict[str, int] = {}
    of_chunk = tuple(
        tuple(tuple(numbers.setdefault(text, len(numbers)) for text in texts) for texts in corpus)
        for corpus in parts
    )
    return _Texts(tuple(numbers), of_chunk)


def _embed_documents(
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


def _embed_queries(
    queries: Sequence[Query], parts: Parts, embedder: Embedder, store: VectorStore
) -> Vectors:
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


@dataclass(frozen=True)
class _Ranked:
    """Rankings in order of query, with what each took and what its first units weigh."""

    rankings: tuple[Ranking, ...]
    seconds: NDArray[np.float64]
    delivered: NDArray[np.int64]
    index_bytes: int
    disturbed: int


def _rank(
    prepared: Prepared,
    chunked: Sequence[ChunkedCorpus],
    texts: _Texts,
    parts: Parts,
    watch: Watch,
) -> _Ranked:
    raw = parts.profile.similarity == "dot-over-norms"
    documents, queries = (
        None if one is None else _scaled(one.values, raw=raw)
        for one in (texts.documents, texts.queries)
    )
    rankings: dict[int, Ranking] = {}
    seconds = np.zeros(len(prepared.queries))
    delivered = np.zeros(len(prepared.queries), dtype=np.int64)
    nbytes = 0
    for number, one in enumerate(chunked):
        with watch.phase("indexing"):
            material = _material(prepared, one, texts.all, texts.of_chunk[number], documents)
            index = _index(parts, material)
            nbytes += index.nbytes
            rankable = _rankable(prepared, one, material)
        with watch.phase("searching") as told:
            for at, query in enumerate(prepared.queries):
                if query.corpus != one.corpus.id:
                    continue
                question = Question(query.text, None if queries is None else queries[0][at])
                rankings[at], seconds[at] = _timed_rank(index, question, parts.order, rankable)
                delivered[at] = rankable.sizes[rankings[at].units[:DELIVERED]].sum()
                told(len(rankings), len(prepared.queries))
    in_order = tuple(rankings[at] for at in range(len(prepared.queries)))
    # A score of NaN is compared as neither more nor less, which the original's sort cannot bear.
    keeps_nan = parts.profile.blank == "index"
    disturbed = sum(bool(np.isnan(one.scores).any()) for one in in_order) if keeps_nan else 0
    return _Ranked(in_order, seconds, delivered, nbytes, disturbed)


def _scaled(
    values: NDArray[np.float32], *, raw: bool
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    unit, usable = unit_vectors(values)
    return (values if raw else unit), usable


def _index(parts: Parts, material: Material) -> Index:
    if parts.retriever.dense and parts.profile.similarity == "dot-over-norms":
        return DotOverNorms(material)
    return parts.retriever.index(material)


def _timed_rank(
    index: Index, question: Question, order: Order, rankable: Rankable
) -> tuple[Ranking, float]:
    started = time.perf_counter()
    ranking = rank(index, question, order, rankable)
    return ranking, time.perf_counter() - started


def _material(
    prepared: Prepared,
    chunked: ChunkedCorpus,
    texts: Sequence[str],
    of_chunk: Sequence[tuple[int, ...]],
    documents: tuple[NDArray[np.float32], NDArray[np.bool_]] | None,
) -> Material:
    used = sorted({number for numbers in of_chunk for number in numbers})
    local = {number: at for at, number in enumerate(used)}
    pooling = prepared.dataset.pooling
    return Material(
        texts=tuple(texts[number] for number in used),
        vectors=None if documents is None else documents[0][used],
        usable=np.ones(len(used), bool) if documents is None else documents[1][used],
        chunks=tuple(chunk.text for chunk in chunked.chunks),
        chunk_texts=tuple(tuple(local[number] for number in numbers) for numbers in of_chunk),
        unit_of=_unit_of(prepared, chunked),
        n_units=len(chunked.chunks) if pooling is None else len(chunked.corpus.sources),
        pooling=pooling or "max",
    )


def _unit_of(prepared: Prepared, chunked: ChunkedCorpus) -> NDArray[np.int64]:
    """The unit of every chunk: itself, or its document."""
    if prepared.dataset.gold == "span":
        return np.arange(len(chunked.chunks))
    number = {source.path: at for at, source in enumerate(chunked.corpus.sources)}
    return np.array([number[chunk.path] for chunk in chunked.chunks], dtype=np.int64)


def _unit_ids(prepared: Prepared, chunked: ChunkedCorpus) -> tuple[str, ...]:
    if prepared.dataset.gold == "span":
        return tuple(chunk.id for chunk in chunked.chunks)
    return tuple(source.path for source in chunked.corpus.sources)


def _rankable(prepared: Prepared, chunked: ChunkedCorpus, material: Material) -> Rankable:
    sizes = np.zeros(material.n_units, dtype=np.int64)
    charged = [chunk.nws[1] - chunk.nws[0] for chunk in chunked.chunks]
    np.add.at(sizes, material.unit_of, charged)
    return Rankable(sizes, id_places(_unit_ids(prepared, chunked)), np.unique(material.unit_of))


def _record(
    prepared: Prepared, chunked: Sequence[ChunkedCorpus], rankings: Sequence[Ranking]
) -> Record:
    ids = {one.corpus.id: _unit_ids(prepared, one) for one in chunked}
    fields = [name for name in ChunkRow.__slots__ if name != "corpus"]
    return Record(
        gold=prepared.dataset.gold,
        chunks=tuple(
            ChunkRow(one.corpus.id, *(getattr(chunk, name) for name in fields))
            for one in chunked
            for chunk in one.chunks
        ),
        queries=tuple(
            QueryRow(query.id, query.corpus, query.cluster, query.tags, places, query.qrels)
            for query, places in zip(prepared.queries, prepared.places, strict=True)
        ),
        rankings=tuple(
            RankingRow(
                tuple(ids[query.corpus][unit] for unit in ranking.units.tolist()),
                tuple(finite(score) for score in ranking.scores.tolist()),
            )
            for query, ranking in zip(prepared.queries, rankings, strict=True)
        ),
    )


def _embedding_seconds(
    embedder: Embedder | None, queries: Vectors | None
) -> NDArray[np.float64] | None:
    """None also where vectors are only looked up: that says nothing about embedding."""
    known = embedder is not None and embedder.limit is not None
    return queries.seconds if known and queries is not None else None


def _embedding_cost(embedder: Embedder | None, *found: Vectors | None) -> float | None:
    """Seconds that embedding all texts of the cell took, whenever each was embedded."""
    if embedder is None or embedder.limit is None:
        return None
    return round(sum(float(one.share.sum()) for one in found if one is not None), 3)


def _embedded_now(*found: Vectors | None) -> int | None:
    """Texts that the store did not hold; `seconds` is to be read beside it."""
    known = [one.computed for one in found if one is not None]
    return sum(known) if known else None


def _seen_tokens(embedder: Embedder | None, vectors: Vectors | None) -> int | None:
    """Tokens that the model sees of the corpus's texts, special ones left out."""
    if embedder is None or embedder.limit is None or vectors is None:
        return None
    return int(np.minimum(vectors.tokens, embedder.limit).sum())
