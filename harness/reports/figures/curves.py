"""Span curves: SpanR over the budget, one line for each chunker."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from harness.reports.contests import contends
from harness.reports.curves import TURNS
from harness.reports.figures import style
from harness.reports.figures.figure import Figure
from harness.reports.figures.groups import shown_parts, subtitle
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_HEIGHT = 260


def span_curves(contest: Mapping[str, Any], baseline: str | None) -> Iterator[Figure]:
    """The curves of a contest; none for a single budget or where the gold is documents."""
    curves = contest.get("curves")
    if not curves or len(curves["budgets"]) < 2:
        return
    parts = shown_parts(contest["dataset"], *contest["shared"])
    names = list(curves["chunkers"])
    last = {name: curve[-1]["mean"] for name, curve in curves["chunkers"].items()}
    drawn = style.choose(names, last, style.MOST_LINES, [baseline or ""])
    turns = _turns(curves["turns"], drawn)
    title = f"{curves['measure']} over the budget"
    under = subtitle(parts, contest["n_queries"])
    low, high = curves["budgets"][0], curves["budgets"][-1]
    yield Figure(
        name=style.slug("curves", *parts),
        section="curves",
        title=f"{title}: {', '.join(parts)}",
        caption=_caption(curves, turns) + style.left_out(drawn, names),
        alt=f"{title} of {counted(len(drawn), 'chunker', 'chunkers')}, from {low} to {high} c. "
        + " ".join(
            f"{style.short(name, style.SPOKEN)}: {curves['chunkers'][name][0]['mean']:.3f} "
            f"to {last[name]:.3f}."
            for name in drawn
        ),
        columns=("chunker", "budget_c", "mean", "ci95_low", "ci95_high"),
        rows=tuple(
            (name, point["budget"], point["mean"], *(point["ci95"] or (None, None)))
            for name, curve in curves["chunkers"].items()
            for point in curve
        ),
        draw=lambda: _draw(title, under, curves, drawn, turns),
    )


def _turns(turns: Sequence[Mapping[str, Any]], drawn: Sequence[str]) -> list[Mapping[str, Any]]:
    """The turns between drawn contenders, those that the data show first."""
    own = [
        turn
        for turn in turns
        if {turn["a"], turn["b"]} <= set(drawn) and contends(turn["a"]) and contends(turn["b"])
    ]
    return sorted(own, key=lambda turn: not turn["shown"])[:TURNS]


def _caption(curves: Mapping[str, Any], turns: Sequence[Mapping[str, Any]]) -> str:
    text = (
        "Share of the targets' characters that is among the first characters of a ranking. "
        "Bands: 95 % intervals of each chunker at each budget alone; bands that overlap do not "
        "mean that a difference is not shown."
    )
    if turns:
        text += " Rings: the order of two chunkers turns over; thick where the data show it."
    if curves["too_shallow"]:
        beyond = ", ".join(f"{style.budget(value)} c" for value in curves["too_shallow"])
        text += f" The rankings are too short for {beyond}."
    return text


def _draw(
    title: str,
    under: str,
    curves: Mapping[str, Any],
    drawn: Sequence[str],
    turns: Sequence[Mapping[str, Any]],
) -> Drawing:
    drawing, top = style.canvas(title, under, _HEIGHT)
    axes = style.panel(drawing, 38, top + 14, 226, _HEIGHT - 56)
    budgets = curves["budgets"]
    style.log_ticks(axes, budgets)
    axes.set_xlim(budgets[0] * 0.9, budgets[-1] * 1.1)
    axes.grid(visible=True)
    style.above(axes, curves["measure"])
    axes.set_xlabel("budget (c = non-white-space characters)")
    for at, name in enumerate(drawn):
        curve = curves["chunkers"][name]
        if all(point["ci95"] for point in curve):
            lows, highs = ([point["ci95"][end] for point in curve] for end in (0, 1))
            axes.fill_between(budgets, lows, highs, color=style.SERIES[at], alpha=0.1, linewidth=0)
        means = [point["mean"] for point in curve]
        axes.plot(
            budgets,
            means,
            color=style.SERIES[at],
            linestyle=style.DASHES[at],
            marker=style.MARKERS[at],
        )
    for turn in turns:
        x, y = _crossing(turn, curves)
        axes.plot(
            [x],
            [y],
            marker="o",
            markersize=11,
            markeredgecolor=style.INK,
            linestyle="none",
            markerfacecolor="none",
            markeredgewidth=1.8 if turn["shown"] else 0.7,
            zorder=5,
        )
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, 0), min(high, 1))
    _label_ends(axes, curves, drawn)
    return drawing


def _crossing(turn: Mapping[str, Any], curves: Mapping[str, Any]) -> tuple[float, float]:
    """Where the lines of a turn cross, straight on a logarithmic axis."""
    left, right = turn["between"]
    before, after = turn["differences"]
    share = before / (before - after)
    means = {point["budget"]: point["mean"] for point in curves["chunkers"][turn["a"]]}
    x = math.exp(math.log(left) + share * (math.log(right) - math.log(left)))
    return x, means[left] + share * (means[right] - means[left])


def _label_ends(axes: Axes, curves: Mapping[str, Any], drawn: Sequence[str]) -> None:
    """Write the name of each line at its end."""
    lines = [*style.labels(drawn).values()]
    ends = [curves["chunkers"][name][-1] for name in drawn]
    low, high = axes.get_ylim()
    height = _HEIGHT - 56
    places = [(end["mean"] - low) / (high - low) * height for end in ends]
    moved = style.spread(places, [style.LINE * len(own) + 2 for own in lines], -18, height + 8)
    for at, (own, end, place) in enumerate(zip(lines, ends, moved, strict=True)):
        axes.annotate(
            "",
            (end["budget"], end["mean"]),
            (1, place / height),
            "data",
            "axes fraction",
            arrowprops={
                "arrowstyle": "-",
                "color": style.SERIES[at],
                "linewidth": 0.8,
                "shrinkA": 0,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )
        axes.plot(
            [1.03],
            [place / height],
            transform=axes.transAxes,
            clip_on=False,
            color=style.SERIES[at],
            marker=style.MARKERS[at],
            linestyle="none",
        )
        for line, text in enumerate(own):
            axes.annotate(
                text,
                (1, place / height),
                (14, ((len(own) - 1) / 2 - line) * style.LINE - 3.4),
                "axes fraction",
                "offset points",
                size=style.SMALL + 0.5,
                va="baseline",
            )
