"""Bar charts of every measure: by chunker, and by tokenizer and embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.reports.columns import number
from harness.reports.contests import contends
from harness.reports.figures import style
from harness.reports.figures.figure import Figure
from harness.reports.figures.groups import subtitle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from harness.reports.figures.groups import Group

_MOST_SERIES = 6
_MOST_ROWS = 10  # of several bars
_COLUMNS = {
    "chunker": ("chunker", "embedder_retriever"),
    "embedder": ("embedder_retriever", "chunker"),
}

Bars = dict[str, "dict[str, Mapping[str, Any] | None]"]
"""The metric of each series, by row."""


def measure_bars(groups: Sequence[Group], tokenizers: Mapping[str, str]) -> Iterator[Figure]:
    """Bars of each measure of a data set.

    By chunker, with a series for each embedder and retriever; and where there are several
    embedders, by embedder with its tokenizer, with a series for each chunker.

    Args:
        groups: The groups of one data set and profile.
        tokenizers: The name of the tokenizer of each embedder.
    """
    models = {", ".join(group.parts[1:]): group for group in groups}
    chunkers = list(dict.fromkeys(name for group in groups for name in group.cells))
    measures = dict.fromkeys(
        name for group in groups for cell in group.cells.values() for name in cell["metrics"]
    )
    embedders = {model: group.embedder for model, group in models.items() if group.embedder}
    for measure in measures:
        table: Bars = {
            chunker: {model: _metric(group, chunker, measure) for model, group in models.items()}
            for chunker in chunkers
        }
        if not any(metric for row in table.values() for metric in row.values()):
            continue
        yield _figure(groups, measure, "chunker", table, style.labels(chunkers))
        if len({*embedders.values()}) > 1:
            turned: Bars = {
                model: {chunker: table[chunker][model] for chunker in chunkers}
                for model in embedders
            }
            rows = {
                model: (style.short(model, 19), style.short(f"tokens: {tokenizers[embedder]}", 19))
                for model, embedder in embedders.items()
            }
            yield _figure(groups, measure, "embedder", turned, rows)


def tokenizers_of(manifests: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The tokenizer of each embedder, by the name of the first embedder that has it."""
    names: dict[str, str] = {}
    first: dict[str, str] = {}
    for manifest in manifests:
        for embedder, identity in manifest.get("embedders", {}).items():
            own = str(identity.get("tokenizer") or identity.get("weights") or embedder)
            names[embedder] = first.setdefault(own, embedder)
    return names


def _metric(group: Group, chunker: str, measure: str) -> Mapping[str, Any] | None:
    if chunker not in group.cells:
        return None
    metric: Mapping[str, Any] | None = group.cells[chunker]["metrics"].get(measure)
    return None if metric is None or metric["mean"] is None else metric


def _figure(
    groups: Sequence[Group],
    measure: str,
    by: str,
    table: Bars,
    names: Mapping[str, Sequence[str]],
) -> Figure:
    series = list(next(iter(table.values())))
    best = {row: max(_means(own.values()), default=0.0) for row, own in table.items()}
    best_series = {
        name: max(_means(own[name] for own in table.values()), default=0.0) for name in series
    }
    keep = [groups[0].baseline or ""]
    rows = style.choose(
        list(table), best, style.MOST_ROWS if len(series) == 1 else _MOST_ROWS, keep
    )
    drawn = style.choose(series, best_series, _MOST_SERIES, keep)
    comparable = all(m["comparable"] for own in table.values() for m in own.values() if m)
    title = f"{measure} by {by}" + " and tokenizer" * (by == "embedder")
    parts = groups[0].shared if len(groups) == 1 else (groups[0].parts[0], *groups[0].run)
    under = subtitle(parts, groups[0].queries)
    what = ("chunkers", "rows") if by == "chunker" else ("rows", "chunkers")
    return Figure(
        name=style.slug("bars", measure, "by", by, *parts),
        section="bars",
        title=f"{title}: {', '.join(parts)}",
        caption="Means with 95 % intervals of each mean alone."
        + " Not comparable between chunkers: which chunks are relevant depends on the boundaries."
        * (not comparable)
        + style.open_bars(rows)
        + style.left_out(rows, list(table), what[0])
        + style.left_out(
            drawn, series, "embedders and retrievers" if by == "chunker" else "chunkers"
        ),
        alt=" ".join(
            f"{style.short(row, style.SPOKEN)}: "
            + ", ".join(
                f"{style.short(name, style.SPOKEN)} {metric['mean']:.3f}".strip()
                for name in drawn
                if (metric := table[row][name])
            )
            + "."
            for row in rows
        ),
        columns=(*_COLUMNS[by], measure, "ci95_low", "ci95_high", "n"),
        rows=tuple(
            (row, name, metric["mean"], *(metric["ci95"] or (None, None)), metric["n"])
            for row, own in table.items()
            for name, metric in own.items()
            if metric
        ),
        draw=lambda: _draw(
            title,
            under,
            measure,
            {row: {name: table[row][name] for name in drawn} for row in rows},
            names,
        ),
    )


def _means(metrics: Iterable[Mapping[str, Any] | None]) -> list[float]:
    return [metric["mean"] for metric in metrics if metric]


def _draw(
    title: str, under: str, measure: str, table: Bars, names: Mapping[str, Sequence[str]]
) -> Drawing:
    series = list(next(iter(table.values())))
    several = len(series) > 1
    legend = [*style.lines_of(series, 40).values()] if several else []
    styles = [
        {
            "facecolor": style.SERIES[at],
            "edgecolor": style.PAPER,
            "linewidth": 0,
            "hatch": style.HATCHES[at],
        }
        for at in range(len(series))
    ]
    head = style.legend_height(legend) if several else 4
    row = max(24 if any(len(names[name]) > 1 for name in table) else 19, 10 * len(series) + 8)
    drawing, top = style.canvas(title, under, head + row * len(table) + 40)
    style.draw_legend(drawing, top, legend, styles[: len(legend)])
    axes = style.panel(
        drawing, style.NAMES, top + head, style.WIDTH - style.NAMES - 44, row * len(table)
    )
    controls = [not contends(name) for name in table]
    style.name_rows(axes, [names[name] for name in table], controls)
    axes.grid(axis="x", visible=True)
    high = max(
        metric["ci95"][1] if metric["ci95"] else metric["mean"]
        for own in table.values()
        for metric in own.values()
        if metric
    )
    axes.set_xlim(0, high * 1.02 or 1.0)
    axes.set_xlabel(style.short(measure, 50))
    step = (row - 6) / row / len(series)
    for at, own in enumerate(table.values()):
        for place, metric in enumerate(own.values()):
            if metric:
                y = at + (place - (len(series) - 1) / 2) * step
                _draw_bar(axes, y, step * 0.86, metric, styles[place], open_bar=controls[at])
    return drawing


def _draw_bar(
    axes: Axes,
    y: float,
    height: float,
    metric: Mapping[str, Any],
    bar: Mapping[str, Any],
    *,
    open_bar: bool,
) -> None:
    color = bar["facecolor"]
    if open_bar:
        bar = {"facecolor": style.PAPER, "edgecolor": color, "linewidth": 1.2}
    axes.barh(y, metric["mean"], height, **bar)
    if metric["ci95"]:
        low, high = metric["ci95"]
        axes.plot([low, high], [y, y], color=style.PAPER, linewidth=2.8, solid_capstyle="butt")
        axes.plot([low, high], [y, y], color=style.INK, linewidth=1)
    style.beside(axes, y, number(metric["mean"]), 6, size=style.SMALL)
