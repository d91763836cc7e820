"""The ranks of judged documents in rankings of ids, found without putting the ids in order.

The rank of a document is one more than the number of higher scores, plus its place among the ids of
the same score. So ids are compared only where a judged document has a tie.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import InputError
from harness.measures.gold_ranks import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.measures.profiles import Profile
    from harness.support.arrays import Floats, Ints

    Ranking = Mapping[str, float] | Sequence[str]


@dataclass(frozen=True)
class IdRankings:
    """Checked rankings of ids, r of them.

    Attributes:
        profile: The conventions.
        number: Query -> number of its ranking.
        rows: For each ranking id -> score; id -> place from 0 where it has no scores.
        repeats: Number of a ranking -> the places from 0 that repeat an id, with the id.
        count: Ids of each, shape (r,).
        scores: The scores of all, in the order of `rows`.
        bounds: Scores `bounds[i]` to `bounds[i + 1]` are those of ranking i: none where it has no
            scores; shape (r + 1,).
    """

    profile: Profile
    number: Mapping[str, int]
    rows: Sequence[Mapping[str, float]]
    repeats: Mapping[int, Sequence[tuple[int, str]]]
    count: Ints
    scores: Floats
    bounds: Ints

    def ranks(self, ranking: Ints, ids: Sequence[str], values: Floats, ties: str) -> Ints:
        """The ranks of ids, from 1; NEVER where they are not ranked.

        Args:
            ranking: The number of the ranking of each; those of one are neighbours; shape (n,).
            ids: The ids, n of them.
            values: Their values in `rows`, NaN where they are not ranked, shape (n,).
            ties: As in `Profile.id_ties`.
        """
        rank = np.full(len(ids), NEVER, dtype=np.int64)
        rows = np.flatnonzero(~np.isnan(values))
        scored = np.diff(self.bounds)[ranking[rows]] > 0
        rank[rows[~scored]] = values[rows[~scored]] + 1
        rows = rows[scored]
        number, wanted = ranking[rows], _compared(values[rows], ties)
        scores = _compared(self.scores, ties)
        ascending, bounds = scores.copy(), self.bounds.tolist()
        after = np.zeros(len(rows), dtype=np.int64)
        first = np.flatnonzero(np.diff(number, prepend=-1))
        edges = [*first.tolist(), len(rows)]
        for low, high, of in zip(edges, edges[1:], number[first].tolist(), strict=False):
            own = ascending[bounds[of] : bounds[of + 1]]
            own.sort()
            after[low:high] = own.searchsorted(wanted[low:high], "right")
        begin = self.bounds[number]
        rank[rows] = self.bounds[number + 1] - begin - after + 1
        tied = (after > 1) & (ascending[begin + after - 2] == wanted)
        among: dict[tuple[int, float], dict[str, int]] = {}
        for at in np.flatnonzero(tied).tolist():
            key = int(number[at]), float(wanted[at])
            if key not in among:
                among[key] = self._order_of_equals(*key, scores, ties)
            rank[rows[at]] += among[key][ids[rows[at]]]
        return rank

    def _order_of_equals(
        self, number: int, score: float, scores: Floats, ties: str
    ) -> dict[str, int]:
        """The ids of a ranking with one score, each with its place among them, from 0."""
        names = list(self.rows[number])
        own = scores[self.bounds[number] : self.bounds[number + 1]]
        equal = [names[at] for at in np.flatnonzero(own == score).tolist()]
        order = rank_order(np.zeros(len(equal)), equal, ties)
        return {equal[at]: place for place, at in enumerate(order.tolist())}


def read_rankings(rankings: Mapping[str, Ranking], profile: Profile) -> IdRankings:
    """Check rankings.

    Raises:
        InputError: An id that is not a text, a score that is not a finite number, or a repeated id
            where the profile refuses it.
    """
    rows: list[Mapping[str, float]] = []
    repeats: dict[int, list[tuple[int, str]]] = {}
    counts, n_scores = [], []
    scores: list[float] = []
    scored: list[tuple[str, Mapping[str, float]]] = []
    for query, given in rankings.items():
        _check_form(query, given)
        ranking = _without(given, query) if profile.same_id == "dropped" else given
        counts.append(len(ranking))
        n_scores.append(len(ranking) if isinstance(ranking, Mapping) else 0)
        if isinstance(ranking, Mapping):
            rows.append(ranking)
            scored.append((query, ranking))
            scores.extend(ranking.values())
            continue
        # Of a repeated id the first place counts.
        places = dict(zip(reversed(ranking), range(len(ranking) - 1, -1, -1), strict=True))
        if len(places) < len(ranking):
            again = [(at, name) for at, name in enumerate(ranking) if places[name] != at]
            if profile.repeats == "refused":
                twice = ", ".join(sorted({name for _, name in again}, key=places.__getitem__))
                raise InputError(
                    f"query {query}: duplicate {twice} in the ranking; give every id once"
                )
            repeats[len(rows)] = again
        rows.append(places)
    names = (f"query {of}: the score of {name}" for of, row in scored for name in row)
    return IdRankings(
        profile=profile,
        number={query: at for at, query in enumerate(rankings)},
        rows=rows,
        repeats=repeats,
        count=np.array(counts, dtype=np.int64),
        scores=finite_numbers(scores, names),
        bounds=np.cumsum([0, *n_scores]),
    )


def rank_order(scores: Floats, ids: Sequence[str], ties: str) -> Ints:
    """Positions of finite scores in rank order, shape (n,); `ties` is as in `Profile.id_ties`."""
    scores = _compared(scores, ties)
    if ties == "as-given":
        return np.argsort(-scores, kind="stable")
    by_id = sorted(range(len(ids)), key=ids.__getitem__, reverse=ties.endswith("id-desc"))
    positions = np.array(by_id, dtype=np.int64)
    return positions[np.argsort(-scores[positions], kind="stable")]


def _compared(scores: Floats, ties: str) -> Floats:
    """Scores as they are compared."""
    if ties != "float32-id-desc":
        return scores
    with np.errstate(over="ignore"):  # beyond the range is infinite, as in trec_eval
        return scores.astype(np.float32).astype(np.float64)


def check_texts(names: Iterable[object], what: str, advice: str = "") -> None:
    """Refuse ids that are not texts: 7 and "7" would silently not match."""
    if not {str}.issuperset(map(type, names)):
        odd = next((name for name in names if not isinstance(name, str)), None)
        if odd is not None:
            raise InputError(f"{what} {odd!r} is not a text{advice}")


def _check_form(query: str, ranking: object) -> None:
    form = "give {id: score} or [id, ...]"
    if isinstance(ranking, str):
        raise InputError(f"query {query}: the ranking is the text {ranking!r}; {form}")
    if not isinstance(ranking, Mapping | list | tuple):
        # An iterator can be read once, and a set has no order.
        raise InputError(f"query {query}: the ranking is a {type(ranking).__name__}; {form}")
    check_texts(ranking, f"query {query}: the document id", f"; {form}")


def _without(ranking: Ranking, query: str) -> Ranking:
    """A ranking without the document that has the id of its query."""
    if query not in ranking:
        return ranking
    if isinstance(ranking, Mapping):
        return {name: score for name, score in ranking.items() if name != query}
    return [name for name in ranking if name != query]


def finite_numbers(values: Sequence[object], names: Iterable[str]) -> Floats:
    """Numbers as an array, shape (n,); `names` says what each is.

    Raises:
        InputError: One is not a finite number.
    """
    # numpy would read texts as numbers.
    if not any(issubclass(kind, str) for kind in set(map(type, values))):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            numbers = np.fromiter(values, np.float64, len(values))
            if np.isfinite(numbers).all():
                return numbers
    return np.array([_finite(value, name) for value, name in zip(values, names, strict=True)])


def _finite(value: object, what: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]  # of any type
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, str) or not math.isfinite(number):
        raise InputError(f"{what} is {value!r}; a finite number is needed")
    return number
