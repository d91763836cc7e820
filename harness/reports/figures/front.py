"""The Pareto front: quality against what a chunker costs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from harness.reports.figures import style
from harness.reports.figures.figure import Figure
from harness.reports.figures.groups import shown_parts, subtitle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from harness.reports.figures.groups import Group

_AXES = {
    "chars_delivered": "characters in the first ten chunks (c, mean of queries)",
    "vectors": "vectors in the index",
    "chunks": "chunks in the index",
    "embedding_seconds": "seconds of embedding",
}
_HEIGHT, _GAP = 160, 58
_SIZE = style.SMALL + 0.5
_NAME = 26

Point = tuple[str, float, float]
"""A chunker, its cost and its mean."""


def pareto_fronts(contest: Mapping[str, Any], group: Group | None) -> Iterator[Figure]:
    """A panel for each cost; none with fewer than two contenders, or without a cost."""
    front = contest["front"]
    rows = [
        {**row, "embedding_seconds": _seconds(row["chunker"], group)} for row in front["chunkers"]
    ]
    costs = [key for key in _AXES if all(row.get(key) is not None for row in rows)]
    costs = [key for key in costs if len({row[key] for row in rows}) > 1]
    if len(rows) < 2 or not costs:
        return
    parts = shown_parts(contest["dataset"], *contest["shared"])
    panels = {key: [(row["chunker"], row[key], row["mean"]) for row in rows] for key in costs}
    title = f"{front['measure']} against its cost"
    under = subtitle(parts, contest["n_queries"])
    yield Figure(
        name=style.slug("front", *parts),
        section="front",
        title=f"{title}: {', '.join(parts)}",
        caption="Better is up and to the left. Filled points, joined by a line, are the front: no "
        "other chunker has as high a mean at as low a cost in this panel. Differences of means "
        "may be chance; the comparison says which are shown. Whole files and random cuts take no "
        "part." + _unnamed(panels),
        alt=" ".join(
            f"Front of {front['measure']} against {_AXES[key]}: "
            + ", ".join(style.short(name, style.SPOKEN) for name in front_of(points))
            + "."
            for key, points in panels.items()
        ),
        columns=("chunker", "mean", *costs, "front_of"),
        rows=tuple(
            (
                row["chunker"],
                row["mean"],
                *(row[key] for key in costs),
                ", ".join(key for key in costs if row["chunker"] in front_of(panels[key])),
            )
            for row in rows
        ),
        draw=lambda: _draw(title, under, front["measure"], panels),
    )


def _seconds(name: str, group: Group | None) -> float | None:
    if group is None or name not in group.cells:
        return None
    seconds: float | None = group.cells[name]["cost"]["embedding_seconds"]
    return seconds


def front_of(points: Sequence[Point]) -> list[str]:
    """The names of the points that no other one dominates, from the cheapest."""
    best, names = float("-inf"), []
    for name, _, mean in sorted(points, key=lambda point: (point[1], -point[2], point[0])):
        if mean > best:
            names.append(name)
            best = mean
    return names


def _unnamed(panels: Mapping[str, Sequence[Point]]) -> str:
    if max(map(len, panels.values())) <= 8:
        return ""
    return " Chunkers of the front are named, others where there is room; the table names all."


def _draw(title: str, under: str, measure: str, panels: Mapping[str, Sequence[Point]]) -> Drawing:
    drawing, top = style.canvas(title, under, len(panels) * (_HEIGHT + _GAP))
    for at, (key, points) in enumerate(panels.items()):
        axes = style.panel(drawing, 40, top + 16 + at * (_HEIGHT + _GAP), style.WIDTH - 60, _HEIGHT)
        axes.grid(visible=True)
        _limits(axes, points)
        axes.set_xlabel(_AXES[key])
        style.above(axes, measure)
        kept = front_of(points)
        own = [point for name in kept for point in points if point[0] == name]
        axes.step([x for _, x, _ in own], [y for *_, y in own], where="post", color=style.SERIES[0])
        for name, x, y in points:
            axes.plot(
                [x],
                [y],
                marker="o",
                markersize=6,
                markeredgecolor=style.SERIES[0],
                linestyle="none",
                markeredgewidth=1.4,
                zorder=3,
                markerfacecolor=style.SERIES[0] if name in kept else style.PAPER,
            )
        _name_points(axes, points, kept)
    return drawing


def _limits(axes: Axes, points: Sequence[Point]) -> None:
    xs, ys = [x for _, x, _ in points], [y for *_, y in points]
    room = (max(ys) - min(ys) or 0.1) * 0.18
    axes.set_ylim(min(ys) - room, max(ys) + room)
    if min(xs) > 0 and max(xs) / min(xs) > 3:
        low, high = min(xs) / 1.25, max(xs) * 1.25
        style.log_ticks(axes, style.ticks_between(low, high))
        axes.set_xlim(low, high)
    else:
        room = (max(xs) - min(xs)) * 0.12
        axes.set_xlim(min(xs) - room, max(xs) + room)


_OFFSETS = (
    (8, -3.4, "left"), (-8, -3.4, "right"), (0, 8, "center"), (0, -15, "center"),
    (6, 6, "left"), (-6, 6, "right"), (6, -13, "left"), (-6, -13, "right"),
    (6, 18, "left"), (-6, 18, "right"), (6, -25, "left"), (-6, -25, "right"),
    (10, 30, "left"), (-10, 30, "right"), (10, -37, "left"), (-10, -37, "right"),
    (10, 42, "left"), (-10, 42, "right"), (10, -49, "left"), (-10, -49, "right"),
)  # fmt: skip
"""Where a name may stand from its point, in points, and the side of the name that is there."""

_NEAR = 12
"""The first places, which need no line to the point; only names of the front stand farther away."""

_LEADER: dict[str, Any] = {
    "arrowstyle": "-",
    "color": style.MUTED,
    "linewidth": 0.6,
    "shrinkA": 1,
    "shrinkB": 3,
}

Area = tuple[float, float, float, float]
"""Left, lower, right and upper edge in points."""


def _name_points(axes: Axes, points: Sequence[Point], kept: Sequence[str]) -> None:
    """Write names beside their points, those of the front first, where nothing is written yet.

    A name of the front may cross the line of the front if there is no other place.
    """
    own = {name: (x, y) for name, x, y in points}
    names = style.lines_of(own, _NAME)
    places = {name: axes.transData.transform(point) for name, point in own.items()}
    box = axes.get_window_extent()
    edges = (box.x0, box.y0, box.x1 + 14, box.y1 + 8)
    taken: list[Area] = [(x - 5, y - 5, x + 5, y + 5) for x, y in places.values()]
    line: list[Area] = []
    for (x, y), (end, top) in itertools.pairwise(places[name] for name in kept):
        line += [(x, y - 1, end, y + 1), (end - 1, y, end + 1, top)]
    for name in [*kept, *(name for name in places if name not in kept)]:
        width = style.text_width(names[name], _SIZE)
        x, y = places[name]
        areas = [_area(x + dx, y + dy, width, align) for dx, dy, align in _OFFSETS]
        for blocked in ([*taken, *line], taken)[: 1 + (name in kept)]:
            free = [
                at
                for at, area in enumerate(areas[: None if name in kept else _NEAR])
                if _inside(area, edges) and not any(_meet(area, other) for other in blocked)
            ]
            if free:
                at = free[0]
                dx, dy, align = _OFFSETS[at]
                axes.annotate(
                    names[name],
                    own[name],
                    (dx, dy),
                    textcoords="offset points",
                    ha=align,
                    va="baseline",
                    size=_SIZE,
                    color=style.INK if name in kept else style.MUTED,
                    arrowprops=_LEADER | {"relpos": (align == "right", 0.5)}
                    if at >= _NEAR
                    else None,
                )
                taken.append(areas[at])
                break


def _area(x: float, y: float, width: float, align: str) -> Area:
    left = x - {"left": 0.0, "center": width / 2, "right": width}[align]
    return left, y - 2, left + width, y + _SIZE


def _inside(area: Area, edges: Area) -> bool:
    return all(a > b for a, b in zip(area[:2], edges[:2], strict=True)) and all(
        a < b for a, b in zip(area[2:], edges[2:], strict=True)
    )


def _meet(a: Area, b: Area) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
