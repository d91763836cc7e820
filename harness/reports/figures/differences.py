"""Differences from the baseline: of means with their intervals, and of each query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.reports.contests import contends
from harness.reports.figures import style
from harness.reports.figures.figure import Figure
from harness.reports.recommendation import points, points_interval
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.figure import Figure as Drawing
    from numpy.typing import NDArray

    from harness.reports.figures.groups import Group

MINUS = "\N{MINUS SIGN}"

_ROW = 38
_STRIP = 48
_MOST_STRIPS = 10
_MOST_COLUMNS = 340  # one a point

_FOREST = ("chunker", "baseline", "measure", "difference", "ci95_low", "ci95_high", "p_adjusted",
           "verdict")  # fmt: skip
_QUERIES = ("chunker", "baseline", "queries", "wins", "ties", "losses", "mean_difference",
            "largest_gain", "largest_loss")  # fmt: skip

Row = dict[str, Any]


def forest(group: Group) -> Iterator[Figure]:
    """Each chunker's difference from the baseline, with its interval; none without a baseline."""
    if not group.answer or not group.answer["differences"]:
        return
    answer, baseline = group.answer, group.answer["baseline"]
    rows: list[Row] = answer["differences"]
    names = list(dict.fromkeys(row["chunker"] for row in rows))
    primary = {r["chunker"]: r["difference"] for r in rows if r["measure"] == answer["measure"]}
    drawn = style.choose(names, primary, style.MOST_ROWS, [])
    title = f"Difference from {style.short(baseline, 24)}"
    yield Figure(
        name=style.slug("differences", *group.shared),
        section="differences",
        title=group.title(title),
        caption="Differences in points (hundredths of the measure) with 95 % intervals. Grey: the "
        f"margin of ±{points(answer['margin'])} points, within which a difference does not "
        "matter. The verdicts are adjusted for the number of comparisons, so that an interval "
        "without 0 may be undecided." + style.left_out(drawn, names),
        alt=" ".join(
            f"{style.short(row['chunker'], style.SPOKEN)}, {row['measure']}: "
            f"{points(row['difference'])} points "
            f"{points_interval(row['ci95'])}, {row['verdict']}."
            for row in rows
            if row["chunker"] in drawn
        ),
        columns=_FOREST,
        rows=tuple(
            (
                row["chunker"],
                baseline,
                row["measure"],
                row["difference"],
                *(row["ci95"] or (None, None)),
                row["p_adjusted"],
                row["verdict"],
            )
            for row in rows
        ),
        draw=lambda: _draw_forest(title, group.subtitle, drawn, rows, answer["margin"]),
    )


def _draw_forest(
    title: str, under: str, drawn: Sequence[str], rows: Sequence[Row], margin: float
) -> Drawing:
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    legend = [
        style.short(name, 30) + " (exploratory)" * bool(at) for at, name in enumerate(measures)
    ]
    styles = [_mark(at) for at in range(len(measures))]
    head = style.legend_height(legend)
    row_height = _ROW if len(measures) > 1 else 26
    height = row_height * len(drawn)
    drawing, top = style.canvas(title, under, head + height + 40)
    style.draw_legend(drawing, top, legend, styles)
    axes = style.panel(drawing, style.NAMES, top + head, style.WIDTH - style.NAMES - 96, height)
    names = style.labels(drawn)
    axes.axvspan(-100 * margin, 100 * margin, color=style.BAND, linewidth=0)
    axes.axvline(0, color=style.INK, linewidth=1)
    axes.grid(axis="x", visible=True)
    style.name_rows(axes, [names[name] for name in drawn], [not contends(name) for name in drawn])
    for row in rows:
        if row["chunker"] not in drawn:
            continue
        at = measures.index(row["measure"])
        y = drawn.index(row["chunker"]) + (at - (len(measures) - 1) / 2) * 0.4
        if row["ci95"]:
            axes.plot([100 * end for end in row["ci95"]], [y, y], color=style.SERIES[at])
        axes.plot([100 * row["difference"]], [y], **_mark(at) | {"linestyle": "none"})
        number = points(row["difference"], "+").replace("-", MINUS)
        text = f"{number} {row['verdict'].rpartition('but ')[2]}"  # better, but negligible
        style.beside(
            axes,
            y,
            text,
            6,
            size=style.SMALL,
            weight="bold" if row["verdict"] in ("better", "worse") else "normal",
        )
    axes.set_xlabel("points (hundredths of the measure)")
    return drawing


def _mark(at: int) -> dict[str, Any]:
    return {
        "color": style.SERIES[at],
        "marker": "os"[at % 2],
        "markeredgecolor": style.SERIES[at],
        "markerfacecolor": style.SERIES[at] if at == 0 else style.PAPER,
        "linestyle": "-",
    }


def query_differences(group: Group) -> Iterator[Figure]:
    """The differences of all queries, sorted, for each chunker but the baseline."""
    own, measure = group.baseline, group.measure
    if own is None or measure is None or own not in group.stored:
        return
    base = group.stored[own]
    reference = base.column(measure)
    if reference is None:
        return
    gaps: dict[str, NDArray[np.float64]] = {}
    for name, cell in group.stored.items():
        column = cell.column(measure)
        if name != own and column is not None and cell.values.keys() == base.values.keys():
            gaps[name] = np.sort(column - reference)[::-1]
    if not gaps:
        return
    names = list(gaps)
    size = -(-len(reference) // _MOST_COLUMNS)
    drawn = style.choose(
        names, {name: float(gap.mean()) for name, gap in gaps.items()}, _MOST_STRIPS, []
    )
    title = f"{style.short(measure, 20)} of each query, against {style.short(own, 20)}"
    yield Figure(
        name=style.slug("queries", *group.shared),
        section="queries",
        title=group.title(title),
        caption="The difference of each query, from the largest gain to the largest loss. A mean "
        "may hide that a chunker wins many queries and loses others."
        + f" A column is the mean of up to {size} queries." * (size > 1)
        + style.left_out(drawn, names),
        alt=" ".join(
            f"{style.short(name, style.SPOKEN)}: {_counts(gaps[name])}." for name in drawn
        ),
        columns=_QUERIES,
        rows=tuple(
            (
                name,
                own,
                len(gap),
                *_three(gap),
                float(gap.mean()),
                max(float(gap[0]), 0.0),
                min(float(gap[-1]), 0.0),
            )
            for name, gap in gaps.items()
        ),
        draw=lambda: _draw_queries(title, group, {name: gaps[name] for name in drawn}),
    )


def _three(gap: NDArray[np.float64]) -> tuple[int, int, int]:
    return int((gap > 0).sum()), int((gap == 0).sum()), int((gap < 0).sum())


def _counts(gap: NDArray[np.float64]) -> str:
    wins, ties, losses = _three(gap)
    return (
        f"{counted(wins, 'win', 'wins')}, {counted(ties, 'tie', 'ties')}, "
        f"{counted(losses, 'loss', 'losses')}"
    )


def _columns(gap: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Edges and heights of the columns of sorted differences: means, if there are too many."""
    edges = np.linspace(0, len(gap), min(len(gap), _MOST_COLUMNS) + 1).astype(np.int64)
    return edges, np.add.reduceat(gap, edges[:-1]) / np.diff(edges)


def _draw_queries(title: str, group: Group, gaps: Mapping[str, NDArray[np.float64]]) -> Drawing:
    drawing, top = style.canvas(title, group.subtitle, (_STRIP + 20) * len(gaps) + 30)
    most = max(max(abs(float(gap[0])), abs(float(gap[-1]))) for gap in gaps.values()) or 1.0
    for at, (name, gap) in enumerate(gaps.items()):
        axes = style.panel(drawing, 40, top + 18 + at * (_STRIP + 20), style.WIDTH - 52, _STRIP)
        edges, heights = _columns(gap)
        for sign, color, hatch in (
            (1, style.SERIES[0], style.HATCHES[0]),
            (-1, style.SERIES[1], style.HATCHES[1]),
        ):
            own = np.flatnonzero(sign * heights > 0)  # they are sorted, so beside each other
            if len(own):
                axes.stairs(
                    heights[own],
                    edges[own[0] : own[-1] + 2],
                    fill=True,
                    facecolor=color,
                    hatch=hatch,
                    linewidth=0,
                    edgecolor=style.PAPER,
                )
        axes.axhline(0, color=style.MUTED, linewidth=0.8)
        axes.set_xlim(0, len(gap))
        axes.set_ylim(-most * 1.04, most * 1.04)
        axes.set_yticks(
            [-most, 0, most],
            [f"{value:+.2g}".replace("-", MINUS) if value else "0" for value in (-most, 0, most)],
        )
        axes.spines["bottom"].set_visible(False)
        axes.set_xticks([])
        style.heading(axes, f"{style.short(name, 30)}: {_counts(gap)}")
    axes.set_xlabel("queries, sorted by their difference")
    return drawing
