"""Scores any rankings against any qrels: no corpus, no chunker, only ids."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import InputError
from harness.measures.cell import Cell, Gold, Units
from harness.measures.evaluate import ABSENT, evaluate
from harness.measures.grammar import Measure, parse_measure
from harness.measures.profiles import Profile, load_profile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from harness.support.arrays import Bools, Floats, Ints

    Ranking = Mapping[str, float] | Sequence[str]
    _Orders = tuple[Sequence[str], Sequence[str]]
    _Numbers = dict[str | tuple[str, int], int]

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
    _check_ids(rankings, qrels)
    conventions = load_profile(profile) if isinstance(profile, str) else profile
    wanted = [parse_measure(name) if isinstance(name, str) else name for name in measures]
    orders = {query: _ordered(query, row, conventions) for query, row in rankings.items()}
    judged = {query for query, row in qrels.items() if row}
    everyone = judged | orders.keys() | qrels.keys()
    wanted_queries = judged if conventions.no_judgements == "left-out" else everyone
    queries = query_order(wanted_queries, rankings, conventions)
    scores = evaluate(_cell(queries, orders, qrels, inferred_gold), wanted, conventions)
    kept = [query for query, here in zip(queries, scores.included, strict=True) if here]
    left_out = {UNJUDGED: len(everyone) - len(queries), **scores.left_out}
    as_zero = {
        ABSENT: sum(query not in orders for query in kept),
        UNJUDGED: sum(query in orders and query not in judged for query in kept),
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


def query_order(queries: AbstractSet[str], rankings: Iterable[str], profile: Profile) -> list[str]:
    """Queries in the order in which the profile adds their values; absent ones come last."""
    if profile.sums == "by-query-id":
        return sorted(queries)
    present = [query for query in rankings if query in queries]
    return present + sorted(queries - set(present))


def _check_ids(rankings: Iterable[str], qrels: Mapping[str, Iterable[str]]) -> None:
    """Refuse ids that are not texts: 7 and "7" would silently not match."""
    for query in (*rankings, *qrels):
        if not isinstance(query, str):
            raise InputError(f"the query id {query!r} is not a text")
    for query, row in qrels.items():
        odd = next((name for name in row if not isinstance(name, str)), None)
        if odd is not None:
            raise InputError(f"query {query}: the judged document id {odd!r} is not a text")


def _by_query(queries: Sequence[str], values: Floats, counted: Bools) -> dict[str, float]:
    rows = np.flatnonzero(counted).tolist()
    return dict(zip([queries[row] for row in rows], values[counted].tolist(), strict=True))


def rank_order(scores: Floats, ids: Sequence[str], ties: str) -> Ints:
    """Positions of finite scores in rank order, shape (n,); `ties` is as in `Profile.id_ties`."""
    if ties == "as-given":
        return np.argsort(-scores, kind="stable")
    if ties == "float32-id-desc":
        with np.errstate(over="ignore"):  # beyond the range is infinite, as in trec_eval
            scores = scores.astype(np.float32).astype(np.float64)
    by_id = sorted(range(len(ids)), key=ids.__getitem__, reverse=ties.endswith("id-desc"))
    positions = np.array(by_id, dtype=np.int64)
    return positions[np.argsort(-scores[positions], kind="stable")]


def _ordered(query: str, ranking: Ranking, profile: Profile) -> _Orders:
    """The ids of one ranking in rank order, and in the order of the profile's `mrr`, checked."""
    if isinstance(ranking, str):
        raise InputError(
            f"query {query}: the ranking is the text {ranking!r}; give {{id: score}} or [id, ...]"
        )
    if not isinstance(ranking, Mapping | list | tuple):
        # An iterator can be read once, and a set has no order.
        raise InputError(
            f"query {query}: the ranking is a {type(ranking).__name__}; "
            "give {id: score} or [id, ...]"
        )
    odd = next((name for name in ranking if not isinstance(name, str)), None)
    if odd is not None:
        raise InputError(f"query {query}: the document id {odd!r} is not a text")
    ids = [name for name in ranking if name != query or profile.same_id == "kept"]
    if not isinstance(ranking, Mapping):
        repeated = [name for name, n in Counter(ids).items() if n > 1]
        if repeated and profile.repeats == "refused":
            raise InputError(
                f"query {query}: duplicate {', '.join(repeated)} in the ranking; give every id once"
            )
        return ids, ids
    values = np.array(
        [_finite(ranking[name], f"query {query}: the score of {name}") for name in ids],
        dtype=np.float64,
    )
    order = [ids[at] for at in rank_order(values, ids, profile.id_ties)]
    if profile.mrr == "as-ranked":
        return order, order
    ties = "as-given" if profile.mrr == "as-given-over-all-judged" else "id-desc"
    return order, [ids[at] for at in rank_order(values, ids, ties)]


def _finite(value: object, what: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]  # of any type
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, str) or not math.isfinite(number):
        raise InputError(f"{what} is {value!r}; a finite number is needed")
    return number


def _cell(
    queries: Sequence[str],
    orders: Mapping[str, _Orders],
    qrels: Mapping[str, Mapping[str, float]],
    inferred_gold: Collection[str],
) -> Cell:
    """One corpus of all documents in the rankings and qrels, of size 0."""
    numbers: _Numbers = {}
    gold, ranking, mrr_ranking = [], [], []
    for query in queries:
        grades = {
            numbers.setdefault(doc, len(numbers)): _finite(
                grade, f"query {query}: the grade of {doc}"
            )
            for doc, grade in qrels.get(query, {}).items()
        }
        ids, for_mrr = orders.get(query, ((), ()))
        units, repeats = _numbered(ids, numbers)
        ranking.append(units)
        mrr_ranking.append(units if for_mrr is ids else _numbered(for_mrr, numbers)[0])
        gold.append(_gold(grades, repeats, named=query not in inferred_gold))
    nothing = np.zeros(len(numbers), dtype=np.int64)
    return Cell(
        queries=tuple(queries),
        corpora=(Units(size=nothing, file=nothing),),
        gold=tuple(gold),
        ranking=tuple(ranking),
        spans=False,
        absent=np.array([query not in orders for query in queries], dtype=np.bool_),
        mrr_ranking=tuple(mrr_ranking),
    )


def _numbered(ids: Sequence[str], numbers: _Numbers) -> tuple[Ints, list[tuple[int, int]]]:
    """Units of a ranking. A repeated id is another unit, returned with its first."""
    if len(set(ids)) == len(ids):
        units = [numbers.setdefault(name, len(numbers)) for name in ids]
        return np.array(units, dtype=np.int64), []
    units, repeats = [], []
    seen: Counter[str] = Counter()
    for name in ids:
        first = numbers.setdefault(name, len(numbers))
        unit = numbers.setdefault((name, seen[name]), len(numbers)) if seen[name] else first
        seen[name] += 1
        units.append(unit)
        if unit != first:
            repeats.append((unit, first))
    return np.array(units, dtype=np.int64), repeats


def _gold(grades: Mapping[int, float], repeats: Sequence[tuple[int, int]], *, named: bool) -> Gold:
    relevant = sorted(doc for doc, grade in grades.items() if grade > 0)
    zero = [doc for doc, grade in grades.items() if grade <= 0]
    zero += [unit for unit, first in repeats if grades.get(first, 1) <= 0]
    return Gold(
        corpus=0,
        unit=np.array(relevant, dtype=np.int64),
        grade=np.array([grades[doc] for doc in relevant], dtype=np.float64),
        again=tuple((unit, first) for unit, first in repeats if grades.get(first, 0) > 0),
        judged_zero=np.array(sorted(zero), dtype=np.int64),
        negative=np.array([doc for doc, grade in grades.items() if grade < 0], dtype=np.int64),
        named=named,
    )
