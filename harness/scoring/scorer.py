"""Scores a file of rankings or records: what is relevant, every measure, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.evaluate import ABSENT, evaluate
from harness.measures.grammar import Measure, family_of, is_of_texts
from harness.measures.score import UNJUDGED, score
from harness.measures.text_measures import TextCase
from harness.scoring.judging import judge, judge_as_memorybench
from harness.scoring.line_cells import PlaceCase, SourceFolder, line_cell
from harness.scoring.loading import Rankings, load_grades, load_run
from harness.scoring.texts import TextTally
from harness.scoring.trec import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from harness.measures.cell import Cell
    from harness.measures.profiles import Profile
    from harness.scoring.judging import Judged
    from harness.scoring.values import Record

BLOCK = 2000
"""Queries that are scored at a time, so that few rankings are unpacked at once."""


@dataclass(frozen=True)
class Asked:
    """What is wanted of a file.

    Attributes:
        measures: Distinct.
        profile: The conventions.
        threshold: Token F1 from which a text is relevant.
        source: The folder that the records' paths lie in, for the span measures.
    """

    measures: tuple[Measure, ...]
    profile: Profile
    threshold: float
    source: Path | None = None


@dataclass
class Column:
    """The values of one measure.

    Attributes:
        queries: The queries that have one.
        values: Shape (len(queries),).
        why: What is missing where no query has one.
    """

    queries: Sequence[str] = ()
    values: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    why: str = ""


@dataclass
class Scored:
    """A scored file.

    Attributes:
        profile: The conventions.
        columns: By the measure's printed name, in the order asked for.
        strategies: Number of queries that each rule judged.
        n_queries: Queries in the means of the measures of ranks.
        left_out: Queries in no mean, by reason.
        as_zero: Queries that are in the means and score 0 for want of a ranking, by reason.
        merged: Rows or items that were counted once, by reason.
        texts: What the measures of texts were counted from.
        warnings: What a reader must know before believing the numbers.
    """

    profile: Profile
    columns: dict[str, Column] = field(default_factory=dict)
    strategies: Counter[str] = field(default_factory=Counter)
    n_queries: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    as_zero: Counter[str] = field(default_factory=Counter)
    merged: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)


@dataclass
class _Gathered:
    """Rankings and judgements of all queries, and what else their records say."""

    rankings: Mapping[str, Mapping[str, float] | Sequence[str]]
    grades: Mapping[str, Mapping[str, float]]
    found: frozenset[str] = frozenset()
    places: list[PlaceCase] = field(default_factory=list)


def score_file(
    run: Path,
    qrels: Path | None,
    asked: Asked,
    tell: Callable[[int], None] = lambda lines: None,
) -> Scored:
    """Score a file.

    Args:
        run: Rankings or records of any format.
        qrels: Judgements of any format; not needed where records hold their own.
        asked: What is wanted.
        tell: Told how many lines of a long run are read.

    Raises:
        InputError: A file is damaged, or there is nothing to judge by.
    """
    result = Scored(asked.profile)
    grades = None
    if qrels is not None:
        judgements = load_grades(qrels, run)
        grades = judgements.grades
        result.merged["judgements that repeat another"] += judgements.repeated
    loaded = load_run(
        run,
        grades,
        root=str(asked.source.resolve()) if asked.source else "",
        unjudged=asked.profile.no_judgements == "zero",
        tell=tell,
    )
    texts = TextTally([one for one in asked.measures if is_of_texts(one)])
    if isinstance(loaded, Rankings):
        gathered = _Gathered(loaded.rankings, grades or {})
        result.strategies["qrels"] = sum(bool(row) for row in gathered.grades.values())
        result.left_out[UNJUDGED] += loaded.unjudged
        if texts.measures:
            for query, case in _document_cases(gathered, asked.profile):
                texts.add(query, case)
    else:
        gathered = _gather(loaded, grades or {}, asked, result, texts)
    _score_ranks(gathered, asked, result)
    if isinstance(gathered.rankings, Run):
        repeated = sum(gathered.rankings.repeated.values())
        result.merged["rows that repeat another"] += repeated
    _score_places(gathered.places, asked, result)
    result.texts = texts.counts
    for name, (queries, values) in texts.columns().items():
        why = "" if queries else "no query has what it compares"
        result.columns[name] = Column(queries, np.array(values, dtype=np.float64), why)
    result.columns = {str(one): result.columns[str(one)] for one in asked.measures}
    return result


def _document_cases(gathered: _Gathered, profile: Profile) -> Iterator[tuple[str, TextCase]]:
    """Retrieved against judged documents, of rankings that hold nothing but ids."""
    for query in sorted(gathered.grades):
        if query in gathered.rankings or profile.absent == "zero":
            retrieved = frozenset(gathered.rankings.get(query, ()))
            row = gathered.grades[query]
            gold = frozenset(one for one, grade in row.items() if grade > 0)
            if gold:
                yield query, TextCase(documents=(retrieved, gold))


def _gather(
    records: Iterable[Record],
    grades: Mapping[str, Mapping[str, float]],
    asked: Asked,
    result: Scored,
    texts: TextTally,
) -> _Gathered:
    """Judge every record, and keep of it what the measures need."""
    rankings: dict[str, Sequence[str]] = {}
    gold = dict(grades)
    found: set[str] = set()
    places: list[PlaceCase] = []
    unlabelled: Counter[str] = Counter()
    wants_places = any(not is_of_texts(one) and family_of(one).lines for one in asked.measures)
    for judged in _judged(records, grades, asked):
        record = judged.record
        rankings[record.query] = judged.names
        if judged.grades:
            gold[record.query] = judged.grades
        if judged.strategy is None:
            unlabelled[judged.why] += 1
        else:
            result.strategies[judged.strategy] += 1
        if judged.strategy != "qrels":
            found.add(record.query)
        result.merged["chunks of one document, or repeats"] += judged.merged
        has_places = not judged.items or any(one.place for one in judged.items)
        if wants_places and record.targets and has_places:
            retrieved = tuple(one.place for one in judged.items)
            places.append(PlaceCase(record.query, retrieved, record.targets))
        texts.judged(judged)
        if texts.measures:
            texts.add(record.query, _text_case(judged))
    result.strategies["qrels"] += sum(
        bool(row) and query not in rankings for query, row in grades.items()
    )
    result.warnings += [f"{n} queries have {why}" for why, n in sorted(unlabelled.items())]
    return _Gathered(rankings, gold, frozenset(found), places)


def _judged(
    records: Iterable[Record], grades: Mapping[str, Mapping[str, float]], asked: Asked
) -> Iterator[Judged]:
    profile = asked.profile
    benchmark: object = None
    for record in records:
        if record.raw is not None and profile.name == "memorybench":
            benchmark = record.raw.get("benchmark") if benchmark is None else benchmark
            yield judge_as_memorybench(record, str(benchmark), asked.threshold)
        else:
            row = grades.get(record.query)
            each_counts = profile.repeats == "each-counts"
            yield judge(record, row, asked.threshold, each_counts=each_counts)


def _text_case(judged: Judged) -> TextCase:
    record = judged.record
    has_text = any(one.text is not None for one in judged.items)
    return TextCase(
        expected=record.expected,
        answer=record.answer,
        correct=record.correct,
        contexts=tuple(one.text or "" for one in judged.items) if has_text else (),
        documents=judged.documents,
    )


class _Part(Mapping[str, "Mapping[str, float] | Sequence[str]"]):
    """Some of the rankings; each is unpacked when it is asked for."""

    def __init__(
        self, whole: Mapping[str, Mapping[str, float] | Sequence[str]], queries: Sequence[str]
    ) -> None:
        self._whole = whole
        self._queries = dict.fromkeys(queries)

    def __getitem__(self, query: str) -> Mapping[str, float] | Sequence[str]:
        return self._whole[query]

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)


def _score_ranks(gathered: _Gathered, asked: Asked, result: Scored) -> None:
    """The measures of ranks, block by block of queries in order of their ids."""
    measures = [one for one in asked.measures if not is_of_texts(one) and not family_of(one).lines]
    queries = sorted(gathered.grades.keys() | gathered.rankings.keys())
    if not any(gathered.grades.values()):
        result.left_out[UNJUDGED] += len(queries)
        result.columns |= {str(one): Column(why="no labelled query") for one in measures}
        return
    probe = Measure("MRR")
    names = [str(one) for one in measures]
    ids: dict[str, list[str]] = {name: [] for name in names}
    parts: dict[str, list[NDArray[np.float64]]] = {name: [] for name in names}
    any_found = False
    for begin in range(0, len(queries), BLOCK):
        block = queries[begin : begin + BLOCK]
        scored = score(
            _Part(gathered.rankings, [one for one in block if one in gathered.rankings]),
            {one: gathered.grades[one] for one in block if one in gathered.grades},
            [*measures, probe],
            asked.profile,
            found=gathered.found,
        )
        result.n_queries += scored.n
        result.left_out.update(scored.left_out)
        result.as_zero.update(scored.as_zero)
        any_found = any_found or any((scored.per_query[str(probe)] or {}).values())
        for name in names:
            values = scored.per_query[name] or {}
            ids[name] += values
            parts[name].append(np.fromiter(values.values(), dtype=np.float64))
    for name in names:
        why = "" if ids[name] else "no labelled query"
        result.columns[name] = Column(ids[name], np.concatenate(parts[name]), why)
    if not any_found and result.n_queries > result.as_zero[ABSENT]:
        result.warnings.append(
            "nothing relevant was retrieved for any query: are ids and paths spelled alike?"
        )


def _score_places(cases: Sequence[PlaceCase], asked: Asked, result: Scored) -> None:
    """The measures of lines and files, of the queries that have targets."""
    wanted = [one for one in asked.measures if not is_of_texts(one) and family_of(one).lines]
    projected = [one for one in wanted if family_of(one).projected]
    why = "needs a run folder: nothing else holds the lines of every file, and the scores"
    result.columns |= {str(one): Column(why=why) for one in projected}
    spans = [one for one in wanted if family_of(one).cut == "budget"]
    files = [one for one in wanted if one not in spans and one not in projected]
    none = "no query has targets, and a path for what was retrieved"
    if files:
        _fill(line_cell(cases), files, asked.profile, none, result)
        lines = {case.query for case in cases if case.has_lines}
        for one in files:
            if one.family == "IoU":
                result.columns[str(one)] = _only(result.columns[str(one)], lines)
    if spans and asked.source is None:
        why = "needs --source DIR: records hold lines, not text"
        result.columns |= {str(one): Column(why=why) for one in spans}
    elif spans and asked.source is not None:
        folder = SourceFolder(asked.source)
        cell = folder.cell(cases)
        _fill(cell, spans, asked.profile, "no target is found in --source", result)
        if folder.lost_items:
            result.warnings.append(
                f"{folder.lost_items} retrieved items are not found in {asked.source}: the span "
                "measures neither charge nor credit them"
            )
        if folder.lost_targets:
            result.warnings.append(
                f"{folder.lost_targets} targets are not found in {asked.source}, or blank: the "
                "span measures do without them"
            )


def _fill(
    cell: Cell, measures: Sequence[Measure], profile: Profile, none: str, result: Scored
) -> None:
    if not cell.queries:
        result.columns |= {str(one): Column(why=none) for one in measures}
        return
    scores = evaluate(cell, measures, profile)
    for name, values in scores.per_query.items():
        if values is not None:
            result.columns[name] = Column(list(cell.queries), values)


def _only(column: Column, queries: set[str]) -> Column:
    kept = [at for at, query in enumerate(column.queries) if query in queries]
    why = column.why or ("" if kept else "no target has lines")
    return Column([column.queries[at] for at in kept], column.values[kept], why)
