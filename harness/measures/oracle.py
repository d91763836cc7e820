"""The oracle: for each query and measure, the most that any ranking of the corpus reaches.

The maximum is over all orders of all subsets of the units; a ranking may stop early.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.best_merged import best_merged
from harness.measures.best_runs import best_runs
from harness.measures.best_spans import best_spans
from harness.measures.evaluate import included, limit_of, mean_over
from harness.measures.grammar import family_of
from harness.measures.ranked import relevant_first
from harness.measures.views import view_of, views

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.measures.best_spans import BestSpans
    from harness.measures.grammar import Measure
    from harness.measures.inputs import Cell
    from harness.measures.profiles import Profile
    from harness.measures.views import View

_SOLVED: dict[View, Callable[[Cell, Sequence[int]], dict[int, BestSpans]]] = {
    "units": best_spans,
    "merged": best_merged,
}


@dataclass(frozen=True)
class Oracle:
    """The best values of one measure.

    Attributes:
        per_query: Shape (q,).
        mean: Over the queries that the profile includes; None where there are none.
        exact: Whether every included value is reached. Else some are bounds, and the mean is
            printed with ≤.
    """

    per_query: NDArray[np.float64]
    mean: float | None
    exact: bool


def oracle(cell: Cell, measures: Sequence[Measure], profile: Profile) -> dict[str, Oracle | None]:
    """The best values by printed name; None for a measure that does not apply to the cell.

    The rankings of the cell play no part, only its gold and its units.
    """
    kinds = {one: view_of(one, cell, profile) for one in measures}
    seen = views(cell, [one for one in measures if kinds[one] == "runs"], profile)
    gold = seen["units"].gold
    best = relevant_first(gold)
    mask, _ = included(cell, profile)
    spans = {
        view: solved(cell, budgets)
        for view, solved in _SOLVED.items()
        if (budgets := _budgets(kinds, view))
    }
    runs = None
    if "runs" in seen and cell.projection is not None:
        runs = best_runs(cell.projection, seen["runs"].gold)
    result: dict[str, Oracle | None] = {}
    for measure, view in kinds.items():
        family, limit = family_of(measure), limit_of(measure)
        if view is None:
            result[str(measure)] = None
            continue
        if runs is not None and view == "runs":
            values, exact = runs.of(family, limit)
        elif family.oracle is not None:
            values, exact = family.oracle(spans[view][limit])
        else:
            values = family.evaluate(best, limit)
            exact = np.ones(len(values), dtype=np.bool_)
        result[str(measure)] = Oracle(
            values, mean_over(values, mask, gold), bool(exact[mask].all())
        )
    return result


def _budgets(kinds: Mapping[Measure, View | None], view: View) -> list[int]:
    """The budgets of the measures that see a cell in one view."""
    spans = [one for one in kinds if kinds[one] == view and family_of(one).oracle is not None]
    return sorted({limit_of(one) for one in spans})
