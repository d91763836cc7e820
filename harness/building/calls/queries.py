"""Queries from calls: the lines around a call ask for the definition that is called."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.building.built_queries import BuiltQueries, folder_of, names_overlap, same_words
from harness.building.calls.meaning import Codebase
from harness.building.calls.syntax import names_of
from harness.chunking.parsing import UnparsedError, prepare
from harness.model import Query, Region, Skipped, Target
from harness.support.word_runs import RUN, count_words, grams_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkers.source import Source
    from harness.building.calls.syntax import Call, FileNames
    from harness.building.docs.definitions import Definition
    from harness.model import Corpus
    from harness.support.word_runs import Gram

CONTEXT = 5
"""Lines above and below a call that are part of its query."""
_FEWEST_WORDS = 8

# Why a call of a name that the corpus defines makes no query.
_SEVERAL = "called name defined more than once"
_SAME_FILE = "defined in the file that calls it"
_LOCAL = "defined inside a function, or private to its file"
_LANGUAGE = "defined in another language"
_UNSURE = "the calling file does not show that it means this definition"
_FURTHER = "further files that call the same definition"
_SHARED = "text shared by calls of several definitions"
_SHORT = f"under {_FEWEST_WORDS} words around the call"
_MERGED = "calls in the lines of another question, which has their definition as a target too"
_OVERLAPPING = "more than half of the lines are those of another question"
_REPEATED = f"{RUN} words in a row around the call occur elsewhere too"

# Languages whose files call each other.
_FAMILIES = ({"c", "cpp"}, {"javascript", "tsx", "typescript"}, {"java", "kotlin", "scala"})


def call_queries(corpus: Corpus) -> BuiltQueries:
    """Make one query for every definition that another file calls.

    The corpus defines the name once, and the calling file imports the definition, its class or
    its module (`harness.building.calls.meaning`). The query is the line of the call with five
    lines above and below, which are its region. Of several calling files a hash chooses one; of
    several calls in that file the first is taken.

    No run of eight words of a query occurs elsewhere in the corpus, so a masked region leaves none.

    Args:
        corpus: The files as they are. A file whose parser fails is left out of the result.

    Raises:
        InputError: The wheel of a grammar is missing.
    """
    corpus, files = _read(corpus)
    sources = {source.path: source for source in corpus.sources}
    known: dict[str, list[tuple[FileNames, Definition]]] = defaultdict(list)
    for file in files:
        for definition in file.definitions:
            known[definition.parts[-1]].append((file, definition))
    codebase = Codebase(files)
    left_out: Counter[str] = Counter()
    candidates = []
    for file in files:
        calls: dict[str, list[Call]] = defaultdict(list)
        for call in file.calls:
            if call.name in known:
                calls[call.name].append(call)
        for name, places in calls.items():
            home, definition = known[name][0]
            if reason := _refusal(file, known[name]):
                left_out[reason] += 1
            elif meant := [c for c in places if codebase.means(c, file, definition, home)]:
                query = _query(corpus.id, sources[file.path], meant[0], home, definition)
                candidates.append(query)
            else:
                left_out[_UNSURE] += 1
    candidates = _unshared(candidates, left_out)
    candidates = _unrepeated(candidates, corpus, left_out)
    callers: dict[tuple[Target, ...], list[Query]] = defaultdict(list)
    for query in candidates:
        callers[query.targets].append(query)
    chosen = [min(some, key=lambda query: _hash(query.id)) for some in callers.values()]
    left_out[_FURTHER] += len(candidates) - len(chosen)
    queries = sorted(_merged(chosen, left_out), key=lambda query: query.id)
    counts = {reason: count for reason, count in left_out.items() if count}
    return BuiltQueries((corpus,), tuple(queries), counts)


def _read(corpus: Corpus) -> tuple[Corpus, list[FileNames]]:
    """The corpus without the files that cannot be parsed, and the names of the others."""
    prepare(corpus.sources)
    files, sources, skipped = [], [], list(corpus.skipped)
    for source in corpus.sources:
        try:
            names = names_of(source)
        except UnparsedError as error:  # it may define what others do
            skipped.append(Skipped(error.path, error.reason))
            continue
        sources.append(source)
        if names is not None:
            files.append(names)
    return replace(corpus, sources=tuple(sources), skipped=tuple(skipped)), files


def _refusal(file: FileNames, known: Sequence[tuple[FileNames, Definition]]) -> str | None:
    """Why no call of a name in a file makes a query, whatever the call looks like."""
    if len(known) > 1:
        return _SEVERAL
    ((home, definition),) = known
    if home.path == file.path:
        return _SAME_FILE
    both = {home.language, file.language}
    if len(both) > 1 and not any(both <= family for family in _FAMILIES):
        return _LANGUAGE
    return _LOCAL if definition.local else None


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _query(
    corpus: str, source: Source, call: Call, home: FileNames, definition: Definition
) -> Query:
    lines = source.lines
    first, last = max(1, call.line - CONTEXT), min(lines.count, call.line + CONTEXT)
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
        targets=(Target(home.path, definition.first_line, definition.last_line),),
        tags={
            "folder": folder_of(home.path),
            "language": home.language,
            "name-overlap": "yes" if names_overlap(call.name, text) else "no",
        },
        cluster=home.path,
        region=Region(source.path, first, last),
    )


def _unshared(candidates: Sequence[Query], left_out: Counter[str]) -> list[Query]:
    """The candidates without those whose text is also that of one with another target."""
    targets = {query.id: query.targets for query in candidates}
    shared = {
        name
        for group in same_words({query.id: query.text for query in candidates})
        if len({targets[name] for name in group}) > 1
        for name in group
    }
    left_out[_SHARED] += len(shared)
    return [query for query in candidates if query.id not in shared]


def _merged(queries: Sequence[Query], left_out: Counter[str]) -> list[Query]:
    """The queries of which no two share more than half of their lines.

    The first of several in a file gets the targets of those whose call is in its lines; others are
    left out.
    """
    kept: list[Query] = []
    for query in sorted(queries, key=lambda query: (_region(query), query.id)):
        path, first, last = _region(query)
        if kept:
            other = _region(kept[-1])
            shared = min(last, other[2]) - first + 1 if path == other[0] else 0
            if 2 * shared > min(last - first, other[2] - other[1]) + 1:
                # The call is at most `CONTEXT` lines after the first one.
                inside = first + CONTEXT <= other[2]
                left_out[_MERGED if inside else _OVERLAPPING] += 1
                if inside:
                    kept[-1] = _joined(kept[-1], query)
                continue
        kept.append(query)
    return kept


def _region(query: Query) -> tuple[str, int, int]:
    region = query.region
    return ("", 0, 0) if region is None else (region.path, region.start_line, region.end_line)


def _joined(query: Query, other: Query) -> Query:
    """A query with the targets of another one in its lines; tags that differ are `several`.

    A target in the lines of another one is part of it.
    """
    tags = {key: v if other.tags[key] == v else "several" for key, v in query.tags.items()}
    targets = sorted({*query.targets, *other.targets}, key=lambda t: (t.path, t.start_line or 0))
    outer = [t for t in targets if not any(t != other and _within(t, other) for other in targets)]
    return replace(query, targets=tuple(outer), tags=tags)


def _within(target: Target, other: Target) -> bool:
    if target.path != other.path or not (target.start_line and other.start_line):
        return False
    outer = range(other.start_line, (other.end_line or 0) + 1)
    return target.start_line in outer and target.end_line in outer


def _unrepeated(candidates: Sequence[Query], corpus: Corpus, left_out: Counter[str]) -> list[Query]:
    """The candidates with enough words, and no run of words that occurs outside their region."""
    long = [query for query in candidates if count_words(query.text) >= _FEWEST_WORDS]
    # A region is whole lines, so its runs of words are those of its query.
    runs = {query.id: Counter(grams_of(query.text)) for query in long}
    wanted = {gram for own in runs.values() for gram in own}
    counts: Counter[Gram] = Counter()
    for source in corpus.sources:
        counts.update(gram for gram in grams_of(source.text) if gram in wanted)
    kept = [q for q in long if all(counts[gram] == n for gram, n in runs[q.id].items())]
    left_out[_SHORT] += len(candidates) - len(long)
    left_out[_REPEATED] += len(long) - len(kept)
    return kept
