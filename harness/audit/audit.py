"""Audits data sets, and stored runs as far as their files allow."""

from __future__ import annotations

import functools
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.source import Services
from harness.audit.counts import (
    Duplicates,
    GoldCut,
    Truncation,
    Twins,
    chunk_truncation,
    count_cuts,
    count_duplicates,
    count_twins,
    identical_files,
    query_truncation,
)
from harness.audit.self_retrieval import SelfRetrieval, find_leaks, summarise
from harness.chunking.corpus import chunk_corpora
from harness.relevance.chunk_gold import ChunkTable
from harness.runs.chunking import counter
from harness.runs.folder import read_cell, stored_cells
from harness.runs.query_set import prepare
from harness.runs.record import read_record
from harness.runs.results import table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from chunkers.plugins.loading import LoadedChunker
    from harness.embedding.embedder import Embedder
    from harness.model import Dataset
    from harness.runs.query_set import QuerySet

NEEDS_TEXTS = ("self-retrieval", "identical files")
"""Audits that a run folder does not allow, because it holds no texts."""


@dataclass(frozen=True)
class ChunkerAudit:
    """What one chunker does to a data set.

    `gold_cut` is None if the gold is documents. `truncation` of its chunks is by embedder, None if
    the limit is unknown. `failures` are corpus, path and reason.
    """

    chunker: str
    duplicates: Duplicates
    gold_cut: GoldCut | None
    truncation: Mapping[str, Truncation | None] = field(default_factory=dict)
    failures: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Audit:
    """The numbers of an audit.

    `source` is `data set`, or the run folder. `twins` is None if the gold is documents; what needs
    texts is None if the source has none, and named in `needs_dataset`. `queries_truncated` is by
    embedder, None if the limit is unknown.
    """

    source: str
    dataset: str
    fingerprint: str
    mask_query: bool
    queries: int
    self_retrieval: SelfRetrieval | None
    twins: Twins | None
    identical_files: int | None
    queries_truncated: Mapping[str, Truncation | None]
    chunkers: tuple[ChunkerAudit, ...]
    needs_dataset: tuple[str, ...] = ()


def audit_dataset(
    dataset: Dataset,
    chunkers: Sequence[LoadedChunker],
    embedders: Sequence[Embedder],
    limit: int | None = None,
    *,
    seed: int = 0,
    tell: Callable[[str, int, int], None] = lambda phase, done, total: None,
) -> Audit:
    """Audit a data set; nothing is embedded.

    `limit` and `seed` choose the same queries as in a run; None takes all. The first embedder's
    tokenizer counts for chunkers by tokens. `tell` gets a phase and the numbers of finished steps
    and of all.

    Raises:
        InputError: No query has a target in the corpus, an embedder is not installed, or a
            chunker cuts by vectors.
    """
    for chunker in chunkers:
        if chunker.embeds:
            raise InputError(
                f"chunker {chunker.name} cuts by vectors, and an audit embeds nothing; "
                "run it, and audit the run folder"
            )
    query_set = prepare(dataset, limit, seed)
    return Audit(
        source="data set",
        dataset=dataset.name,
        fingerprint=dataset.fingerprint,
        mask_query=False,
        queries=len(query_set.queries),
        self_retrieval=summarise(find_leaks(query_set)),
        twins=count_twins(query_set.places) if dataset.gold == "span" else None,
        identical_files=identical_files(query_set.corpora),
        queries_truncated={
            model.name: query_truncation(query_set.queries, model) for model in embedders
        },
        chunkers=tuple(
            _audit_chunker(query_set, chunker, embedders, functools.partial(tell, chunker.name))
            for chunker in chunkers
        ),
    )


def _audit_chunker(
    query_set: QuerySet,
    chunker: LoadedChunker,
    embedders: Sequence[Embedder],
    progress: Callable[[int, int], None],
) -> ChunkerAudit:
    count = counter(embedders[0]) if embedders and chunker.unit == "tokens" else None
    chunked = chunk_corpora(query_set.corpora, chunker, Services(count_tokens=count), progress)
    span = query_set.dataset.gold == "span"
    gold_cut = None
    if span:
        tables = {
            corpus.corpus.id: ChunkTable.of(
                [
                    (chunk.path, chunk.nws, chunk.lines, (chunk.start_line - 1, chunk.end_line - 1))
                    for chunk in corpus.chunks
                ],
                [chunk.gaps for chunk in corpus.chunks],
            )
            for corpus in chunked
        }
        pairs = zip(query_set.queries, query_set.places, strict=True)
        gold_cut = count_cuts((tables[query.corpus], places) for query, places in pairs)
    windows = span and chunker.windows == "max"
    return ChunkerAudit(
        chunker=chunker.name,
        duplicates=count_duplicates(chunked),
        gold_cut=gold_cut,
        truncation={model.name: chunk_truncation(chunked, model, windows) for model in embedders},
        failures=tuple((one.corpus.id, path, why) for one in chunked for path, why in one.failures),
    )


def audit_run(run: Path) -> tuple[Audit, ...]:
    """Audit every data set of a run folder from its stored cells.

    Raises:
        InputError: The folder is not a run folder, has no cell, or a cell is damaged.
    """
    groups: defaultdict[tuple[str, ...], list[tuple[dict[str, str], Path]]] = defaultdict(list)
    for names, folder in stored_cells(run):
        identity = read_cell(folder)["identity"]
        parts = ("dataset", "mask_query", "limit", "seed")
        groups[tuple(str(identity.get(part)) for part in parts)].append((names, folder))
    if not groups:
        raise InputError(f"{run} has no cell; wait until the run is complete")
    return tuple(_audit_cells(run, cells) for cells in groups.values())


def _audit_cells(run: Path, cells: Sequence[tuple[dict[str, str], Path]]) -> Audit:
    """Audit the cells of one data set; what is the same for a chunker is read from its first."""
    chunkers: dict[str, ChunkerAudit] = {}
    truncation: defaultdict[str, dict[str, Truncation | None]] = defaultdict(dict)
    queries: dict[str, Truncation | None] = {}
    records = []
    for names, folder in cells:
        cell = read_cell(folder, check_files=True)
        health, chunker, embedder = cell["health"], names["chunker"], names["embedder"]
        if chunker not in chunkers:
            record = read_record(folder)
            records.append(record)
            tables = {name: table_of(rows) for name, rows in record.ranked_chunks().items()}
            gold_cut = count_cuts((tables[query.ranked], query.places) for query in record.queries)
            chunkers[chunker] = ChunkerAudit(
                chunker=chunker,
                duplicates=Duplicates(health["chunks"], health["duplicates"]),
                gold_cut=gold_cut if record.gold == "span" else None,
                failures=tuple((corpus, path, why) for corpus, path, why in cell["failures"]),
            )
        if embedder != "none":
            unseen, texts = health["unseen_chunk_tokens"], health["truncated_chunks"]
            truncation[chunker][embedder] = _stored(unseen, texts)
            queries[embedder] = _stored(health["unseen_query_tokens"], None)
    identity = read_cell(cells[0][1])["identity"]
    twins = count_twins([query.places for query in records[0].queries])
    return Audit(
        source=str(run),
        dataset=cells[0][0]["dataset"],
        fingerprint=identity["dataset"],
        mask_query=bool(identity.get("mask_query")),
        queries=len(records[0].queries),
        self_retrieval=None,
        twins=twins if records[0].gold == "span" else None,
        identical_files=None,
        queries_truncated=queries,
        chunkers=tuple(
            replace(audit, truncation=truncation[name]) for name, audit in chunkers.items()
        ),
        needs_dataset=NEEDS_TEXTS,
    )


def _stored(share: float | None, truncated: int | None) -> Truncation | None:
    return None if share is None else Truncation(None, None, share, truncated, None)
