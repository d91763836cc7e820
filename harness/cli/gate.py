"""`chunkmark gate`: fail if a measure is below a bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.output import FAILED, Format, FormatOption, write, write_json, write_rows

if TYPE_CHECKING:
    from harness.runs.gates import GateCell

_COLUMNS = ("dataset", "chunker", "embedder", "retriever", "measure", "value", "bound", "verdict")


def gate(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="Run folder, or JSON that `score` or `run` printed with `--format json`.",
        ),
    ],
    minimum: Annotated[
        list[str] | None,
        typer.Option(
            "--min",
            metavar="BOUND",
            help="Lower bound of a mean: 'MRR>0.6' or 'nDCG@10>=0.5'. Repeatable.",
        ),
    ] = None,
    require: Annotated[
        bool, typer.Option("--require", help="Fail if a measure is skipped or not in the run.")
    ] = False,
    form: FormatOption = Format.TABLE,
) -> int:
    """Fail if a mean is below a bound.

    Every cell's means are checked against every bound. Exits with 1 on failure, and with 2 if no
    cell has any of the means.
    """
    from chunkers.errors import InputError
    from harness.cli.progress import Progress
    from harness.runs.gates import check, document, parse_bound, skipped_notes

    if not minimum:
        raise InputError("no bound given; add one, as in --min 'MRR>0.6'")
    bounds = [parse_bound(text) for text in minimum]
    cells = _folder_cells(run) if run.is_dir() else _file_cells(run)
    if not cells:
        raise InputError(f"{run} has no cell; wait until the run is complete")
    checks = check(cells, bounds)
    result = document(checks, require=require)
    notes = list(skipped_notes(checks))
    if result["verdict"] == "skipped":
        raise InputError(f"no bound was checked: {'; '.join(notes)}")
    for note in notes:
        Progress().warn(note)
    if form is Format.JSON:
        write_json(result)
    else:
        write_rows(form, _COLUMNS, [_row(row) for row in result["checks"]])
        if form is Format.TABLE:
            write(f"gate: {result['verdict']}")
    return FAILED if result["verdict"] == "fail" else 0


def _row(check: dict[str, Any]) -> list[str]:
    value = "-" if check["value"] is None else f"{check['value']:.6g}"
    bound = f"{check['operator']} {check['threshold']:g}"
    names = [check[column] or "-" for column in _COLUMNS[:5]]
    return [*names, value, bound, check["verdict"]]


def _folder_cells(run: Path) -> list[GateCell]:
    """Every cell of a run folder, cells of earlier runs and failed cells included."""
    from chunkers.errors import InputError
    from harness.runs.folder import read_manifest, stored_cells
    from harness.runs.gates import cell_of
    from harness.support.json_files import read_json

    path = run / "manifest.json"
    manifest = read_manifest(run)
    if manifest.get("status") != "complete":
        raise InputError(f"run {run} is incomplete; rerun its `chunkmark run` command to resume")
    metrics = [(names, folder / "metrics.json") for names, folder in stored_cells(run)]
    cells = [cell_of(names, read_json(file), str(file)) for names, file in metrics]
    failed = manifest.get("failed", ())
    return [*cells, *(cell_of(names, {"metrics": {}}, str(path)) for names in failed)]


def _file_cells(path: Path) -> list[GateCell]:
    from chunkers.errors import InputError
    from harness.runs.gates import cells_of
    from harness.support.json_files import parse_json, require_regular_file

    require_regular_file(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    try:
        result = parse_json(raw, str(path))
    except InputError as error:
        raise InputError(
            f"{error}\ngive a run folder, or what `score` or `run` printed with --format json"
        ) from error
    return cells_of(result if isinstance(result, dict) else {}, str(path))
