r"""Self-retrieval: how much of a query's own text is in its gold, and in its corpus.

In three views, because a query can be code, prose or a mixture. Lines: the share of the query's
non-blank lines, stripped of white space, that are lines of the gold; each line of gold counts for
one line of the query. Words: the share of the query's runs of eight words (`\w+`, in lower case;
the whole query if it is shorter) that are in the gold, or anywhere in the corpus. Text: whether a
file contains the whole query, white space aside.
"""

from __future__ import annotations

import dataclasses
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


def find_leaks(query_set: QuerySet) -> tuple[Leak, ...]:
    """The leak of every query, in order of query."""
    leaks = {}
    for corpus in query_set.corpora:
        texts = {source.path: source.text for source in corpus.sources}
        queries = [query for query in query_set.queries if query.corpus == corpus.id]
        grams = {query.id: grams_of(query.text) for query in queries}
        in_corpus = shared_grams({gram for own in grams.values() for gram in own}, texts.values())
        tight = {path: squeezed(text) for path, text in texts.items()}
        for query in queries:
            gold = _gold(query, corpus, texts)
            own = grams[query.id]
            in_gold = shared_grams(set(own), gold)
            text = squeezed(query.text)
            holding = [path for path, tight_text in tight.items() if text and text in tight_text]
            leaks[query.id] = Leak(
                query=query.id,
                lines_in_gold=_lines_in(query.text, gold),
                words_in_gold=_share(sum(gram in in_gold for gram in own), len(own)),
                words_in_corpus=_share(sum(gram in in_corpus for gram in own), len(own)),
                inside_gold=bool(text) and any(text in squeezed(target) for target in gold),
                inside_file=bool(holding),
                inside_rest=_in_rest(query, corpus, holding),
            )
    return tuple(leaks[query.id] for query in query_set.queries)


def _in_rest(query: Query, corpus: Corpus, holding: Sequence[str]) -> bool:
    """Whether a file that contains a query's text contains it outside of the query's region."""
    region = query.region
    if region is None or holding != [region.path]:
        return bool(holding)
    source = next(source for source in corpus.sources if source.path == region.path)
    return squeezed(query.text) in squeezed(without_region(source, region, query.id).text)


def _gold(query: Query, corpus: Corpus, texts: Mapping[str, str]) -> list[str]:
    """The text of every indexed target, or of every relevant document."""
    if query.qrels is not None:
        return [texts[name] for name, grade in query.qrels.items() if grade > 0 and name in texts]
    sources = {source.path: source for source in corpus.sources}
    gold = []
    for target in query.targets:
        if target.path in sources:
            source = sources[target.path]
            first, last = target.start_line or 1, target.end_line or source.lines.count
            if 0 < last <= source.lines.count:
                start, end = source.lines.offsets_of(first, last)
                gold.append(source.text[start:end])
    return gold


def _lines_in(text: str, gold: Iterable[str]) -> float:
    own = Counter(_lines(text))
    gold_lines = Counter(line for target in gold for line in _lines(target))
    return _share((own & gold_lines).total(), own.total())


def _lines(text: str) -> Iterator[str]:
    return filter(None, (line.strip() for line in text.split("\n")))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
