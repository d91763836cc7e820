"""Indexes the corpora of a cell and ranks its queries against them."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import InputError
from harness.embedding.text_vectors import unit_vectors, usable_vectors
from harness.retrieval.expansion import companions, expand
from harness.retrieval.hops import Lexicon, join
from harness.retrieval.ranking import Material, Prepared, Rankable, SearchQuery, id_places, rank
from harness.runs.texts import kept_end
from harness.support.sequences import Ragged, selected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from chunkers.source import Source
    from harness.chunking.chunks import Chunk
    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.text_vectors import Vectors
    from harness.retrieval.ranking import Index, Ranker, Ranking
    from harness.runs.pipeline import PhaseTimer, Pipeline
    from harness.runs.query_set import QuerySet
    from harness.runs.texts import Texts

DELIVERED = 10
"""Number of units at the top of a ranking whose size is the cost `chars_delivered`."""


@dataclass(frozen=True)
class CellRankings:
    """The rankings of a cell, in order of query, and their cost.

    Attributes:
        rankings: One for each query.
        seconds: Search time of each query, both hops together, shape (q,).
        delivered: Size of the first `DELIVERED` units of each ranking in `c`, shape (q,).
        index_bytes: Size of all indexes.
        unusable_queries: Number of queries with a zero or non-finite vector; they retrieve nothing.
        unranked: Number of queries for which nothing was retrieved.
        short: Number of other queries for which less than the budget was retrieved although the
            corpus has more.
        disturbed: Number of rankings with a score of NaN, for profiles that keep them.
        counts: Counts of the retriever, summed over queries.
        again: Vectors of the second queries, in order of query; None if there are none.
    """

    rankings: tuple[Ranking, ...]
    seconds: NDArray[np.float64]
    delivered: NDArray[np.int64]
    index_bytes: int
    unusable_queries: int
    unranked: int
    short: int
    disturbed: int
    counts: Counter[str]
    again: Vectors | None


def rank_cell(
    query_set: QuerySet,
    chunked: Sequence[ChunkedCorpus],
    texts: Texts,
    pipeline: Pipeline,
    timer: PhaseTimer,
    *,
    embed_again: Callable[[Sequence[str]], Vectors],
) -> CellRankings:
    """Rank every query of a cell against its corpus.

    Second queries that need vectors are embedded together after all first rankings. Each corpus is
    then indexed a second time, because the indexes of all corpora may not fit into memory.

    Args:
        query_set: Queries and their corpora.
        chunked: The chunked corpora.
        texts: The distinct texts of all corpora, and their vectors.
        pipeline: The parts of the cell.
        timer: Receives times and progress.
        embed_again: Embeds second queries; an empty one gets the zero vector.
    """
    indexer = _Indexer(query_set, texts, pipeline, timer)
    table = _RankingTable([query.id for query in query_set.queries], pipeline, timer)
    two_passes = pipeline.retriever.options.hops > 1 and pipeline.retriever.dense
    index_sizes: defaultdict[str, list[int]] = defaultdict(list)
    for number, corpus in enumerate(chunked):
        indexed = indexer.index(number, corpus)
        index_sizes[corpus.corpus.name].append(indexed.index.nbytes)
        table.rank_first(indexed)
        if not two_passes:
            table.rank_second(indexed, None)
            table.expand(indexed)
    again = None
    if two_passes:
        again = embed_again(table.second)
        vectors = indexer.scaled(again.values)[0]
        for number, corpus in enumerate(chunked):
            indexed = indexer.index(number, corpus)
            table.rank_second(indexed, vectors)
            table.expand(indexed)
    rankings = tuple(table.rankings[at] for at in range(len(query_set.queries)))
    return CellRankings(
        rankings=rankings,
        seconds=table.seconds,
        delivered=table.delivered,
        # A corpus that queries see with different masks needs one index at a time.
        index_bytes=sum(round(sum(sizes) / len(sizes)) for sizes in index_sizes.values()),
        unusable_queries=indexer.unusable_queries,
        unranked=sum(len(ranking.units) == 0 for ranking in rankings),
        short=table.short,
        # NaN compares as neither more nor less, which the reproduced system's sort cannot handle.
        disturbed=sum(ranking.disturbed for ranking in rankings),
        counts=sum((Counter(ranking.counts) for ranking in rankings), Counter[str]()),
        again=again,
    )


@dataclass(frozen=True)
class _IndexedCorpus:
    """One indexed corpus, and its queries by number."""

    chunked: ChunkedCorpus
    queries: Mapping[int, SearchQuery]
    material: Material
    index: Index | Ranker
    rankable: Rankable

    def chunks_of(self, units: NDArray[np.int64]) -> list[int]:
        """Numbers of the chunks of units."""
        return np.flatnonzero(np.isin(self.material.unit_of, units)).tolist()

    def chunk_sources(self) -> Iterator[str]:
        """The source text of every chunk, without headers: the text that a budget pays for."""
        for file in self.chunked.chunks.files:
            for chunk in file:
                yield chunk_source(file.source, chunk)


def chunk_source(source: Source, chunk: Chunk) -> str:
    """The text that a chunk has of its source, a line for each part between gaps."""
    if not chunk.gaps:
        return source.text[chunk.start : chunk.end]
    before = source.lines.nws
    # First and last non-white-space character of each part.
    ends = [np.searchsorted(before, (low, high - 1), "right") - 1 for low, high in chunk.parts]
    return "\n".join(source.text[first : last + 1] for first, last in ends)


class _Indexer:
    """Indexes the corpora of a cell; vectors are scaled once for all of them."""

    def __init__(
        self, query_set: QuerySet, texts: Texts, pipeline: Pipeline, timer: PhaseTimer
    ) -> None:
        self._query_set, self._texts = query_set, texts
        self._pipeline, self._timer = pipeline, timer
        # In place, for a copy would double the memory; nothing needs their length any more.
        vectors = texts.vectors
        self._documents = None if vectors is None else self.scaled(vectors, out=vectors)
        self._queries: NDArray[np.float32] | None = None
        self.unusable_queries = 0
        if texts.queries is not None:
            self._queries, usable = self.scaled(texts.queries.values)
            self.unusable_queries = int((~usable).sum())

    def scaled(
        self, values: NDArray[np.float32], out: NDArray[np.float32] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Vectors as the profile's similarity needs them, and which of them are usable."""
        space = self._pipeline.space
        if self._pipeline.profile.similarity == "cosine":
            return unit_vectors(values, space, out)
        return values, usable_vectors(values, space)

    def index(self, number: int, chunked: ChunkedCorpus) -> _IndexedCorpus:
        """Index the corpus with a number."""
        with self._timer.phase("indexing"):
            material = self._material(number, chunked)
            return _IndexedCorpus(
                chunked=chunked,
                queries=self._search_queries(chunked.corpus.id),
                material=material,
                index=self._pipeline.retriever.index(material),
                rankable=self._rankable(chunked, material),
            )

    def _search_queries(self, corpus: str) -> dict[int, SearchQuery]:
        vectors, profile = self._queries, self._pipeline.profile
        return {
            at: SearchQuery(
                query.text, None if vectors is None else vectors[at], kept_end(query, profile)
            )
            for at, query in enumerate(self._query_set.queries)
            if query.corpus == corpus
        }

    def _material(self, number: int, chunked: ChunkedCorpus) -> Material:
        of_chunk, chunks = self._texts.of_chunk[number], chunked.chunks
        used, local = np.unique(of_chunk.values, return_inverse=True)
        dataset = self._query_set.dataset
        unit_of = np.arange(len(chunks))
        if dataset.gold == "document":
            unit_of = np.repeat(np.arange(len(chunks.files)), np.diff(chunks.starts))
        documents = self._documents
        return Material(
            texts=selected(self._texts.all, used),
            vectors=None if documents is None else self._pipeline.space.taken(documents[0], used),
            usable=np.ones(len(used), bool) if documents is None else documents[1][used],
            chunks=chunks.texts,
            chunk_texts=Ragged(local, of_chunk.starts),
            unit_of=unit_of,
            n_units=len(unit_ids(self._query_set, chunked)),
            pooling=dataset.pooling or "max",
            similarity=self._pipeline.profile.similarity,
            space=self._pipeline.space,
        )

    def _rankable(self, chunked: ChunkedCorpus, material: Material) -> Rankable:
        sizes = np.zeros(material.n_units, dtype=np.int64)
        own = np.zeros(material.n_units, dtype=np.int64)
        np.add.at(sizes, material.unit_of, chunked.chunks.chars)
        np.add.at(own, material.unit_of, chunked.chunks.uncovered)
        # Ties in corpus order ask for no id.
        by_id = self._pipeline.order.ties != "corpus-order"
        places = id_places(unit_ids(self._query_set, chunked) if by_id else ())
        return Rankable(sizes, places, np.unique(material.unit_of), own)


def unit_ids(query_set: QuerySet, chunked: ChunkedCorpus) -> Sequence[str]:
    """Ids of the units of a corpus, in corpus order: chunks, or documents."""
    if query_set.dataset.gold == "span":
        return chunked.chunks.ids
    return tuple(source.path for source in chunked.corpus.sources)


class _RankingTable:
    """The rankings of all queries, filled corpus by corpus."""

    def __init__(self, ids: Sequence[str], pipeline: Pipeline, timer: PhaseTimer) -> None:
        self.rankings: dict[int, Ranking] = {}
        self.seconds = np.zeros(len(ids))
        self.delivered = np.zeros(len(ids), dtype=np.int64)
        self.second = [""] * len(ids)
        self.short = 0
        self._ids = ids
        self._keeps_nan = pipeline.profile.blank == "index"
        self._ranked_again = 0
        self._options = pipeline.retriever.options
        self._order = pipeline.order
        self._timer = timer

    def rank_first(self, corpus: _IndexedCorpus) -> None:
        """First rankings, and the second queries made from them."""
        with self._timer.phase("indexing"):
            lexicon = Lexicon.of(corpus.chunk_sources()) if self._options.hops > 1 else None
        with self._timer.phase("searching") as progress:
            self._prepare(corpus)
            for at, query in corpus.queries.items():
                with self._timed(at):
                    ranking = self._rank(corpus, at, query)
                    self.rankings[at] = ranking
                    if lexicon is not None:
                        # A unit without a score is no evidence about the query.
                        scored = ranking.units[~np.isnan(ranking.scores)]
                        chunks = corpus.chunks_of(scored[: self._options.hop_chunks])
                        self.second[at] = lexicon.second_query(query.text, chunks)
                progress(len(self.rankings), len(self.second))

    def _prepare(self, corpus: _IndexedCorpus) -> None:
        """Search all queries together if the index can; each takes its share of the time."""
        if not isinstance(corpus.index, Prepared):
            return
        started = time.perf_counter()
        corpus.index.prepare(list(corpus.queries.values()), self._order.depth)
        share = (time.perf_counter() - started) / max(1, len(corpus.queries))
        self.seconds[list(corpus.queries)] += share

    def rank_second(self, corpus: _IndexedCorpus, vectors: NDArray[np.float32] | None) -> None:
        """Second rankings, joined to the first, for the queries that have a second query."""
        with self._timer.phase("searching") as progress:
            for at in filter(self.second.__getitem__, corpus.queries):
                with self._timed(at):
                    query = SearchQuery(self.second[at], None if vectors is None else vectors[at])
                    second = self._rank(corpus, at, query)
                    self.rankings[at] = join(
                        self.rankings[at],
                        second,
                        self._options.hop_chunks,
                        self._order,
                        corpus.rankable,
                    )
                self._ranked_again += 1
                progress(self._ranked_again, sum(map(bool, self.second)))

    def expand(self, corpus: _IndexedCorpus) -> None:
        """Add the companions of ranked chunks, and measure the first units."""
        kind = self._options.expand
        with self._timer.phase("indexing"):
            added = companions(corpus.chunked, kind) if kind != "none" else ()
        with self._timer.phase("searching"):
            for at in corpus.queries:
                if added:
                    with self._timed(at):
                        self.rankings[at] = expand(
                            self.rankings[at], added, self._order, corpus.rankable
                        )
                units, rankable = self.rankings[at].units, corpus.rankable
                self.delivered[at] = rankable.sizes[units[:DELIVERED]].sum()
                if 0 < len(units) < len(rankable.indexed):
                    self.short += int(rankable.spends[units].sum()) < self._order.budget

    def _rank(self, corpus: _IndexedCorpus, at: int, query: SearchQuery) -> Ranking:
        """One ranking; an invalid one is an error that names the query."""
        try:
            ranking = rank(corpus.index, query, self._order, corpus.rankable)
            if ranking.disturbed and not self._keeps_nan:
                raise InputError("the retriever returned a score of NaN")
        except InputError as error:
            raise InputError(f"query {self._ids[at]}: {error}") from error
        return ranking

    @contextmanager
    def _timed(self, at: int) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[at] += time.perf_counter() - started
