"""What a contest says in sentences: who is better, who is still in, and what would decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from chunkers.errors import InputError
from harness.reports.contests import contends, cost_in_words, cost_of
from harness.support.wording import counted, rerun_with

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.reports.contests import Contest, MeasureResult
    from harness.stats.comparison import Difference
    from harness.stats.sign_flips import Interval


BUDGET_MEASURES = ("SpanR@10000c", "SpanR@2500c")
"""The measures of an answer where lines are retrieved, the primary one first: large chunks may win
under a generous budget and lose under a tight one."""

NOT_COMPARABLE = "{} cannot compare chunkers: which chunks are relevant depends on the boundaries"

NEGLIGIBLE = ("equivalent", "better, but negligible", "worse, but negligible")
"""Verdicts on differences within the margin."""


def points(value: float, sign: Literal["", "+"] = "") -> str:
    """A difference of a measure in points: hundredths, with one decimal; `+` shows every sign."""
    return f"{round(100 * value, 1) + 0.0:{sign}.1f}"  # -0.0 + 0.0 is 0.0


def points_interval(interval: Interval | None) -> str:
    """An interval in points."""
    return "" if interval is None else f"[{points(interval[0])}, {points(interval[1])}]"


def recommendation(contest: Contest, result: MeasureResult, margin: float) -> list[str]:
    """The sentences of a contest in which all pairs of contenders were compared.

    A winner is named only if it is better than every other contender. Else: who is out, who is
    still in, the cheapest of them, and the further queries that would decide.
    """
    names = [name for name in contest.contenders if name in result.best]
    pairs = [pair for pair in result.of_these_corpora if {pair.a, pair.b} <= set(names)]
    if not pairs:
        return [f"{result.measure}: fewer than two contenders have values; nothing is compared"]
    if not contest.compares(result.measure):
        return [NOT_COMPARABLE.format(result.measure)]
    winner = next((name for name in names if _wins(name, names, pairs)), None)
    losers = {name: _beaten_by(name, pairs) for name in names}
    remaining = [name for name in names if losers[name] is None]
    if winner is not None:
        ahead = "On this data, " if _follows(contest) else ""
        lines = [
            f"{ahead}`{winner}` is better than every other contender by {result.measure}: "
            + ", ".join(_by(pair, winner) for pair in pairs if winner in (pair.a, pair.b))
        ]
    else:
        lines = [_undecided(contest, result, pairs, margin)]
        lines += [
            f"out: `{name}`, worse than `{pair.a if pair.b == name else pair.b}` by {amount(pair)}"
            for name in names
            if (pair := losers[name]) is not None
        ]
        lines.append(cheapest_of(contest, remaining))
        lines += _needed(pairs, remaining, margin)
    return [*lines, *limits_of(contest)]


def verdict_sentence(contest: Contest, result: MeasureResult, baseline: str, margin: float) -> str:
    """The verdicts of a measure: who is better than the baseline, and the cheapest choice."""
    pairs = baseline_pairs(result, baseline)
    if not pairs:
        return f"Nothing is compared: no other chunker than `{baseline}` has {result.measure}."
    if not contest.compares(result.measure):
        return NOT_COMPARABLE.format(result.measure) + "."
    better = [pair for pair in pairs if pair.verdict == "better"]
    worse = [pair for pair in pairs if pair.verdict == "worse"]
    amounts = listed([f"`{pair.a}` by {amount(pair)}" for pair in largest_first(better or worse)])
    if better:
        costs = {
            name: cost_of(contest.cells[name].cell) for name in (baseline, *(p.a for p in better))
        }
        cheapest = min((pair.a for pair in better), key=lambda name: costs[name][1])
        choice = f"cheapest `{cheapest}`, " if len(better) > 1 else ""
        return (
            f"Better than `{baseline}` by {result.measure}: {amounts}; {choice}"
            f"{cost_in_words(*costs[cheapest])} "
            f"(`{baseline}`: {costs[baseline][1]:,.0f})."
        )
    if worse == pairs and contends(baseline) and not _follows(contest):
        return f"`{baseline}` is the best by {result.measure}: better than {amounts}."
    if worse == pairs:
        return f"Worse than `{baseline}` by {result.measure}: {amounts}."
    rest = [pair for pair in pairs if pair not in worse]
    if all(pair.verdict in NEGLIGIBLE for pair in rest):
        names = listed([f"`{pair.a}`" for pair in rest])
        says = (
            f"Equivalent to `{baseline}` by {result.measure}: {names}, within {points(margin)} "
            "points."
        )
    else:
        says = (
            f"Undecided by {result.measure}: no chunker is shown to be better than "
            f"`{baseline}`{_detail(rest)}."
        )
    ends = [f"Worse: {amounts}."] if worse else []
    return " ".join([says, *ends, cheapest_of(contest, [baseline, *(p.a for p in rest)]) + "."])


def baseline_pairs(result: MeasureResult, baseline: str) -> list[Difference]:
    """Each contender against the baseline."""
    return [pair for pair in result.of_these_corpora if pair.b == baseline and contends(pair.a)]


def largest_first(pairs: Sequence[Difference]) -> list[Difference]:
    """Pairs in order of the size of their differences."""
    return sorted(pairs, key=lambda pair: -abs(pair.estimate.mean))


def primary_measure(contest: Contest) -> str:
    """The measure that a contest is decided by if none was named."""
    cell = next(iter(contest.cells.values()))
    return headline(cell.metrics["metrics"], cell.primary) or cell.measures[0]


def require_measure(contest: Contest, measure: str) -> None:
    """Refuse a measure that fewer than two cells have.

    Raises:
        InputError: Names the measures that can be chosen, or how to compute one.
    """
    if len(contest.columns(measure)) >= 2:
        return
    measures = [*filter(contest.compares, next(iter(contest.cells.values())).measures)]
    problem, wanted = f"fewer than two cells have {measure}", measure
    if not contest.compares(measure):
        problem, wanted = NOT_COMPARABLE.format(measure), BUDGET_MEASURES[0]
    raise InputError(f"{contest.dataset}: {problem}\n{choose_or_rerun(measures, wanted)}")


def choose_or_rerun(measures: Sequence[str], wanted: str) -> str:
    """What to do about a measure that cannot be used: take one of others, or compute `wanted`."""
    choice = f"choose with -m from {', '.join(measures)}"
    if wanted in measures:
        return choice
    return (f"{choice}, or " if measures else "") + rerun_with(wanted)


def headline(metrics: Mapping[str, Mapping[str, Any]], declared: str | None = None) -> str | None:
    """The measure that chunkers are compared by; None if no computed one compares chunkers.

    Args:
        metrics: The `metrics` of a cell's metrics.json.
        declared: The measure that the run chose, which goes before the default where it has a
            value, even if it compares no chunkers: the verdict then says so.
    """
    if declared is not None and declared in metrics and metrics[declared]["mean"] is not None:
        return declared
    names = [
        name
        for name, metric in metrics.items()
        if metric["comparable"] and metric["mean"] is not None
    ]
    return next((name for name in (*BUDGET_MEASURES, "nDCG@10", *names) if name in names), None)


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
    return f"`{other}` by {amount(pair)}"


def amount(pair: Difference, unit: str = " points") -> str:
    """The size of a difference, whichever way."""
    forward = pair if pair.estimate.mean >= 0 else pair.reversed()
    return f"{points(forward.estimate.mean)}{unit} {points_interval(forward.estimate.ci95)}"


def _undecided(
    contest: Contest, result: MeasureResult, pairs: Sequence[Difference], margin: float
) -> str:
    if all(pair.verdict == "equivalent" for pair in pairs):
        return (
            f"Equivalent by {result.measure}: no contender differs by {points(margin)} points "
            f"on these {counted(len(contest.queries), 'query', 'queries')}"
        )
    return (
        f"Undecided by {result.measure}: on these "
        f"{counted(len(contest.queries), 'query', 'queries')} no contender is better than all "
        f"others{_detail(pairs)}"
    )


def _detail(pairs: Sequence[Difference]) -> str:
    """Which difference each of some pairs would detect, as strictly as verdicts are adjusted."""
    shown = [pair.mdd for pair in pairs if pair.mdd is not None]
    if not shown:
        return "; there are too few clusters (groups of dependent queries) to show any difference"
    family = pairs[0].family
    of = f" (adjusted for {family} comparisons)" if family > 1 else ""
    least = points(max(shown))
    return f"; a difference of {least} points would be detected{of}"


def cheapest_of(contest: Contest, names: Sequence[str]) -> str:
    """A sentence on the cheapest of some contenders."""
    costs = {name: cost_of(contest.cells[name].cell) for name in names}
    cheapest = min(names, key=lambda name: costs[name][1])
    shown = f"`{cheapest}`, {cost_in_words(*costs[cheapest])}"
    if set(names) == set(contest.contenders):
        return f"The cheapest is {shown}"
    return f"Cheapest of those still in ({listed([f'`{n}`' for n in names])}): {shown}"


def _needed(pairs: Sequence[Difference], names: Sequence[str], margin: float) -> list[str]:
    """What would decide the pairs that are still in."""
    rest = [
        pair
        for pair in pairs
        if pair.verdict == "undecided" and pair.a in names and pair.b in names
    ]
    needed = [count for pair in rest if (count := pair.to_decide(margin))]
    if not needed:
        return []
    return [
        f"to detect a difference of {points(margin)} points in every pair that is undecided: "
        f"{max(needed):,} further queries of this kind"
    ]


def _follows(contest: Contest) -> str:
    """What the targets are, if one family of chunkers cuts there; else empty."""
    return next(iter(contest.cells.values())).gold_follows


def limits_of(contest: Contest) -> Iterator[str]:
    """What the data cannot say, whatever the differences."""
    follows = _follows(contest)
    if follows:
        yield (
            f"The targets are whole {follows}, where syntax chunkers cut: this data set alone "
            "names no winner; add -d repo:PATH,queries=commits"
        )
    if contest.profile["mean"] == "corpora":
        yield "The means of this profile are over corpora, these differences over queries"
    if len({corpus for corpus, _ in contest.members}) == 1:
        yield "One corpus: whether this holds for others is not estimable"


def listed(items: Sequence[str]) -> str:
    """Items as `a, b and c`."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
