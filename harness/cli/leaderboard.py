"""`chunkmark leaderboard`: configurations by task, with ranks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.output import (
    RUN_MEASURE_HELP,
    Format,
    FormatOption,
    RunsArgument,
    TestSeedOption,
    refuse_foreign_file,
    refuse_pages,
    require_different_runs,
    require_libraries,
    write,
    write_json,
    write_rows,
    writing_to,
)

if TYPE_CHECKING:
    from harness.reports.leaderboard.board import Board

_NOTES = {Format.MARKDOWN: "- ", Format.LATEX: "% "}


def leaderboard(
    runs: RunsArgument,
    measure: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--measure",
            help=f"Measure of the runs to rank by. {RUN_MEASURE_HELP}",
        ),
    ] = None,
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="Also rank the run in this folder, which someone else made. It is verified "
            "first. Data sets that RUN lacks are left out with a warning. For the others, the run "
            "must have the same data, profile and version of the file format as RUN. "
            "Repeatable.",
        ),
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LAYOUT:FOLDER",
            help="Also write the results to FOLDER as MTEB (mteb:FOLDER) or CoIR (coir:FOLDER) "
            "stores them. Repeatable.",
        ),
    ] = None,
    seed: TestSeedOption = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Also write the leaderboard as one HTML page; replaces an earlier one.",
        ),
    ] = None,
    form: FormatOption = Format.TABLE,
) -> int:
    """Rank chunkers, embedders and retrievers over data sets.

    The table has a row for each combination of chunker, embedder, retriever and profile, a column
    for each data set, and a column for their unweighted mean. Ranks are tied where the difference
    is undecided.
    """
    from chunkers.errors import InputError
    from harness.measures.grammar import parse_measure
    from harness.reports.leaderboard.board import make_board
    from harness.reports.leaderboard.layouts import LAYOUTS, export_board
    from harness.reports.leaderboard.merging import merged_cells
    from harness.runs.folder import why_no_cell
    from harness.runs.stored_values import read_stored_cells

    name = str(parse_measure(measure, repeat="")) if measure else None
    targets = [text.partition(":") for text in export or ()]
    for layout, _, folder in targets:
        if layout not in LAYOUTS or not folder:
            raise InputError(
                f"--export takes mteb:FOLDER or coir:FOLDER, not {layout + ':' * bool(_) + folder}"
                "; other formats are printed by --format"
            )
        if Path(folder).is_file():
            raise InputError(f"--export {layout}:{folder} is a file; name a folder")
    require_different_runs([*runs, *(merge or ())])
    refuse_pages(runs)
    if out is not None:
        require_libraries("page", ["jinja2"])
        refuse_foreign_file(out, "leaderboard")
    cells = [cell for run in runs for cell in read_stored_cells(run)]
    if not cells:
        raise InputError(why_no_cell(runs))
    own = tuple(cells)
    for run in merge or ():
        cells += merged_cells(own, run)
    board = make_board(cells, name, seed)
    for layout, _, folder in targets:
        export_board(board, layout, Path(folder))
    if out is not None:
        _write_page(board, out)
    _print(board, form)
    return 0


def _write_page(board: Board, path: Path) -> None:
    from harness.reports.page.board import board_page

    with writing_to(path):
        path.write_text(f"{board_page(board)}\n", "utf-8", newline="")


def _print(board: Board, form: Format) -> None:
    from harness.reports.leaderboard.tables import board_document, board_rows, notes
    from harness.reports.plain import markdown_escaped, plain

    if form is Format.JSON:
        write_json(board_document(board))
        return
    exact = form is Format.CSV
    write_rows(form, *board_rows(board, exact=exact))
    if form is Format.MARKDOWN:
        write("\n")  # ends the table
    for note in () if exact else notes(board):
        text = markdown_escaped(note) if form is Format.MARKDOWN else plain(note)
        write(_NOTES.get(form, "") + text)
