"""Ranks the queries of a cell against their corpora."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.embedding import unit_vectors
from harness.retrieval import Material, Question, Rankable, id_places, rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.chunking import ChunkedCorpus
    from harness.retrieval import Index, Order, Ranking
    from harness.runs.context import Parts, Watch
    from harness.runs.prepare import Prepared
    from harness.runs.texts import Texts

DELIVERED = 10
"""Units of every ranking whose size is the cost `chars_delivered`, in `c` and on average."""


@dataclass(frozen=True)
class Ranked:
    """Rankings in order of query, with what each took and what its first units weigh."""

    rankings: tuple[Ranking, ...]
    seconds: NDArray[np.float64]
    delivered: NDArray[np.int64]
    index_bytes: int
    disturbed: int


def rank_cell(
    prepared: Prepared,
    chunked: Sequence[ChunkedCorpus],
    texts: Texts,
    parts: Parts,
    watch: Watch,
) -> Ranked:
    """Rank every query of a cell against its corpus."""
    raw = parts.profile.similarity == "dot-over-norms"
    documents, queries = (
        None if values is None else _scaled(values, raw=raw)
        for values in (texts.vectors, None if texts.queries is None else texts.queries.values)
    )
    rankings: dict[int, Ranking] = {}
    seconds = np.zeros(len(prepared.queries))
    delivered = np.zeros(len(prepared.queries), dtype=np.int64)
    nbytes: dict[str, list[int]] = {}
    for number, one in enumerate(chunked):
        with watch.phase("indexing"):
            material = _material(prepared, one, texts, number, documents)
            material = replace(material, similarity=parts.profile.similarity)
            index = parts.retriever.index(material)
            nbytes.setdefault(one.corpus.name, []).append(index.nbytes)
            rankable = _rankable(prepared, one, material)
        with watch.phase("searching") as told:
            for at, query in enumerate(prepared.queries):
                if query.corpus != one.corpus.id:
                    continue
                question = Question(query.text, None if queries is None else queries[0][at])
                rankings[at], seconds[at] = _timedrank_cell(index, question, parts.order, rankable)
                delivered[at] = rankable.sizes[rankings[at].units[:DELIVERED]].sum()
                told(len(rankings), len(prepared.queries))
    in_order = tuple(rankings[at] for at in range(len(prepared.queries)))
    # A score of NaN is compared as neither more nor less, which the original's sort cannot bear.
    keeps_nan = parts.profile.blank == "index"
    disturbed = sum(bool(np.isnan(one.scores).any()) for one in in_order) if keeps_nan else 0
    # Of each corpus of the data set one index is needed at a time.
    size = sum(round(sum(sizes) / len(sizes)) for sizes in nbytes.values())
    return Ranked(in_order, seconds, delivered, size, disturbed)


def _scaled(
    values: NDArray[np.float32], *, raw: bool
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    unit, usable = unit_vectors(values)
    return (values if raw else unit), usable


def _timedrank_cell(
    index: Index, question: Question, order: Order, rankable: Rankable
) -> tuple[Ranking, float]:
    started = time.perf_counter()
    ranking = rank(index, question, order, rankable)
    return ranking, time.perf_counter() - started


def _material(
    prepared: Prepared,
    chunked: ChunkedCorpus,
    texts: Texts,
    number: int,
    documents: tuple[NDArray[np.float32], NDArray[np.bool_]] | None,
) -> Material:
    of_chunk = texts.of_chunk[number]
    used = sorted({number for numbers in of_chunk for number in numbers})
    local = {number: at for at, number in enumerate(used)}
    pooling = prepared.dataset.pooling
    return Material(
        texts=tuple(texts.all[number] for number in used),
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


def unit_ids(prepared: Prepared, chunked: ChunkedCorpus) -> tuple[str, ...]:
    """Ids of what is ranked, in corpus order: chunks, or documents."""
    if prepared.dataset.gold == "span":
        return tuple(chunk.id for chunk in chunked.chunks)
    return tuple(source.path for source in chunked.corpus.sources)


def _rankable(prepared: Prepared, chunked: ChunkedCorpus, material: Material) -> Rankable:
    sizes = np.zeros(material.n_units, dtype=np.int64)
    charged = [chunk.nws[1] - chunk.nws[0] for chunk in chunked.chunks]
    np.add.at(sizes, material.unit_of, charged)
    return Rankable(sizes, id_places(unit_ids(prepared, chunked)), np.unique(material.unit_of))
