"""Validates a data set: what is broken in it, and what can make its scores mean less.

Broken is what cannot be scored as intended, such as a target that does not exist or a query without
text. Everything else is a finding, to be read beside the scores.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from chunkers.errors import InputError
from chunkers.languages import language_of
from harness.audit.audit import Audit, count_twins, identical_files
from harness.audit.interpretation import SOME, findings
from harness.audit.self_retrieval import find_leaks, summarise
from harness.building.built_queries import folder_of, same_words
from harness.measures.grammar import parse_measure
from harness.runs.folder import read_cell, stored_cells
from harness.runs.query_set import prepare
from harness.runs.stored_values import read_stored_cell
from harness.stats.clusters import clusters_of
from harness.stats.power import (
    Spread,
    detectable,
    smallest_difference,
    spread_of,
    units_for,
    worst_case,
)
from harness.support.wording import counted, rerun_with

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from chunkers.source import Source
    from harness.model import Dataset, Query, Target
    from harness.runs.query_set import QuerySet
    from harness.stats.clusters import Member

State = Literal["broken", "finding", "ok"]

POINTS = (1, 2, 5)
"""Differences, in hundredths of a measure, for which numbers of queries are given."""

FEW = 10
"""Number of queries below which a group says little."""

_MOST = 0.8  # share of a group above which it dominates the mean

_COMMON = 100  # queries that may share a line before it says nothing about them
_WORD = re.compile(r"[^\W_]")
_FEWEST_LINES = 4  # of a query that is compared line by line

_TARGET_FAULTS: dict[str, tuple[State, str, str]] = {
    "absent": ("broken", "name a file that is not there", "they can never be found"),
    "lines": ("broken", "name lines after the end of their file", "it is another version"),
    "skipped": ("finding", "are in files not indexed", "they are dropped, and counted"),
    "blank": ("finding", "have no line that is not blank", "they are dropped, and counted"),
    "none": ("finding", "without a target", "they are left out of every mean"),
}


_MEASURED = "pairs in the run"


@dataclass(frozen=True)
class ValidationCheck:
    """The result of one check; `examples` are ids of all queries or corpora it is about."""

    check: str
    state: State
    found: str
    reading: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class QueryGroup:
    """The queries that share a value of `corpus`, `language`, `folder`, or a tag."""

    by: str
    value: str
    queries: int
    share: float


@dataclass(frozen=True)
class Power:
    """The smallest difference that a test can show; see `harness.stats.power`.

    `sd` is the standard deviation of one query's difference, as if queries were independent; `mdd`
    the minimum detectable difference in units of the measure, None under 6 clusters, of which no
    p-value is below 5 %; `queries_for` the number of queries
    needed, by difference in points.
    """

    assumed: str
    queries: int
    clusters: int
    sd: float
    mdd: float | None
    queries_for: Mapping[int, int]

    @classmethod
    def of(cls, assumed: str, spread: Spread) -> Power:
        """The power of a spread of differences."""
        return cls(
            assumed,
            spread.units,
            spread.clusters,
            spread.sd,
            detectable(spread),
            {points: units_for(spread, points / 100) for points in POINTS},
        )


@dataclass(frozen=True)
class Validation:
    """The results of a validation.

    `run_without_scatter`: the power cannot be estimated from the run, since no two of its chunkers
    differ on any query.
    """

    dataset: str
    fingerprint: str
    queries: int
    corpora: int
    checks: tuple[ValidationCheck, ...]
    balance: tuple[QueryGroup, ...]
    power: tuple[Power, ...]
    run_without_scatter: bool = False

    @property
    def broken(self) -> bool:
        """Whether a check is broken."""
        return any(check.state == "broken" for check in self.checks)


def validate(dataset: Dataset, run: Path | None = None, measure: str | None = None) -> Validation:
    """Validate a data set.

    `run` is a run folder with chunkers on the data set, whose differences give the spread of a
    measure, by default the headline.

    Raises:
        InputError: The run folder has no two chunkers on this data set.
    """
    balance = tuple(_balance(dataset))
    checks = [*_targets(dataset), *_texts(dataset), *_duplicates(dataset)]
    power: list[Power] = []
    query_set, fault = _prepared(dataset)
    if dataset.mask:
        checks.append(_masking(query_set, fault))
    if query_set is not None:
        checks += _copies_and_leaks(dataset, query_set)
        power += _power(dataset, query_set.queries, run, measure)
    checks += _balance_checks(balance)
    return Validation(
        dataset=dataset.name,
        fingerprint=dataset.fingerprint,
        queries=len(dataset.queries),
        corpora=len(dataset.corpora),
        checks=tuple(checks),
        balance=balance,
        power=tuple(power),
        run_without_scatter=run is not None
        and not any(_MEASURED in result.assumed for result in power),
    )


def _targets(dataset: Dataset) -> Iterator[ValidationCheck]:
    sources = {
        corpus.id: {source.path: source for source in corpus.sources} for corpus in dataset.corpora
    }
    skipped = {corpus.id: {file.path for file in corpus.skipped} for corpus in dataset.corpora}
    faults: defaultdict[str, list[str]] = defaultdict(list)
    count = 0
    for query in dataset.queries:
        count += len(query.gold)
        for path, target in query.gold:
            fault = _target_fault(path, target, sources[query.corpus], skipped[query.corpus])
            faults[fault].append(query.id)
        if not query.gold:
            faults["none"].append(query.id)
    for fault, (state, what, reading) in _TARGET_FAULTS.items():
        if faults[fault]:
            ids = tuple(dict.fromkeys(faults[fault]))
            number = f"{len(faults[fault])} of {counted(count, 'target')}"
            if fault == "none":
                number = counted(len(ids), "query", "queries")
            yield ValidationCheck("targets", state, f"{number} {what}", reading, ids)
    if not any(faults[fault] for fault in _TARGET_FAULTS):
        yield ValidationCheck("targets", "ok", counted(count, "target"), "all exist and have text")


def _target_fault(
    path: str, target: Target | None, sources: Mapping[str, Source], skipped: set[str]
) -> str:
    """A key of `_TARGET_FAULTS`; empty for a sound target."""
    if path not in sources:
        folders = {path[: at + 1] for at, mark in enumerate(path) if mark == "/"}
        return "skipped" if {path, *folders} & skipped else "absent"
    lines = sources[path].lines
    first, last = (target and target.start_line) or 1, (target and target.end_line) or lines.count
    if last > lines.count:
        return "lines"
    return "blank" if all(map(lines.blank, range(first, last + 1))) else ""


def _texts(dataset: Dataset) -> Iterator[ValidationCheck]:
    blank = tuple(query.id for query in dataset.queries if not query.text.strip())
    if blank:
        text = counted(len(blank), "query has no text", "queries have no text")
        yield ValidationCheck("texts", "broken", text, "they find nothing", blank)
    if not dataset.queries:
        yield ValidationCheck("texts", "broken", "there is no query", "nothing can be scored")
    empty = tuple(
        corpus.id
        for corpus in dataset.corpora
        if not any(source.text.strip() for source in corpus.sources)
    )
    if empty:
        text = counted(len(empty), "corpus has no text", "corpora have no text")
        yield ValidationCheck("texts", "broken", text, "their queries cannot be answered", empty)
    if dataset.queries and not blank and not empty:
        files = sum(len(corpus.sources) for corpus in dataset.corpora)
        text = f"{counted(len(dataset.queries), 'query', 'queries')}, {counted(files, 'file')}"
        yield ValidationCheck("texts", "ok", text, "every query and every corpus has text")
    if dataset.absent:
        lost = sum(corpus.n_queries for corpus in dataset.absent)
        names = tuple(corpus.corpus for corpus in dataset.absent)
        corpora = counted(len(names), "corpus is", "corpora are")
        queries = counted(lost, "query", "queries")
        text = f"{corpora} not at hand, with {queries}"
        yield ValidationCheck("absent", "finding", text, "scores are of the others", names)
    for reason, count in sorted(dataset.left_out.items()):
        if count:
            reading = "the loader left them out"
            yield ValidationCheck("left out", "finding", f"{count}: {reason}", reading)


def _duplicates(dataset: Dataset) -> Iterator[ValidationCheck]:
    """Queries of one corpus with the same words, apart by whether their targets are the same."""
    by_corpus: defaultdict[str, list[Query]] = defaultdict(list)
    for query in dataset.queries:
        if query.text.strip():
            by_corpus[query.corpus].append(query)
    same: list[str] = []
    other: list[str] = []
    near: list[str] = []
    for queries in by_corpus.values():
        near += _sharing_lines(queries)
        for keys in same_words({str(at): query.text for at, query in enumerate(queries)}):
            group = [queries[int(at)] for at in keys]
            ids = same if len(set(map(_answer, group))) == 1 else other
            ids += [query.id for query in group]
    for ids, what, reading in (
        (same, "the text and the targets of another one", "they count twice"),
        (
            other,
            "the text of another one, but other targets",
            "each makes the other's answer count as wrong: one query has all targets",
        ),
        (
            [name for name in near if name not in {*other}],
            "over half of their lines in common with another one that has other targets",
            "each makes the other's answer count as wrong: one query has all targets",
        ),
    ):
        if ids:
            text = f"{counted(len(ids), 'query has', 'queries have')} {what}"
            yield ValidationCheck("duplicate queries", "finding", text, reading, tuple(ids))
    if not same and not other and not near:
        reading = "every query has a text of its own"
        yield ValidationCheck("duplicate queries", "ok", "0 queries", reading)


def _sharing_lines(queries: Sequence[Query]) -> list[str]:
    """Ids of queries that share over half of their lines with one that has other targets.

    Lines without a letter or a digit, such as `}`, do not count.
    """
    lines = [set(filter(_WORD.search, map(str.strip, q.text.split("\n")))) for q in queries]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for at, words in enumerate(lines):
        for line in words if len(words) >= _FEWEST_LINES else ():
            holders[line].append(at)
    names = []
    for at, words in enumerate(lines):
        several = [holders[line] for line in words if len(holders[line]) <= _COMMON]
        shared = Counter(other for some in several for other in some if other != at)
        if any(
            2 * count > min(len(words), len(lines[other]))
            and _answer(queries[other]) != _answer(queries[at])
            for other, count in shared.items()
        ):
            names.append(queries[at].id)
    return names


def _answer(query: Query) -> object:
    if query.qrels is not None:
        return tuple(sorted((name, grade) for name, grade in query.qrels.items() if grade > 0))
    return tuple(sorted((t.path, t.start_line or 0, t.end_line or 0) for t in query.targets))


def _prepared(dataset: Dataset) -> tuple[QuerySet | None, str]:
    """The query set that a run ranks, and why its queries cannot be masked, if they cannot.

    Without masks then; None if no target is in the corpus, which the check of targets says.
    """
    fault = ""
    if dataset.mask:
        try:
            return prepare(dataset, mask=True), fault
        except InputError as error:
            fault = str(error)
    try:
        return prepare(dataset), fault
    except InputError:
        return None, ""


def _masking(query_set: QuerySet | None, fault: str) -> ValidationCheck:
    """What masks do to the parse of the files of queries."""
    if fault:
        return ValidationCheck("masking", "broken", fault, "a run refuses it")
    masks = () if query_set is None else query_set.masks
    parses = Counter(mask.parse for mask in masks)
    broken = tuple(mask.query.id for mask in masks if mask.parse == "broken")
    text = (
        f"of {counted(len(masks), 'masked file')}, {counted(len(broken), 'has', 'have')} syntax "
        f"errors that masks made; {parses['filled']} more would, without brackets and keywords in "
        "the blank lines"
    )
    if broken:
        return ValidationCheck("masking", "finding", text, "ast may cut these otherwise", broken)
    return ValidationCheck("masking", "ok", text, "masks change no boundary but their own")


def _copies_and_leaks(dataset: Dataset, query_set: QuerySet) -> Iterator[ValidationCheck]:
    """Audit findings on copies and self-retrieval, with the affected queries."""
    leaks = find_leaks(query_set)
    files = identical_files([corpus for corpus in query_set.files if not corpus.of])
    examples = {
        "self-retrieval, lines": [leak.query for leak in leaks if leak.lines_in_gold > SOME],
        "self-retrieval, words": [leak.query for leak in leaks if leak.words_in_corpus > 0],
        "self-retrieval, whole text": [leak.query for leak in leaks if leak.inside_file],
        "twins": [
            query.id
            for query, places in zip(query_set.queries, query_set.places, strict=True)
            if any(place.twins for place in places)
        ],
    }
    audit = Audit(
        source="data set",
        dataset=dataset.name,
        fingerprint=dataset.fingerprint,
        mask_query=bool(query_set.masks),
        queries=len(leaks),
        self_retrieval=summarise(leaks),
        twins=count_twins(query_set.places) if dataset.gold == "span" else None,
        identical_files=files,
        queries_truncated={},
        chunkers=(),
    )
    for finding in findings(audit):
        ids = tuple(examples.get(finding.audit, ()))
        affected = files > 0 if finding.audit == "identical files" else bool(ids)
        state: State = "finding" if affected else "ok"
        yield ValidationCheck(finding.audit, state, finding.found, finding.reading, ids)


def _balance(dataset: Dataset) -> Iterator[QueryGroup]:
    languages = {
        (corpus.id, source.path): source.language
        for corpus in dataset.corpora
        for source in corpus.sources
    }
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for query in dataset.queries:
        tags = {"corpus": query.corpus, **query.tags}
        paths = [path for path, _ in query.gold]
        if paths and dataset.gold == "span":
            known = languages.get((query.corpus, paths[0])) or language_of(paths[0])
            tags.setdefault("language", known or "none")
            tags.setdefault("folder", folder_of(paths[0]))
        for by, value in tags.items():
            counts[by][value] += 1
    for by, values in sorted(counts.items()):
        for value, count in sorted(values.items(), key=lambda item: (-item[1], item[0])):
            yield QueryGroup(by, value, count, count / values.total())


def _balance_checks(balance: Sequence[QueryGroup]) -> Iterator[ValidationCheck]:
    for name in dict.fromkeys(group.by for group in balance):
        groups = [group for group in balance if group.by == name]
        first, small = groups[0], tuple(group.value for group in groups if group.queries < FEW)
        if len(groups) == 1:
            text = f"all queries are of one {name}: {first.value}"
            yield ValidationCheck(f"balance, {name}", "ok", text, "scores say nothing of others")
            continue
        text = (
            f"{counted(len(groups), 'value')}; {first.value} has {100 * first.share:.1f} % of the "
            f"queries, {counted(len(small), 'has', 'have')} fewer than {FEW}"
        )
        if first.share > _MOST:
            reading = f"means are mostly those of {first.value}"
        elif small:
            reading = "a break-down says little about the small ones"
        else:
            reading = "no value dominates the means"
        state: State = "finding" if first.share > _MOST or small else "ok"
        yield ValidationCheck(f"balance, {name}", state, text, reading, small)


def _power(
    dataset: Dataset, queries: Sequence[Query], run: Path | None, measure: str | None
) -> Iterator[Power]:
    members = {}
    for query in queries:
        # A cluster is the target's file unless the data set says otherwise.
        first = next((path for path, _ in query.gold), query.id)
        members[query.id] = (query.corpus, query.cluster or first)
    worst, n = worst_case(list(members.values())), len(members)
    if worst is not None:
        worst_name = "worst case: each query is won or lost by 1, those of a cluster alike"
        yield Power.of(worst_name, worst)
        alone = "each query is won or lost by 1, independently of all others"
        yield Power.of(alone, Spread(n, n, 1.0, n - 1))
    if run is None:
        return
    name, pairs = pairs_of(run, dataset, measure)
    known = sorted(
        (
            (spread, pair)
            for pair in pairs
            if pair.differences
            and (spread := _spread(pair.differences, members)) is not None
            # Chunkers whose scores are all equal show nothing of the scatter of others.
            and spread.sd > 0
        ),
        key=lambda item: (smallest_difference(item[0]), item[1].beside, item[1].a, item[1].b),
    )
    for which, at in (("median", (len(known) - 1) // 2), ("most", len(known) - 1)):
        if known:
            spread, pair = known[at]
            of = f"{which} of {len(known)} {_MEASURED}: {pair.a} and {pair.b} ({pair.beside})"
            yield Power.of(f"{name}, {of}", spread)


def _spread(differences: Mapping[str, float], members: Mapping[str, Member]) -> Spread | None:
    clusters = clusters_of([members[query] for query in differences])
    return spread_of(np.array(list(differences.values())), clusters)


@dataclass(frozen=True)
class Pair:
    """Two chunkers with the same embedder and retriever.

    `beside` names both; `differences` are the value of `a` minus that of `b`, by query.
    """

    a: str
    b: str
    beside: str
    differences: Mapping[str, float]


def pairs_of(run: Path, dataset: Dataset, measure: str | None = None) -> tuple[str, list[Pair]]:
    """The differences of every pair of chunkers of a run folder on a data set.

    The data set's fingerprint must be the run's. The measure is by default the headline for the
    kind of gold. Returns its name and the pairs.

    Raises:
        InputError: The folder is damaged, or has no two chunkers on this data set and measure.
    """
    headline = "SpanR@10000c" if dataset.gold == "span" else "nDCG@10"
    name = str(parse_measure(measure or headline, repeat=""))
    groups: defaultdict[str, list[tuple[Mapping[str, str], dict[str, float]]]] = defaultdict(list)
    others: set[str] = set()
    measures: set[str] = set()
    for names, folder in stored_cells(run):
        identity = dict(read_cell(folder)["identity"])
        if identity.pop("dataset") != dataset.fingerprint:
            others.add(names["dataset"])
            continue
        cell = read_stored_cell(folder, names, {}, check=True)
        measures |= set(cell.measures)
        column = cell.column(name)
        if column is not None:
            identity.pop("chunker")
            key = json.dumps(identity, sort_keys=True) + names["embedder"] + names["retriever"]
            groups[key].append((names, dict(zip(cell.values, column.tolist(), strict=True))))
    pairs = [
        Pair(
            a["chunker"],
            b["chunker"],
            f"{a['embedder']}, {a['retriever']}",
            {query: values_a[query] - values_b[query] for query in values_a if query in values_b},
        )
        for cells in groups.values()
        for (a, values_a), (b, values_b) in itertools.combinations(cells, 2)
    ]
    if pairs:
        return name, pairs
    if measures and name not in measures:
        raise InputError(
            f"{run} has no values of {name}; {rerun_with(name)}\n"
            f"or take one of {', '.join(sorted(measures))}"
        )
    listed = ", ".join(sorted(others))
    if others and not measures and dataset.name not in others:
        raise InputError(
            f"{run} is a run of {listed}, not of {dataset.name}; give a run of {dataset.name} with "
            "two chunkers or more"
        )
    other = f"it has cells of {listed}; " if others else ""
    if dataset.name in others:
        other = f"its cells of {dataset.name} are of other data, which has changed since; "
    raise InputError(
        f"{run} has fewer than two chunkers on {dataset.name} with data "
        f"{dataset.fingerprint[:12]}\n{other}give a run of {dataset.name} with two chunkers or more"
    )
