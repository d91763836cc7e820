"""Ranks the queries of a cell against their corpora."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.retrieval.expansion import companions, expand
from harness.retrieval.hops import Lexicon, join
from harness.retrieval.retriever import Question, rank
from harness.runs.searching import Scaled, scaled, searcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.chunking.cut import ChunkedCorpus
    from harness.embedding.embed import Vectors
    from harness.retrieval.retriever import Ranking
    from harness.runs.context import Parts, Watch
    from harness.runs.prepare import Prepared
    from harness.runs.searching import Searcher
    from harness.runs.texts import Texts

DELIVERED = 10
"""Units of every ranking whose size is the cost `chars_delivered`, in `c` and on average."""


@dataclass(frozen=True)
class Ranked:
    """Rankings in order of query, with what each took and what its first units weigh.

    Attributes:
        rankings: One for each query.
        seconds: Search time of each, both hops together, shape (q,).
        delivered: Size of its first units in `c`, shape (q,).
        index_bytes: Size of all indexes.
        disturbed: Rankings with a score of NaN, in profiles that keep them.
        counts: What was counted while ranking, over all queries.
        again: Vectors of second queries, in order of query; None where there are none.
    """

    rankings: tuple[Ranking, ...]
    seconds: NDArray[np.float64]
    delivered: NDArray[np.int64]
    index_bytes: int
    disturbed: int
    counts: Mapping[str, int]
    again: Vectors | None


def rank_cell(
    prepared: Prepared,
    chunked: Sequence[ChunkedCorpus],
    texts: Texts,
    parts: Parts,
    watch: Watch,
    *,
    embed_again: Callable[[Sequence[str]], Vectors],
) -> Ranked:
    """Rank every query of a cell against its corpus.

    Second queries that need vectors are embedded together, those of all corpora. Each corpus is
    then indexed once more, for the indexes of all of them may not fit into memory.

    Args:
        prepared: Corpora and queries.
        chunked: The corpora, cut.
        texts: The distinct texts of all corpora, and their vectors.
        parts: What the cell is made with.
        watch: Where times and progress go.
        embed_again: Gives the vectors of second queries, the zero vector for an empty one.
    """
    given = Scaled.of(texts, parts)
    table = _Table(len(prepared.queries), parts, watch)
    waits = parts.retriever.policy.hops > 1 and parts.retriever.dense
    nbytes: dict[str, list[int]] = {}
    for number, one in enumerate(chunked):
        with watch.phase("indexing"):
            corpus = searcher(prepared, one, given, number, parts)
            nbytes.setdefault(one.corpus.name, []).append(corpus.index.nbytes)
        table.ask(corpus)
        if not waits:
            table.ask_again(corpus, None)
            table.deliver(corpus)
    again = None
    if waits:
        again = embed_again(table.second)
        vectors = scaled(again.values, parts)[0]
        for number, one in enumerate(chunked):
            with watch.phase("indexing"):
                corpus = searcher(prepared, one, given, number, parts)
            table.ask_again(corpus, vectors)
            table.deliver(corpus)
    rankings = tuple(table.rankings[at] for at in range(len(prepared.queries)))
    # A score of NaN is compared as neither more nor less, which the original's sort cannot bear.
    keeps_nan = parts.profile.blank == "index"
    return Ranked(
        rankings=rankings,
        seconds=table.seconds,
        delivered=table.delivered,
        # Of each corpus of the data set one index is needed at a time.
        index_bytes=sum(round(sum(sizes) / len(sizes)) for sizes in nbytes.values()),
        disturbed=sum(one.disturbed for one in rankings) if keeps_nan else 0,
        counts=sum((Counter(one.counts) for one in rankings), Counter[str]()),
        again=again,
    )


class _Table:
    """What is known of every query so far, filled one corpus after the other."""

    def __init__(self, queries: int, parts: Parts, watch: Watch) -> None:
        self.rankings: dict[int, Ranking] = {}
        self.seconds = np.zeros(queries)
        self.delivered = np.zeros(queries, dtype=np.int64)
        self.second = [""] * queries
        self._asked_again = 0
        self._parts = parts
        self._watch = watch

    def ask(self, corpus: Searcher) -> None:
        """First rankings, and the second queries that follow from them."""
        policy = self._parts.retriever.policy
        with self._watch.phase("indexing"):
            lexicon = Lexicon.of(corpus.slices()) if policy.hops > 1 else None
        with self._watch.phase("searching") as told:
            for at, question in corpus.questions.items():
                with self._timed(at):
                    ranking = rank(corpus.index, question, self._parts.order, corpus.rankable)
                    self.rankings[at] = ranking
                    if lexicon is not None:
                        # What the retriever left unscored says nothing about the query.
                        scored = ranking.units[~np.isnan(ranking.scores)]
                        chunks = corpus.chunks_of(scored[: policy.hop_chunks])
                        self.second[at] = lexicon.second_query(question.text, chunks)
                told(len(self.rankings), len(self.second))

    def ask_again(self, corpus: Searcher, vectors: NDArray[np.float32] | None) -> None:
        """Second rankings, joined to the first; nothing where there is no second query."""
        hop_units = self._parts.retriever.policy.hop_chunks
        with self._watch.phase("searching") as told:
            for at in (one for one in corpus.questions if self.second[one]):
                with self._timed(at):
                    question = Question(self.second[at], None if vectors is None else vectors[at])
                    order = self._parts.order
                    found = rank(corpus.index, question, order, corpus.rankable)
                    first = self.rankings[at]
                    self.rankings[at] = join(first, found, hop_units, order, corpus.rankable)
                self._asked_again += 1
                told(self._asked_again, sum(map(bool, self.second)))

    def deliver(self, corpus: Searcher) -> None:
        """Rankings with what their chunks bring, and what their first units weigh."""
        kind, order = self._parts.retriever.policy.expand, self._parts.order
        sizes = corpus.rankable.sizes
        with self._watch.phase("indexing"):
            brings = companions(corpus.chunked, kind) if kind != "none" else ()
        with self._watch.phase("searching"):
            for at in corpus.questions:
                if brings:
                    with self._timed(at):
                        ranking = self.rankings[at]
                        self.rankings[at] = expand(ranking, brings, order, corpus.rankable)
                self.delivered[at] = sizes[self.rankings[at].units[:DELIVERED]].sum()

    @contextmanager
    def _timed(self, at: int) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[at] += time.perf_counter() - started
