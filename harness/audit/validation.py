"""Validates a data set: what is broken in it, and what can make its scores mean less.

Broken is what cannot be scored as it is meant: a target that does not exist, a query without text.
All else is a finding: it stands beside the scores.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chunkers.errors import InputError
from chunkers.languages import language_of
from harness.audit.audit import Audit
from harness.audit.counts import count_twins, identical_files
from harness.audit.interpretation import SOME, findings
from harness.audit.pair_differences import pairs_of
from harness.audit.self_retrieval import find_leaks, summarise
from harness.building.query_set import alike, folder_of
from harness.runs.query_set import prepare
from harness.stats.power import Spread, queries_for, smallest_difference, spread_of, worst_case
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from harness.model import Corpus, Dataset, Query, Target
    from harness.runs.query_set import QuerySet

State = Literal["broken", "finding", "ok"]

POINTS = (1, 2, 5)
"""Differences that the numbers of queries are told for, in hundredths of a measure."""

FEW = 10
"""Queries below which a group tells little."""

_MOST = 0.8  # share of one group that makes a mean its own


@dataclass(frozen=True)
class ValidationCheck:
    """One thing that was looked at.

    Attributes:
        check: Its name.
        state: `broken`, `finding` or `ok`.
        found: The numbers.
        reading: What to think of them.
        examples: Ids of the queries, or of corpora, that it is about, in order.
    """

    check: str
    state: State
    found: str
    reading: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class QueryGroup:
    """The queries that share a value: of `corpus`, `language`, `folder`, or a tag."""

    by: str
    value: str
    queries: int
    share: float


@dataclass(frozen=True)
class Power:
    """How small a difference can be seen; see `harness.stats.power`.

    Attributes:
        assumed: What the scatter is taken from.
        queries: How many.
        clusters: Of these.
        sd: Of the difference of one query, as if queries were independent.
        mdd: The minimum detectable difference, in units of the measure.
        queries_for: Queries that it takes, by difference in points.
    """

    assumed: str
    queries: int
    clusters: int
    sd: float
    mdd: float
    queries_for: Mapping[int, int]


@dataclass(frozen=True)
class Validation:
    """What a validation found; `broken` says whether anything is."""

    dataset: str
    fingerprint: str
    queries: int
    corpora: int
    checks: tuple[ValidationCheck, ...]
    balance: tuple[QueryGroup, ...]
    power: tuple[Power, ...]

    @property
    def broken(self) -> bool:
        """Whether a check found something broken."""
        return any(one.state == "broken" for one in self.checks)


def validate(dataset: Dataset, run: Path | None = None, measure: str | None = None) -> Validation:
    """Validate a data set.

    Args:
        dataset: The data set.
        run: A run folder with chunkers on it, whose differences say how much a measure scatters.
        measure: Which one; the headline without it.

    Raises:
        InputError: The run folder has no two chunkers on this data set.
    """
    balance = tuple(_balance(dataset))
    try:
        prepared = prepare(dataset)
    except InputError:
        prepared = None  # no target can be found, which the check of targets says
    return Validation(
        dataset=dataset.name,
        fingerprint=dataset.fingerprint,
        queries=len(dataset.queries),
        corpora=len(dataset.corpora),
        checks=(
            *_targets(dataset),
            *_texts(dataset),
            *_duplicates(dataset),
            *(() if prepared is None else _copies_and_leaks(dataset, prepared)),
            *_balanced(balance),
        ),
        balance=balance,
        power=() if prepared is None else tuple(_power(dataset, prepared.queries, run, measure)),
    )


def _targets(dataset: Dataset) -> Iterator[ValidationCheck]:
    corpora = {corpus.id: _Files.of(corpus) for corpus in dataset.corpora}
    faults: dict[str, list[str]] = defaultdict(list)
    count = 0
    for query in dataset.queries:
        files = corpora[query.corpus]
        gold = _gold(query)
        count += len(gold)
        if not gold:
            faults["none"].append(query.id)
        for path, target in gold:
            fault = files.fault(path, target)
            if fault:
                faults[fault].append(query.id)
    what = {
        "absent": ("broken", "name a file that is not there", "they can never be found"),
        "lines": ("broken", "name lines behind the end of their file", "it is another version"),
        "skipped": ("finding", "lie in files not indexed", "they are dropped, and counted"),
        "blank": ("finding", "hold no line that is not blank", "they are dropped, and counted"),
        "none": ("finding", "without a target", "they are left out of every mean"),
    }  # fmt: skip
    found = False
    state: State
    for fault, (kind, says, reading) in what.items():
        if faults[fault]:
            found, state = True, "broken" if kind == "broken" else "finding"
            ids = tuple(dict.fromkeys(faults[fault]))
            number = f"{len(faults[fault])} of {counted(count, 'target')}"
            if fault == "none":
                number = counted(len(ids), "query", "queries")
            yield ValidationCheck("targets", state, f"{number} {says}", reading, ids)
    if not found:
        yield ValidationCheck("targets", "ok", counted(count, "target"), "all exist and hold text")


@dataclass(frozen=True)
class _Files:
    """The files of a corpus, and what was skipped of it."""

    corpus: Corpus
    numbers: Mapping[str, int]
    skipped: frozenset[str]

    @classmethod
    def of(cls, corpus: Corpus) -> _Files:
        numbers = {source.path: number for number, source in enumerate(corpus.sources)}
        return cls(corpus, numbers, frozenset(one.path for one in corpus.skipped))

    def fault(self, path: str, target: Target | None) -> str:
        """What is wrong with a target; empty if nothing."""
        if path not in self.numbers:
            above = (path[: at + 1] for at, mark in enumerate(path) if mark == "/")
            return "skipped" if {path, *above} & self.skipped else "absent"
        lines = self.corpus.sources[self.numbers[path]].lines
        first, last = 1, lines.count
        if target is not None and target.start_line is not None and target.end_line is not None:
            first, last = target.start_line, target.end_line
        if last > lines.count:
            return "lines"
        return "blank" if all(map(lines.blank, range(first, last + 1))) else ""


def _gold(query: Query) -> list[tuple[str, Target | None]]:
    """Path and target of all that is relevant to a query."""
    if query.qrels is not None:
        return [(name, None) for name, grade in query.qrels.items() if grade > 0]
    return [(target.path, target) for target in query.targets]


def _texts(dataset: Dataset) -> Iterator[ValidationCheck]:
    blank = tuple(query.id for query in dataset.queries if not query.text.strip())
    if blank:
        reading = "nothing can be found by them"
        found = counted(len(blank), "query has no text", "queries have no text")
        yield ValidationCheck("texts", "broken", found, reading, blank)
    if not dataset.queries:
        yield ValidationCheck("texts", "broken", "there is no query", "nothing can be scored")
    empty = tuple(
        corpus.id
        for corpus in dataset.corpora
        if not any(source.text.strip() for source in corpus.sources)
    )
    if empty:
        reading = "their queries cannot be answered"
        found = counted(len(empty), "corpus has no text", "corpora have no text")
        yield ValidationCheck("texts", "broken", found, reading, empty)
    if dataset.queries and not blank and not empty:
        files = sum(len(corpus.sources) for corpus in dataset.corpora)
        found = f"{len(dataset.queries)} queries, {files} files"
        yield ValidationCheck("texts", "ok", found, "every query and every corpus has text")
    if dataset.absent:
        lost = sum(one.n_queries for one in dataset.absent)
        names = tuple(one.corpus for one in dataset.absent)
        found = f"{len(names)} corpora with {lost} queries are not at hand"
        yield ValidationCheck("absent", "finding", found, "scores are of the others", names)
    for reason, count in sorted(dataset.left_out.items()):
        if count:
            reading = "the loader left them out"
            yield ValidationCheck("left out", "finding", f"{count}: {reason}", reading)


def _duplicates(dataset: Dataset) -> Iterator[ValidationCheck]:
    asked: dict[str, list[Query]] = defaultdict(list)
    for query in dataset.queries:
        if query.text.strip():
            asked[query.corpus].append(query)
    many = [
        [mine[int(at)] for at in group]
        for mine in asked.values()
        for group in alike({str(at): query.text for at, query in enumerate(mine)})
    ]
    same = [group for group in many if len({_answer(query) for query in group}) == 1]
    other = [group for group in many if len({_answer(query) for query in group}) > 1]
    for found, reading, kind in (
        ("have the text and the targets of another one", "they count twice", same),
        ("have the text of another one, but other targets",
         "each makes the other's answer count as wrong: one query has all targets", other),
    ):  # fmt: skip
        ids = tuple(query.id for group in kind for query in group)
        if ids:
            yield ValidationCheck(
                "duplicate queries", "finding", f"{len(ids)} queries {found}", reading, ids
            )
    if not many:
        yield ValidationCheck(
            "duplicate queries", "ok", "0 queries", "every query has a text of its own"
        )


def _answer(query: Query) -> object:
    if query.qrels is not None:
        return tuple(sorted((name, grade) for name, grade in query.qrels.items() if grade > 0))
    return tuple(sorted((t.path, t.start_line or 0, t.end_line or 0) for t in query.targets))


def _copies_and_leaks(dataset: Dataset, prepared: QuerySet) -> Iterator[ValidationCheck]:
    """What the audit of data sets says of twins, copies and queries that stand in their corpus."""
    leaks = find_leaks(prepared)
    span = dataset.gold == "span"
    twins = count_twins(prepared.places) if span else None
    files = identical_files(prepared.corpora)
    lines, words, whole = (
        [one.query for one in leaks if one.lines_in_gold > SOME],
        [one.query for one in leaks if one.words_in_corpus > 0],
        [one.query for one in leaks if one.inside_file],
    )
    touched = [
        query.id
        for query, places in zip(prepared.queries, prepared.places, strict=True)
        if any(place.twins for place in places)
    ]
    about: dict[str, tuple[bool, list[str]]] = {
        "self-retrieval, lines": (bool(lines), lines),
        "self-retrieval, words": (bool(words), words),
        "self-retrieval, whole text": (bool(whole), whole),
        "twins": (bool(touched), touched),
        "identical files": (files > 0, []),
    }
    audit = Audit(
        "data set", dataset.name, dataset.fingerprint, mask_query=False, queries=len(leaks),
        self_retrieval=summarise(leaks), twins=twins, identical_files=files,
        queries_truncated={}, chunkers=(),
    )  # fmt: skip
    for one in findings(audit):
        seen, ids = about[one.audit]
        state: State = "finding" if seen else "ok"
        yield ValidationCheck(one.audit, state, one.found, one.reading, tuple(ids))


def _balance(dataset: Dataset) -> Iterator[QueryGroup]:
    languages = {
        (corpus.id, source.path): source.language
        for corpus in dataset.corpora
        for source in corpus.sources
    }
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for query in dataset.queries:
        tags = {"corpus": query.corpus, **query.tags}
        paths = [path for path, _ in _gold(query)]
        if paths and dataset.gold == "span":
            known = languages.get((query.corpus, paths[0])) or language_of(paths[0])
            tags.setdefault("language", known or "none")
            tags.setdefault("folder", folder_of(paths[0]))
        for by, value in tags.items():
            counts[by][value] += 1
    for by in sorted(counts):
        total = counts[by].total()
        for value, count in sorted(counts[by].items(), key=lambda one: (-one[1], one[0])):
            yield QueryGroup(by, value, count, count / total)


def _balanced(balance: Sequence[QueryGroup]) -> Iterator[ValidationCheck]:
    by: dict[str, list[QueryGroup]] = defaultdict(list)
    for group in balance:
        by[group.by].append(group)
    for name, groups in by.items():
        if len(groups) == 1:
            found = f"all queries are of one {name}: {groups[0].value}"
            yield ValidationCheck(f"balance, {name}", "ok", found, "scores say nothing of others")
            continue
        first, small = groups[0], tuple(one.value for one in groups if one.queries < FEW)
        found = (
            f"{len(groups)} values; {first.value} has {100 * first.share:.1f} % of the queries, "
            f"{len(small)} have fewer than {FEW}"
        )
        if first.share > _MOST:
            reading = f"means are mostly those of {first.value}"
        elif small:
            reading = "a break-down tells little of the small ones"
        else:
            reading = "no value decides the means alone"
        state: State = "finding" if first.share > _MOST or small else "ok"
        yield ValidationCheck(f"balance, {name}", state, found, reading, small)


def _power(
    dataset: Dataset, queries: Sequence[Query], run: Path | None, measure: str | None
) -> Iterator[Power]:
    members = {}
    for query in queries:
        # A cluster is the target's file unless the data set says otherwise.
        first = next((path for path, _ in _gold(query)), query.id)
        members[query.id] = (query.corpus, query.cluster or first)
    worst, n = worst_case(members), len(members)
    if worst is not None:
        yield _told("worst case: each query is won or lost by 1, those of a cluster alike", worst)
        alone = "each query is won or lost by 1, independently of all others"
        yield _told(alone, Spread(n, n, 1.0, n - 1))
    if run is None:
        return
    name, pairs = pairs_of(run, dataset, measure)
    spreads = [(spread_of(pair.differences, members), pair) for pair in pairs if pair.differences]
    known = sorted(
        ((spread, pair) for spread, pair in spreads if spread is not None),
        key=lambda one: (smallest_difference(one[0]), one[1].beside, one[1].a, one[1].b),
    )
    if not known:
        return
    chosen = {"median": known[(len(known) - 1) // 2], "most": known[-1]}
    for which, (spread, pair) in chosen.items():
        of = f"{which} of {len(known)} pairs in the run: {pair.a} and {pair.b} ({pair.beside})"
        yield _told(f"{name}, {of}", spread)


def _told(assumed: str, spread: Spread) -> Power:
    return Power(
        assumed,
        spread.queries,
        spread.clusters,
        spread.sd,
        smallest_difference(spread),
        {points: queries_for(spread, points / 100) for points in POINTS},
    )
