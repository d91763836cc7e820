"""Scores a file of rankings or records: what is relevant, every measure, and what was left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import InputError
from harness.measures.evaluate import ABSENT, evaluate
from harness.measures.grammar import Measure, family_of, is_of_texts
from harness.measures.score import UNJUDGED, score
from harness.measures.text_measures import TEXT_FAMILIES, TextCase, exact_match
from harness.scoring.files import (
    InputFile,
    Rankings,
    load_grades,
    load_run,
    may_be_encoded,
    open_file,
    spell_as,
)
from harness.scoring.judging import judge, judge_as_memorybench
from harness.scoring.trec_runs import Run
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from harness.measures.cell import Cell
    from harness.measures.profiles import Profile
    from harness.scoring.judging import JudgedRecord
    from harness.scoring.located_cells import LocatedQuery
    from harness.scoring.records import QueryRecord
    from harness.support.arrays import Floats

    Grades = Mapping[str, Mapping[str, float]]

_LABELS = "add relevant_ids, targets or expected to the records, or give --qrels FILE"

BLOCK = 1000
"""Queries that are scored at a time, so that few rankings are unpacked at once."""


@dataclass(frozen=True)
class ScoreOptions:
    """How a file is scored.

    Attributes:
        measures: Distinct.
        profile: The conventions.
        threshold: Token F1 from which a text is relevant.
        source: The folder that the records' paths lie in, for the span measures.
        for_records: The names of options that were given and apply to records alone.
    """

    measures: tuple[Measure, ...]
    profile: Profile
    threshold: float
    source: Path | None = None
    for_records: tuple[str, ...] = ()

    def measures_of(self, *, lines: bool) -> list[Measure]:
        """The measures of lines and files, or those that need ids alone."""
        return [
            measure
            for measure in self.measures
            if not is_of_texts(measure) and family_of(measure).lines == lines
        ]


@dataclass
class Column:
    """The values of one measure.

    Attributes:
        queries: The queries that have one.
        values: Shape (len(queries),).
        why: What is missing where no query has one.
    """

    queries: Sequence[str] = ()
    values: Floats = field(default_factory=lambda: np.zeros(0))
    why: str = ""


@dataclass
class FileScores:
    """A scored file.

    Attributes:
        profile: The conventions.
        columns: By the measure's printed name, in the order of the options.
        strategies: Number of queries that each rule judged.
        n_queries: Queries in the means of the measures of ranks.
        left_out: Queries in no mean, by reason.
        as_zero: Queries that are in the means and score 0 for want of a ranking, by reason.
        merged: Rows or items that were counted once, by reason.
        texts: What the measures of texts were counted from: `retrieved`, `gold`, `correct`:
            distinct documents; `answers`, `contexts`: what was compared with the expected answers,
            and `exact`, how many equal them; `relevant`, `relevant_exact`, `relevant_holding`:
            contexts that are relevant by their words, that equal the expected answer, that
            contain it.
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

    def skip(self, measures: Iterable[Measure], why: str) -> None:
        """Give measures no value."""
        self.columns |= {str(measure): Column(why=why) for measure in measures}


@dataclass
class _Inputs:
    """Rankings and judgements of all queries, and what else their records say."""

    rankings: Mapping[str, Mapping[str, float] | Sequence[str]]
    grades: Grades
    inferred_gold: frozenset[str] = frozenset()
    located: list[LocatedQuery] = field(default_factory=list)


def score_file(
    run: Path,
    qrels: Path | None,
    options: ScoreOptions,
    progress: Callable[[int], None] = lambda lines: None,
) -> FileScores:
    """Score a file of rankings or records by judgements, which records may hold themselves.

    `progress` is called with the number of lines of a long run that are read.

    Raises:
        InputError: A file is damaged, or there is nothing to judge by.
    """
    result = FileScores(options.profile)
    file = open_file(run)
    grades, encoded = None, False
    if qrels is not None:
        judged = open_file(qrels)
        judgements = load_grades(judged, file)
        grades = judgements.grades
        result.warnings += _like_scores(judged, grades)
        encoded = may_be_encoded(judged, grades)
        result.merged["judgements that repeat another"] += judgements.repeated
    loaded = load_run(
        file,
        grades,
        root=str(options.source.resolve()) if options.source else "",
        unjudged=options.profile.no_judgements == "zero",
        progress=progress,
    )
    texts = _TextColumns(options, result.texts)
    if isinstance(loaded, Rankings):
        if "--records" in options.for_records:
            raise InputError(f"--records {run} holds rankings; write --run {run} --qrels {qrels}")
        if options.for_records:
            names = " and ".join(options.for_records)
            verb, them = ("is", "it") if len(options.for_records) == 1 else ("are", "them")
            raise InputError(f"{names} {verb} for records, but {run} holds rankings; remove {them}")
        known = grades or {}
        inputs = _Inputs(
            loaded.rankings,
            spell_as(known, loaded.rankings, own_format=file.own_format) if encoded else known,
        )
        if not any(query in inputs.grades for query in loaded.rankings):
            ids = "".join(f"; {qrels} has {query!r:.60}" for query in [*inputs.grades][:1])
            raise InputError(f"no query of {run} is judged in {qrels}; check the ids{ids}")
        result.strategies["qrels"] = sum(bool(row) for row in inputs.grades.values())
        if file.shape == "json" and loaded.rankings == grades:
            result.warnings.append(f"--run {run} equals --qrels {qrels}: does it hold judgements?")
        result.left_out[UNJUDGED] += loaded.unjudged
        if texts.columns:
            for query, case in _document_cases(inputs, options.profile):
                texts.add(query, case)
    else:
        inputs = _judge_records(loaded, grades or {}, options, result, texts, encoded=encoded)
    _score_ranks(inputs, options, result)
    if isinstance(inputs.rankings, Run):
        repeated = sum(inputs.rankings.repeated.values())
        result.merged["rows that repeat another"] += repeated
    _score_lines(inputs.located, options, result)
    result.columns |= {str(measure): texts.column(measure) for measure in texts.columns}
    result.columns = {str(measure): result.columns[str(measure)] for measure in options.measures}
    return result


def _like_scores(file: InputFile, grades: Grades) -> Iterator[str]:
    """A warning if judgements in JSON look like the scores of a ranking, which have that form."""
    numbers = (grade for row in grades.values() for grade in row.values())
    fraction = next((grade for grade in numbers if grade != int(grade)), None)
    if fraction is not None:
        yield f"--qrels {file.path} has the grade {fraction:g}: is it a ranking with scores?"


class _TextColumns:
    """The measures of texts, query after query, and the counts behind them."""

    def __init__(self, options: ScoreOptions, counts: Counter[str]) -> None:
        measures = [measure for measure in options.measures if is_of_texts(measure)]
        self.columns: dict[Measure, list[tuple[str, float]]] = {measure: [] for measure in measures}
        self._counts = counts
        self._families = {family.name: family for family in TEXT_FAMILIES}
        names = {measure.family for measure in measures}
        self._documents = any(name.startswith("Context") for name in names)
        self._compares = not names.isdisjoint(("TokenF1", "RougeL", "Bleu1", "ExactMatch"))

    def add(self, query: str, case: TextCase) -> None:
        """Add the values of a query that has what a measure compares."""
        for measure, column in self.columns.items():
            value = self._families[measure.family].evaluate(case, measure.cut or 0)
            if value is not None:
                column.append((query, value))
        if self._documents and case.context is not None:
            for name in ("retrieved", "gold", "correct"):
                self._counts[name] += getattr(case.context, name)
        if self._compares and case.compared is not None:
            self._counts["contexts" if case.answer is None else "answers"] += 1
            self._counts["exact"] += exact_match(case.compared, case.expected or "")

    def column(self, measure: Measure) -> Column:
        """The values of a measure, in order of query id."""
        rows = sorted(self.columns[measure], key=lambda row: row[0])
        values = np.array([value for _, value in rows], dtype=np.float64)
        why = "" if rows else f"no query has the texts that {measure} compares"
        return Column([query for query, _ in rows], values, why)


def _document_cases(inputs: _Inputs, profile: Profile) -> Iterator[tuple[str, TextCase]]:
    """Retrieved against judged documents, of rankings that hold nothing but ids."""
    for query in sorted(inputs.grades):
        if query in inputs.rankings or profile.absent == "zero":
            retrieved = frozenset(inputs.rankings.get(query, ()))
            gold = frozenset(name for name, grade in inputs.grades[query].items() if grade > 0)
            if gold:
                yield query, TextCase(documents=(retrieved, gold))


def _judge_records(
    records: Iterable[QueryRecord],
    grades: Grades,
    options: ScoreOptions,
    result: FileScores,
    texts: _TextColumns,
    *,
    encoded: bool,
) -> _Inputs:
    """Judge every record, and keep of it what the measures need."""
    from harness.scoring.located_cells import LocatedQuery

    if encoded:
        records = list(records)
        ids = {record.query: [item.id or "" for item in record.items] for record in records}
        grades = spell_as(grades, ids, own_format=False)
    rankings: dict[str, Sequence[str]] = {}
    gold = dict(grades)
    inferred_gold: set[str] = set()
    located: list[LocatedQuery] = []
    unlabelled: Counter[str] = Counter()
    needs_locations = bool(options.measures_of(lines=True))
    for judged in _judged(records, grades, options):
        record = judged.record
        rankings[record.query] = judged.names
        if judged.grades:
            gold[record.query] = judged.grades
        if judged.strategy is None:
            unlabelled[judged.why] += 1
        else:
            result.strategies[judged.strategy] += 1
        if judged.strategy != "qrels":
            inferred_gold.add(record.query)
        result.merged["chunks of one document, or repeats"] += judged.merged
        has_locations = not judged.items or any(item.place for item in judged.items)
        if needs_locations and record.targets and has_locations:
            retrieved = tuple(item.place for item in judged.items)
            located.append(LocatedQuery(record.query, retrieved, record.targets))
        if judged.strategy == "text":
            result.texts["relevant"] += judged.relevant_texts
            result.texts["relevant_exact"] += judged.exact
            result.texts["relevant_holding"] += judged.holding
        if texts.columns:
            texts.add(record.query, _text_case(judged))
    result.strategies["qrels"] += sum(
        bool(row) and query not in rankings for query, row in grades.items()
    )
    result.warnings += [
        f"{counted(n, 'query has', 'queries have')} {why}" for why, n in sorted(unlabelled.items())
    ]
    return _Inputs(rankings, gold, frozenset(inferred_gold), located)


def _judged(
    records: Iterable[QueryRecord], grades: Grades, options: ScoreOptions
) -> Iterator[JudgedRecord]:
    profile = options.profile
    benchmark: object = None
    for record in records:
        if record.raw is not None and profile.name == "memorybench":
            benchmark = record.raw.get("benchmark") if benchmark is None else benchmark
            yield judge_as_memorybench(record, str(benchmark), options.threshold)
        else:
            row = grades.get(record.query)
            each_counts = profile.repeats == "each-counts"
            yield judge(record, row, options.threshold, each_counts=each_counts)


def _text_case(judged: JudgedRecord) -> TextCase:
    record = judged.record
    has_text = any(item.text is not None for item in judged.items)
    return TextCase(
        expected=record.expected,
        answer=record.answer,
        correct=record.correct,
        contexts=tuple(item.text or "" for item in judged.items) if has_text else (),
        documents=judged.documents,
    )


def _score_ranks(inputs: _Inputs, options: ScoreOptions, result: FileScores) -> None:
    """The measures of ranks, block by block of queries in order of their ids."""
    measures = options.measures_of(lines=False)
    queries = sorted(inputs.grades.keys() | inputs.rankings.keys())
    if not any(inputs.grades.values()):
        result.left_out[UNJUDGED] += len(queries)
        result.skip(measures, f"no query has judgements; {_LABELS}")
        return
    probe = Measure("MRR")
    values: dict[str, dict[str, float]] = {str(measure): {} for measure in (*measures, probe)}
    for begin in range(0, len(queries), BLOCK):
        block = queries[begin : begin + BLOCK]
        scores = score(
            {query: inputs.rankings[query] for query in block if query in inputs.rankings},
            {query: inputs.grades[query] for query in block if query in inputs.grades},
            [*measures, probe],
            options.profile,
            inferred_gold=inputs.inferred_gold,
        )
        result.n_queries += scores.n
        result.left_out.update(scores.left_out)
        result.as_zero.update(scores.as_zero)
        for name, column in values.items():
            column.update(scores.per_query[name] or {})
    for measure in measures:
        column = values[str(measure)]
        why = "" if column else "no query has a relevant document; check grades and query ids"
        array = np.fromiter(column.values(), dtype=np.float64)
        result.columns[str(measure)] = Column(list(column), array, why)
    if not any(values[str(probe)].values()) and result.n_queries > result.as_zero[ABSENT]:
        result.warnings.append(
            "nothing relevant was retrieved for any query: are ids and paths spelled alike?"
        )


def _score_lines(
    located: Sequence[LocatedQuery], options: ScoreOptions, result: FileScores
) -> None:
    """The measures of lines and files, of the queries that have targets."""
    wanted = options.measures_of(lines=True)
    projected = [measure for measure in wanted if family_of(measure).projected]
    why = "needs a run folder: only there are the lines of every file, and the scores"
    result.skip(projected, why)
    spans = [measure for measure in wanted if family_of(measure).cut == "budget"]
    files = [measure for measure in wanted if measure not in (*spans, *projected)]
    if not located:
        result.skip(
            [*files, *spans],
            "results with paths and lines are needed; give them by --records"
            + (", and their files by --source" if spans else ""),
        )
        return
    from harness.scoring.located_cells import SourceFolder, line_cell

    if files:
        _fill(line_cell(located), files, options.profile, result)
        with_lines = {each.query for each in located if each.has_lines}
        for measure in files:
            if measure.family == "IoU":
                column = result.columns[str(measure)]
                result.columns[str(measure)] = _only(column, with_lines)
    if spans and options.source is None:
        result.skip(spans, "needs --source DIR, the folder of the texts")
    elif spans and options.source is not None:
        folder = SourceFolder(options.source)
        cell = folder.cell(located)
        if cell.queries:
            _fill(cell, spans, options.profile, result)
        else:
            result.skip(spans, f"no target is found in {options.source}")
        if folder.lost_items:
            result.warnings.append(
                f"{counted(folder.lost_items, 'retrieved item')} not found in {options.source}: "
                "the span measures neither charge nor credit what is not there"
            )
        if folder.lost_targets:
            result.warnings.append(
                f"{counted(folder.lost_targets, 'target')} not found in {options.source}, or "
                "blank: not in the span measures"
            )


def _fill(cell: Cell, measures: Sequence[Measure], profile: Profile, result: FileScores) -> None:
    scores = evaluate(cell, measures, profile)
    for name, values in scores.per_query.items():
        if values is not None:
            result.columns[name] = Column(list(cell.queries), values)


def _only(column: Column, queries: set[str]) -> Column:
    kept = [at for at, query in enumerate(column.queries) if query in queries]
    why = column.why or ("" if kept else "no target has lines")
    return Column([column.queries[at] for at in kept], column.values[kept], why)
