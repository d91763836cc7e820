r"""Self-retrieval: how much of a query's own text is in its gold, and in its corpus.

In three views, because a query can be code, prose or a mixture. Lines: the share of the query's
non-blank lines, stripped of white space, that are lines of the gold; each line of gold counts for
one line of the query. Words: the share of the query's runs of eight words (`\w+`, in lower case;
the whole query if it is shorter) that are in the gold, or anywhere in the corpus. Text: whether a
file contains the whole query, white space aside.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.chunking.layout import squeezed
from harness.relevance.filler import blanked
from harness.support.arrays import mean
from harness.support.word_runs import grams_of, shared_grams

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from chunkers.source import Source
    from harness.model import Corpus, Query
    from harness.runs.query_set import QuerySet
    from harness.support.word_runs import Gram

MOST = 0.9
"""Share of a query's lines above which the query is taken to be its own answer."""


@dataclass(frozen=True)
class Leak:
    """How much of one query is in the corpus; shares between 0 and 1.

    `words_in_corpus` includes the gold. `inside_rest`: a file contains the whole text without the
    query's own region.
    """

    query: str
    lines_in_gold: float
    words_in_gold: float
    words_in_corpus: float
    inside_gold: bool
    inside_file: bool
    inside_rest: bool


@dataclass(frozen=True)
class SelfRetrieval:
    """The leaks of a data set; all but `queries` are means over queries, between 0 and 1.

    `queries_over_90` and `queries_of_gold` have over 90 % of their lines, or all, in gold;
    `queries_sharing_words` have a run of words in the corpus. The others are those of `Leak`.
    """

    queries: int
    lines_in_gold: float
    queries_over_90: float
    queries_of_gold: float
    words_in_gold: float
    words_in_corpus: float
    queries_sharing_words: float
    inside_gold: float
    inside_file: float
    inside_rest: float


def summarise(leaks: Sequence[Leak]) -> SelfRetrieval:
    """Means over queries."""

    def over_queries(values: Iterable[float]) -> float:
        return mean(list(values)) if leaks else 0.0

    names = (field.name for field in dataclasses.fields(Leak) if field.name != "query")
    return SelfRetrieval(
        queries=len(leaks),
        queries_over_90=over_queries(leak.lines_in_gold > MOST for leak in leaks),
        queries_of_gold=over_queries(leak.lines_in_gold == 1 for leak in leaks),
        queries_sharing_words=over_queries(leak.words_in_corpus > 0 for leak in leaks),
        **{name: over_queries(getattr(leak, name) for leak in leaks) for name in names},
    )


@dataclass(frozen=True)
class _Texts:
    """Files by path, their texts without white space, and the paths that have runs of words."""

    files: Mapping[str, Source]
    tight: Mapping[str, str]
    holders: Mapping[Gram, set[str]]

    @classmethod
    def of(cls, corpus: Corpus, wanted: set[Gram]) -> _Texts:
        files = {source.path: source for source in corpus.sources}
        holders: defaultdict[Gram, set[str]] = defaultdict(set)
        for path, source in files.items():
            for gram in shared_grams(wanted, (source.text,)):
                holders[gram].add(path)
        tight = {path: squeezed(source.text) for path, source in files.items()}
        return cls(files, tight, holders)

    def with_file(self, source: Source, wanted: set[Gram]) -> _Texts:
        """The texts with another source in place of that of its path, for some runs of words."""
        path = source.path
        new = shared_grams(wanted, (source.text,))
        holders = {
            gram: (self.holders.get(gram, set()) - {path}) | ({path} if gram in new else set())
            for gram in wanted
        }
        tight = {**self.tight, path: squeezed(source.text)}
        return _Texts({**self.files, path: source}, tight, holders)


def find_leaks(query_set: QuerySet) -> tuple[Leak, ...]:
    """The leak of every query, in order of query; a masked one is looked up without its region."""
    masks = {mask.query.id: mask for mask in query_set.masks}
    leaks = {}
    for corpus in query_set.files:
        if corpus.of:
            continue
        grams = {
            query.id: grams_of(query.text)
            for query in query_set.queries
            if corpus.id == (masks[query.id].of if query.id in masks else query.corpus)
        }
        texts = _Texts.of(corpus, {gram for own in grams.values() for gram in own})
        for query in query_set.queries:
            if query.id in grams:
                own, mask = grams[query.id], masks.get(query.id)
                seen = texts if mask is None else texts.with_file(mask.source, set(own))
                leaks[query.id] = _leak(query, own, seen, masked=mask is not None)
    return tuple(leaks[query.id] for query in query_set.queries)


def _leak(query: Query, grams: Sequence[Gram], texts: _Texts, *, masked: bool) -> Leak:
    gold = _gold(query, texts.files)
    in_gold = shared_grams(set(grams), gold)
    text = squeezed(query.text)
    holding = [path for path, tight in texts.tight.items() if text and text in tight]
    rest, region = holding, query.region
    if region is not None and holding == [region.path] and not masked:
        source = texts.files[region.path]
        if region.end_line <= source.lines.count:
            others = squeezed(blanked(source, region, query.id).text)
            rest = holding if text in others else []
    return Leak(
        query=query.id,
        lines_in_gold=_lines_in(query.text, gold),
        words_in_gold=_share(sum(gram in in_gold for gram in grams), len(grams)),
        words_in_corpus=_share(sum(bool(texts.holders.get(gram)) for gram in grams), len(grams)),
        inside_gold=bool(text) and any(text in squeezed(target) for target in gold),
        inside_file=bool(holding),
        inside_rest=bool(rest),
    )


def _gold(query: Query, files: Mapping[str, Source]) -> list[str]:
    """The text of every indexed target, or of every relevant document."""
    if query.qrels is not None:
        graded = query.qrels.items()
        return [files[name].text for name, grade in graded if grade > 0 and name in files]
    gold = []
    for target in query.targets:
        if target.path in files:
            source = files[target.path]
            first, last = target.start_line or 1, target.end_line or source.lines.count
            if 0 < last <= source.lines.count:
                gold.append(source.lines.text_of(first, last))
    return gold


def _lines_in(text: str, gold: Iterable[str]) -> float:
    own = Counter(_lines(text))
    gold_lines = Counter(line for target in gold for line in _lines(target))
    return _share((own & gold_lines).total(), own.total())


def _lines(text: str) -> Iterator[str]:
    return filter(None, (line.strip() for line in text.split("\n")))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
