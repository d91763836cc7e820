"""Scores any rankings against any qrels: no corpus, no chunker, only ids."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import InputError
from harness.measures.evaluate import evaluate
from harness.measures.grammar import Measure, parse_measure
from harness.measures.inputs import Cell, Gold, Units
from harness.profiles import Profile, load_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Ranking = Mapping[str, float] | Sequence[str]

UNJUDGED = "no judgements"
ABSENT = "absent from the rankings"


@dataclass(frozen=True)
class Score:
    """What `score` returns; keyed by the measure's printed name.

    Attributes:
        profile: The profile's name.
        queries: The queries that the means are over, ascending.
        mean: Means; None for a measure that needs the lines of files, or without any query.
        per_query: Values by query id; None for a measure that needs the lines of files.
        left_out: Number of queries in no mean, by reason.
        as_zero: Number of queries that are in the means and score 0 for want of a ranking.
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
) -> Score:
    """Score rankings against qrels.

    Args:
        rankings: For each query document id -> score, or the ids in rank order.
        qrels: For each query document id -> grade; grades of 0 or less are not relevant.
        measures: Names such as `nDCG@10`. Measures of lines and files are skipped: None.
        profile: The conventions, such as the rule for ties.

    Raises:
        InputError: An unknown measure or profile, a score or grade that is no finite number, an
            id that stands twice in a ranking.
    """
    conventions = load_profile(profile) if isinstance(profile, str) else profile
    wanted = [parse_measure(one) if isinstance(one, str) else one for one in measures]
    orders = {query: _ordered(query, one, conventions) for query, one in rankings.items()}
    judged = sorted(query for query, row in qrels.items() if row)
    left_out = {UNJUDGED: len({*rankings, *qrels}.difference(judged))}
    absent = [query for query in judged if query not in rankings]
    if conventions.absent == "left-out":
        left_out[ABSENT] = len(absent)
        judged = [query for query in judged if query in rankings]
    scores = evaluate(_cell(judged, orders, qrels), wanted, conventions)
    kept = [query for query, here in zip(judged, scores.included, strict=True) if here]
    in_mean = set(kept)
    as_zero = sum(query in in_mean for query in absent)
    return Score(
        profile=conventions.name,
        queries=tuple(kept),
        mean=scores.mean,
        per_query={
            name: None
            if values is None
            else dict(zip(kept, values[scores.included].tolist(), strict=True))
            for name, values in scores.per_query.items()
        },
        left_out={why: n for why, n in (left_out | dict(scores.left_out)).items() if n},
        as_zero={ABSENT: as_zero} if as_zero else {},
    )


def rank_order(
    scores: NDArray[np.float64], ids: Sequence[str], profile: Profile
) -> NDArray[np.int64]:
    """Positions in rank order, ties by the rule for ids, shape (n,).

    Args:
        scores: Finite, shape (n,).
        ids: As many, all different.
        profile: Its `ties` says the rule: id ascending, or 32-bit scores and id descending.
    """
    last_first = profile.ties == "float32-id-desc"
    if last_first:
        with np.errstate(over="ignore"):  # beyond the range is infinite, as in trec_eval
            scores = scores.astype(np.float32).astype(np.float64)
    by_id = sorted(range(len(ids)), key=ids.__getitem__, reverse=last_first)
    positions = np.array(by_id, dtype=np.int64)
    return positions[np.argsort(-scores[positions], kind="stable")]


def _ordered(query: str, ranking: Ranking, profile: Profile) -> list[str]:
    """The ids of one ranking in rank order, checked."""
    if isinstance(ranking, str):
        raise InputError(
            f"query {query}: the ranking is the text {ranking!r}; give {{id: score}} or [id, ...]"
        )
    ids = list(ranking)
    odd = next((one for one in ids if not isinstance(one, str)), None)
    if odd is not None:
        raise InputError(f"query {query}: the document id {odd!r} is no text")
    if not isinstance(ranking, Mapping):
        if len(set(ids)) < len(ids):
            raise InputError(
                f"query {query}: {', '.join(_repeated(ids))} stands twice in the ranking; "
                "give every id once"
            )
        return ids
    values = [
        _finite(value, f"query {query}: the score of {one}") for one, value in ranking.items()
    ]
    return [ids[at] for at in rank_order(np.array(values, dtype=np.float64), ids, profile)]


def _repeated(ids: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    repeated: dict[str, None] = {}
    for one in ids:
        if one in seen:
            repeated[one] = None
        seen.add(one)
    return list(repeated)


def _finite(value: object, what: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]  # whatever the user gave
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, str) or not math.isfinite(number):
        raise InputError(f"{what} is {value!r}; a finite number is needed")
    return number


def _cell(
    queries: Sequence[str],
    orders: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, float]],
) -> Cell:
    """One corpus of all documents named anywhere; what weighs nothing here has size 0."""
    numbers: dict[str, int] = {}
    gold, ranking = [], []
    for query in queries:
        grades = {
            numbers.setdefault(doc, len(numbers)): _finite(
                grade, f"query {query}: the grade of {doc}"
            )
            for doc, grade in qrels[query].items()
        }
        relevant = sorted(doc for doc, grade in grades.items() if grade > 0)
        zero = sorted(doc for doc, grade in grades.items() if grade <= 0)
        gold.append(
            Gold(
                corpus=0,
                unit=np.array(relevant, dtype=np.int64),
                grade=np.array([grades[doc] for doc in relevant], dtype=np.float64),
                judged_zero=np.array(zero, dtype=np.int64),
            )
        )
        order = [numbers.setdefault(doc, len(numbers)) for doc in orders.get(query, ())]
        ranking.append(np.array(order, dtype=np.int64))
    nothing = np.zeros(len(numbers), dtype=np.int64)
    units = Units(size=nothing, file=nothing)
    return Cell(tuple(queries), (units,), tuple(gold), tuple(ranking), spans=False)
