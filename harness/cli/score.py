"""`chunkmark score`: score anybody's ranking."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.output import Format, FormatOption, console, write, write_json, write_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.cli.progress import Progress
    from harness.scoring.score_file import ScoreOptions

DEFAULT_MEASURES = ("nDCG@5", "nDCG@10", "P@5", "R@5", "R@10", "MRR", "MAP@10")
_LINE = 40
"""Characters of a line of a run, about: for the progress bar alone."""


def score(
    run: Annotated[
        Path | None, typer.Option("--run", metavar="FILE", help="Rankings; they need --qrels.")
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option("--qrels", metavar="FILE", help="Judgements of documents.")
    ] = None,
    records: Annotated[
        Path | None, typer.Option("--records", metavar="FILE", help="Records with their gold.")
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            help=f"Measure; may be repeated. Without it {', '.join(DEFAULT_MEASURES)}.",
        ),
    ] = None,
    profile: Annotated[
        str, typer.Option(help="Scoring conventions: see `chunkmark list profiles`.")
    ] = "default",
    per_query: Annotated[
        bool, typer.Option("--per-query", help="Show the value of every query.")
    ] = False,
    f1_threshold: Annotated[
        float,
        typer.Option(help="Token F1 from which a text is relevant, where nothing else says so."),
    ] = 0.3,
    source: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the records' paths lie, for the span measures."),
    ] = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Score anybody's ranking, or the records of a system that answers questions.

    Formats are found by content and suffix.

    --run: TREC (query Q0 document rank score tag; the ids of chunkmark's own run.trec are decoded),
    or JSON: {query: {document: score}}, or a list of documents in rank order in place of the
    scores.

    --qrels: TREC (query 0 document grade), BEIR's table (query, document, grade, with or without
    a header), or JSON: {query: {document: grade}}.

    --records: JSON lines or a JSON array of objects with query_id, retrieved_ids or retrieved
    (objects with id, text, path, start_line, end_line), and as far as they are known
    relevant_ids, targets, expected, actual, correct, k; or memorybench's EvalResults; or a table
    with the header query_id, retrieved_ids, relevant_ids, k between tabs and ids separated by
    spaces. A chunk such as doc-<ID>::chunk-0 counts as its document, several of one once.

    Relevant in a record is, by the first rule that applies: what qrels or relevant_ids name, what
    shares a line with a target, what lies in a target's file, what shares words with the expected
    answer. A measure that no query has the labels for is skipped, and never 0.
    """
    from harness.cli.progress import Progress
    from harness.reports import scores
    from harness.reports.tables import plain
    from harness.scoring.score_file import score_file

    path = _only_one(run, records)
    options = _options(measure, profile, f1_threshold, source)
    with Progress() as progress:
        scored = score_file(path, qrels, options, _told(progress, path))
        document = scores.score_document(scored, per_query=per_query)
        for line in scored.warnings:
            progress.warn(line)
    if form is Format.JSON:
        write_json(document)
        return
    if form is Format.CSV:
        write_rows(form, *scores.csv_rows(document))
        return
    write_rows(form, scores.COLUMNS, scores.shown(scores.score_rows(document)))
    if per_query:
        columns, rows = scores.query_rows(document)
        write("")
        write_rows(form, columns, scores.shown(rows))
    notes = [plain(note) for note in scores.score_notes(document)]
    if form is Format.MARKDOWN:
        write("\n" + "\n".join(f"- {note}" for note in notes))
    else:
        for note in notes:
            console().print(note, markup=False, highlight=False, style="dim")


def _only_one(run: Path | None, records: Path | None) -> Path:
    from chunkers.errors import InputError

    path = run if records is None else records
    if path is None or (run is not None and records is not None):
        raise InputError("give one of --run FILE (with --qrels FILE) and --records FILE")
    return path


def _options(
    measures: list[str] | None, profile: str, threshold: float, source: Path | None
) -> ScoreOptions:
    from chunkers.errors import InputError
    from harness.measures.grammar import parse_measure
    from harness.measures.profiles import load_profile
    from harness.scoring.score_file import ScoreOptions

    if not 0 < threshold <= 1:
        raise InputError(f"--f1-threshold {threshold}: it lies above 0 and up to 1")
    if source is not None and not source.is_dir():
        raise InputError(f"--source {source} is no folder")
    wanted = [parse_measure(text) for text in measures or DEFAULT_MEASURES]
    return ScoreOptions(tuple(dict.fromkeys(wanted)), load_profile(profile), threshold, source)


def _told(progress: Progress, path: Path) -> Callable[[int], None]:
    lines = path.stat().st_size // _LINE if path.is_file() else 0

    def tell(read: int) -> None:
        progress.tell(f"reading {path.name}", read, max(lines, read + 1))

    return tell
