"""Fixes the query set of a data set before any chunker is seen."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.chunking import Layout
from harness.relevance import locate
from harness.twins import Squeezed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.model import Corpus, Dataset, Query
    from harness.relevance import Place


@dataclass(frozen=True)
class Prepared:
    """The queries that every cell of a data set answers.

    Attributes:
        dataset: The data set.
        corpora: Corpora with a query, in order of id.
        layouts: Of the sources of each of them.
        queries: In order of id.
        places: The resolved targets of each query; empty where the gold is documents.
        left_out: Queries without a target that can be found, with the reasons.
        targets_dropped: Number of targets dropped, those of queries that stay included.
    """

    dataset: Dataset
    corpora: tuple[Corpus, ...]
    layouts: tuple[tuple[Layout, ...], ...]
    queries: tuple[Query, ...]
    places: tuple[tuple[Place, ...], ...]
    left_out: tuple[tuple[str, str], ...]
    targets_dropped: int


def prepare(dataset: Dataset, limit: int | None = None, seed: int = 0) -> Prepared:
    """Choose the queries and resolve their targets.

    Raises:
        InputError: No query is left.
    """
    queries = choose(dataset.queries, limit, seed)
    wanted = {query.corpus for query in queries}
    corpora = tuple(corpus for corpus in dataset.corpora if corpus.id in wanted)
    layouts = tuple(tuple(Layout.of(source) for source in one.sources) for one in corpora)
    if dataset.gold == "document":
        return Prepared(dataset, corpora, layouts, queries, ((),) * len(queries), (), 0)
    kept: dict[str, tuple[Place, ...]] = {}
    left_out: list[tuple[str, str]] = []
    dropped = 0
    for corpus, laid in zip(corpora, layouts, strict=True):
        files = {source.path: number for number, source in enumerate(corpus.sources)}
        squeezed = Squeezed.of(corpus.sources, laid)
        for query in (one for one in queries if one.corpus == corpus.id):
            places, reasons = locate(query, corpus, laid, files, squeezed)
            dropped += len(reasons)
            if places:
                kept[query.id] = tuple(places)
            else:
                left_out.append((query.id, "; ".join(reasons) or "it names no target"))
    if not kept:
        reason = f": {left_out[0][0]}: {left_out[0][1]}" if left_out else ""
        raise InputError(f"{dataset.name}: no query has a target that can be found{reason}")
    return Prepared(
        dataset=dataset,
        corpora=corpora,
        layouts=layouts,
        queries=tuple(query for query in queries if query.id in kept),
        places=tuple(kept[query.id] for query in queries if query.id in kept),
        left_out=tuple(sorted(left_out)),
        targets_dropped=dropped,
    )


def choose(queries: Sequence[Query], limit: int | None, seed: int) -> tuple[Query, ...]:
    """The first `limit` queries of a seeded permutation of the sorted ids, in order of id."""
    if limit is not None and limit < 1:
        raise InputError(f"--limit {limit}: it must be at least 1")

    def draw(query: Query) -> bytes:
        # A hash, since no library promises the same permutation for ever.
        return hashlib.sha256(f"{seed}\t{query.id}".encode("utf-8", "surrogatepass")).digest()

    chosen = queries if limit is None else sorted(queries, key=draw)[:limit]
    return tuple(sorted(chosen, key=lambda query: query.id))
