"""Queries out of code: the lines round a call ask for the definition that is called."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.building.calls.call_targets import World, means
from harness.building.calls.callees import names_of
from harness.building.query_set import Made, alike, folder_of
from harness.building.summaries import names_overlap
from harness.chunking.parsing import UnparsedError, prepare
from harness.model import Query, Region, Skipped, Target
from harness.support.word_runs import RUN, count_words, grams_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chunkers.source import Source
    from harness.building.calls.callees import Call, Definition, Names
    from harness.model import Corpus
    from harness.support.word_runs import Gram

ROUND = 5
"""Lines above and below a call that are part of its query."""
_FEWEST_WORDS = 8

# Why a name that a file calls and the corpus defines makes no query.
_SEVERAL = "called name defined more than once"
_SAME_FILE = "defined in the file that calls it"
_LOCAL = "defined inside a function"
_LANGUAGE = "defined in another language"
_UNSURE = "nothing in the calling file says that this definition is meant"
_FURTHER = "further files that call the same definition"
_SHARED = "text shared by calls of several definitions"
_SHORT = f"under {_FEWEST_WORDS} words round the call"
_REPEATED = f"{RUN} words in a row round the call stand elsewhere too"

# Languages whose files call each other.
_FAMILIES = ({"c", "cpp", "objc"}, {"javascript", "tsx", "typescript"}, {"java", "kotlin", "scala"})


def call_queries(corpus: Corpus) -> Made:
    """Make a query of a call of every definition that another file calls.

    The name is defined once in the corpus, and the calling file says that it means this
    definition: it calls it by its bare name, which it imports where its language wants that; or
    as a member of its module, its folder or its class, or of a variable that the file says is of
    that class. The query is the call's line with five lines above and below, as
    they stand, which are its region. Of several files that call it, one is taken by a hash; of
    several calls in it, the first.

    No run of eight words of a query stands anywhere else in the corpus, so none does when its
    region is masked, as runs do with these unless told not to. A file whose
    parser does not come back is left out of the corpus.

    Raises:
        InputError: A grammar's wheel is missing.
    """
    corpus, read = _read(corpus)
    known: dict[str, list[Definition]] = defaultdict(list)
    for names in read.values():
        for definition in names.definitions:
            known[definition.name].append(definition)
    world = World.of(read)
    left: Counter[str] = Counter()
    chosen: dict[str, list[tuple[Source, Call]]] = defaultdict(list)
    for source, names in read.items():
        calls: dict[str, list[Call]] = defaultdict(list)
        for call in names.calls:
            if call.name in known:
                calls[call.name].append(call)
        for name, places in calls.items():
            reason = _refusal(source, known[name])
            definition = known[name][0]
            meant = None if reason else _first(places, definition, source, world)
            if meant is not None:
                chosen[name].append((source, meant))
            else:
                left[reason or _UNSURE] += 1
    candidates = {
        name: [_query(corpus.id, source, call, known[name][0]) for source, call in files]
        for name, files in chosen.items()
    }
    shared = _shared([query for some in candidates.values() for query in some])
    left[_SHARED] += len(shared)
    candidates = {
        name: [query for query in some if query.id not in shared]
        for name, some in candidates.items()
    }
    fair = _fair([query for some in candidates.values() for query in some], corpus, left)
    queries = []
    for _, some in sorted(candidates.items()):
        mine = [query for query in some if query.id in fair]
        if mine:
            queries.append(min(mine, key=lambda query: _chance(query.id)))
            left[_FURTHER] += len(mine) - 1
    queries.sort(key=lambda query: query.id)
    return Made(
        (corpus,), tuple(queries), {reason: count for reason, count in left.items() if count}
    )


def _read(corpus: Corpus) -> tuple[Corpus, dict[Source, Names]]:
    """The names of every source that has some, and the corpus of those whose parser comes back."""
    read, sources, skipped = {}, [], list(corpus.skipped)
    prepare(corpus.sources)
    for source in corpus.sources:
        try:
            names = names_of(source)
        except UnparsedError as error:  # it may define what others do
            skipped.append(Skipped(error.path, error.reason))
            continue
        sources.append(source)
        if names is not None:
            read[source] = names
    return replace(corpus, sources=tuple(sources), skipped=tuple(skipped)), read


def _refusal(source: Source, definitions: Sequence[Definition]) -> str | None:
    """Why a file's calls of a name make no query, whatever they look like."""
    if len(definitions) > 1:
        return _SEVERAL
    (definition,) = definitions
    if definition.path == source.path:
        return _SAME_FILE
    both = {definition.language, source.language}
    if len(both) > 1 and not any(both <= family for family in _FAMILIES):
        return _LANGUAGE
    return _LOCAL if definition.local else None


def _first(
    places: Iterable[Call], definition: Definition, source: Source, world: World
) -> Call | None:
    """The first of a file's calls that means a definition."""
    return next((call for call in places if means(call, definition, source, world)), None)


def _chance(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _query(corpus: str, source: Source, call: Call, definition: Definition) -> Query:
    lines = source.lines
    first, last = max(1, call.line - ROUND), min(lines.count, call.line + ROUND)
    while lines.blank(first):
        first += 1
    while lines.blank(last):
        last -= 1
    start, end = lines.offsets_of(first, last)
    text = source.text[start:end]
    return Query(
        id=f"{source.path}::{call.name}",
        corpus=corpus,
        text=text,
        targets=(Target(definition.path, definition.first, definition.last),),
        tags={
            "folder": folder_of(definition.path),
            "language": definition.language,
            "name-overlap": "yes" if names_overlap(definition.name, text) else "no",
        },
        cluster=definition.path,
        region=Region(source.path, first, last),
    )


def _shared(candidates: Iterable[Query]) -> set[str]:
    """Ids of those whose text is also that of one with another target."""
    mine = {query.id: query for query in candidates}
    return {
        name
        for group in alike({name: query.text for name, query in mine.items()})
        if len({mine[name].targets for name in group}) > 1
        for name in group
    }


def _fair(candidates: Sequence[Query], corpus: Corpus, left: Counter[str]) -> set[str]:
    """Ids of those with words enough, none of whose runs of words stand outside their region."""
    long = [query for query in candidates if count_words(query.text) >= _FEWEST_WORDS]
    # A region is whole lines, so its runs of words are those of its query.
    own = {query.id: Counter(grams_of(query.text)) for query in long}
    there = _counts({gram for mine in own.values() for gram in mine}, corpus.sources)
    fair = {name for name, mine in own.items() if all(there[gram] == mine[gram] for gram in mine)}
    left[_SHORT] += len(candidates) - len(long)
    left[_REPEATED] += len(long) - len(fair)
    return fair


def _counts(wanted: set[Gram], sources: Iterable[Source]) -> Counter[Gram]:
    """How often runs of words stand in a corpus."""
    found: Counter[Gram] = Counter()
    for source in sources:
        found.update(gram for gram in grams_of(source.text) if gram in wanted)
    return found
