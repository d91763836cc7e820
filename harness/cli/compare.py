"""`chunkmark compare`: whether the differences of a run are real."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from harness.cli.output import (
    HELP,
    RUN_MEASURE_HELP,
    Format,
    FormatOption,
    RunsArgument,
    TestSeedOption,
    require_different_runs,
    write_report,
)


def compare(
    runs: RunsArgument,
    over: Annotated[
        str,
        typer.Option(
            metavar="FACTOR",
            help="What to compare: chunker, embedder, retriever, or an option of chunkers such as "
            "max_size. With language or corpus, chunkers are compared within each language or "
            "corpus.",
        ),
    ] = "chunker",
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Compare the others with this chunker, or with this value of --over. Default: "
            "all pairs.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            help="Measure to compare by. The recommendation uses the first; verdicts of the others "
            f"are exploratory. {RUN_MEASURE_HELP} Repeatable.",
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help=f"{HELP['margin']} Default: the run's --margin."),
    ] = None,
    seed: TestSeedOption = 0,
    allow_truncated: Annotated[
        bool,
        typer.Option(
            "--allow-truncated",
            help="Also compare chunkers with over 10 % of their tokens beyond the limit of the "
            "embedder.",
        ),
    ] = False,
    tune: Annotated[
        Literal["dev/test"] | None,
        typer.Option(
            help="With --over max_size, or another option of chunkers: choose each chunker's best "
            "value on one half of the files, and compare the chosen chunkers on the other half. "
            "The only value is dev/test.",
        ),
    ] = None,
    curves: Annotated[
        bool,
        typer.Option(
            "--curves",
            help="Also show SpanR at several budgets, and where the order of two chunkers changes. "
            "JSON always has them.",
        ),
    ] = False,
    form: FormatOption = Format.TABLE,
) -> int:
    """Test whether the differences between chunkers are real.

    Each difference has an interval, a p-value and a verdict. The interval treats the queries on one
    file as one observation. The p-value is adjusted for the number of pairs.
    """
    from chunkers.errors import InputError
    from harness.cli.progress import Progress
    from harness.measures.grammar import parse_measure
    from harness.reports import compare as report
    from harness.reports.contests import agreed, alone, contests, why_none
    from harness.reports.tuning import tune as run_tuning
    from harness.runs.folder import why_no_cell
    from harness.runs.stored_values import read_stored_cells
    from harness.support.wording import distinct

    if margin is not None and not 0 < margin < 1:
        example = " (2 points are 0.02)" if margin >= 1 else ""
        raise InputError(f"--margin must be above 0 and below 1{example}, not {margin:g}")
    require_different_runs(runs)
    measure = distinct("measure", (str(parse_measure(text)) for text in measure or ()))
    cells = [cell for run in runs for cell in read_stored_cells(run)]
    if not cells:
        raise InputError(why_no_cell(runs))
    if not measure:
        agreed("primary measures", (cell.primary for cell in cells), "choose by -m")
    if margin is None:
        margin = agreed("margins", (cell.margin for cell in cells), "choose by --margin")
    choices: list[dict[str, Any]] = []
    if tune:
        primary = str(parse_measure(measure[0])) if measure else None
        choices, parts = run_tuning(cells, over, primary, seed, allow_truncated=allow_truncated)
    else:
        parts = contests(cells, over, allow_truncated=allow_truncated)
    if not parts and not choices:
        raise InputError(why_none(cells, over))
    shown = curves or form is Format.JSON
    document = report.compare_document(
        parts,
        measure or (),
        baseline,
        margin,
        seed,
        with_curves=shown,
        cells=() if tune else cells,  # the dev half shall have no part in what is reported
    )
    for line in () if tune else alone(cells, over):
        Progress().warn(line)
    if tune:
        document["tuning"] = choices
    write_report(form, document, report)
    return 0
