"""Run folders as a report reads them: finished, going on or interrupted."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.model import Absent
from harness.runs.config import RunConfig, flag_of
from harness.runs.damage import DAMAGE_ERRORS, damage
from harness.runs.failures import FailedCell
from harness.runs.folder import PARTS, read_manifest
from harness.runs.runner import CellResult, RunResult
from harness.runs.stored_values import read_stored_cells
from harness.support.json_files import AGAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from harness.runs.stored_values import StoredCell

_ALWAYS = ("datasets", "chunkers", "embedders", "retrievers")
"""What a command names whether or not it is the default."""


@dataclass(frozen=True)
class StoredRun:
    """The last run of a run folder.

    Attributes:
        path: The folder as it was given.
        manifest: Its manifest.json.
        cells: Its cells, with the values of every query.
        result: The same as a run returns it.
    """

    path: Path
    manifest: Mapping[str, Any]
    cells: tuple[StoredCell, ...]
    result: RunResult

    @property
    def complete(self) -> bool:
        """Whether the run has ended."""
        return bool(self.manifest["status"] == "complete")


def read_run(path: Path) -> StoredRun:
    """Read the last run of a run folder.

    Raises:
        InputError: The folder is not a run folder, or a file is damaged.
    """
    manifest = read_manifest(path)
    datasets = manifest["datasets"]
    cells = tuple(read_stored_cells(path, earlier=False))
    results = tuple(map(_result, cells))
    try:
        for cell in cells:
            datasets[cell.names["dataset"]]
        result = RunResult(
            out=path,
            cells=results,
            absent=tuple(
                (name, Absent(**row)) for name, entry in datasets.items() for row in entry["absent"]
            ),
            failed=tuple(_failed(row) for row in manifest.get("failed", ())),
            left_out=tuple(
                (name, reason, count)
                for name, entry in datasets.items()
                for reason, count in entry["left_out"].items()
                if count
            ),
        )
    except DAMAGE_ERRORS as error:
        raise InputError(
            f"{path / 'manifest.json'} is damaged ({type(error).__name__}: {error})\n"
            "run again into another folder with -o"
        ) from None
    return StoredRun(path, manifest, cells, result)


def _result(cell: StoredCell) -> CellResult:
    try:
        profile = str(cell.profile["name"])
    except DAMAGE_ERRORS as error:
        raise InputError(f"{damage(cell.folder / 'metrics.json', error)}; {AGAIN}") from None
    return CellResult(
        **{part: cell.names[part] for part in PARTS},
        profile=profile,
        key=cell.folder.name,
        cell=dict(cell.cell),
        metrics=dict(cell.metrics),
    )


def _failed(row: Mapping[str, Any]) -> FailedCell:
    return FailedCell(**{**row, "failures": tuple(map(tuple, row["failures"]))})


def repeat_command(manifest: Mapping[str, Any], out: str) -> str:
    """The command that repeats a run; it resumes one that was interrupted.

    Args:
        manifest: Its manifest.
        out: The run folder to write to.
    """
    return shlex.join(["chunkmark", "run", *_flags(manifest["config"]), "-o", out])


def _flags(config: Mapping[str, Any]) -> Iterator[str]:
    default = RunConfig()
    for option in fields(RunConfig):
        usual = getattr(default, option.name)
        several = isinstance(usual, tuple)
        value = config.get(option.name, usual)
        same = list(value) == list(usual) if several else value == usual
        if same and option.name not in _ALWAYS:
            continue
        flag = option.metadata["short"] or flag_of(option.name, repeatable=several)
        yield from _words(flag, value if several else [value])


def _words(flag: str, values: Sequence[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, bool):
            yield flag if value else f"--no-{flag[2:]}"
        else:
            yield from (flag, str(value))
