"""`chunkmark gate`: fail if a measure is below a bound, or fell since another run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.output import (
    FAILED,
    Format,
    FormatOption,
    console,
    refuse_parts,
    write,
    write_json,
    write_rows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.runs.gates import GateCell


_GIVE = "give a run folder, or what `score` or `run` printed with --format json"


def gate(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="Run folder, or a file with the JSON output of `chunkmark score` or "
            "`chunkmark run`.",
            callback=refuse_parts,
        ),
    ],
    minimum: Annotated[
        list[str] | None,
        typer.Option(
            "--min",
            metavar="BOUND",
            help="Fail if a mean is below this bound: 'MRR>0.6' or 'nDCG@10>=0.5'. Repeatable.",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="BASE",
            help="Run folder to compare with, such as that of the main branch; needs --max-drop.",
            callback=refuse_parts,
        ),
    ] = None,
    max_drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DROP",
            help="With --against: largest drop allowed: 'SpanR@10000c=0.01'. Repeatable.",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="With --max-drop: also fail if the queries are too few to detect such a drop.",
        ),
    ] = False,
    require: Annotated[
        bool,
        typer.Option(
            "--require",
            help="Also fail if a check is skipped, for example because the run lacks its measure.",
        ),
    ] = False,
    form: FormatOption = Format.TABLE,
) -> int:
    """Fail if a mean is too low, or fell since another run.

    Checks the means of every combination of data set, chunker, embedder and retriever. A drop fails
    if it is larger than --max-drop and its one-sided 95 % interval lies above 0. The interval
    treats the queries on one file as one observation. Names the queries that fell most. A
    combination found only in BASE counts as failed; one found only in RUN is skipped.

    The exit code is 1 if a check fails, and 2 if nothing can be checked.
    """
    from chunkers.errors import InputError
    from harness.cli.progress import Progress
    from harness.reports.drops import check_drops, parse_allowed_drop
    from harness.reports.gate import as_markdown, print_gate, table_of
    from harness.runs.gates import check, document, notes_of, parse_bound
    from harness.support.wording import distinct

    _refuse_options(against, minimum or (), max_drop or (), strict=strict)
    bounds = [parse_bound(text) for text in distinct("--min", minimum or ())]
    allowed = [parse_allowed_drop(text) for text in distinct("--max-drop", max_drop or ())]
    rows = []
    if bounds:
        cells = _folder_cells(run) if run.is_dir() else _file_cells(run)
        if not cells:
            raise InputError(f"{run} has no cell")
        rows += check(cells, bounds)
    if against is not None:
        rows += check_drops(run, against, allowed, strict=strict)
    result = document(rows, require=require)
    notes = list(notes_of(rows))
    if result["verdict"] == "skipped":
        more = f"\nalso: {'; '.join(notes[1:])}" if notes[1:] else ""
        raise InputError(f"no bound was checked: {notes[0]}{more}")
    for note in notes:
        Progress().warn(note)
    if form is Format.JSON:
        write_json(result)
    elif form is Format.TABLE:
        print_gate(result, console())
    elif form is Format.MARKDOWN:
        write(as_markdown(result, notes))
    else:
        write_rows(form, *table_of(result))
    return FAILED if result["verdict"] == "fail" else 0


def _refuse_options(
    against: Path | None,
    minimum: Sequence[str],
    max_drop: Sequence[str],
    *,
    strict: bool,
) -> None:
    """Refuse options that do not go together."""
    from chunkers.errors import InputError

    if (against is None) != (not max_drop):
        raise InputError(
            "--against BASE and --max-drop need each other; "
            "write --against BASE --max-drop MRR=0.02"
        )
    if strict and not max_drop:
        raise InputError("--strict is about drops; give --against BASE and --max-drop too")
    if not minimum and not max_drop:
        raise InputError("no bound given; add one, as in --min 'MRR>0.6'")


def _folder_cells(run: Path) -> list[GateCell]:
    """Every cell of a run folder, cells of earlier runs and failed cells included."""
    from harness.runs.folder import read_cell, read_complete_manifest, stored_cells
    from harness.runs.gates import cell_of
    from harness.support.json_files import read_json

    path = run / "manifest.json"
    manifest = read_complete_manifest(run)
    cells = []
    for names, folder in stored_cells(run):
        read_cell(folder, check_files=True)
        file = folder / "metrics.json"
        cells.append(cell_of(names, read_json(file), str(file)))
    failed = manifest.get("failed", ())
    return [*cells, *(cell_of(names, {"metrics": {}}, str(path)) for names in failed)]


def _file_cells(path: Path) -> list[GateCell]:
    from chunkers.errors import InputError
    from harness.runs.gates import cells_of
    from harness.support.files import unreadable
    from harness.support.json_files import parse_json, require_regular_file

    require_regular_file(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{unreadable(path, error)}\n{_GIVE}") from error
    try:
        result = parse_json(raw, str(path))
    except InputError as error:
        raise InputError(f"{error}\n{_GIVE}") from error
    return cells_of(result if isinstance(result, dict) else {}, str(path))
