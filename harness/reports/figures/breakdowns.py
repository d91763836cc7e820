"""Means by language, corpus and tags of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.reports.breakdowns import NOT_READ, break_down
from harness.reports.figures import style
from harness.reports.figures.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.figure import Figure as Drawing

    from harness.reports.figures.groups import Group

FEW = 10
"""Queries below which a mean says little about others."""

_ALWAYS = ("language", "corpus")
_MOST_SERIES = 6

Means = dict[str, "dict[str, float | None]"]
"""A mean for each value of a break-down, by chunker."""


def breakdown_figures(group: Group) -> Iterator[Figure]:
    """A figure for each break-down with two values or more, of the measure of the group."""
    measure = group.measure
    if measure is None or not group.stored:
        return
    parts = {
        name: break_down(cell.folder, _ALWAYS) | group.cells[name]["by"]
        for name, cell in group.stored.items()
    }
    for tag in dict.fromkeys(tag for by in parts.values() for tag in by):
        counts = {
            value: part["n"] for by in parts.values() for value, part in by.get(tag, {}).items()
        }
        if len(counts) > 1:
            yield _figure(group, measure, tag, counts, _means(group, parts, tag, measure))


def _means(group: Group, parts: Mapping[str, Any], tag: str, measure: str) -> Means:
    """The means by chunker; a language that a chunker does not read has none."""
    return {
        name: {
            value: None
            if tag == "language" and f"{NOT_READ}{value}" in group.cells[name]["health"]["notes"]
            else part["metrics"].get(measure)
            for value, part in by.get(tag, {}).items()
        }
        for name, by in parts.items()
    }


def _figure(
    group: Group, measure: str, tag: str, counts: Mapping[str, int], means: Means
) -> Figure:
    values = sorted(counts, key=lambda value: (-counts[value], value))
    rows = values[: style.MOST_ROWS]
    drawn = style.choose(list(means), group.means(measure), _MOST_SERIES, [group.baseline or ""])
    title = f"{style.short(measure, 20)} by {style.short(tag, 20)}"
    more = len(values) - len(rows)
    few = any(counts[value] < FEW for value in rows)
    return Figure(
        name=style.slug("by", tag, *group.shared),
        section="breakdowns",
        title=group.title(title),
        caption="Means over the queries of each value; n: their number."
        + few * f" Grey rows with open marks: under {FEW} queries, too few to say much."
        + (f" {more} values with fewer queries are in the table." if more else "")
        + style.left_out(drawn, list(means)),
        alt=" ".join(
            f"{style.short(value, style.SPOKEN)}, {counts[value]} queries: "
            + ", ".join(
                f"{style.short(name, style.SPOKEN)} {mean:.3f}"
                for name in drawn
                if (mean := means[name].get(value)) is not None
            )
            + "."
            for value in rows
        ),
        columns=("chunker", tag, "n", measure),
        rows=tuple(
            (name, value, counts[value], own.get(value))
            for name, own in means.items()
            for value in values
        ),
        draw=lambda: _draw(title, group, rows, counts, {name: means[name] for name in drawn}),
    )


def _draw(
    title: str, group: Group, rows: Sequence[str], counts: Mapping[str, int], means: Means
) -> Drawing:
    names = [*style.lines_of(means).values()]
    head = style.legend_height(names)
    own = style.labels(rows)
    row = max(style.LINE * (1 + max(map(len, own.values()))) + 8, 6 * len(means) + 8)
    drawing, top = style.canvas(title, group.subtitle, head + row * len(rows) + 42)
    styles: list[dict[str, Any]] = [
        {"color": style.SERIES[at], "marker": style.MARKERS[at], "linestyle": "none"}
        for at in range(len(means))
    ]
    style.draw_legend(drawing, top, names, styles)
    axes = style.panel(
        drawing, style.NAMES, top + head, style.WIDTH - style.NAMES - 14, row * len(rows)
    )
    style.name_rows(axes, [(*own[value], f"n={counts[value]:,}") for value in rows])
    axes.grid(axis="x", visible=True)
    for at, value in enumerate(rows):
        if counts[value] < FEW:
            axes.axhspan(at - 0.5, at + 0.5, color=style.BAND, linewidth=0)
        axes.axhline(at + 0.5, color=style.GRID, linewidth=0.7)
        step = 0.64 / max(len(means) - 1, 1)
        for place, by in enumerate(means.values()):
            mean = by.get(value)
            if mean is not None:
                y = at + (place - (len(means) - 1) / 2) * step
                fill = style.PAPER if counts[value] < FEW else style.SERIES[place]
                axes.plot([mean], [y], markerfacecolor=fill, clip_on=False, **styles[place])
    axes.set_xlabel(style.short(group.measure, 50))
    low, high = axes.get_xlim()
    axes.set_xlim(max(low, 0), min(high, 1) if high <= 1.1 else high)
    return drawing
