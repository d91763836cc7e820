"""Takes the results of others into a board, once they are verified."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.reports.leaderboard.board import refuse_other
from harness.runs.stored_values import read_stored_cells
from harness.runs.verify import verify
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from harness.runs.stored_values import StoredCell


def merged_cells(cells: Sequence[StoredCell], run: Path) -> Iterator[StoredCell]:
    """The cells of a run folder that belong to the tasks of a board.

    Cells of other tasks are left out with a warning: nothing shows that their data is right.

    Args:
        cells: Those of the board.
        run: The run folder of somebody else.

    Raises:
        InputError: A number does not follow from the stored files, or a cell of a task of the board
            differs in data, schema, profile or how it was run.
    """
    differences = [difference for cell in verify(run) for difference in cell.differences]
    if differences:
        first = differences[0]
        raise InputError(
            f"{run} is not merged: {counted(len(differences), 'stored value')} not as recomputed, "
            f"such as cell {first.cell[:12]}: {first.detail}\n"
            f"run `chunkmark verify {run}` to see all of them"
        )
    tasks: dict[str, StoredCell] = {}
    for cell in cells:
        tasks.setdefault(cell.names["dataset"], cell)
    left_out: set[str] = set()
    for cell in read_stored_cells(run):
        if cell.names["dataset"] in tasks:
            refuse_other(tasks[cell.names["dataset"]], cell)
            yield cell
        else:
            left_out.add(cell.names["dataset"])
    for task in sorted(left_out):
        warnings.warn(f"{run}: {task} is not a task of this board; it is left out", stacklevel=2)
