"""Which files must not come into a corpus from elsewhere: they answer or repeat one of its queries.

A file is kept out of a corpus that has

- a query with a run of words that the file holds, while the corpus holds it nowhere outside of
  the query's own lines: text that a data set removed from its corpus must not come back;
- a query with a target whose lines the file holds, one below the other, while the corpus holds
  them nowhere else (in any case from 100 characters on: such a copy would be scored as a target);
- a query with a target in a file of which this one is a version
  (`harness.datasets.negatives.file_versions`), or a version of one that another corpus of the
  repository has under the same path.

White space does not count, nor do blank lines.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.chunking.layout import squeezed
from harness.datasets.negatives.file_versions import FileVersions, lines_of
from harness.relevance.filler import blanked
from harness.relevance.targets import MIN_TWIN
from harness.support.word_runs import grams_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from chunkers.source import Source
    from harness.model import Corpus, Dataset, Query
    from harness.support.word_runs import Gram

_Lines = tuple[str, ...]
_File = tuple[str, str]
"""A repository and a path in it."""


@dataclass(frozen=True)
class _Contents:
    """The runs of words and lines of all queries that a text holds, and the versions that it is."""

    grams: frozenset[Gram]
    runs: Mapping[_Lines, int]
    files: frozenset[_File]


@dataclass(frozen=True)
class _Bars:
    """The contents that keep a file out of one corpus."""

    grams: frozenset[Gram]
    runs: frozenset[_Lines]
    long: frozenset[str]
    files: frozenset[_File]


class BarredFiles:
    """The texts that must not come into the corpora of a data set."""

    def __init__(self, dataset: Dataset) -> None:
        self._queries = queries_by_corpus(dataset)
        self._grams = {gram for query in dataset.queries for gram in grams_of(query.text)}
        self._lengths = sorted({len(gram) for gram in self._grams})
        self._runs = {
            corpus.id: _runs(corpus, self._queries[corpus.id]) for corpus in dataset.corpora
        }
        self._beginning: dict[str, set[_Lines]] = defaultdict(set)
        for runs in self._runs.values():
            for run in runs:
                self._beginning[run[0]].add(run)
        self._known: dict[str, _Contents] = {}
        self._versions = _versions(dataset, self._queries)
        self._bars = {corpus.id: self._bars_of(corpus) for corpus in dataset.corpora}

    def bar(self, corpus: Corpus, text: str) -> bool:
        """Whether a text must not come into a corpus of the data set."""
        bars, contents = self._bars[corpus.id], self._contents(text)
        if not (
            bars.grams.isdisjoint(contents.grams)
            and bars.runs.isdisjoint(contents.runs)
            and bars.files.isdisjoint(contents.files)
        ):
            return True
        tight = squeezed(text) if bars.long else ""
        return any(run in tight for run in bars.long)

    def _contents(self, text: str) -> _Contents:
        """The contents of a text; each text is searched once."""
        if text not in self._known:
            versions = self._versions.of(text)
            self._known[text] = _Contents(self._grams_in(text), self._runs_in(text), versions)
        return self._known[text]

    def _grams_in(self, text: str) -> frozenset[Gram]:
        words = words_of(text) if self._grams else []
        common: set[Gram] = set()
        for length in self._lengths:
            runs = zip(*(words[at:] for at in range(length)), strict=False)
            common.update(run for run in runs if run in self._grams)
        return frozenset(common)

    def _runs_in(self, text: str) -> Counter[_Lines]:
        lines = lines_of(text)
        return Counter(
            run
            for at, line in enumerate(lines)
            for run in self._beginning.get(line, ())
            if lines[at : at + len(run)] == run
        )

    def _bars_of(self, corpus: Corpus) -> _Bars:
        held: Counter[Gram] = Counter()
        runs: Counter[_Lines] = Counter()
        for source in corpus.sources:
            contents = self._contents(source.text)
            held.update(contents.grams)
            runs.update(contents.runs)
        sources = {source.path: source for source in corpus.sources}
        own = self._runs[corpus.id]
        long = {tight for run in own if len(tight := "".join(run)) >= MIN_TWIN}
        return _Bars(
            grams=frozenset(
                gram
                for query in self._queries[corpus.id]
                for gram in self._outside(query, sources, held)
            ),
            runs=frozenset(run for run in own if runs[run] <= own[run]),
            long=frozenset(long),
            files=frozenset(target_files(corpus, self._queries[corpus.id])),
        )

    def _outside(
        self, query: Query, sources: Mapping[str, Source], held: Mapping[Gram, int]
    ) -> set[Gram]:
        """The runs of words of a query that its corpus holds only in the query's own lines."""
        grams = set(grams_of(query.text))
        region = query.region
        source = None if region is None else sources.get(region.path)
        if region is None or source is None or region.end_line > source.lines.count:
            return {gram for gram in grams if not held[gram]}
        inside = self._contents(source.text).grams
        rest = self._grams_in(blanked(source, region, query.id).text)
        return {gram for gram in grams - rest if held[gram] <= (gram in inside)}


def _runs(corpus: Corpus, queries: Iterable[Query]) -> Counter[_Lines]:
    """The lines of the targets of queries, with the number of places that are targets by them."""
    sources = {source.path: source for source in corpus.sources}
    places: set[tuple[str, int, int]] = set()
    for query in queries:
        for path, target in query.gold:
            if (source := sources.get(path)) is None:
                continue
            first = 1 if target is None else target.start_line or 1
            last = source.lines.count if target is None else target.end_line or source.lines.count
            if first <= last <= source.lines.count:
                places.add((path, first, last))
    runs: Counter[_Lines] = Counter()
    for path, first, last in places:
        if run := lines_of(sources[path].lines.text_of(first, last)):
            runs[run] += 1
    return runs


def target_files(corpus: Corpus, queries: Iterable[Query]) -> set[_File]:
    """The files of the targets of queries, with their repository."""
    repository = repository_of(corpus)
    return {(repository, path) for query in queries for path, _ in query.gold}


def _versions(dataset: Dataset, queries: Mapping[str, Sequence[Query]]) -> FileVersions[_File]:
    """All versions of targets' files that the corpora of a repository have."""
    every = {
        file for corpus in dataset.corpora for file in target_files(corpus, queries[corpus.id])
    }
    return FileVersions(
        (file, source.text)
        for corpus in dataset.corpora
        for source in corpus.sources
        if (file := (repository_of(corpus), source.path)) in every
    )


def repository_of(corpus: Corpus) -> str:
    """What a corpus shares with others of the same code, else its own name."""
    return corpus.repository or corpus.name


def queries_by_corpus(dataset: Dataset) -> dict[str, list[Query]]:
    """The queries of every corpus, by its id; none for an unknown id."""
    queries: dict[str, list[Query]] = defaultdict(list)
    for query in dataset.queries:
        queries[query.corpus].append(query)
    return queries
