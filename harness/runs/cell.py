"""Computes one cell: chunks, vectors, rankings, and what they cost."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import InputError
from harness.relevance.masking import chunks_before, spliced
from harness.retrieval.expansion import unparsed
from harness.runs.chunking import UNITS
from harness.runs.health import chunk_health, pair_truncation, truncation, uncovered_targets
from harness.runs.record import ChunkRow, FileRow, MaskRow, QueryRow, RankingRow, Record, finite
from harness.runs.search import rank_cell, unit_ids
from harness.runs.texts import embed_documents, embed_queries, texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.embedder import Embedder
    from harness.embedding.text_vectors import Vectors
    from harness.embedding.vector_store import VectorStore
    from harness.relevance.masking import Mask
    from harness.retrieval.ranking import Ranking
    from harness.runs.chunking import ChunkedFiles
    from harness.runs.pipeline import PhaseTimer, Pipeline
    from harness.runs.query_set import QuerySet


@dataclass(frozen=True)
class ComputedCell:
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


def compute(
    prepared: QuerySet,
    chunked: Sequence[ChunkedCorpus],
    parts: Pipeline,
    store: VectorStore,
    watch: PhaseTimer,
) -> ComputedCell:
    """Compute a cell.

    Args:
        prepared: Corpora and queries.
        chunked: What `prepared.files` names, cut by the cell's chunker.
        parts: What the cell is made with.
        store: Where vectors are kept.
        watch: Where times and progress go.

    Raises:
        OutOfMemoryError: An embedding batch did not fit.
        InputError: The embedder cannot be used here.
    """
    corpora = spliced(prepared.corpora, prepared.masks, chunked)
    by_windows = prepared.dataset.gold == "span" and parts.chunker.windows == "max"
    with watch.phase("windows"):
        texts = texts_of(corpora, parts.embedder, by_windows)
    if parts.embedder is not None:
        with watch.phase("embedding") as told:
            texts = replace(
                texts,
                documents=embed_documents(texts.embedded, parts.embedder, store, told),
                queries=embed_queries(prepared.queries, parts, parts.embedder, store),
            )
    vectors, queries = texts.documents, texts.queries
    embed_again = functools.partial(_embed_again, parts, store, watch)
    ranked = rank_cell(prepared, corpora, texts, parts, watch, embed_again=embed_again)
    again = ranked.again
    record = _record(prepared, chunked, corpora, ranked.rankings)
    used = _once(corpora, texts.embedded_of_chunk)
    cut = chunk_health(prepared, chunked, parts.chunker, uncovered_targets(prepared, corpora))
    if parts.retriever.policy.expand == "parent":
        cut["notes"] |= unparsed(source for one in corpora for source in one.corpus.sources)
    lost = truncation(parts.embedder, vectors, queries, again, used)
    return ComputedCell(
        record=record,
        health=cut
        | lost
        | pair_truncation(ranked.counts)
        | {
            "masked_copies": prepared.copied,
            "zero_vectors": texts.unusable,
            "disturbed": ranked.disturbed,
        },
        cost={
            "tokens": _seen_tokens(parts.embedder, vectors),
            "vectors": texts.indexed,
            "embedded_now": _embedded_now(vectors, queries, again),
            "index_bytes": ranked.index_bytes,
            "embedding_seconds": _embedding_cost(vectors, queries, again),
            "chars_delivered": round(float(ranked.delivered.mean())),
            "pairs": ranked.counts.get("pairs"),
            "pair_tokens": ranked.counts.get("pair_tokens"),
        },
        latency={
            "embedding": _embedding_seconds(queries, again),
            "search": ranked.seconds,
        },
        failures=tuple((one.corpus.id, path, why) for one in chunked for path, why in one.failures),
    )


def _once(
    corpora: Sequence[ChunkedCorpus], of_chunk: Sequence[Sequence[tuple[int, ...]]]
) -> list[list[tuple[int, ...]]]:
    """The texts of each chunk, by corpus; a chunk that corpora share stands in the first alone."""
    seen: set[int] = set()
    kept = []
    for one, texts in zip(corpora, of_chunk, strict=True):
        pairs = list(zip(map(id, one.chunks), texts, strict=True))
        kept.append([its for chunk, its in pairs if chunk not in seen])
        seen.update(chunk for chunk, _ in pairs)
    return kept


def _embed_again(
    parts: Pipeline, store: VectorStore, watch: PhaseTimer, asked: Sequence[str]
) -> Vectors:
    """Vectors of second queries, of which a model sees the head: the rarest names."""
    if parts.embedder is None:
        raise ValueError("second queries are embedded where first ones are")
    try:
        with watch.phase("embedding") as told:
            return embed_documents(asked, parts.embedder, store, told, "query-head")
    except InputError as error:
        raise InputError(f"hops=2 embeds second queries, and {error}") from error


def _record(
    prepared: QuerySet,
    chunked: Sequence[ChunkedCorpus],
    corpora: Sequence[ChunkedCorpus],
    rankings: Sequence[Ranking],
) -> Record:
    ids = {one.corpus.id: unit_ids(prepared, one) for one in corpora}
    files = tuple(
        FileRow(one.corpus.id, source.path, layout.size, len(layout.line_starts))
        for one in chunked
        for source, layout in zip(one.corpus.sources, one.layouts, strict=True)
    )
    fields = [name for name in ChunkRow.__slots__ if name != "corpus"]
    names = {one.id: one.name for one in prepared.corpora}
    by_id = {one.corpus.id: one for one in chunked}
    masks = {mask.query.id: _mask_row(mask, by_id) for mask in prepared.masks}
    return Record(
        gold=prepared.dataset.gold,
        files=files,
        chunks=tuple(
            ChunkRow(one.corpus.id, *(getattr(chunk, name) for name in fields))
            for one in chunked
            for chunk in one.chunks
        ),
        queries=tuple(
            QueryRow(
                id=query.id,
                corpus=names[query.corpus],
                cluster=query.cluster,
                tags=query.tags,
                places=places,
                qrels=query.qrels,
                mask=masks.get(query.id),
            )
            for query, places in zip(prepared.queries, prepared.places, strict=True)
        ),
        rankings=tuple(
            RankingRow(
                tuple(ids[query.corpus][unit] for unit in ranking.units.tolist()),
                tuple(finite(score) for score in ranking.scores.tolist()),
                ranking.by_rank,
            )
            for query, ranking in zip(prepared.queries, rankings, strict=True)
        ),
    )


def _mask_row(mask: Mask, chunked: Mapping[str, ChunkedCorpus]) -> MaskRow:
    region = mask.region
    at = chunks_before(chunked[mask.corpus.of], mask.number)
    return MaskRow(mask.corpus.id, region.path, region.start_line, region.end_line, at)


def _embedding_seconds(*hops: Vectors | None) -> NDArray[np.float64] | None:
    """None also where vectors are only looked up: that says nothing about embedding."""
    seconds = np.array([one.seconds for one in hops if one is not None])
    return np.asarray(seconds.sum(axis=0)) if seconds.any() else None


def _embedding_cost(*found: Vectors | None) -> float | None:
    """Seconds that embedding all texts of the cell took, whenever each was embedded."""
    seconds = sum(float(one.share.sum()) for one in found if one is not None)
    return round(seconds, 3) if seconds else None


def _embedded_now(*found: Vectors | None) -> int | None:
    """Texts that the store did not hold; `seconds` is to be read beside it."""
    known = [one.computed for one in found if one is not None]
    return sum(known) if known else None


def _seen_tokens(embedder: Embedder | None, vectors: Vectors | None) -> int | None:
    """Tokens that the model sees of the corpus's texts, special ones left out."""
    if embedder is None or embedder.limit is None or vectors is None:
        return None
    return int(np.minimum(vectors.tokens, embedder.limit).sum())


def cost_of(
    computed: ComputedCell, cut: ChunkedFiles, watch: PhaseTimer
) -> dict[str, float | None]:
    """What the cell costs; `seconds` from an empty store: cutting and embedding whenever done."""
    apart = {"chunking", UNITS, "embedding"}
    seconds = [one for name, one in watch.seconds.items() if name not in apart]
    seconds += [cut.seconds, cut.embedding or 0.0, computed.cost["embedding_seconds"] or 0.0]
    now = computed.cost["embedded_now"]
    return computed.cost | {
        "chunking_texts": cut.texts,
        "chunking_embedding_seconds": cut.embedding,
        "embedded_now": now if cut.texts is None else (now or 0) + cut.computed,
        "seconds": round(sum(seconds), 3),
    }


def latency_of(seconds: dict[str, NDArray[np.float64] | None]) -> dict[str, Any]:
    """Milliseconds for a query: p50 and p95 of embedding it, searching, and both."""
    embedding, search = seconds["embedding"], seconds["search"]
    total = search if embedding is None or search is None else embedding + search
    columns = {"embedding": embedding, "search": search, "total": total}
    return {
        name: None
        if values is None or not len(values)
        else {f"p{p}": round(float(np.percentile(values, p)) * 1000, 3) for p in (50, 95)}
        for name, values in columns.items()
    }
