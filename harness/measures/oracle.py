"""The oracle: for each query and measure, the most that any ranking of the corpus reaches.

The maximum is over all orders of all subsets of the units; a ranking may stop early.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.best_spans import best_spans
from harness.measures.evaluate import included, limit_of, mean_over
from harness.measures.grammar import family_of
from harness.measures.ranked import relevant_first
from harness.measures.tables import gold_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.measures.grammar import Measure
    from harness.measures.inputs import Cell
    from harness.profiles import Profile


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
    gold = gold_tables(cell, profile)
    best = relevant_first(gold)
    mask, _ = included(cell, profile)
    wanted = {one for one in measures if family_of(one).oracle is not None and cell.spans}
    spans = best_spans(cell, sorted({limit_of(one) for one in wanted})) if wanted else {}
    result: dict[str, Oracle | None] = {}
    for measure in measures:
        family = family_of(measure)
        if family.lines and not cell.spans:
            result[str(measure)] = None
            continue
        if family.oracle is None:
            values = family.evaluate(best, limit_of(measure))
            exact = np.ones(len(values), dtype=np.bool_)
        else:
            values, exact = family.oracle(spans[limit_of(measure)])
        result[str(measure)] = Oracle(
            values, mean_over(values, mask, gold), bool(exact[mask].all())
        )
    return result
