"""Computes one cell: chunks, vectors, rankings, and what they cost."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import InputError
from harness.relevance.masking import spliced
from harness.retrieval.expansion import unparsed
from harness.runs.chunking import UNITS
from harness.runs.health import chunk_health, pair_truncation, truncation, uncovered_targets
from harness.runs.record import ChunkRows, FileRow, MaskRow, QueryRow, RankingRow, Record, finite
from harness.runs.search import rank_cell, unit_ids
from harness.runs.texts import embed_chunks, embed_documents, embed_queries, texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.embedder import Embedder
    from harness.embedding.text_vectors import Vectors
    from harness.embedding.vector_store import VectorStore
    from harness.retrieval.ranking import Ranking
    from harness.runs.chunking import ChunkedFiles
    from harness.runs.pipeline import PhaseTimer, Pipeline
    from harness.runs.query_set import QuerySet
    from harness.support.sequences import Ragged


@dataclass(frozen=True)
class ComputedCell:
    """A computed cell, before it is stored.

    Attributes:
        record: The chunks, queries and rankings that metrics are computed from.
        health: Counts and shares of lost text and tokens; see `harness.runs.health`.
        cost: Counts, sizes and seconds; `seconds` is the cost from an empty vector store.
        latency_ms: p50 and p95 of a query: `embedding` (None if unknown), `search` and `total`.
        failures: Corpus, path and reason of files that the chunker failed on.
    """

    record: Record
    health: dict[str, Any]
    cost: dict[str, float | None]
    latency_ms: dict[str, dict[str, float] | None]
    failures: tuple[tuple[str, str, str], ...]


def compute(
    query_set: QuerySet,
    files: ChunkedFiles,
    pipeline: Pipeline,
    store: VectorStore,
    timer: PhaseTimer,
) -> ComputedCell:
    """Compute a cell.

    Args:
        query_set: Queries and their corpora.
        files: The files of the query set, chunked by the chunker of the pipeline.
        pipeline: The parts of the cell.
        store: The vector store.
        timer: Receives times and progress.

    Raises:
        OutOfMemoryError: An embedding batch did not fit into memory.
        InputError: The embedder cannot be used.
        RewrittenError: The embedder needs the places of chunks, and a chunk has another text.
    """
    chunked, embedder, chunker = files.corpora, pipeline.embedder, pipeline.chunker
    corpora = spliced(query_set.corpora, query_set.masks, chunked)
    windows = query_set.dataset.gold == "span" and chunker.windows == "max"
    with timer.phase("windows"):
        texts = replace(texts_of(corpora, embedder, windows), space=pipeline.space)
    if embedder is not None:
        with timer.phase("embedding") as progress:
            texts = replace(
                texts,
                documents=embed_chunks(texts, embedder, store, progress),
                queries=embed_queries(query_set.queries, pipeline.profile, embedder, store),
            )

    def embed_again(queries: Sequence[str]) -> Vectors:
        """Embed second queries by their heads, where the rarest names are."""
        if embedder is None:
            raise ValueError("second queries need the embedder of the first")
        try:
            with timer.phase("embedding") as progress:
                return embed_documents(queries, embedder, store, progress, "query-head")
        except InputError as error:
            raise InputError(f"hops=2 embeds second queries, and {error}") from error

    ranked = rank_cell(query_set, corpora, texts, pipeline, timer, embed_again=embed_again)
    health = chunk_health(chunked, chunker) | {"gold_uncut": uncovered_targets(query_set, corpora)}
    if pipeline.retriever.options.expand == "parent":
        health["notes"] |= unparsed(source for part in corpora for source in part.corpus.sources)
    vectors = (texts.documents, texts.queries, ranked.again)
    used = _used_texts(corpora, texts.embedded_of_chunk)
    return ComputedCell(
        record=_record(query_set, chunked, corpora, ranked.rankings),
        health={
            **health,
            **truncation(embedder, *vectors, used),
            **pair_truncation(ranked.counts),
            "masked_copies": query_set.copied,
            "masked_filled": query_set.masks_with("filled"),
            "masked_syntax_errors": query_set.masks_with("broken"),
            "zero_vectors": texts.unusable,
            "zero_query_vectors": ranked.unusable_queries,
            "unranked_queries": ranked.unranked,
            "short_rankings": ranked.short,
            "disturbed": ranked.disturbed,
        },
        cost={
            "tokens": _seen_tokens(embedder, texts.documents),
            "vectors": texts.indexed,
            "index_bytes": ranked.index_bytes,
            "chars_delivered": round(float(ranked.delivered.mean())),
            "pairs": ranked.counts.get("pairs"),
            "pair_tokens": ranked.counts.get("pair_tokens"),
            **_time_cost(vectors, files, timer),
        },
        latency_ms=_latency([texts.queries, ranked.again], ranked.seconds),
        failures=tuple(
            (part.corpus.id, path, why) for part in chunked for path, why in part.failures
        ),
    )


def _used_texts(corpora: Sequence[ChunkedCorpus], of_chunk: Sequence[Ragged]) -> NDArray[np.int64]:
    """Numbers of the embedded texts of all chunks; a file that corpora share counts once."""
    used = [np.zeros(0, np.int64)]
    counted: set[int] = set()
    for corpus, numbers in zip(corpora, of_chunk, strict=True):
        for start, file in zip(corpus.chunks.starts, corpus.chunks.files, strict=False):
            if id(file) not in counted:
                counted.add(id(file))
                first, end = numbers.starts[[start, start + len(file)]]
                used.append(numbers.values[first:end])
    return np.concatenate(used)


def _time_cost(
    vectors: Sequence[Vectors | None], files: ChunkedFiles, timer: PhaseTimer
) -> dict[str, float | None]:
    """What the cell costs from an empty store: chunking and embedding count whenever they ran."""
    known = [part for part in vectors if part is not None]
    embedding = sum(float(part.share.sum()) for part in known)
    other = sum(
        seconds
        for name, seconds in timer.seconds.items()
        if name not in ("chunking", UNITS, "embedding")
    )
    seconds = other + files.seconds + (files.embedding or 0.0) + round(embedding, 3)
    computed = sum(part.computed for part in known) if known else None
    if files.texts is not None:
        computed = (computed or 0) + files.computed
    return {
        "embedded_now": computed,
        "embedding_seconds": round(embedding, 3) if embedding else None,
        "chunking_texts": files.texts,
        "chunking_embedding_seconds": files.embedding,
        "seconds": round(seconds, 3),
    }


def _latency(
    hops: Sequence[Vectors | None], search: NDArray[np.float64]
) -> dict[str, dict[str, float] | None]:
    """p50 and p95 of a query in milliseconds: embedding, search, and both."""
    embedding = sum((part.seconds for part in hops if part is not None), np.zeros(len(search)))
    # Vectors that are only looked up say nothing about embedding.
    columns = {
        "embedding": embedding if embedding.any() else None,
        "search": search,
        "total": search + embedding,
    }
    return {
        name: None
        if values is None
        else {f"p{p}": round(float(np.percentile(values, p)) * 1000, 3) for p in (50, 95)}
        for name, values in columns.items()
    }


def _seen_tokens(embedder: Embedder | None, vectors: Vectors | None) -> int | None:
    """Tokens of the corpora's texts that the model sees, without special ones."""
    if embedder is None or embedder.limit is None or vectors is None:
        return None
    return int(np.minimum(vectors.tokens, embedder.limit).sum())


def _record(
    query_set: QuerySet,
    chunked: Sequence[ChunkedCorpus],
    corpora: Sequence[ChunkedCorpus],
    rankings: Sequence[Ranking],
) -> Record:
    # Queries rank the same units.
    name_of = {
        corpus.corpus.id: functools.cache(unit_ids(query_set, corpus).__getitem__)
        for corpus in corpora
    }
    names = {corpus.id: corpus.name for corpus in query_set.corpora}
    by_id = {corpus.corpus.id: corpus for corpus in chunked}
    masks = {}
    for mask in query_set.masks:
        region, before = mask.region, by_id[mask.of].chunks.starts[mask.number]
        masks[mask.query.id] = MaskRow(
            mask.corpus.id, region.path, region.start_line, region.end_line, before
        )
    return Record(
        gold=query_set.dataset.gold,
        files=tuple(
            FileRow(corpus.corpus.id, source.path, layout.size, layout.n_lines)
            for corpus in chunked
            for source, layout in zip(corpus.corpus.sources, corpus.layouts, strict=True)
        ),
        chunks=ChunkRows(
            (corpus.corpus.id, file) for corpus in chunked for file in corpus.chunks.files
        ),
        queries=tuple(
            QueryRow(
                id=query.id,
                corpus=names[query.corpus],
                cluster=query.cluster or (places[0].path if places else query.id),
                tags=query.tags,
                places=places,
                qrels=query.qrels,
                mask=masks.get(query.id),
                text=query.text,
            )
            for query, places in zip(query_set.queries, query_set.places, strict=True)
        ),
        rankings=tuple(
            RankingRow(
                tuple(map(name_of[query.corpus], ranking.units.tolist())),
                finite(ranking.scores),
                ranking.by_rank,
            )
            for query, ranking in zip(query_set.queries, rankings, strict=True)
        ),
    )
