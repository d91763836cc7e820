"""Scores any rankings against any qrels: no corpus, no chunker, only ids."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import InputError
from harness.measures.evaluate import ABSENT, included, score_ranks
from harness.measures.gold_ranks import GoldRanks
from harness.measures.gold_tables import graded_tables
from harness.measures.grammar import Measure, family_of, parse_measure
from harness.measures.id_ranks import check_texts, finite_numbers, read_rankings
from harness.measures.profiles import Profile, load_profile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from harness.measures.evaluate import Scores
    from harness.measures.id_ranks import IdRankings, Ranking
    from harness.support.arrays import Bools, Floats, Ints

UNJUDGED = "no judgements"


@dataclass(frozen=True)
class Score:
    """The result of `score`, keyed by the measure's printed name.

    Attributes:
        profile: The profile's name.
        queries: The queries that the means are over, in the order of `query_order`.
        mean: Means; None for a measure that needs the lines of files, or without any query.
        per_query: Values by query id; None for a measure that needs the lines of files. Their
            queries are `queries`, or more where the profile takes a measure over more.
        left_out: Number of queries that are not in `queries`, by reason.
        as_zero: Number of `queries` that score 0 without a ranking or judgements, by reason.
    """

    profile: str
    queries: tuple[str, ...]
    mean: Mapping[str, float | None]
    per_query: Mapping[str, Mapping[str, float] | None]
    left_out: Mapping[str, int]
    as_zero: Mapping[str, int]

    @property
    def n(self) -> int:
        """Queries in the means."""
        return len(self.queries)


def score(
    rankings: Mapping[str, Ranking],
    qrels: Mapping[str, Mapping[str, float]],
    measures: Sequence[str | Measure],
    profile: str | Profile = "default",
    inferred_gold: Collection[str] = (),
) -> Score:
    """Score rankings against qrels.

    Args:
        rankings: For each query document id -> score, or the ids in rank order.
        qrels: For each query document id -> grade; grades of 0 or less are not relevant.
        measures: Names such as `nDCG@10`. Measures of lines and files are skipped: None.
        profile: The conventions, such as the rule for ties.
        inferred_gold: Queries whose qrels were derived from places or texts, not given by id.

    Raises:
        InputError: An unknown measure or profile, a score or grade that is not finite, a
            repeated id in a ranking where the profile refuses it.
    """
    _check_forms(rankings, qrels, measures)
    conventions = load_profile(profile) if isinstance(profile, str) else profile
    wanted = [parse_measure(name) if isinstance(name, str) else name for name in measures]
    ranked = read_rankings(rankings, conventions)
    judged = {query for query, row in qrels.items() if row}
    everyone = judged | rankings.keys() | qrels.keys()
    wanted_queries = judged if conventions.no_judgements == "left-out" else everyone
    queries = query_order(wanted_queries, rankings, conventions)
    scores = _evaluate(queries, ranked, qrels, inferred_gold, wanted)
    kept = [query for query, here in zip(queries, scores.included, strict=True) if here]
    left_out = {UNJUDGED: len(everyone) - len(queries), **scores.left_out}
    as_zero = {
        ABSENT: sum(query not in rankings for query in kept),
        UNJUDGED: sum(query in rankings and query not in judged for query in kept),
    }
    return Score(
        profile=conventions.name,
        queries=tuple(kept),
        mean=scores.mean,
        per_query={
            name: None if values is None else _by_query(queries, values, scores.counted[name])
            for name, values in scores.per_query.items()
        },
        left_out={why: n for why, n in left_out.items() if n},
        as_zero={why: n for why, n in as_zero.items() if n},
    )


def _check_forms(rankings: Mapping[str, Any], qrels: Mapping[str, Any], measures: object) -> None:
    """Refuse what cannot be rankings, qrels or measures; warn of rankings of other queries."""
    for name, given in (("rankings", rankings), ("qrels", qrels)):
        if not isinstance(given, Mapping):
            form = "{query id: ...}; for files, use `chunkmark score`"
            raise InputError(f"{name} is a {type(given).__name__}; give {form}")
        check_texts(given, "the query id")
    for query, row in qrels.items():
        if not isinstance(row, Mapping):
            kind = type(row).__name__
            raise InputError(f"query {query}: the judgements are a {kind}; give {{id: grade}}")
    if isinstance(measures, str):
        raise InputError(f"measures is the text {measures!r}; give a list, as in [{measures!r}]")
    if rankings and qrels and rankings.keys().isdisjoint(qrels):
        ranked, judged = next(iter(rankings)), next(iter(qrels))
        both = f"no query is in both: rankings has {ranked!r}, qrels has {judged!r}"
        warnings.warn(both, stacklevel=3)


def query_order(queries: AbstractSet[str], rankings: Iterable[str], profile: Profile) -> list[str]:
    """Queries in the order in which the profile adds their values; absent ones come last."""
    if profile.sums == "by-query-id":
        return sorted(queries)
    present = [query for query in rankings if query in queries]
    return present + sorted(queries - set(present))


def _by_query(queries: Sequence[str], values: Floats, counted: Bools) -> dict[str, float]:
    rows = np.flatnonzero(counted).tolist()
    return dict(zip([queries[row] for row in rows], values[counted].tolist(), strict=True))


def _evaluate(
    queries: Sequence[str],
    rankings: IdRankings,
    qrels: Mapping[str, Mapping[str, float]],
    inferred_gold: Collection[str],
    measures: Sequence[Measure],
) -> Scores:
    """The measures of ranks; those of lines and files have no values."""
    profile = rankings.profile
    rows = [qrels.get(query, {}) for query in queries]
    numbers = [rankings.number.get(query, -1) for query in queries]
    ids: list[str] = []
    grades: list[float] = []
    values: list[float] = []
    for query, row, number in zip(queries, rows, numbers, strict=True):
        check_texts(row, f"query {query}: the judged document id")
        ids += row
        grades += row.values()
        values += map((rankings.rows[number] if number >= 0 else {}).get, row, repeat(math.nan))
    of = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    owner = of.tolist()
    what = (f"query {queries[at]}: the grade of {id_}" for at, id_ in zip(owner, ids, strict=True))
    grade = finite_numbers(grades, what)
    found = np.fromiter(values, np.float64, len(values))
    ranking = np.array(numbers, dtype=np.int64)
    positive = grade > 0
    # An id that repeats a judged one counts each time.
    again_of, again_row, again_rank = _repeats(rows, numbers, rankings)
    gains = positive[again_row]
    zero_row = np.concatenate((np.flatnonzero(~positive), again_row[~gains]))
    by_query = np.argsort(of[zero_row], kind="stable")
    gold = graded_tables(
        profile,
        named=np.array([query not in inferred_gold for query in queries], dtype=np.bool_),
        relevant=of[positive],
        grade=grade[positive],
        again=again_of[gains],
        again_for=(np.cumsum(positive) - 1)[again_row[gains]],
        judged=of[zero_row][by_query],
        below=grade[zero_row][by_query] < 0,
    )

    def ranks(ties: str) -> GoldRanks:
        rank = rankings.ranks(ranking[of], ids, found, ties)
        zero_rank = np.concatenate((rank[~positive], again_rank[~gains]))
        nothing = np.zeros(0, dtype=np.int64)
        return GoldRanks(
            gold=gold,
            relevant=rank[positive],
            again=again_rank[gains],
            twin=nothing,
            judged=zero_rank[by_query],
            overlapping=nothing,
            file=nothing,
            before=nothing,
            retrieved=np.append(rankings.count, 0)[ranking],
            total=np.zeros(len(queries), dtype=np.int64),
        )

    usual = own = ranks(profile.id_ties)
    if profile.own_order:
        own = ranks("as-given" if profile.mrr == "as-given-over-all-judged" else "id-desc")

    def ranks_for(measure: Measure) -> GoldRanks | None:
        if family_of(measure).lines:
            return None
        return own if measure.family in profile.own_order else usual

    kept = included(gold, spans=False, absent=ranking < 0)
    return score_ranks(queries, gold, ranks_for, kept, measures)


def _repeats(
    rows: Sequence[Mapping[str, float]], numbers: Sequence[int], rankings: IdRankings
) -> tuple[Ints, Ints, Ints]:
    """Repeats of judged ids in the rankings: query, row of all judgements, and rank from 1."""
    begin = np.cumsum([0, *(len(row) for row in rows)]).tolist()
    repeats = [
        (query, begin[query] + list(rows[query]).index(name), place + 1)
        for query, number in enumerate(numbers)
        for place, name in rankings.repeats.get(number, ())
        if name in rows[query]
    ]
    query, row, rank = np.array(repeats, dtype=np.int64).reshape(-1, 3).T
    return query, row, rank
