"""Fixes the query set of a data set before any chunker runs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from chunkers.errors import InputError
from harness.chunking.layout import squeezed
from harness.relevance.masking import masks_of, refuse_mask
from harness.relevance.targets import (
    Copies,
    by_head,
    copies_in,
    holders,
    locate,
    target_texts,
    with_twins,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkers.source import Source
    from harness.model import Corpus, Dataset, Query
    from harness.relevance.filler import Parse
    from harness.relevance.masking import Mask
    from harness.relevance.targets import FileCopies, LocatedTarget


@dataclass(frozen=True)
class QuerySet:
    """The queries that every cell of a data set answers.

    `corpora` are those that are ranked, in order of id; a masked query has its own. `files` are
    chunked, each once: the corpora of the data set, and the masked file of each mask as a corpus of
    its own. `queries` are in order of id, with the located targets of each in `places`, empty where
    the gold is documents; `left_out` are id and reason of those without a target in the corpus.
    `copied` counts masked queries whose whole text remains in a file of their corpus.
    """

    dataset: Dataset
    corpora: tuple[Corpus, ...]
    files: tuple[Corpus, ...]
    queries: tuple[Query, ...]
    places: tuple[tuple[LocatedTarget, ...], ...]
    left_out: tuple[tuple[str, str], ...] = ()
    targets_dropped: int = 0
    masks: tuple[Mask, ...] = ()
    copied: int = 0

    def masks_with(self, parse: Parse) -> int:
        """Number of masks that did so to the parse of their file."""
        return sum(mask.parse == parse for mask in self.masks)


def prepare(
    dataset: Dataset, limit: int | None = None, seed: int = 0, *, mask: bool = False
) -> QuerySet:
    """Choose the queries and locate their targets.

    `limit` is the number of queries, `seed` of their choice. A mask blanks each query's own lines
    in its corpus.

    Raises:
        InputError: No query is left, or the data set cannot be masked.
    """
    queries = choose(dataset.queries, limit, seed)
    ids = {query.corpus for query in queries}
    corpora = tuple(corpus for corpus in dataset.corpora if corpus.id in ids)
    if dataset.gold == "document" and not mask:
        return QuerySet(dataset, corpora, corpora, queries, ((),) * len(queries))
    masks: tuple[Mask, ...] = ()
    if mask:
        refuse_mask(dataset)
        masks = masks_of({corpus.id: corpus for corpus in corpora}, queries)
    located = _locate(corpora, masks, queries)
    left_out = tuple(
        (name, "; ".join(query.reasons) or "it names no target")
        for name, query in located.items()
        if not query.places
    )
    if len(left_out) == len(located):
        reason = f": {left_out[0][0]}: {left_out[0][1]}" if left_out else ""
        raise InputError(f"{dataset.name}: no query has a target in the corpus{reason}")
    masks = tuple(mask for mask in masks if located[mask.query.id].places)
    masked = {mask.query.id: mask.query for mask in masks}
    queries = tuple(masked.get(query.id, query) for query in queries if located[query.id].places)
    if masks:
        ids = {query.corpus for query in queries}
        ranked = [c for c in (*corpora, *(mask.corpus for mask in masks)) if c.id in ids]
    else:
        ranked = list(corpora)
    return QuerySet(
        dataset=dataset,
        corpora=tuple(sorted(ranked, key=lambda corpus: corpus.id)),
        files=(*corpora, *(mask.file for mask in masks)),
        queries=queries,
        places=tuple(tuple(located[query.id].places) for query in queries),
        left_out=left_out,
        targets_dropped=sum(len(query.reasons) for query in located.values()),
        masks=masks,
        copied=sum(located[mask.query.id].copied for mask in masks),
    )


class _LocatedQuery(NamedTuple):
    """Targets in the corpus, reasons for dropped ones, and whether the masked text remains."""

    places: list[LocatedTarget]
    reasons: list[str]
    copied: bool


def _locate(
    corpora: Sequence[Corpus], masks: Sequence[Mask], queries: Sequence[Query]
) -> dict[str, _LocatedQuery]:
    """Locate the targets of every query, in order of id."""
    mask_of = {mask.query.id: mask for mask in masks}
    by_corpus: dict[str, list[Query]] = {}
    for query in queries:
        by_corpus.setdefault(query.corpus, []).append(query)
    sites, texts = {}, set[str]()
    for corpus in corpora:
        files = {source.path: number for number, source in enumerate(corpus.sources)}
        for query in by_corpus[corpus.id]:
            mask = mask_of.get(query.id)
            ranked = corpus if mask is None else mask.corpus
            places, reasons = locate(query, ranked, files)
            texts |= target_texts(places, ranked, files)
            sites[query.id] = ranked, files, places, reasons
    located = {}
    wanted = by_head(sorted(texts))
    known: dict[Source, FileCopies] = {}
    for corpus in corpora:
        whole = Copies.of(corpus.sources, wanted, known)
        own = [mask_of[query.id] for query in by_corpus[corpus.id] if query.id in mask_of]
        copied = _copied(corpus, own)
        for query in by_corpus[corpus.id]:
            ranked, files, places, reasons = sites[query.id]
            mask, searched = mask_of.get(query.id), whole
            if mask is not None:
                changed = copies_in(mask.source, wanted)
                searched = whole.with_file(ranked.sources, mask.number, changed)
            places = with_twins(places, ranked, files, searched)
            located[query.id] = _LocatedQuery(places, reasons, query.id in copied)
    return {query.id: located[query.id] for query in queries}


def _copied(corpus: Corpus, masks: Sequence[Mask]) -> set[str]:
    """The masked queries whose whole text remains in a file of their corpus."""
    texts = {mask.query.id: squeezed(mask.query.text) for mask in masks}
    numbers = holders(corpus.sources, texts.values())
    return {
        mask.query.id
        for mask in masks
        if {*numbers[texts[mask.query.id]]} - {mask.number}
        or holders((mask.source,), (texts[mask.query.id],))[texts[mask.query.id]]
    }


def choose(queries: Sequence[Query], limit: int | None, seed: int) -> tuple[Query, ...]:
    """The first `limit` queries of a seeded permutation, in order of id."""
    if limit is not None and limit < 1:
        raise InputError(f"--limit must be at least 1, not {limit}")

    def draw(query: Query) -> bytes:
        # A hash, because no library promises the same permutation in later versions.
        return hashlib.sha256(f"{seed}\t{query.id}".encode("utf-8", "surrogatepass")).digest()

    chosen = queries if limit is None else sorted(queries, key=draw)[:limit]
    return tuple(sorted(chosen, key=lambda query: query.id))
