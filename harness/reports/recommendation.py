"""What a contest says in sentences: who is better, who is still in, and what would decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.reports.contests import contends, contests, cost_of, differences
from harness.runs.health import TRUNCATION_MARK, truncated
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.reports.contests import Contest, MeasureResult
    from harness.runs.stored_values import StoredCell
    from harness.stats.comparison import Difference
    from harness.stats.sign_flips import Interval


BASELINE = "fixed"
"""The chunker that others are compared with in the answer of a run; without it, the first one."""


def points(value: float) -> str:
    """A difference of a measure in points: hundredths, with one decimal."""
    return f"{100 * value + 0.0:.1f}"


def points_interval(interval: Interval | None) -> str:
    """An interval in points."""
    return "" if interval is None else f"[{points(interval[0])}, {points(interval[1])}]"


def recommendation(contest: Contest, result: MeasureResult, margin: float) -> list[str]:
    """The sentences of a contest in which all pairs of contenders were compared.

    A winner is named only if it is better than every other contender. Else: who is out, who is
    still in, the cheapest of them, and the further queries that would decide.
    """
    names = [name for name in contest.contenders if name in result.best]
    pairs = [
        pair
        for pair in result.differences
        if pair.estimand == "these corpora" and {pair.a, pair.b} <= set(names)
    ]
    if not pairs:
        return [f"{result.measure}: fewer than two contenders have values; nothing is compared"]
    winner = next((name for name in names if _wins(name, names, pairs)), None)
    losers = {name: _beaten_by(name, pairs) for name in names}
    remaining = [name for name in names if losers[name] is None]
    if winner is not None:
        lines = [
            f"`{winner}` is better than every other contender by {result.measure}: "
            + ", ".join(_by(pair, winner) for pair in pairs if winner in (pair.a, pair.b))
        ]
    else:
        lines = [_undecided(contest, result, pairs, margin)]
        lines += [
            f"out: `{name}`, worse than `{pair.a if pair.b == name else pair.b}` by {_amount(pair)}"
            for name in names
            if (pair := losers[name]) is not None
        ]
        lines.append(_cheapest(contest, remaining))
        lines += _needed(pairs, remaining, margin)
    return [*lines, *_limits(contest)]


def verdict_sentence(contest: Contest, result: MeasureResult, baseline: str, margin: float) -> str:
    """The answer of a run: each contender against a baseline, in one or two sentences."""
    pairs = [
        pair
        for pair in result.differences
        if pair.estimand == "these corpora" and pair.b == baseline and contends(pair.a)
    ]
    if not pairs:
        return f"Nothing is compared: no other chunker than `{baseline}` has {result.measure}."
    better = [pair for pair in pairs if pair.verdict == "better"]
    worse = [pair for pair in pairs if pair.verdict == "worse"]
    amounts = [f"`{pair.a}` by {_amount(pair)}" for pair in _largest_first(better or worse)]
    if better:
        says = f"Better than `{baseline}` by {result.measure}: {_list(amounts)}."
    elif worse == pairs:
        return f"`{baseline}` is the best by {result.measure}: better than {_list(amounts)}."
    elif all(pair.verdict == "equivalent" for pair in pairs):
        says = (
            f"Equivalent by {result.measure}: no chunker differs from `{baseline}` by "
            f"{points(margin)} points."
        )
    else:
        queries = counted(len(contest.queries), "query", "queries")
        shown = [pair.mdd for pair in pairs if pair.mdd is not None]
        detail = f"; differences of {points(max(shown))} points would show" if shown else ""
        says = (
            f"Undecided by {result.measure}: on these {queries} no chunker is shown to be better "
            f"than `{baseline}`{detail}."
        )
    if better:
        return says
    remaining = [baseline, *(pair.a for pair in pairs if pair not in worse)]
    ends = [f"Worse: {_list(amounts)}."] if worse else []
    return " ".join([says, *ends, _cheapest(contest, remaining) + "."])


def _largest_first(pairs: Sequence[Difference]) -> list[Difference]:
    return sorted(pairs, key=lambda pair: -abs(pair.estimate.mean))


def verdicts(cells: Iterable[StoredCell], margin: float) -> list[dict[str, Any]]:
    """The answer of a run for each data set, embedder and retriever with two contenders.

    Cells take no part if the embedder never saw over 10 % of their chunk tokens; the sentence
    names them.
    """
    parts = ("dataset", "embedder", "retriever")
    groups: dict[tuple[str, ...], list[StoredCell]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.names[part] for part in parts), []).append(cell)
    answers = []
    for key, group in groups.items():
        seen = [cell for cell in group if not truncated(cell.cell["health"])]
        measure = headline(group[0].measures)
        if sum(contends(cell.names["chunker"]) for cell in seen) < 2:
            continue
        try:
            (contest,) = contests(seen)
        except InputError as error:  # a profile may leave other queries out for each chunker
            sentence, baseline = f"Not compared: {error}.", None
        else:
            names = contest.contenders
            baseline = BASELINE if BASELINE in names else names[0]
            result = differences(contest, measure, baseline, margin=margin)
            lines = [verdict_sentence(contest, result, baseline, margin)]
            sentence = " ".join([*lines, *(f"{line}." for line in _limits(contest))])
        unseen = [f"`{cell.names['chunker']}`" for cell in group if cell not in seen]
        if unseen:
            sentence += (
                f" Not compared, since the embedder never saw over {TRUNCATION_MARK:.0%} of the "
                f"chunk tokens: {_list(unseen)}."
            )
        answers.append(
            {
                **dict(zip(parts, key, strict=True)),
                "measure": measure,
                "baseline": baseline,
                "margin": margin,
                "sentence": sentence,
            }
        )
    return answers


def headline(measures: Sequence[str]) -> str:
    """The measure that an answer is given by: the first of its kind that was computed."""
    for name in ("SpanR@10000c", "nDCG@10"):
        if name in measures:
            return name
    return measures[0]


def _wins(name: str, names: Sequence[str], pairs: Sequence[Difference]) -> bool:
    """Whether one contender was compared with every other, and is better than each."""
    own = [pair for pair in pairs if name in (pair.a, pair.b)]
    return len(own) == len(names) - 1 and all(
        pair.verdict == ("better" if pair.a == name else "worse") for pair in own
    )


def _beaten_by(name: str, pairs: Sequence[Difference]) -> Difference | None:
    """The pair with the largest loss, if another contender is better."""
    lost = [
        pair
        for pair in pairs
        if (pair.a == name and pair.verdict == "worse")
        or (pair.b == name and pair.verdict == "better")
    ]
    return max(lost, key=lambda pair: abs(pair.estimate.mean), default=None)


def _by(pair: Difference, winner: str) -> str:
    other = pair.b if pair.a == winner else pair.a
    return f"`{other}` by {_amount(pair)}"


def _amount(pair: Difference) -> str:
    """The size of a difference, whichever way."""
    forward = pair if pair.estimate.mean >= 0 else pair.reversed()
    return f"{points(forward.estimate.mean)} points {points_interval(forward.estimate.ci95)}"


def _undecided(
    contest: Contest, result: MeasureResult, pairs: Sequence[Difference], margin: float
) -> str:
    if all(pair.verdict == "equivalent" for pair in pairs):
        return (
            f"Equivalent by {result.measure}: no contender differs by {points(margin)} points "
            f"on these {counted(len(contest.queries), 'query', 'queries')}"
        )
    shown = [pair.mdd for pair in pairs if pair.mdd is not None]
    detail = f"; differences of {points(max(shown))} points would show" if shown else ""
    return (
        f"Undecided by {result.measure}: on these "
        f"{counted(len(contest.queries), 'query', 'queries')} no contender is better than all "
        f"others{detail}"
    )


def _cheapest(contest: Contest, names: Sequence[str]) -> str:
    costs = {name: cost_of(contest.cells[name]) for name in names}
    cheapest = min(names, key=lambda name: costs[name][1])
    what, cost = costs[cheapest]
    return f"Cheapest of those still in ({_list([f'`{n}`' for n in names])}): `{cheapest}`, " + (
        f"{cost:,.0f} {what}"
    )


def _needed(pairs: Sequence[Difference], names: Sequence[str], margin: float) -> list[str]:
    """What would decide the pairs that are still in."""
    rest = [
        pair
        for pair in pairs
        if pair.verdict == "undecided" and pair.a in names and pair.b in names
    ]
    needed = [pair.to_decide for pair in rest if pair.to_decide]
    if not needed:
        return []
    return [
        f"to detect a difference of {points(margin)} points in every pair that is undecided: "
        f"{max(needed):,} further queries of this kind"
    ]


def _limits(contest: Contest) -> Iterator[str]:
    """What the data cannot say, whatever the differences."""
    follows = next(iter(contest.cells.values())).gold_follows
    if follows:
        yield (
            f"The targets are whole {follows}, where syntax chunkers cut: this data set alone "
            "names no winner; compare on commits, or on targets of another kind, too"
        )
    if next(iter(contest.cells.values())).profile["mean"] == "corpora":
        yield "The means of this profile are over corpora, these differences over queries"
    if len({corpus for corpus, _ in contest.members}) == 1:
        yield "One corpus: whether this holds for other corpora is not estimable"


def _list(items: Sequence[str]) -> str:
    """Items as `a, b and c`."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
