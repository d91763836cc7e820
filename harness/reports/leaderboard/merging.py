"""Takes the results of others into a board, once they are verified."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.runs.stored_values import read_stored_cells
from harness.runs.verify import verify
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.runs.stored_values import StoredCell


def merged_cells(cells: Sequence[StoredCell], run: Path) -> list[StoredCell]:
    """The cells of a run folder that belong to the tasks of a board.

    Cells of other tasks are left out with a warning: nothing shows that their data is right.
    Whether the others were run as the board was is for `make_board` to check.

    Args:
        cells: Those of the board.
        run: The run folder of somebody else.

    Raises:
        InputError: A number does not follow from the stored files.
    """
    differences = [difference for cell in verify(run) for difference in cell.differences]
    if differences:
        first = differences[0]
        raise InputError(
            f"{run} is not merged: {counted(len(differences), 'stored value')} not as recomputed, "
            f"such as cell {first.cell[:12]}: {first.detail}\n"
            f"run `chunkmark verify {run}` to see all of them"
        )
    tasks = {cell.names["dataset"] for cell in cells}
    merged = list(read_stored_cells(run))
    for task in sorted({cell.names["dataset"] for cell in merged} - tasks):
        warnings.warn(f"{run}: {task} is not a task of this board; it is left out", stacklevel=2)
    return [cell for cell in merged if cell.names["dataset"] in tasks]
