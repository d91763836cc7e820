"""`chunkmark score`: score rankings or records of another system."""

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
"""Approximate length of a line of a run, for the progress bar."""


def score(
    run: Annotated[
        Path | None, typer.Option("--run", metavar="FILE", help="Rankings; needs --qrels.")
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option("--qrels", metavar="FILE", help="Relevance judgements.")
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(
            "--records", metavar="FILE", help="Records: retrieved results and judgements."
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            help=f"Measure. Default: {', '.join(DEFAULT_MEASURES)}. Repeatable.",
        ),
    ] = None,
    profile: Annotated[
        str, typer.Option(help="Scoring conventions. See `chunkmark list profiles`.")
    ] = "default",
    per_query: Annotated[
        bool, typer.Option("--per-query", help="Show the values of every query.")
    ] = False,
    f1_threshold: Annotated[
        float,
        typer.Option(
            help="Minimum token F1 with the expected answer at which a text counts as relevant, "
            "when there are no labels."
        ),
    ] = 0.3,
    source: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of the files that records name; needed for span measures."
        ),
    ] = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Score rankings or records of another system.

    The format of a file is detected from its content and suffix.

    `--run`: TREC (query Q0 document rank score tag; ids written by chunkmark are decoded), or
    JSON: {query: {document: score}}, or {query: [documents in rank order]}.

    `--qrels`: TREC (query 0 document grade), BEIR's table (query, document, grade, with or without
    a header), or JSON: {query: {document: grade}}.

    `--records`: JSON lines or a JSON array of objects with query_id, and retrieved_ids or retrieved
    (objects with id, text, path, start_line, end_line). Optional keys: relevant_ids, targets,
    expected, actual, correct, k. Also memorybench's EvalResults, or a tab-separated table with the
    header query_id, retrieved_ids, relevant_ids, k and ids separated by spaces. A chunk such as
    `doc-<ID>::chunk-0` counts as its document; several chunks of a document count once.

    Relevance in a record is decided by the first of these that applies: qrels or relevant_ids,
    lines shared with a target, the file of a target, words shared with the expected answer.
    If no query has the labels that a measure needs, the measure is skipped rather than counted as
    0; if every measure is skipped, the exit code is 2.
    """
    from chunkers.errors import InputError
    from harness.cli.progress import Progress
    from harness.reports import scores
    from harness.reports.plain import plain
    from harness.scoring.score_file import score_file
    from harness.support.wording import left_out_line

    path = _input_file(run, records)
    options = _options(measure, profile, f1_threshold, source)
    with Progress() as progress:
        scored = score_file(path, qrels, options, _reading_progress(progress, path))
        document = scores.score_document(scored, per_query=per_query)
        if not any(metric["n"] for metric in document["metrics"].values()):
            reasons = "; ".join(why for why, _ in scores.skipped(document))
            left_out = left_out_line(document["left_out"])
            raise InputError(f"{path}: no measure can be averaged: {reasons}{left_out}")
        for line in scored.warnings:
            progress.warn(line)
    if form is Format.JSON:
        write_json(document)
        return
    if form is Format.CSV:
        write_rows(form, *scores.csv_rows(document))
        return
    write_rows(form, scores.COLUMNS, scores.rounded(scores.score_rows(document)))
    if per_query:
        columns, rows = scores.query_rows(document)
        write("")
        write_rows(form, columns, scores.rounded(rows))
    notes = [plain(note) for note in scores.score_notes(document)]
    if form is not Format.TABLE:
        mark = "%" if form is Format.LATEX else "-"
        write("\n" + "\n".join(f"{mark} {note}" for note in notes))
    else:
        for note in notes:
            console().print(note, style="dim")


def _input_file(run: Path | None, records: Path | None) -> Path:
    from chunkers.errors import InputError

    if run is not None and records is not None:
        raise InputError("--run and --records cannot be combined; give one of them")
    path = run if records is None else records
    if path is None:
        raise InputError("give either --run FILE with --qrels FILE, or --records FILE")
    return path


def _options(
    measures: list[str] | None, profile: str, threshold: float, source: Path | None
) -> ScoreOptions:
    from chunkers.errors import InputError
    from harness.measures.grammar import parse_measure
    from harness.measures.profiles import load_profile
    from harness.scoring.score_file import ScoreOptions

    if not 0 < threshold <= 1:
        raise InputError(f"--f1-threshold must be above 0 and at most 1, not {threshold}")
    if source is not None and not source.is_dir():
        raise InputError(f"--source {source} is not a folder")
    parsed = [parse_measure(text) for text in measures or DEFAULT_MEASURES]
    return ScoreOptions(tuple(dict.fromkeys(parsed)), load_profile(profile), threshold, source)


def _reading_progress(progress: Progress, path: Path) -> Callable[[int], None]:
    lines = path.stat().st_size // _LINE if path.is_file() else 0

    def tell(read: int) -> None:
        progress.tell(f"reading {path.name}", read, max(lines, read + 1))

    return tell
