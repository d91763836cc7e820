"""What a chunker costs, and how long a query takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.reports.columns import number
from harness.reports.columns import short as rounded
from harness.reports.contests import contends
from harness.reports.figures import style
from harness.reports.figures.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure as Drawing

    from harness.reports.columns import CellDocument
    from harness.reports.figures.groups import Group

_ROW = 17
_PANELS = 3
_STEPS = {"embedding": "embedding", "search": "search", "total": "both"}


def _megabytes(size: int | None) -> float | None:
    return None if size is None else size / 1e6


_COSTS: dict[str, tuple[str, Callable[[CellDocument], float | None]]] = {
    "chunks": ("chunks", lambda cell: cell["health"]["chunks"]),
    "vectors": ("vectors", lambda cell: cell["cost"]["vectors"]),
    "tokens": ("tokens to embed", lambda cell: cell["cost"]["tokens"]),
    "price": ("price of embedding", lambda cell: cell["cost"].get("price")),
    "index_mb": ("index, MB", lambda cell: _megabytes(cell["cost"]["index_bytes"])),
    "seconds": ("time, seconds", lambda cell: cell["cost"]["seconds"]),
    "chars_delivered": ("top 10, c", lambda cell: cell["cost"]["chars_delivered"]),
}
_WHOLE = ("chunks", "vectors", "tokens", "chars_delivered")


def cost_bars(group: Group) -> Iterator[Figure]:
    """A panel of bars for each cost."""
    values = {
        key: {name: read(cell) for name, cell in group.cells.items()}
        for key, (_, read) in _COSTS.items()
    }
    known = [key for key in values if any(value is not None for value in values[key].values())]
    names = list(group.cells)
    drawn = group.choose(names, style.MOST_ROWS)
    title = "Costs"
    yield Figure(
        name=style.slug("costs", *group.shared),
        section="costs",
        title=group.title(title),
        caption="Costs of the index and of the first ten chunks (in c, non-white-space "
        "characters, mean of queries). Seconds are of the machine of the run, starting with no "
        "stored vectors." + style.open_bars(drawn) + style.left_out(drawn, names),
        alt=" ".join(
            f"{style.short(name, style.SPOKEN)}: "
            + ", ".join(f"{_shown(key, values[key][name])} {_COSTS[key][0]}" for key in known)
            + "."
            for name in drawn
        ),
        columns=("chunker", *known),
        rows=tuple((name, *(values[key][name] for key in known)) for name in names),
        draw=lambda: _draw_costs(title, group, drawn, {key: values[key] for key in known}),
    )


def _shown(key: str, value: float | None) -> str:
    if value is None or value >= 1000:
        return rounded(value)
    return number(value, ".0f" if key in _WHOLE else ".2f" if value < 1 else ".1f")


def _draw_costs(
    title: str,
    group: Group,
    drawn: Sequence[str],
    values: Mapping[str, Mapping[str, float | None]],
) -> Drawing:
    height = _ROW * len(drawn)
    columns = 2 if len(values) in (2, 4) else _PANELS
    rows = -(-len(values) // columns)
    gap = 26
    drawing, top = style.canvas(title, group.subtitle, rows * (height + gap) + 4)
    width = (style.WIDTH - style.NAMES) / columns
    names = style.labels(drawn)
    controls = [not contends(name) for name in drawn]
    for at, (key, own) in enumerate(values.items()):
        row, column = divmod(at, columns)
        axes = style.panel(
            drawing,
            style.NAMES + column * width,
            top + 18 + row * (height + gap),
            width - 46,
            height,
        )
        axes.set_ylim(len(drawn) - 0.5, -0.5)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines["bottom"].set_visible(False)
        style.heading(axes, _COSTS[key][0], weight="bold")
        axes.set_xlim(0, max(value or 0.0 for value in own.values()) or 1.0)
        for place, name in enumerate(drawn):
            value = own[name]
            axes.barh(
                place,
                value or 0.0,
                0.62,
                edgecolor=style.SERIES[0],
                linewidth=1,
                facecolor=style.PAPER if controls[place] else style.SERIES[0],
            )
            axes.annotate(
                _shown(key, value),
                (value or 0.0, place),
                (4, -3.2),
                textcoords="offset points",
                va="baseline",
                size=style.SMALL,
            )
        if column == 0:
            for place, name in enumerate(drawn):
                line = names[name][0] + "…" * (len(names[name]) > 1)
                style.beside(
                    axes,
                    place,
                    line,
                    -6,
                    ha="right",
                    style="italic" if controls[place] else "normal",
                )
    return drawing


def latency(group: Group) -> Iterator[Figure]:
    """The median and 95th percentile of the time of a query; none where it was not measured."""
    steps = [
        step for step in _STEPS if any(cell["latency_ms"][step] for cell in group.cells.values())
    ]
    if not steps:
        return
    if "embedding" not in steps:
        steps = ["search"]  # it is the total
    names = list(group.cells)
    drawn = group.choose(names, style.MOST_ROWS)
    title = "Time of a query"
    yield Figure(
        name=style.slug("latency", *group.shared),
        section="latency",
        title=group.title(title),
        caption="Milliseconds, from the median (mark) to the 95th percentile (end of the line), "
        "on the machine of the run; a query's embedding is timed when it is first embedded."
        + style.left_out(drawn, names),
        alt=" ".join(
            f"{style.short(name, style.SPOKEN)}: "
            + ", ".join(
                f"{_STEPS[step]} p50 {times['p50']} ms, p95 {times['p95']} ms"
                for step in steps
                if (times := group.cells[name]["latency_ms"][step])
            )
            + "."
            for name in drawn
        ),
        columns=("chunker", "step", "p50_ms", "p95_ms"),
        rows=tuple(
            (name, step, times["p50"], times["p95"])
            for name, cell in group.cells.items()
            for step in steps
            if (times := cell["latency_ms"][step])
        ),
        draw=lambda: _draw_latency(title, group, drawn, steps),
    )


def _draw_latency(title: str, group: Group, drawn: Sequence[str], steps: Sequence[str]) -> Drawing:
    legend = [_STEPS[step] for step in steps]
    styles: list[dict[str, Any]] = [
        {"color": style.SERIES[at], "marker": "os^"[at], "linestyle": "-"}
        for at in range(len(steps))
    ]
    head = style.legend_height(legend)
    row = 26 if len(steps) == 1 else 34
    drawing, top = style.canvas(title, group.subtitle, head + row * len(drawn) + 40)
    style.draw_legend(drawing, top, legend, styles)
    axes = style.panel(
        drawing, style.NAMES, top + head, style.WIDTH - style.NAMES - 16, row * len(drawn)
    )
    own = style.labels(drawn)
    style.name_rows(axes, [own[name] for name in drawn], [not contends(name) for name in drawn])
    axes.grid(axis="x", visible=True)
    for place, name in enumerate(drawn):
        for at, step in enumerate(steps):
            times = group.cells[name]["latency_ms"][step]
            if times:
                y = place + (at - (len(steps) - 1) / 2) * 0.26
                axes.plot([times["p50"], times["p95"]], [y, y], markevery=[0], **styles[at])
                axes.plot([times["p95"]], [y], marker="|", color=style.SERIES[at])
    axes.set_xlim(left=0)
    axes.set_xlabel("milliseconds")
    return drawing
