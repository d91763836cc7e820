"""Queries from calls: the lines around a call ask for the definition that is called."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from harness.building.built_queries import BuiltQueries, common_value, folder_of, names_overlap
from harness.building.calls.meaning import Codebase
from harness.building.calls.syntax import names_of
from harness.chunking.parsing import UnparsedError, prepare
from harness.model import Query, Region, Skipped, Target
from harness.support.word_runs import RUN, count_words, grams_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from chunkers.source import Source
    from harness.building.calls.syntax import Call, FileNames
    from harness.building.docs.definitions import Definition
    from harness.model import Corpus
    from harness.support.word_runs import Gram

CONTEXT = 5
"""Most lines above and below a call that are part of its query."""
_FEWEST_WORDS = 8

# Why a call of a name that the corpus defines makes no query.
_SEVERAL = "called name defined more than once"
_SAME_FILE = "defined in the file that calls it"
_LOCAL = "defined inside a function, or private to its file"
_LANGUAGE = "defined in another language"
_BODILESS = "only declared, without a body"
_UNSURE = "the calling file does not show that it means this definition"
_MIXED = "its line also calls what may or may not be of this repository"
_FURTHER = "further files that call the same definition"
_SHORT = f"under {_FEWEST_WORDS} words around the call"
_OVERLAPPING = "more than half of the lines are those of another question"
_REPEATED = f"{RUN} words in a row around the call occur elsewhere too"

# Languages whose files call each other.
_FAMILIES = ({"c", "cpp"}, {"javascript", "tsx", "typescript"}, {"java", "kotlin", "scala"})
# The last name before a member that a file defines itself.
_OWN = frozenset({("self",), ("this",), ("cls",), ("static",), ("Self",)})

_Place: TypeAlias = "tuple[FileNames, Definition]"


@dataclass(frozen=True, slots=True)
class _Unknown:
    """Why a call means no definition of another file; `doubtful` if it may all the same."""

    reason: str
    doubtful: bool = False


def call_queries(corpus: Corpus) -> BuiltQueries:
    """Make one query for every definition that another file calls.

    The calling file imports the definition, its class or its module
    (`harness.building.calls.meaning`). The query is the line of the call with at most five lines
    above and below, which are its region: they end with the function around the call, and before a
    line with a call that may or may not mean a definition of another file. So its targets are all
    definitions of other files that its lines call. Of several calling files a hash chooses one; of
    several calls in that file the first that gives a query is taken.

    No run of eight words of a query occurs elsewhere in the corpus, so a masked region leaves none.

    Args:
        corpus: The files as they are. A file whose parser fails is left out of the result.

    Raises:
        InputError: The wheel of a grammar is missing.
    """
    corpus, files = _read(corpus)
    sources = {source.path: source for source in corpus.sources}
    known: dict[str, list[_Place]] = defaultdict(list)
    for file in files:
        for definition in file.definitions:
            if definition.callable:
                known[definition.parts[-1]].append((file, definition))
    codebase = Codebase(files)
    left_out: Counter[str] = Counter()
    callers: dict[Target, list[Query]] = defaultdict(list)
    candidates: dict[str, tuple[Target, Query]] = {}
    for file in files:
        for target, query in _candidates(sources[file.path], file, known, codebase, left_out):
            candidates[query.id] = target, replace(query, corpus=corpus.id)
    for query in _unrepeated([query for _, query in candidates.values()], corpus, left_out):
        callers[candidates[query.id][0]].append(query)
    chosen = [min(group, key=lambda query: _hash(query.id)) for group in callers.values()]
    left_out[_FURTHER] += sum(map(len, callers.values())) - len(chosen)
    queries = sorted(_apart(chosen, left_out), key=lambda query: query.id)
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


def _candidates(
    source: Source,
    file: FileNames,
    known: Mapping[str, Sequence[_Place]],
    codebase: Codebase,
    left_out: Counter[str],
) -> Iterator[tuple[Target, Query]]:
    """The called definition and the query of every name that a file calls."""
    calls: list[tuple[Call, _Place]] = []
    doubtful: set[int] = set()
    reasons: dict[str, str] = {}
    for call in file.calls:
        if call.name in known:
            meaning = _meaning(call, file, known[call.name], codebase)
            if isinstance(meaning, _Unknown):
                reasons.setdefault(call.name, meaning.reason)
                doubtful |= {call.line} if meaning.doubtful else set()
            else:
                calls.append((call, meaning))
    queries: dict[str, tuple[Target, Query]] = {}
    for call, place in calls:
        if call.name in queries:
            continue
        window = _window(source, file, call.line, doubtful)
        if window is None:
            reasons[call.name] = _MIXED
            continue
        inside = [other for at, other in calls if window[0] <= at.line <= window[1]]
        query = _query(source, call, window, place, inside)
        if count_words(query.text) >= _FEWEST_WORDS:
            queries[call.name] = _target(place), query
        else:
            reasons[call.name] = _SHORT
    left_out.update(reason for name, reason in reasons.items() if name not in queries)
    yield from queries.values()


def _meaning(
    call: Call, file: FileNames, places: Sequence[_Place], codebase: Codebase
) -> _Place | _Unknown:
    """The definition in another file that a call means, or why there is none."""
    others = [place for place in places if place[0].path != file.path]
    owns = len(others) < len(places)
    if not others or (owns and (call.owner is None or call.owner[-1:] in _OWN)):
        return _Unknown(_SAME_FILE)
    related = [place for place in others if _related(place[0].language, file.language)]
    visible = [place for place in related if not place[1].local]
    definitions = [(home, item) for home, item in visible if codebase.means(call, file, item, home)]
    if len(definitions) == 1 and not definitions[0][1].declared:
        return definitions[0]
    if not visible:
        return _Unknown(_LOCAL if related else _LANGUAGE)
    doubtful = bool(definitions) or any(codebase.may_mean(call, file, item) for _, item in visible)
    if len(definitions) == 1:
        return _Unknown(_BODILESS, doubtful)
    return _Unknown(_SEVERAL if len(places) > 1 else _UNSURE, doubtful)


def _related(first: str, second: str) -> bool:
    """Whether files of two languages call each other."""
    return first == second or any({first, second} <= family for family in _FAMILIES)


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _window(
    source: Source, file: FileNames, line: int, doubtful: AbstractSet[int]
) -> tuple[int, int] | None:
    """First and last line around a call; None where its own line is in doubt."""
    if line in doubtful:
        return None
    lines = source.lines
    low, high = max(1, line - CONTEXT), min(lines.count, line + CONTEXT)
    for item in file.definitions:  # the outermost first
        if item.function and item.first_line <= line <= item.last_line:
            low, high = max(low, item.first_line), min(high, item.last_line)
            break
    first = last = line
    while first > low and first - 1 not in doubtful:
        first -= 1
    while last < high and last + 1 not in doubtful:
        last += 1
    while lines.blank(first):
        first += 1
    while lines.blank(last):
        last -= 1
    return first, last


def _query(
    source: Source,
    call: Call,
    window: tuple[int, int],
    place: _Place,
    places: Iterable[_Place],
) -> Query:
    text = source.lines.text_of(*window)
    targets = sorted(set(map(_target, places)), key=lambda t: (t.path, t.start_line or 0))
    homes = {home.path: home.language for home, _ in places}
    return Query(
        id=f"{source.path}::{call.name}",
        corpus="",
        text=text,
        targets=tuple(t for t in targets if not any(t != o and _within(t, o) for o in targets)),
        tags={
            "folder": common_value(map(folder_of, homes)),
            "language": common_value(homes.values()),
            "name-overlap": "yes" if names_overlap(call.name, text) else "no",
        },
        cluster=place[0].path,
        region=Region(source.path, *window),
    )


def _target(place: _Place) -> Target:
    home, definition = place
    return Target(home.path, definition.first_line, definition.last_line)


def _within(target: Target, other: Target) -> bool:
    """Whether a target is in the lines of another one, and so a part of it."""
    if target.path != other.path or not (target.start_line and other.start_line):
        return False
    outer = range(other.start_line, (other.end_line or 0) + 1)
    return target.start_line in outer and target.end_line in outer


def _apart(queries: Iterable[Query], left_out: Counter[str]) -> list[Query]:
    """The queries of which no two share more than half of their lines: the first of a file."""
    kept: list[Query] = []
    for query in sorted(queries, key=lambda query: (_region(query), query.id)):
        path, first, last = _region(query)
        other = _region(kept[-1]) if kept else ("", 0, 0)
        shared = min(last, other[2]) - first + 1 if path == other[0] else 0
        if 2 * shared > min(last - first, other[2] - other[1]) + 1:
            left_out[_OVERLAPPING] += 1
        else:
            kept.append(query)
    return kept


def _region(query: Query) -> tuple[str, int, int]:
    region = query.region
    return ("", 0, 0) if region is None else (region.path, region.start_line, region.end_line)


def _unrepeated(queries: Sequence[Query], corpus: Corpus, left_out: Counter[str]) -> list[Query]:
    """The queries of which no run of words occurs outside their region."""
    # A region is whole lines, so its runs of words are those of its query.
    runs = {query.id: Counter(grams_of(query.text)) for query in queries}
    wanted = {gram for grams in runs.values() for gram in grams}
    counts: Counter[Gram] = Counter()
    for source in corpus.sources:
        counts.update(gram for gram in grams_of(source.text) if gram in wanted)
    kept = [q for q in queries if all(counts[gram] == n for gram, n in runs[q.id].items())]
    left_out[_REPEATED] += len(queries) - len(kept)
    return kept
