"""The oracle: for each query and measure, the largest value of any ranking of the corpus.

The maximum is over all orders of all subsets of the units; a ranking may stop early.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.best_spans import best_spans
from harness.measures.evaluate import included, limit_of, mean_over
from harness.measures.gold_ranks import relevant_first
from harness.measures.grammar import family_of
from harness.measures.projection import BestRuns
from harness.measures.views import view_of, views

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.measures.cell import Cell
    from harness.measures.grammar import Measure
    from harness.measures.profiles import Profile
    from harness.support.arrays import Floats


@dataclass(frozen=True)
class Oracle:
    """The best values of one measure.

    Attributes:
        per_query: Shape (q,).
        mean: Over the queries that the profile includes; None where there are none.
        exact: Whether every included value is reached. Otherwise some are bounds, and the mean is
            printed with ≤.
    """

    per_query: Floats
    mean: float | None
    exact: bool


def oracle(cell: Cell, measures: Sequence[Measure], profile: Profile) -> dict[str, Oracle | None]:
    """The best values by printed name; None for a measure that does not apply to the cell.

    Only the gold and the units of the cell matter, not its rankings.
    """
    names = {measure: view_of(measure, cell, profile) for measure in measures}
    seen = views(cell, [measure for measure in measures if names[measure] == "runs"], profile)
    gold = seen["chunks"].gold
    best = relevant_first(gold)
    mask, _ = included(gold, spans=cell.spans, absent=cell.absent)
    budgets = sorted({limit_of(each) for each in measures if names[each] and _has_budget(each)})
    spans = best_spans(cell, budgets, merge=profile.assemble == "merge") if budgets else {}
    runs = None
    if "runs" in seen and cell.projection is not None:
        view = seen["runs"]
        runs = BestRuns.of(cell.projection, view.gold, view.corpora, view.layouts)
    result: dict[str, Oracle | None] = dict.fromkeys(map(str, measures))
    for measure, name in names.items():
        family, limit = family_of(measure), limit_of(measure)
        if name is None:
            continue
        if runs is not None and name == "runs":
            values, exact = runs.values(family, limit)
        elif _has_budget(measure):
            values, exact = spans[limit][family.name]
        else:
            values = family.evaluate(best, limit)
            exact = np.ones(len(values), dtype=np.bool_)
        mean = mean_over(values, mask, gold, str(measure))
        result[str(measure)] = Oracle(values, mean, bool(exact[mask].all()))
    return result


def _has_budget(measure: Measure) -> bool:
    return family_of(measure).cut == "budget"
