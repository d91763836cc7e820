"""The units that the measures of a cell see: chunks, text delivered once, or runs of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from harness.measures.gold_ranks import gold_ranks
from harness.measures.gold_tables import gold_tables
from harness.measures.grammar import family_of
from harness.measures.merged import Cuts, merged_gold
from harness.measures.projection import RunLayout, levels, run_gold, run_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from harness.measures.cell import Cell, Units
    from harness.measures.gold_ranks import GoldRanks
    from harness.measures.gold_tables import GoldTables
    from harness.measures.grammar import Measure
    from harness.measures.profiles import Profile
    from harness.support.arrays import Floats, Ints


ViewName = Literal["chunks", "merged", "runs"]
"""`chunks`: as ranked; `merged`: their text, each character once; `runs`: runs of lines."""


@dataclass(frozen=True)
class View:
    """One kind of units, and the gold in them.

    Attributes:
        gold: The gold.
        corpora: The units of each corpus.
        order: The ranking of these units that a ranking of chunks gives; called with the number of
            the corpus, the chunks, and their scores, None where each place is one step down.
        layouts: The runs of lines of each corpus; empty in other views.
    """

    gold: GoldTables
    corpora: tuple[Units, ...]
    order: Callable[[int, Ints, Floats | None], Ints]
    layouts: tuple[RunLayout, ...] = ()

    def ranks(self, cell: Cell) -> GoldRanks:
        """Look the gold up in the rankings of the cell."""
        scores = [None] * len(cell.gold) if cell.projection is None else cell.projection.scores
        orders = (
            self.order(gold.corpus, ranking, row)
            for gold, ranking, row in zip(cell.gold, cell.ranking, scores, strict=True)
        )
        return gold_ranks(self.gold, self.corpora, orders)


def view_of(measure: Measure, cell: Cell, profile: Profile) -> ViewName | None:
    """How a measure sees a cell; None where it does not apply.

    Raises:
        InputError: A measure of an unknown family.
    """
    family = family_of(measure)
    if family.lines and not cell.spans:
        return None
    if family.projected:
        return None if cell.projection is None else "runs"
    return "merged" if family.cut == "budget" and profile.assemble == "merge" else "chunks"


def views(cell: Cell, measures: Iterable[Measure], profile: Profile) -> dict[ViewName, View]:
    """The cell in all views that the measures need, and always as chunks."""
    wanted = {view_of(measure, cell, profile) for measure in measures}
    result: dict[ViewName, View] = {
        "chunks": View(
            gold_tables(cell, profile), cell.corpora, lambda _corpus, ranking, _: ranking
        )
    }
    if "merged" in wanted:
        cuts = [Cuts.of(units) for units in cell.corpora]
        once = merged_gold(cell, cuts)
        result["merged"] = View(
            gold_tables(once, profile),
            once.corpora,
            lambda corpus, ranking, _: cuts[corpus].order(ranking)[0],
        )
    if "runs" in wanted and cell.projection is not None:
        corpora = run_units(cell.projection)
        layouts = tuple(RunLayout.of(runs) for runs in cell.projection.runs)

        def order(corpus: int, ranking: Ints, scores: Floats | None) -> Ints:
            places = np.arange(len(ranking))[::-1]
            return layouts[corpus].order(ranking, places if scores is None else levels(scores))

        gold = run_gold(cell, cell.projection, corpora, profile)
        result["runs"] = View(gold, corpora, order, layouts)
    return result
