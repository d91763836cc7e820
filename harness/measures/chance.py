"""The random reference: what a random order of the whole corpus scores on average."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.evaluate import included, limit_of, mean_over, weights
from harness.measures.gold_ranks import shared_gold_ranks
from harness.measures.grammar import family_of
from harness.measures.random_numbers import permutation, words
from harness.measures.views import view_of, views

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.measures.cell import Cell
    from harness.measures.gold_ranks import GoldRanks
    from harness.measures.gold_tables import GoldTables
    from harness.measures.grammar import Measure
    from harness.measures.profiles import Profile
    from harness.measures.views import View, ViewName
    from harness.support.arrays import Bools, Floats, Ints


PERMUTATIONS = 200


@dataclass(frozen=True)
class Chance:
    """The expected values of one measure.

    Attributes:
        per_query: Shape (q,).
        mean: Over the queries that the profile includes; None where there are none.
        standard_error: The error of that mean, from the permutations; 0 where it is exact.
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

    Exact where a measure has a closed form. Elsewhere, and in measures of ranks for queries with
    twins or repeated units, it is the mean over seeded permutations (2 or more) of each corpus,
    which its queries share. For measures that need scores, each place is one step down. The
    rankings of the cell play no part.
    """
    seen = views(cell, measures, profile)
    gold = seen["chunks"].gold
    mask = included(gold, spans=cell.spans, absent=cell.absent)[0]
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
        mean = mean_over(exact, mask, gold, str(measure))
        result[str(measure)] = Chance(exact, mean, 0.0)
        if by_order.any():
            simulated[measure] = by_order
    values = _simulate(cell, seen, list(simulated), seed, permutations)
    for measure, by_order in simulated.items():
        name = str(measure)
        known, error = _with_error(result[name], values[measure], by_order, mask, gold)
        result[name] = Chance(known, mean_over(known, mask, gold, name), error)
    return result


def _simulate(
    cell: Cell, seen: Mapping[ViewName, View], measures: Sequence[Measure], seed: int, count: int
) -> dict[Measure, Floats]:
    """Values in every permutation, shape (count, q)."""
    profile = seen["chunks"].gold.profile
    names = {measure: view_of(measure, cell, profile) or "chunks" for measure in measures}
    values = {measure: np.zeros((count, len(cell.queries))) for measure in measures}
    sources = [words((seed, number)) for number in range(len(cell.corpora))]
    for number in range(count if measures else 0):
        orders = [
            permutation(source, len(units.size))
            for units, source in zip(cell.corpora, sources, strict=True)
        ]
        ranks = {name: _shared_ranks(seen[name], orders) for name in {*names.values()}}
        for measure, out in values.items():
            out[number] = family_of(measure).evaluate(ranks[names[measure]], limit_of(measure))
    return values


def _shared_ranks(view: View, orders: Sequence[Ints]) -> GoldRanks:
    ranked = [view.order(corpus, order, None) for corpus, order in enumerate(orders)]
    return shared_gold_ranks(view.gold, view.corpora, ranked)


def _with_error(
    known: Chance | None, values: Floats, rows: Bools, mask: Bools, gold: GoldTables
) -> tuple[Floats, float]:
    """The values with those of the simulated queries, and the error of the mean over all."""
    exact = np.zeros(len(rows)) if known is None else known.per_query
    mean = np.cumsum(values, axis=0)[-1] / len(values)
    per_query = np.where(rows, mean, exact)
    counted = rows & mask
    # The queries of a corpus share its permutations, so the error is that of whole means.
    shares = values[:, counted] * weights(mask, gold)[counted]
    means = np.cumsum(shares, axis=1)[:, -1] if counted.any() else None
    error = 0.0 if means is None else float(means.std(ddof=1)) / math.sqrt(len(values))
    return per_query, error
