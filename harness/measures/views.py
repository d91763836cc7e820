"""What the measures of a cell take for its units: chunks, text delivered once, or runs of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from harness.measures.grammar import family_of
from harness.measures.merged import merged_cell
from harness.measures.projected import place_runs, run_tables
from harness.measures.ranked import place
from harness.measures.tables import gold_tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.measures.grammar import Measure
    from harness.measures.inputs import Cell
    from harness.measures.profiles import Profile
    from harness.measures.ranked import Ranked
    from harness.measures.tables import GoldTables

View = Literal["units", "merged", "runs"]
"""`units`: as they are ranked. `merged`: their text, each character once. `runs`: runs of lines."""


@dataclass(frozen=True)
class Seen:
    """A cell in one view.

    Attributes:
        view: Which.
        cell: Its queries and rankings; in the view `merged` the units are pieces of chunks.
        gold: What is looked for.
    """

    view: View
    cell: Cell
    gold: GoldTables

    def place(self) -> Ranked:
        """Look the gold up in the rankings."""
        if self.view == "runs" and self.cell.projection is not None:
            return place_runs(self.cell, self.cell.projection, self.gold)
        return place(self.cell, self.gold)


def view_of(measure: Measure, cell: Cell, profile: Profile) -> View | None:
    """How a measure sees a cell; None where it does not apply.

    Raises:
        InputError: A measure of an unknown family.
    """
    family = family_of(measure)
    if family.lines and not cell.spans:
        return None
    if family.projected:
        return None if cell.projection is None else "runs"
    return "merged" if family.cut == "budget" and profile.assemble == "merge" else "units"


def views(cell: Cell, measures: Iterable[Measure], profile: Profile) -> dict[View, Seen]:
    """The cell in all views that the measures need, and as it is."""
    wanted = {"units", *(view_of(measure, cell, profile) for measure in measures)}
    result: dict[View, Seen] = {"units": Seen("units", cell, gold_tables(cell, profile))}
    if "merged" in wanted:
        once = merged_cell(cell)
        result["merged"] = Seen("merged", once, gold_tables(once, profile))
    if "runs" in wanted and cell.projection is not None:
        result["runs"] = Seen("runs", cell, run_tables(cell, cell.projection, profile))
    return result
