"""`chunkmark score`: score rankings or records of another system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.output import HELP, Format, FormatOption, console, write, write_json, write_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.cli.progress import Progress
    from harness.scoring.score_file import ScoreOptions

DEFAULT_MEASURES = ("nDCG@5", "nDCG@10", "P@5", "R@5", "R@10", "MRR", "MAP@10")
THRESHOLD = 0.3
"""Default of `--f1-threshold`."""
_LINE = 40
"""Approximate length of a line of a run, for the progress bar."""


def score(
    words: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    run: Annotated[
        Path | None, typer.Option("--run", metavar="FILE", help="Rankings to score; needs --qrels.")
    ] = None,
    qrels: Annotated[
        Path | None,
        typer.Option("--qrels", metavar="FILE", help="Relevance judgements of --run or --records."),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(
            "--records",
            metavar="FILE",
            help="Retrieved results to score. They may hold their own judgements.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            help=f"{HELP['measures']} Default: {', '.join(DEFAULT_MEASURES)}. Repeatable.",
        ),
    ] = None,
    profile: Annotated[str, typer.Option(help=HELP["profile"])] = "default",
    per_query: Annotated[
        bool, typer.Option("--per-query", help="Also show the values of every query.")
    ] = False,
    f1_threshold: Annotated[
        float | None,
        typer.Option(
            help="With --records, for records without judgements: a text is relevant if its token "
            f"F1 with the expected answer is at least this. Default: {THRESHOLD}."
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="With --records: folder of the files that they name. Span measures need it.",
        ),
    ] = None,
    form: FormatOption = Format.TABLE,
) -> None:
    """Score the results of another system.

    The format of a file is detected from its content and suffix.

    `--run` reads:

    - TREC: query, Q0, document, rank, score and tag on a line
    - JSON: {query: {document: score}}, or {query: [document, ...]} in rank order

    Ids in run.trec of a run folder are percent-encoded; they are decoded.

    `--qrels` reads:

    - TREC: query, 0, document and grade on a line
    - BEIR: a table with the columns query, document and grade
    - JSON: {query: {document: grade}}

    `--records` reads:

    - JSON lines or a JSON array of objects
    - EvalResults of memorybench
    - a tab-separated table with the columns query_id, retrieved_ids, relevant_ids and k, in which
      spaces separate ids

    Each object has query_id, and retrieved_ids or retrieved. The other keys are optional:

    - retrieved_ids: the retrieved ids, in rank order
    - retrieved: objects in rank order, each with what it is judged by: id, path, start_line and
      end_line, or text
    - relevant_ids: the relevant ids
    - targets: the relevant places, as objects with path, or path, start_line and end_line
    - expected: the expected answer
    - actual: the answer that the system gave
    - correct: whether that answer was judged correct (true or false)
    - k: the rank where the ranking is cut

    A chunk such as `doc-7::chunk-0` counts as its document, `doc-7`. If the judgements contain `7`
    in place of `doc-7`, it counts as `7`. Several chunks of a document count once.

    A record is judged by the first of these that is given for it, and not by the others:

    1. judgements in --qrels, or relevant_ids
    2. targets with lines: a result must share a line with one
    3. targets without lines: a result must be from the file of one
    4. expected: a result must share words with it

    A measure is skipped if no query has the judgements that it needs. The exit code is 2 if every
    measure is skipped.
    """
    from chunkers.errors import InputError
    from harness.cli.progress import Progress
    from harness.reports import scores
    from harness.reports.plain import plain
    from harness.scoring.score_file import score_file
    from harness.support.wording import counted

    path = _input_file(words or [], run, records)
    options = _options(measure, profile, f1_threshold, source, records)
    files = (("--run", run, "rankings"), ("--records", records, "records"))
    for option, file, content in (*files, ("--qrels", qrels, "judgements")):
        if file is not None and not file.exists():
            raise InputError(f"{option} {file} does not exist; give a file of {content}")
    if qrels is not None and qrels.samefile(path):
        raise InputError(f"--qrels {qrels} is the file to be scored; give the judgements")
    with Progress() as progress:
        scored = score_file(path, qrels, options, _reading_progress(progress, path))
        document = scores.score_document(scored, per_query=per_query)
        if not any(metric["n"] for metric in document["metrics"].values()):
            reasons = "; ".join(why for why, _ in scores.skipped(document))
            counts = {why: n for why, n in document["left_out"].items() if n}
            lines = [f"{counted(n, 'query', 'queries')} ({why})" for why, n in counts.items()]
            left_out = f"\nleft out: {', '.join(lines)}" if lines else ""
            raise InputError(f"{path}: nothing could be scored: {reasons}{left_out}")
        if f1_threshold is not None and not scored.strategies["text"]:
            progress.warn("--f1-threshold is not used: no record is judged by its text")
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


def _input_file(words: list[str], run: Path | None, records: Path | None) -> Path:
    from chunkers.errors import InputError

    if words:
        rankings, judgements = words if len(words) == 2 else ("FILE", "FILE")
        advice = f"write --run {rankings} --qrels {judgements}, or --records FILE"
        raise InputError(f"score takes its files as options; {advice}")
    if run is not None and records is not None:
        raise InputError("--run and --records cannot be combined; give one of them")
    path = run if records is None else records
    if path is None:
        raise InputError("give either --run FILE with --qrels FILE, or --records FILE")
    return path


def _options(
    measures: list[str] | None,
    profile: str,
    threshold: float | None,
    source: Path | None,
    records: Path | None,
) -> ScoreOptions:
    from chunkers.errors import InputError
    from harness.measures.grammar import parse_measure
    from harness.measures.profiles import load_profile
    from harness.scoring.score_file import ScoreOptions
    from harness.support.wording import distinct

    for_records = {"--records": records, "--f1-threshold": threshold, "--source": source}
    given = tuple(name for name, value in for_records.items() if value is not None)
    threshold = THRESHOLD if threshold is None else threshold
    if not 0 < threshold <= 1:
        raise InputError(f"--f1-threshold must be above 0 and at most 1, not {threshold}")
    if source is not None and not source.is_dir():
        raise InputError(
            f"--source {source} is not a folder; give the folder of the files in the records"
        )
    parsed = distinct("measure", map(parse_measure, measures or DEFAULT_MEASURES))
    return ScoreOptions(tuple(parsed), load_profile(profile), threshold, source, given)


def _reading_progress(progress: Progress, path: Path) -> Callable[[int], None]:
    lines = path.stat().st_size // _LINE if path.is_file() else 0

    def tell(read: int) -> None:
        progress.tell(f"reading {path.name}", read, max(lines, read + 1))

    return tell
