"""Audits of a data set, and of a stored run as far as what is stored allows."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.source import Services
from harness.audit.counts import (
    Duplicates,
    GoldCut,
    Truncation,
    Twins,
    count_cuts,
    count_duplicates,
    count_twins,
    identical_files,
    of_chunks,
    of_queries,
)
from harness.audit.self_retrieval import SelfRetrieval, find_leaks, summarise
from harness.chunking.chunk_vectors import counter
from harness.chunking.corpus import chunk_corpora
from harness.relevance.chunk_gold import ChunkTable
from harness.runs.folder import check_files, read_cell, stored_cells
from harness.runs.query_set import prepare
from harness.runs.record import read_record
from harness.runs.results import table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from chunkers.plugins.loading import LoadedChunker
    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.embedder import Embedder
    from harness.model import Dataset
    from harness.relevance.targets import LocatedTarget
    from harness.runs.query_set import QuerySet
    from harness.runs.record import Record

NEEDS_TEXTS = ("self-retrieval", "identical files")
"""What a run folder does not tell, for it holds no texts."""


@dataclass(frozen=True)
class ChunkerAudit:
    """What one chunker does to a data set.

    Attributes:
        chunker: Its name.
        duplicates: Chunks that share their text.
        gold_cut: How targets are cut; None where the gold is documents.
        truncation: Of what is embedded of its chunks, by embedder; None where the limit is
            unknown.
        failures: Corpus, path and reason of files that it failed on.
    """

    chunker: str
    duplicates: Duplicates
    gold_cut: GoldCut | None
    truncation: Mapping[str, Truncation | None] = field(default_factory=dict)
    failures: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes:
        source: `data set`, or the run folder.
        dataset: Name of the data set.
        fingerprint: Of the data set.
        mask_query: Whether each query's own lines are taken out.
        queries: How many are looked at.
        self_retrieval: None where texts are wanting.
        twins: None where the gold is documents.
        identical_files: Files that another one equals; None where texts are wanting.
        queries_truncated: Of the queries, by embedder; None where the limit is unknown.
        chunkers: In the order asked for.
        needs_dataset: What this source cannot tell.
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
    """Audit a data set.

    Args:
        dataset: The data set.
        chunkers: Whose chunks are looked at.
        embedders: Whose limits are; the first one's tokenizer also counts for chunkers by tokens.
        limit: Only so many queries, those of a run with the same limit and seed.
        seed: Of their choice.
        tell: Told the phase, and how many of how many are done.

    Raises:
        InputError: No query has a target that can be found, an embedder is not at hand, or a
            chunker cuts by vectors.
    """
    for chunker in chunkers:
        if chunker.embeds:
            raise InputError(
                f"chunker {chunker.name} cuts by vectors, and an audit embeds nothing; "
                "run it, and audit the run folder"
            )
    prepared = prepare(dataset, limit, seed)
    span = dataset.gold == "span"
    return Audit(
        source="data set",
        dataset=dataset.name,
        fingerprint=dataset.fingerprint,
        mask_query=False,
        queries=len(prepared.queries),
        self_retrieval=summarise(find_leaks(prepared)),
        twins=count_twins(prepared.places) if span else None,
        identical_files=identical_files(prepared.corpora),
        queries_truncated={one.name: of_queries(prepared.queries, one) for one in embedders},
        chunkers=tuple(
            _audit_chunker(prepared, chunker, embedders, functools.partial(tell, chunker.name))
            for chunker in chunkers
        ),
    )


def _audit_chunker(
    prepared: QuerySet,
    chunker: LoadedChunker,
    embedders: Sequence[Embedder],
    told: Callable[[int, int], None],
) -> ChunkerAudit:
    count = counter(embedders[0]) if embedders and chunker.unit == "tokens" else None
    chunked = chunk_corpora(prepared.corpora, chunker, Services(count_tokens=count), told)
    span = prepared.dataset.gold == "span"
    windows = span and chunker.windows == "max"
    return ChunkerAudit(
        chunker=chunker.name,
        duplicates=count_duplicates(chunked),
        gold_cut=count_cuts(_tables(prepared, chunked)) if span else None,
        truncation={one.name: of_chunks(chunked, one, windows) for one in embedders},
        failures=tuple((one.corpus.id, path, why) for one in chunked for path, why in one.failures),
    )


def _tables(
    prepared: QuerySet, chunked: Sequence[ChunkedCorpus]
) -> Iterator[tuple[ChunkTable, Sequence[LocatedTarget]]]:
    tables = {
        one.corpus.id: ChunkTable.of(
            [(c.path, c.nws, c.lines, (c.start_line - 1, c.end_line - 1)) for c in one.chunks],
            [c.gaps for c in one.chunks],
        )
        for one in chunked
    }
    for query, places in zip(prepared.queries, prepared.places, strict=True):
        yield tables[query.corpus], places


def audit_run(run: Path) -> tuple[Audit, ...]:
    """Audit every data set of a run folder from what its cells store.

    Raises:
        InputError: It is no run folder, holds no cell, or a cell is damaged.
    """
    groups: dict[tuple[str, ...], list[tuple[dict[str, str], Path]]] = {}
    for names, folder in stored_cells(run):
        identity = _identity(folder)
        key = tuple(str(identity.get(one)) for one in ("dataset", "mask_query", "limit", "seed"))
        groups.setdefault(key, []).append((names, folder))
    if not groups:
        raise InputError(f"{run} holds no cell; let the run end first")
    return tuple(_audit_cells(run, cells) for cells in groups.values())


def _identity(folder: Path) -> dict[str, Any]:
    identity: dict[str, Any] = read_cell(folder)["identity"]
    return identity


def _audit_cells(run: Path, cells: Sequence[tuple[dict[str, str], Path]]) -> Audit:
    chunkers: dict[str, ChunkerAudit] = {}
    truncation: dict[str, dict[str, Truncation | None]] = {}
    queries: dict[str, Truncation | None] = {}
    records = []
    for names, folder in cells:
        cell = check_files(folder)
        health, chunker, embedder = cell["health"], names["chunker"], names["embedder"]
        if chunker not in chunkers:
            records.append(read_record(folder))
            chunkers[chunker] = _stored_chunker(chunker, cell, records[-1])
        if embedder != "none":
            of = truncation.setdefault(chunker, {})
            of[embedder] = _stored(health["unseen_chunk_tokens"], health["truncated_chunks"])
            queries[embedder] = _stored(health["unseen_query_tokens"], None)
    first, identity = records[0], _identity(cells[0][1])
    span = first.gold == "span"
    return Audit(
        source=str(run),
        dataset=cells[0][0]["dataset"],
        fingerprint=identity["dataset"],
        mask_query=bool(identity.get("mask_query")),
        queries=len(first.queries),
        self_retrieval=None,
        twins=count_twins([query.places for query in first.queries]) if span else None,
        identical_files=None,
        queries_truncated=queries,
        chunkers=tuple(
            ChunkerAudit(
                one.chunker, one.duplicates, one.gold_cut, truncation.get(name, {}), one.failures
            )
            for name, one in chunkers.items()
        ),
        needs_dataset=NEEDS_TEXTS,
    )


def _stored(share: float | None, truncated: int | None) -> Truncation | None:
    return None if share is None else Truncation(None, None, share, truncated, None)


def _stored_chunker(name: str, cell: Mapping[str, Any], record: Record) -> ChunkerAudit:
    health = cell["health"]
    return ChunkerAudit(
        chunker=name,
        duplicates=Duplicates(health["chunks"], health["duplicates"]),
        gold_cut=count_cuts(_stored_tables(record)) if record.gold == "span" else None,
        failures=tuple((corpus, path, why) for corpus, path, why in cell["failures"]),
    )


def _stored_tables(record: Record) -> Iterator[tuple[ChunkTable, Sequence[LocatedTarget]]]:
    tables = {name: table_of(rows) for name, rows in record.ranked().items()}
    for query in record.queries:
        yield tables[query.ranked], query.places
