"""The random anchor: what a random order of the whole corpus scores on average."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.evaluate import included, limit_of, mean_over, weights
from harness.measures.grammar import family_of
from harness.measures.merged import Cuts
from harness.measures.projected import Board, place_shared_runs
from harness.measures.ranked import place_orders
from harness.measures.seeded import permutation, words
from harness.measures.views import view_of, views

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.measures.grammar import Measure
    from harness.measures.inputs import Cell
    from harness.measures.profiles import Profile
    from harness.measures.ranked import Ranked
    from harness.measures.tables import GoldTables
    from harness.measures.views import Seen, View

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

PERMUTATIONS = 200


@dataclass(frozen=True)
class Chance:
    """The expected values of one measure.

    Attributes:
        per_query: Shape (q,).
        mean: Over the queries that the profile includes; None where there are none.
        standard_error: Of that mean, from the permutations; 0 where it is exact.
    """

    per_query: Floats
    mean: float | None
    standard_error: float


def chance(
    cell: Cell,
    measures: Sequence[Measure],
    profile: Profile,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> dict[str, Chance | None]:
    """The expected values by printed name; None for a measure that does not apply to the cell.

    Exact where a measure has a closed form. Elsewhere, and for queries with twins or units that
    count again in measures of ranks, the mean over seeded permutations of each corpus that all
    its queries share. Where scores count and not ranks alone, each place is one step down.

    Args:
        cell: Its gold and units; its rankings play no part.
        measures: What to compute.
        profile: The conventions, such as which queries the means are over.
        seed: 0 or above.
        permutations: How many, at least 2.
    """
    seen = views(cell, measures, profile)
    gold = seen["units"].gold
    mask = included(cell, profile)[0]
    by_order_alone = gold.twin.count() + gold.again.count() > 0
    result: dict[str, Chance | None] = {}
    simulated: dict[Measure, Bools] = {}
    for measure in measures:
        family = family_of(measure)
        result[str(measure)] = None
        if view_of(measure, cell, profile) is None:
            continue
        exact = None if family.chance is None else family.chance(gold, limit_of(measure))
        if exact is None:
            exact, by_order = np.zeros(gold.n_queries), np.ones(gold.n_queries, dtype=np.bool_)
        else:
            by_order = np.zeros_like(by_order_alone) if family.lines else by_order_alone
        result[str(measure)] = Chance(exact, mean_over(exact, mask, gold), 0.0)
        if by_order.any():
            simulated[measure] = by_order
    values = _simulate(cell, seen, list(simulated), (seed, permutations))
    for measure, by_order in simulated.items():
        name = str(measure)
        result[name] = _with_error(result[name], values[measure], by_order, mask, gold)
    return result


def _simulate(
    cell: Cell, seen: Mapping[View, Seen], measures: Sequence[Measure], drawn: tuple[int, int]
) -> dict[Measure, Floats]:
    """Values in every permutation, shape (count, q); `drawn` is the seed and the count."""
    gold, profile = seen["units"].gold, seen["units"].gold.profile
    view = {one: view_of(one, cell, profile) or "units" for one in measures}
    values = {one: np.zeros((drawn[1], gold.n_queries)) for one in measures}
    wanted = {name: seen[name] for name in seen if name in view.values()}
    for number, ranked in enumerate(_orders(cell, wanted, *drawn)):
        for one, out in values.items():
            out[number] = family_of(one).evaluate(ranked[view[one]], limit_of(one))
    return values


def _orders(
    cell: Cell, seen: Mapping[View, Seen], seed: int, count: int
) -> Iterator[dict[View, Ranked]]:
    """Random orders of every corpus, in the views that are wanted."""
    sources = [words((seed, number)) for number in range(len(cell.corpora))]
    cuts = [Cuts.of(units) for units in cell.corpora] if "merged" in seen else []
    boards = [Board.of(one) for one in cell.projection.runs] if cell.projection else []
    for _ in range(count if seen else 0):
        orders = [
            permutation(source, len(units.size))
            for units, source in zip(cell.corpora, sources, strict=True)
        ]
        ranked: dict[View, Ranked] = {}
        for view, one in seen.items():
            if view == "runs":
                ranked[view] = place_shared_runs(one.gold, boards, orders)
            elif view == "merged":
                once = [cut.order(order) for cut, order in zip(cuts, orders, strict=True)]
                ranked[view] = place_orders(one.gold, one.cell.corpora, once)
            else:
                ranked[view] = place_orders(one.gold, cell.corpora, orders)
        yield ranked


def _with_error(
    known: Chance | None, values: Floats, rows: Bools, mask: Bools, gold: GoldTables
) -> Chance:
    """Put the simulated queries in, with the error of the mean over all of them."""
    exact = np.zeros(len(rows)) if known is None else known.per_query
    mean = np.cumsum(values, axis=0)[-1] / len(values)
    per_query = np.where(rows, mean, exact)
    counted = rows & mask
    # The queries of a corpus share its permutations, so the error is that of whole means.
    shares = values[:, counted] * weights(mask, gold)[counted]
    means = np.cumsum(shares, axis=1)[:, -1] if counted.any() else None
    error = 0.0 if means is None else float(means.std(ddof=1)) / math.sqrt(len(values))
    return Chance(per_query, mean_over(per_query, mask, gold), error)
