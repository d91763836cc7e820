"""One corpus of a cell, made searchable: what a retriever and the order of units need of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.chunking.cut import uncovered
from harness.embedding.embed import unit_vectors
from harness.retrieval.retriever import Material, Question, Rankable, id_places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from chunkers.source import Source
    from harness.chunking.cut import Chunk, ChunkedCorpus
    from harness.retrieval.retriever import Index, Ranker
    from harness.runs.context import Parts
    from harness.runs.prepare import Prepared
    from harness.runs.texts import Texts


@dataclass(frozen=True)
class Searcher:
    """One corpus, indexed, and the queries that ask it.

    Attributes:
        chunked: The corpus, cut.
        questions: By number of the query.
        material: The corpus as the retriever sees it.
        index: What is searched.
        rankable: The corpus as ordering sees it.
    """

    chunked: ChunkedCorpus
    questions: Mapping[int, Question]
    material: Material
    index: Index | Ranker
    rankable: Rankable

    def chunks_of(self, units: NDArray[np.int64]) -> list[int]:
        """Numbers of the chunks of some units."""
        return np.flatnonzero(np.isin(self.material.unit_of, units)).tolist()

    def slices(self) -> list[str]:
        """The source text of every chunk: what a budget pays for, headers left out."""
        sources = {source.path: source for source in self.chunked.corpus.sources}
        return [_own(sources[one.path], one) for one in self.chunked.chunks]


def _own(source: Source, chunk: Chunk) -> str:
    """What a chunk has of its source's text."""
    if not chunk.gaps:
        return source.text[chunk.start : chunk.end]
    before = source.lines.nws
    # Of each part the first character that is no white space, and the last.
    ends = [np.searchsorted(before, (low, high - 1), "right") - 1 for low, high in chunk.parts]
    return "\n".join(source.text[first : last + 1] for first, last in ends)


@dataclass(frozen=True)
class Scaled:
    """The texts of a cell, their vectors as the similarity of the profile wants them.

    Attributes:
        texts: The distinct texts of all corpora.
        documents: Vectors of `texts.all`, and which of them are usable; None without an embedder.
        queries: Vectors of the queries; None without an embedder.
    """

    texts: Texts
    documents: tuple[NDArray[np.float32], NDArray[np.bool_]] | None
    queries: NDArray[np.float32] | None

    @classmethod
    def of(cls, texts: Texts, parts: Parts) -> Scaled:
        """Scale the vectors of all corpora at once."""
        documents = None if texts.vectors is None else scaled(texts.vectors, parts)
        queries = None if texts.queries is None else scaled(texts.queries.values, parts)[0]
        return cls(texts, documents, queries)


def scaled(
    values: NDArray[np.float32], parts: Parts
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Vectors as the profile's similarity wants them, and which of them are usable."""
    unit, usable = unit_vectors(values)
    return (unit if parts.profile.similarity == "cosine" else values), usable


def searcher(
    prepared: Prepared, chunked: ChunkedCorpus, given: Scaled, number: int, parts: Parts
) -> Searcher:
    """Index one corpus.

    Args:
        prepared: Corpora and queries.
        chunked: The corpus, cut.
        given: The texts of all corpora, and their vectors.
        number: Of the corpus, in `given`.
        parts: What the cell is made with.
    """
    material = _material(prepared, chunked, given, number, parts)
    return Searcher(
        chunked=chunked,
        questions=_questions(prepared, chunked.corpus.id, given.queries, parts),
        material=material,
        index=parts.retriever.index(material),
        rankable=_rankable(prepared, chunked, material),
    )


def _questions(
    prepared: Prepared, corpus: str, vectors: NDArray[np.float32] | None, parts: Parts
) -> dict[int, Question]:
    found = {}
    for at, query in enumerate(prepared.queries):
        if query.corpus == corpus:
            keeps = "head" if parts.profile.truncate == "head" else query.truncate
            found[at] = Question(query.text, None if vectors is None else vectors[at], keeps)
    return found


def _material(
    prepared: Prepared,
    chunked: ChunkedCorpus,
    given: Scaled,
    number: int,
    parts: Parts,
) -> Material:
    of_chunk = given.texts.of_chunk[number]
    used = sorted({number for numbers in of_chunk for number in numbers})
    local = {number: at for at, number in enumerate(used)}
    pooling = prepared.dataset.pooling
    return Material(
        texts=tuple(given.texts.all[number] for number in used),
        vectors=None if given.documents is None else given.documents[0][used],
        usable=np.ones(len(used), bool) if given.documents is None else given.documents[1][used],
        chunks=tuple(chunk.text for chunk in chunked.chunks),
        chunk_texts=tuple(tuple(local[number] for number in numbers) for numbers in of_chunk),
        unit_of=_unit_of(prepared, chunked),
        n_units=len(chunked.chunks) if pooling is None else len(chunked.corpus.sources),
        pooling=pooling or "max",
        similarity=parts.profile.similarity,
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
    own = np.zeros(material.n_units, dtype=np.int64)
    of_chunk = [sum(high - low for low, high in chunk.parts) for chunk in chunked.chunks]
    np.add.at(sizes, material.unit_of, of_chunk)
    np.add.at(own, material.unit_of, uncovered(chunked))
    return Rankable(sizes, id_places(unit_ids(prepared, chunked)), np.unique(material.unit_of), own)
