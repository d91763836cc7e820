"""`chunkmark gate`: fail where a measure is below what was asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.output import Format, FormatOption, write, write_json, write_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.runs.gates import GateCell

FAILED = 1
_COLUMNS = ("dataset", "chunker", "embedder", "retriever", "measure", "value", "bound", "verdict")


def gate(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="A run folder, or what `score` or `run` printed with --format json.",
        ),
    ],
    minimum: Annotated[
        list[str] | None,
        typer.Option(
            "--min",
            metavar="BOUND",
            help="The least that a mean may be, as in 'MRR>0.6' or 'nDCG@10>=0.5'; repeatable.",
        ),
    ] = None,
    require: Annotated[
        bool, typer.Option("--require", help="Fail where a measure is skipped or not in the run.")
    ] = False,
    form: FormatOption = Format.TABLE,
) -> int:
    """Hold the means of every cell against bounds; exits with 1 where one is not kept."""
    from chunkers.errors import InputError
    from harness.runs.gates import check, document, parse_bound

    if not minimum:
        raise InputError("nothing to hold the run against; give a bound, as in --min 'MRR>0.6'")
    bounds = [parse_bound(text) for text in minimum]
    cells = list(_folder(run)) if run.is_dir() else _file(run)
    if not cells:
        raise InputError(f"{run} holds no cell; let the run end first")
    result = document(check(cells, bounds), require=require)
    if form is Format.JSON:
        write_json(result)
    else:
        write_rows(form, _COLUMNS, [_row(one) for one in result["checks"]])
        if form is Format.TABLE:
            write(f"gate: {result['verdict']}")
    return FAILED if result["verdict"] == "fail" else 0


def _row(one: dict[str, Any]) -> list[str]:
    value = "-" if one["value"] is None else f"{one['value']:.6g}"
    bound = f"{one['operator']} {one['threshold']:g}"
    names = [one[column] or "-" for column in _COLUMNS[:5]]
    return [*names, value, bound, one["verdict"]]


def _folder(run: Path) -> Iterator[GateCell]:
    """Every cell of a run folder, those of earlier runs and those that failed included."""
    from chunkers.errors import InputError
    from harness.runs.folder import stored_cells
    from harness.runs.gates import cell_of
    from harness.support.json_files import read_json

    if not (run / "manifest.json").is_file():
        raise InputError(f"{run} is no run folder: it has no manifest.json")
    manifest = read_json(run / "manifest.json")
    if manifest.get("status") != "complete":
        raise InputError(f"{run} is not complete; the same `chunkmark run` again completes it")
    for names, folder in stored_cells(run):
        yield cell_of(names, read_json(folder / "metrics.json"), str(folder / "metrics.json"))
    for failed in manifest.get("failed", ()):
        yield cell_of(failed, {"metrics": {}}, str(run / "manifest.json"))


def _file(path: Path) -> list[GateCell]:
    from chunkers.errors import InputError
    from harness.runs.gates import cells_of
    from harness.support.json_files import parse_json, require_regular_file

    require_regular_file(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    try:
        found = parse_json(raw, str(path))
    except InputError as error:
        raise InputError(
            f"{error}\ngive a run folder, or what `score` or `run` printed with --format json"
        ) from error
    return cells_of(found if isinstance(found, dict) else {}, str(path))
