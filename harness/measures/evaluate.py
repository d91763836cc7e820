"""Computes the measures of one cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.grammar import family_of
from harness.measures.ranked import NEVER, place
from harness.measures.tables import gold_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from harness.measures.grammar import Measure
    from harness.measures.inputs import Cell
    from harness.profiles import Profile

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Ints = NDArray[np.int64]

NOTHING_RELEVANT = "only grades of 0 or less"


@dataclass(frozen=True)
class Scores:
    """The values of one cell, keyed by the printed name of the measure.

    Attributes:
        queries: Ids, in the order of the arrays, shape (q,).
        corpus: Number of each query's corpus, shape (q,).
        included: Which queries the means are over, shape (q,).
        left_out: Number of queries in no mean, by reason.
        per_query: Values, shape (q,); None for a measure that does not apply to the cell.
        mean: Mean over the included queries, summed in their order; None where a measure does
            not apply or no query is included.
    """

    queries: tuple[str, ...]
    corpus: Ints
    included: Bools
    left_out: Mapping[str, int]
    per_query: Mapping[str, Floats | None]
    mean: Mapping[str, float | None]

    @property
    def n(self) -> int:
        """Queries in the means."""
        return int(self.included.sum())

    def corpus_means(self, name: str) -> dict[int, float] | None:
        """Mean of a measure over the included queries of each corpus that has any."""
        values = self.per_query[name]
        if values is None:
            return None
        rows = {
            int(corpus): self.included & (self.corpus == corpus)
            for corpus in np.unique(self.corpus[self.included])
        }
        return {corpus: _mean(values[of]) for corpus, of in rows.items()}


def evaluate(cell: Cell, measures: Sequence[Measure], profile: Profile) -> Scores:
    """Compute `measures` for every query of `cell`.

    Raises:
        InputError: A measure of an unknown family.
    """
    ranked = place(cell, gold_tables(cell))
    mask, left_out = included(cell, profile)
    per_query: dict[str, Floats | None] = {}
    for measure in measures:
        family = family_of(measure)
        applies = cell.spans or not family.lines
        per_query[str(measure)] = family.evaluate(ranked, limit_of(measure)) if applies else None
    return Scores(
        queries=cell.queries,
        corpus=ranked.gold.corpus,
        included=mask,
        left_out=left_out,
        per_query=per_query,
        mean={name: mean_over(values, mask) for name, values in per_query.items()},
    )


def included(cell: Cell, profile: Profile) -> tuple[Bools, dict[str, int]]:
    """Which queries of a cell the profile has in its means, shape (q,), and why others are not.

    A query whose gold is lines of files is always in, covered by a chunk or not: no chunker can
    take a query out of a mean.
    """
    mask = np.ones(len(cell.queries), dtype=np.bool_)
    if not cell.spans and profile.nothing_relevant == "left-out":
        mask = np.array([len(gold.unit) > 0 for gold in cell.gold], dtype=np.bool_)
    dropped = int((~mask).sum())
    return mask, ({NOTHING_RELEVANT: dropped} if dropped else {})


def limit_of(measure: Measure) -> int:
    """The cut-off as a number; beyond every rank for an uncut measure."""
    return NEVER - 1 if measure.cut is None else measure.cut


def mean_over(values: Floats | None, mask: Bools) -> float | None:
    """Mean over the marked queries, or None where there is nothing to take it over."""
    return None if values is None or not mask.any() else _mean(values[mask])


def _mean(values: Floats) -> float:
    return float(np.cumsum(values)[-1]) / len(values)  # cumsum adds left to right
