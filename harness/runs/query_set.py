"""Fixes the query set of a data set before any chunker is seen."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from chunkers.errors import InputError
from harness.chunking.layout import Layout
from harness.relevance.masking import masks_of, refuse_mask
from harness.relevance.targets import Squeezed, SqueezedFile, locate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.model import Corpus, Dataset, Query
    from harness.relevance.masking import Mask
    from harness.relevance.targets import LocatedTarget


@dataclass(frozen=True)
class QuerySet:
    """The queries that every cell of a data set answers.

    Attributes:
        dataset: The data set.
        corpora: Corpora with a query, in order of id; with masks those of the masked queries.
        files: What is cut, each file once: the data set's corpora, and with masks the masked
            file of each as a corpus of its own.
        queries: In order of id; a masked one belongs to its own corpus.
        places: The resolved targets of each query; empty where the gold is documents.
        left_out: Queries without a target that can be found, with the reasons.
        targets_dropped: Number of targets dropped, those of queries that stay included.
        masks: Of the queries that have one, in their order.
        copied: Masked queries whose whole text still stands in a file of their corpus.
    """

    dataset: Dataset
    corpora: tuple[Corpus, ...]
    files: tuple[Corpus, ...]
    queries: tuple[Query, ...]
    places: tuple[tuple[LocatedTarget, ...], ...]
    left_out: tuple[tuple[str, str], ...]
    targets_dropped: int
    masks: tuple[Mask, ...] = ()
    copied: int = 0


def prepare(
    dataset: Dataset, limit: int | None = None, seed: int = 0, *, mask: bool = False
) -> QuerySet:
    """Choose the queries and resolve their targets.

    Args:
        dataset: The data set.
        limit: Only so many queries.
        seed: Of their choice.
        mask: Whether each query's own lines are taken out of its corpus.

    Raises:
        InputError: No query is left, or the data set cannot be masked.
    """
    queries = choose(dataset.queries, limit, seed)
    wanted = {query.corpus for query in queries}
    corpora = tuple(corpus for corpus in dataset.corpora if corpus.id in wanted)
    if dataset.gold == "document" and not mask:
        return QuerySet(dataset, corpora, corpora, queries, ((),) * len(queries), (), 0)
    masks: tuple[Mask, ...] = ()
    if mask:
        refuse_mask(dataset)
        masks = masks_of({corpus.id: corpus for corpus in corpora}, queries)
    found = _find(corpora, masks, queries)
    kept = {name: one.places for name, one in found.items() if one.places}
    left_out = [
        (name, "; ".join(one.reasons) or "it names no target")
        for name, one in found.items()
        if not one.places
    ]
    if not kept:
        reason = f": {left_out[0][0]}: {left_out[0][1]}" if left_out else ""
        raise InputError(f"{dataset.name}: no query has a target that can be found{reason}")
    masks = tuple(one for one in masks if one.query.id in kept)
    asked = {one.query.id: one.query for one in masks}
    queries = tuple(asked.get(query.id, query) for query in queries if query.id in kept)
    return QuerySet(
        dataset=dataset,
        corpora=_ranked(corpora, masks, queries),
        files=(*corpora, *(one.file for one in masks)),
        queries=queries,
        places=tuple(tuple(kept[query.id]) for query in queries),
        left_out=tuple(left_out),
        targets_dropped=sum(len(one.reasons) for one in found.values()),
        masks=masks,
        copied=sum(found[one.query.id].copied for one in masks),
    )


class _Found(NamedTuple):
    """Where a query's targets are, why others were dropped, and whether its text is left."""

    places: list[LocatedTarget]
    reasons: list[str]
    copied: bool


def _find(
    corpora: Sequence[Corpus], masks: Sequence[Mask], queries: Sequence[Query]
) -> dict[str, _Found]:
    """What there is to know of each query, in order of id."""
    of = {mask.query.id: mask for mask in masks}
    found = {}
    for corpus in corpora:
        files = {source.path: number for number, source in enumerate(corpus.sources)}
        laid = [Layout.of(source) for source in corpus.sources]
        squeezed = Squeezed.of(corpus.sources, laid)
        for query in (one for one in queries if one.corpus == corpus.id):
            seen, copied = (query, corpus, laid, files, squeezed), False
            if query.id in of:
                mask = of[query.id]
                source = mask.corpus.sources[mask.number]
                own = Layout.of(source)
                layouts = [*laid[: mask.number], own, *laid[mask.number + 1 :]]
                changed = squeezed.with_file(mask.number, SqueezedFile.of(source, own))
                seen = (mask.query, mask.corpus, layouts, files, changed)
                copied = changed.holds(query.text)
            found[query.id] = _Found(*locate(*seen), copied)
    return {query.id: found[query.id] for query in queries}


def _ranked(
    corpora: Sequence[Corpus], masks: Sequence[Mask], queries: Sequence[Query]
) -> tuple[Corpus, ...]:
    """The corpora that are ranked: with masks none that no query is left to ask."""
    if not masks:
        return tuple(corpora)
    asked = {query.corpus for query in queries}
    every = [*corpora, *(mask.corpus for mask in masks)]
    return tuple(sorted((one for one in every if one.id in asked), key=lambda one: one.id))


def choose(queries: Sequence[Query], limit: int | None, seed: int) -> tuple[Query, ...]:
    """The first `limit` queries of a seeded permutation of the sorted ids, in order of id."""
    if limit is not None and limit < 1:
        raise InputError(f"--limit {limit}: it must be at least 1")

    def draw(query: Query) -> bytes:
        # A hash, since no library promises the same permutation for ever.
        return hashlib.sha256(f"{seed}\t{query.id}".encode("utf-8", "surrogatepass")).digest()

    chosen = queries if limit is None else sorted(queries, key=draw)[:limit]
    return tuple(sorted(chosen, key=lambda query: query.id))
