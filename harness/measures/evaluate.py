"""Computes the measures of one cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.measures.gold_ranks import UNCUT, gold_ranks
from harness.measures.grammar import family_of
from harness.measures.views import view_of, views
from harness.support.arrays import mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from harness.measures.cell import Cell
    from harness.measures.gold_ranks import GoldRanks
    from harness.measures.gold_tables import GoldTables
    from harness.measures.grammar import Measure
    from harness.measures.profiles import Profile
    from harness.support.arrays import Bools, Floats, Ints


ABSENT = "absent from the rankings"


@dataclass(frozen=True)
class Scores:
    """The values of one cell, keyed by the printed name of the measure.

    Attributes:
        queries: Ids, in the order of the arrays, shape (q,).
        corpus: Group of each query's corpus in means, shape (q,).
        included: Which queries the means are over, shape (q,).
        counted: The same for each measure: a profile may take one over more queries.
        left_out: Number of queries that are not included, by reason.
        per_query: Values, shape (q,); None for a measure that does not apply to the cell.
        mean: Mean over the counted queries as the profile takes it, summed in their order; None
            where a measure does not apply or no query is counted.
    """

    queries: tuple[str, ...]
    corpus: Ints
    included: Bools
    counted: Mapping[str, Bools]
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
        return {corpus: mean(values[of]) for corpus, of in rows.items()}


def evaluate(cell: Cell, measures: Sequence[Measure], profile: Profile) -> Scores:
    """Compute `measures` for every query of `cell`.

    Raises:
        InputError: A measure of an unknown family.
    """
    seen = views(cell, measures, profile)
    ranks = {name: view.ranks(cell) for name, view in seen.items()}
    gold = seen["chunks"].gold
    own = None
    if profile.own_order and cell.mrr_ranking is not None:
        own = gold_ranks(gold, cell.corpora, cell.mrr_ranking)

    def ranks_for(measure: Measure) -> GoldRanks | None:
        view = view_of(measure, cell, profile)
        if view is not None and own is not None and measure.family in profile.own_order:
            return own
        return None if view is None else ranks[view]

    kept = included(gold, spans=cell.spans, absent=cell.absent)
    return score_ranks(cell.queries, gold, ranks_for, kept, measures)


def score_ranks(
    queries: Sequence[str],
    gold: GoldTables,
    ranks_for: Callable[[Measure], GoldRanks | None],
    kept: tuple[Bools, dict[str, int]],
    measures: Sequence[Measure],
) -> Scores:
    """Compute measures from the ranks of gold.

    Args:
        queries: Ids.
        gold: Their gold.
        ranks_for: The ranks that a measure is computed from; None if it does not apply.
        kept: What `included` returns.
        measures: Distinct.
    """
    profile, (mask, left_out) = gold.profile, kept
    counted: dict[str, Bools] = {}
    per_query: dict[str, Floats | None] = {}
    for measure in measures:
        name, ranks = str(measure), ranks_for(measure)
        has_own = measure.family in profile.own_order
        over_all = has_own and profile.mrr == "as-given-over-all-judged"
        counted[name] = np.ones_like(mask) if over_all else mask
        per_query[name] = None
        if ranks is not None:
            per_query[name] = family_of(measure).evaluate(ranks, limit_of(measure))
    return Scores(
        queries=tuple(queries),
        corpus=gold.group,
        included=mask,
        counted=counted,
        left_out=left_out,
        per_query=per_query,
        mean={
            name: mean_over(values, counted[name], gold, name) for name, values in per_query.items()
        },
    )


def included(
    gold: GoldTables, *, spans: bool, absent: Bools | None
) -> tuple[Bools, dict[str, int]]:
    """The queries in the profile's means, shape (q,), and counts of the others by reason.

    A query whose gold is lines of files (`spans`) is always included, covered by a chunk or not: a
    chunker cannot take a query out of a mean. `absent` are queries that the run lacks, shape (q,).
    """
    profile = gold.profile
    mask = np.ones(gold.n_queries, dtype=np.bool_)
    left_out = {}
    if not spans and profile.nothing_relevant == "left-out":
        mask = gold.n_relevant > 0
        grades = "of 0 or less" if profile.rel is None else f"below {profile.rel:g}"
        left_out[f"only grades {grades}"] = int((~mask).sum())
    if absent is not None and profile.absent == "left-out":
        left_out[ABSENT] = int((mask & absent).sum())
        mask &= ~absent
    return mask, {why: n for why, n in left_out.items() if n}


def limit_of(measure: Measure) -> int:
    """The cut-off as a number; beyond every rank for an uncut measure."""
    return UNCUT if measure.cut is None else measure.cut


def mean_over(values: Floats | None, mask: Bools, gold: GoldTables, measure: str) -> float | None:
    """Mean over the marked queries as the profile takes it; None without values or queries."""
    if values is None or not mask.any():
        return None
    parts = values[mask]
    if gold.profile.mean == "corpora":
        corpora = np.unique(gold.group[mask])
        parts = np.array([mean(values[mask & (gold.group == corpus)]) for corpus in corpora])
    return gold.profile.round(mean(parts), measure)


def weights(mask: Bools, gold: GoldTables) -> Floats:
    """The share that each query has in a mean over the marked ones, shape (q,)."""
    # Each is divided by the number of queries, or of queries and corpora, in the mean.
    among = np.full(len(mask), max(1, int(mask.sum())))
    if gold.profile.mean == "corpora":
        per_corpus = np.bincount(gold.group[mask], minlength=int(gold.group.max(initial=0)) + 1)
        among = np.maximum(per_corpus[gold.group], 1) * max(1, int((per_corpus > 0).sum()))
    share: Floats = mask / among
    return share
