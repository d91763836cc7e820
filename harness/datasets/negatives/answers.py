"""What must not come into a corpus from elsewhere: what answers one of its queries, or asks it.

A file is kept out of a corpus that has

- a query with a run of words that the file holds, while the corpus holds it nowhere outside of
  the query's own lines: what a data set left out of its corpus is not to come back;
- a query with a target whose lines the file holds, one below the other, while the corpus holds
  them nowhere else (in any case from 100 characters on: such a copy would be scored as a target);
- a query with a target in a file of which this one is a version
(`harness.datasets.negatives.versions`), or
  a version of one that another corpus of the repository has under the same path.

White space does not count, nor do blank lines.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.chunking.layout import squeezed
from harness.datasets.negatives.versions import Versions, lines_of
from harness.relevance.masking import without_region
from harness.relevance.targets import MIN_TWIN
from harness.support.word_runs import grams_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from chunkers.source import Source
    from harness.model import Corpus, Dataset, Query, Target
    from harness.support.word_runs import Gram

_Lines = tuple[str, ...]
_File = tuple[str, str]
"""A repository and a path in it."""


@dataclass(frozen=True)
class _Found:
    """What a text holds of all that is looked for, and which targets' files it is a version of."""

    grams: frozenset[Gram]
    runs: Mapping[_Lines, int]
    files: frozenset[_File]


@dataclass(frozen=True)
class _Barred:
    """What keeps a file out of one corpus."""

    grams: frozenset[Gram]
    runs: frozenset[_Lines]
    long: frozenset[str]
    files: frozenset[_File]


class Answers:
    """Says which texts must not come into which corpus of a data set."""

    def __init__(self, dataset: Dataset) -> None:
        self._asked: dict[str, list[Query]] = defaultdict(list)
        for query in dataset.queries:
            self._asked[query.corpus].append(query)
        self._grams = {gram for query in dataset.queries for gram in grams_of(query.text)}
        self._lengths = sorted({len(gram) for gram in self._grams})
        self._runs = {
            corpus.id: _runs(corpus, self._asked[corpus.id]) for corpus in dataset.corpora
        }
        self._beginning: dict[str, set[_Lines]] = defaultdict(set)
        for runs in self._runs.values():
            for run in runs:
                self._beginning[run[0]].add(run)
        self._known: dict[str, _Found] = {}
        self._versions = _versions(dataset, self._asked)
        self._barred = {corpus.id: self._of(corpus) for corpus in dataset.corpora}

    def bar(self, corpus: Corpus, text: str) -> bool:
        """Whether a text must not come into a corpus of the data set."""
        barred, found = self._barred[corpus.id], self._found(text)
        if not (
            barred.grams.isdisjoint(found.grams)
            and barred.runs.isdisjoint(found.runs)
            and barred.files.isdisjoint(found.files)
        ):
            return True
        tight = squeezed(text) if barred.long else ""
        return any(one in tight for one in barred.long)

    def _found(self, text: str) -> _Found:
        """What a text holds; each is searched once."""
        known = self._known.get(text)
        if known is None:
            near = self._versions.of(text)
            known = self._known[text] = _Found(self._held(text), self._standing(text), near)
        return known

    def _held(self, text: str) -> frozenset[Gram]:
        words = words_of(text) if self._grams else []
        found: set[Gram] = set()
        for length in self._lengths:
            runs = zip(*(words[at:] for at in range(length)), strict=False)
            found.update(run for run in runs if run in self._grams)
        return frozenset(found)

    def _standing(self, text: str) -> Counter[_Lines]:
        lines = lines_of(text)
        return Counter(
            run
            for at, line in enumerate(lines)
            for run in self._beginning.get(line, ())
            if lines[at : at + len(run)] == run
        )

    def _of(self, corpus: Corpus) -> _Barred:
        held: Counter[Gram] = Counter()
        standing: Counter[_Lines] = Counter()
        for source in corpus.sources:
            found = self._found(source.text)
            held.update(found.grams)
            standing.update(found.runs)
        sources = {source.path: source for source in corpus.sources}
        own = self._runs[corpus.id]
        long = {tight for run in own if len(tight := "".join(run)) >= MIN_TWIN}
        return _Barred(
            grams=frozenset(
                gram
                for query in self._asked[corpus.id]
                for gram in self._outside(query, sources, held)
            ),
            runs=frozenset(run for run in own if standing[run] <= own[run]),
            long=frozenset(long),
            files=frozenset(_files(corpus, self._asked[corpus.id])),
        )

    def _outside(
        self, query: Query, sources: Mapping[str, Source], held: Mapping[Gram, int]
    ) -> set[Gram]:
        """The runs of words of a query that stand nowhere in its corpus but in its own lines."""
        grams = set(grams_of(query.text))
        region = query.region
        source = None if region is None else sources.get(region.path)
        if region is None or source is None or region.end_line > source.lines.count:
            return {gram for gram in grams if not held[gram]}
        inside = self._found(source.text).grams
        rest = self._held(without_region(source, region, query.id).text)
        return {gram for gram in grams - rest if held[gram] <= (gram in inside)}


def _golden(query: Query) -> Sequence[tuple[str, Target | None]]:
    """The targets of a query: paths, and lines where it names any."""
    if query.qrels is not None:
        return [(name, None) for name, grade in query.qrels.items() if grade > 0]
    return [(target.path, target) for target in query.targets]


def _runs(corpus: Corpus, queries: Iterable[Query]) -> Counter[_Lines]:
    """The lines of the targets of queries, with the number of places that are targets by them."""
    sources = {source.path: source for source in corpus.sources}
    places: set[tuple[str, int, int]] = set()
    for query in queries:
        for path, target in _golden(query):
            if (source := sources.get(path)) is None:
                continue
            first = 1 if target is None else target.start_line or 1
            last = source.lines.count if target is None else target.end_line or source.lines.count
            if first <= last <= source.lines.count:
                places.add((path, first, last))
    runs: Counter[_Lines] = Counter()
    for path, first, last in places:
        start, end = sources[path].lines.offsets_of(first, last)
        if run := lines_of(sources[path].text[start:end]):
            runs[run] += 1
    return runs


def _files(corpus: Corpus, queries: Iterable[Query]) -> set[_File]:
    """The files of the targets of queries."""
    repository = repository_of(corpus)
    return {(repository, path) for query in queries for path, _ in _golden(query)}


def _versions(dataset: Dataset, asked: Mapping[str, Sequence[Query]]) -> Versions[_File]:
    """All versions of targets' files that the corpora of a repository have."""
    every = {file for corpus in dataset.corpora for file in _files(corpus, asked[corpus.id])}
    return Versions(
        (file, source.text)
        for corpus in dataset.corpora
        for source in corpus.sources
        if (file := (repository_of(corpus), source.path)) in every
    )


def repository_of(corpus: Corpus) -> str:
    """What a corpus shares with others of the same code, else its own name."""
    return corpus.repository or corpus.name
