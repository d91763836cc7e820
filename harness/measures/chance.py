"""The random anchor: what a random order of the whole corpus scores on average."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.evaluate import included, limit_of, mean_over, weights
from harness.measures.grammar import family_of
from harness.measures.ranked import NEVER, place_shared, set_file_ranks
from harness.measures.seeded import permutation, words
from harness.measures.tables import gold_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from harness.measures.grammar import Measure
    from harness.measures.inputs import Cell
    from harness.measures.ranked import Ranked
    from harness.measures.tables import GoldTables
    from harness.profiles import Profile

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
    its queries share.

    Args:
        cell: Its gold and units; its rankings play no part.
        measures: What to compute.
        profile: The conventions, such as which queries the means are over.
        seed: 0 or above.
        permutations: How many, at least 2.
    """
    gold = gold_tables(cell, profile)
    mask = included(cell, profile)[0]
    by_order_alone = gold.twin.count() + gold.again.count() > 0
    result: dict[str, Chance | None] = {}
    simulated: dict[Measure, Bools] = {}
    for measure in measures:
        family = family_of(measure)
        result[str(measure)] = None
        if family.lines and not cell.spans:
            continue
        exact = None if family.chance is None else family.chance(gold, limit_of(measure))
        if exact is None:
            exact, by_order = np.zeros(gold.n_queries), np.ones(gold.n_queries, dtype=np.bool_)
        else:
            by_order = np.zeros_like(by_order_alone) if family.lines else by_order_alone
        result[str(measure)] = Chance(exact, mean_over(exact, mask, gold), 0.0)
        if by_order.any():
            simulated[measure] = by_order
    if simulated:
        for name, values in _simulate(cell, gold, simulated, seed, permutations).items():
            result[name] = _with_error(result[name], *values, mask, gold)
    return result


def _simulate(
    cell: Cell, gold: GoldTables, simulated: dict[Measure, Bools], seed: int, count: int
) -> dict[str, tuple[Floats, Bools]]:
    """Values in every permutation, shape (count, q), and which queries they are for."""
    values = {measure: np.zeros((count, gold.n_queries)) for measure in simulated}
    for number, ranked in enumerate(_orders(cell, gold, seed, count)):
        for measure, out in values.items():
            out[number] = family_of(measure).evaluate(ranked, limit_of(measure))
    return {str(measure): (values[measure], rows) for measure, rows in simulated.items()}


def _orders(cell: Cell, gold: GoldTables, seed: int, count: int) -> Iterator[Ranked]:
    sources = [words((seed, number)) for number in range(len(cell.corpora))]
    shape = (len(cell.corpora), gold.missing_unit + 1)
    rank = np.full(shape, NEVER, dtype=np.int64)
    before = np.full(shape, NEVER, dtype=np.int64)
    files = np.full((len(cell.corpora), gold.missing_file + 1), NEVER, dtype=np.int64)
    total = np.array([units.size.sum() for units in cell.corpora], dtype=np.int64)
    for _ in range(count):
        for number, (units, source) in enumerate(zip(cell.corpora, sources, strict=True)):
            order = permutation(source, len(units.size))
            sizes = units.size[order]
            rank[number, order] = np.arange(1, len(order) + 1)
            before[number, order] = np.cumsum(sizes) - sizes
            set_file_ranks(units.file[order], files[number])
        yield place_shared(gold, rank, before, files, total)


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
