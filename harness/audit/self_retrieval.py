r"""Self-retrieval: how much of a query's own text stands in its gold, and in its corpus.

Three views, since a query can be code, prose or a mixture. Lines: of the query's non-blank lines,
stripped of white space at both ends, those that stand among the gold's lines; each line of gold
counts for one line of the query. Words: of the query's runs of eight words (`\w+`, lower-cased;
the whole query where it is shorter), those that stand in the gold, or anywhere in the corpus.
Text: whether the whole query, without white space, is contained in a file.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.chunking.layout import squeezed
from harness.relevance.masking import without_region
from harness.support.arrays import mean
from harness.support.word_runs import grams_of, shared_grams

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from harness.model import Corpus, Query
    from harness.runs.query_set import QuerySet

MOST = 0.9
"""Share of a query's lines above which it is taken to be its own answer."""


@dataclass(frozen=True)
class Leak:
    """How much of one query stands in the corpus; shares between 0 and 1.

    Attributes:
        query: Its id.
        lines_in_gold: Of its non-blank lines.
        words_in_gold: Of its runs of words.
        words_in_corpus: The same of the whole corpus, the gold included.
        inside_gold: Whether its whole text is contained in a target.
        inside_file: Whether its whole text is contained in an indexed file.
        inside_rest: Whether it still is when the query's own region is taken out.
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

    Attributes:
        queries: How many.
        lines_in_gold: Share of a query's lines.
        queries_over_90: Queries of whose lines over 90 % stand in gold.
        queries_of_gold: Queries of whose lines all do.
        words_in_gold: Share of a query's runs of words.
        words_in_corpus: The same of the whole corpus.
        queries_sharing_words: Queries with a run of words that stands in the corpus.
        inside_gold: Queries whose whole text is contained in a target.
        inside_file: Queries whose whole text is contained in an indexed file.
        inside_rest: Queries of which that is so without their own regions too.
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

    return SelfRetrieval(
        queries=len(leaks),
        lines_in_gold=over_queries(one.lines_in_gold for one in leaks),
        queries_over_90=over_queries(one.lines_in_gold > MOST for one in leaks),
        queries_of_gold=over_queries(one.lines_in_gold == 1 for one in leaks),
        words_in_gold=over_queries(one.words_in_gold for one in leaks),
        words_in_corpus=over_queries(one.words_in_corpus for one in leaks),
        queries_sharing_words=over_queries(one.words_in_corpus > 0 for one in leaks),
        inside_gold=over_queries(one.inside_gold for one in leaks),
        inside_file=over_queries(one.inside_file for one in leaks),
        inside_rest=over_queries(one.inside_rest for one in leaks),
    )


def find_leaks(prepared: QuerySet) -> tuple[Leak, ...]:
    """The leak of every query, in their order."""
    found = {}
    for corpus in prepared.corpora:
        texts = {source.path: source.text for source in corpus.sources}
        mine = [query for query in prepared.queries if query.corpus == corpus.id]
        grams = {query.id: grams_of(query.text) for query in mine}
        there = shared_grams({gram for one in grams.values() for gram in one}, texts.values())
        tight = {path: squeezed(text) for path, text in texts.items()}
        for query in mine:
            gold = _gold(query, corpus, texts)
            own = grams[query.id]
            in_gold = shared_grams(set(own), gold)
            text = squeezed(query.text)
            holding = [path for path, one in tight.items() if text and text in one]
            found[query.id] = Leak(
                query=query.id,
                lines_in_gold=_lines_in(query.text, gold),
                words_in_gold=_share(sum(gram in in_gold for gram in own), len(own)),
                words_in_corpus=_share(sum(gram in there for gram in own), len(own)),
                inside_gold=bool(text) and any(text in squeezed(one) for one in gold),
                inside_file=bool(holding),
                inside_rest=_in_rest(query, corpus, holding),
            )
    return tuple(found[query.id] for query in prepared.queries)


def _in_rest(query: Query, corpus: Corpus, holding: Sequence[str]) -> bool:
    """Whether one of the files that hold a query's text holds it outside of its region too."""
    region = query.region
    if region is None or holding != [region.path]:
        return bool(holding)
    source = next(one for one in corpus.sources if one.path == region.path)
    return squeezed(query.text) in squeezed(without_region(source, region, query.id).text)


def _gold(query: Query, corpus: Corpus, texts: Mapping[str, str]) -> list[str]:
    """The text of every target that is indexed, or of every relevant document."""
    if query.qrels is not None:
        return [texts[name] for name, grade in query.qrels.items() if grade > 0 and name in texts]
    sources = {source.path: source for source in corpus.sources}
    found = []
    for target in query.targets:
        source = sources.get(target.path)
        if source is None:
            continue
        first, last = target.start_line or 1, target.end_line or source.lines.count
        if 0 < last <= source.lines.count:
            start, end = source.lines.offsets_of(first, last)
            found.append(source.text[start:end])
    return found


def _lines_in(text: str, gold: Iterable[str]) -> float:
    own = Counter(_lines(text))
    there = Counter(line for one in gold for line in _lines(one))
    return _share((own & there).total(), own.total())


def _lines(text: str) -> Iterator[str]:
    stripped = (line.strip() for line in text.split("\n"))
    return (line for line in stripped if line)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
