"""The picture of the board: the mean of each chunker over the tasks of doc comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.reports.contests import contends
from harness.reports.figures import style
from harness.reports.figures.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure as Drawing

    from benchmarks.board.page import Ranking

_ROW = 17.0
_FIRST = 3
"""Chunkers that the text alternative names."""


def picture(rankings: Sequence[Ranking]) -> Figure:
    """A row for each chunker, with a mark for each retriever and measure.

    Args:
        rankings: Those that have a board, over the same tasks; the first one orders the rows.
    """
    series: dict[str, dict[str, float]] = {}
    for ranking in rankings:
        if ranking.board is not None:
            series[f"{ranking.measure}, {ranking.retriever}"] = {
                row.configuration.chunker: row.mean
                for row in ranking.board.rows
                if row.mean is not None
            }
    chunkers = list(dict.fromkeys(name for means in series.values() for name in means))
    title = "Means of chunkers over the tasks of doc comments"
    best = [
        f"{name}: {', '.join(f'{chunker} {mean:.3f}' for chunker, mean in _first(means))}."
        for name, means in series.items()
    ]
    return Figure(
        name="board",
        section="board",
        title=title,
        caption="",
        alt=" ".join(["The highest means.", *best]),
        columns=("chunker", *series),
        rows=tuple((name, *(means.get(name) for means in series.values())) for name in chunkers),
        draw=lambda: _draw(title, series, chunkers),
    )


def _first(means: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(means.items(), key=lambda pair: (-pair[1], pair[0]))[:_FIRST]


def _draw(
    title: str, series: Mapping[str, Mapping[str, float]], chunkers: Sequence[str]
) -> Drawing:
    looks = [
        {"color": style.SERIES[at], "marker": style.MARKERS[at], "linestyle": "none"}
        for at in range(len(series))
    ]
    legend = style.legend_height(list(series))
    height = _ROW * max(1, len(chunkers))
    drawing, top = style.canvas(title, "in italics: controls; in the order of the first",
                                legend + height + 40)  # fmt: skip
    style.draw_legend(drawing, top, list(series), looks)
    axes = style.panel(drawing, style.NAMES, top + legend, style.WIDTH - style.NAMES - 20, height)
    axes.grid(visible=True)
    style.name_rows(axes, [(name,) for name in chunkers], [not contends(name) for name in chunkers])
    for look, means in zip(looks, series.values(), strict=True):
        places = [at for at, name in enumerate(chunkers) if name in means]
        axes.plot([means[chunkers[at]] for at in places], places, **look)
    axes.set_xlabel("mean over the tasks")
    return drawing
