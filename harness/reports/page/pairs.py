"""The pairs of a comparison by the chunkers of one run, whatever the comparison calls its cells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def folder_of(document: Mapping[str, Any], cell: Mapping[str, Any]) -> str:
    """The folder of a cell of a report, as `compare` names it."""
    return str(Path(document["runs"][cell["run"]]["path"], "cells", cell["key"]))


def pairs_of(
    document: Mapping[str, Any], contest: Mapping[str, Any], run: int
) -> list[dict[str, Any]]:
    """The pairs whose cells are both of one run, with the chunkers as their names.

    Args:
        document: `runs` and `cells` of a report.
        contest: One of the `contests` of its `compare`.
        run: The number of the run.
    """
    cells = {folder_of(document, cell): cell for cell in document["cells"] if cell["run"] == run}
    names = {
        name: cells[folder]["chunker"]
        for name, folder in contest["cells"].items()
        if folder in cells
    }
    return [
        pair | {side: names[pair[side]] for side in "ab"}
        for pair in contest["pairs"]
        if {pair["a"], pair["b"]} <= names.keys()
    ]
