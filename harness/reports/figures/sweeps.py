"""Sweeps: the measure over the values of an option in which chunkers of one name differ."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.plugins.loading import CHUNKERS
from chunkers.plugins.spec import parse_spec
from harness.reports.figures import style
from harness.reports.figures.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.figure import Figure as Drawing

    from harness.reports.figures.groups import Group

_HEIGHT, _WIDE = 180, style.WIDTH - 56
_COMMON = {"overlap": "0", "header": "off"}  # of all built-in chunkers

Sweep = dict[str, str]
"""The names of cells by the value of an option."""


def sweep_figures(group: Group) -> Iterator[Figure]:
    """A figure for each option with two values or more in otherwise equal chunkers."""
    measure = group.measure
    if measure is None:
        return
    means = group.means(measure)
    for option, sweeps in sweeps_of(list(means)).items():
        yield _figure(group, measure, option, sweeps)


def sweeps_of(names: Sequence[str]) -> dict[str, dict[str, Sweep]]:
    """The sweeps among chunkers: for each option those of each spec without it.

    A chunker without the option has its default, which is known of built-in chunkers.
    """
    specs = {}
    for name in names:
        try:
            specs[name] = parse_spec(name)
        except InputError:  # a name of two runs has its run folder
            continue
    options = dict.fromkeys(key for spec in specs.values() for key, _ in spec.options)
    found: dict[str, dict[str, Sweep]] = {}
    for option in options:
        sweeps: dict[str, Sweep] = {}
        for name, spec in specs.items():
            value = dict(spec.options).get(option, _default(spec.name, option))
            if value is not None:
                sweeps.setdefault(str(spec.without(option)), {}).setdefault(value, name)
        if kept := {base: sweep for base, sweep in sweeps.items() if len(sweep) > 1}:
            found[option] = kept
    return found


def _default(name: str, option: str) -> str | None:
    entry = CHUNKERS.entries().get(name)
    if entry is None or not entry.target.startswith("chunkers.builtin."):
        return None
    parameter = inspect.signature(CHUNKERS.load(entry)).parameters.get(option)
    if parameter is None:
        return _COMMON.get(option)
    default = parameter.default
    return None if default in (None, parameter.empty) else str(default)


def _figure(group: Group, measure: str, option: str, sweeps: Mapping[str, Sweep]) -> Figure:
    means = group.means(measure)
    best = {base: max(means[name] for name in sweep.values()) for base, sweep in sweeps.items()}
    drawn = style.choose(list(sweeps), best, style.MOST_LINES, [])
    title = f"{style.short(measure, 20)} over {style.short(option, 24)}"
    return Figure(
        name=style.slug("sweep", option, *group.shared),
        section="sweeps",
        title=group.title(title),
        caption="Each line is one chunker; bars: 95 % intervals of each mean alone. The best of "
        "several values is best on these queries in part by chance: `chunkmark compare --tune` "
        "chooses on one half of the files and reports on the other."
        + style.left_out(drawn, list(sweeps)),
        alt=" ".join(
            f"{style.short(base, style.SPOKEN)}: "
            + ", ".join(f"{means[name]:.3f} at {value}" for value, name in _sorted(sweeps[base]))
            + "."
            for base in drawn
        ),
        columns=("chunker", option, measure, "ci95_low", "ci95_high"),
        rows=tuple(
            (base, value, means[name], *_ends(group, measure, name))
            for base, sweep in sweeps.items()
            for value, name in _sorted(sweep)
        ),
        draw=lambda: _draw(title, group, measure, option, {base: sweeps[base] for base in drawn}),
    )


def _ends(group: Group, measure: str, name: str) -> tuple[float | None, float | None]:
    low, high = group.cells[name]["metrics"][measure]["ci95"] or (None, None)
    return low, high


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _sorted(sweep: Sweep) -> list[tuple[str, str]]:
    return sorted(sweep.items(), key=lambda item: (_number(item[0]) or 0.0, item[0]))


def _draw(
    title: str, group: Group, measure: str, option: str, sweeps: Mapping[str, Sweep]
) -> Drawing:
    names = [*style.lines_of(sweeps).values()]
    head = style.legend_height(names)
    drawing, top = style.canvas(title, group.subtitle, head + _HEIGHT + 60)
    styles = [
        {"color": style.SERIES[at], "marker": style.MARKERS[at], "linestyle": style.DASHES[at]}
        for at in range(len(sweeps))
    ]
    style.draw_legend(drawing, top, names, styles)
    axes = style.panel(drawing, 40, top + head + 18, _WIDE, _HEIGHT)
    values = {value: None for sweep in sweeps.values() for value, _ in _sorted(sweep)}
    places = _places(list(values))
    means = group.means(measure)
    for at, sweep in enumerate(sweeps.values()):
        # Bars of several lines at one value stand beside each other.
        shift = (at - (len(sweeps) - 1) / 2) * 0.008 * (max(places.values()) - min(places.values()))
        for value, name in _sorted(sweep):
            if ends := group.cells[name]["metrics"][measure]["ci95"]:
                axes.plot(
                    [places[value] + shift] * 2,
                    ends,
                    color=style.SERIES[at],
                    linewidth=1,
                    alpha=0.6,
                )
        own = [(places[value] + shift, means[name]) for value, name in _sorted(sweep)]
        axes.plot(*zip(*own, strict=True), **styles[at])
    axes.grid(visible=True)
    axes.set_xlabel(style.short(option, 40))
    style.above(axes, measure)
    axes.set_xticks(*_ticks(places, _WIDE / (max(places.values()) - min(places.values()))))
    return drawing


def _ticks(places: Mapping[str, float], scale: float) -> tuple[list[float], list[str]]:
    """Where the values stand that have room for their text, and the texts."""
    ticks: list[float] = []
    texts: list[str] = []
    for value, place in sorted(places.items(), key=lambda item: item[1]):
        text = style.short(value, 12)
        if not ticks or (place - ticks[-1]) * scale > style.text_width(text, style.SMALL) + 4:
            ticks.append(place)
            texts.append(text)
    return ticks, texts


def _places(values: Sequence[str]) -> dict[str, float]:
    """Where values stand: by size where they are numbers, of several digits by its logarithm."""
    import math

    numbers = [_number(value) for value in values]
    known = [number for number in numbers if number is not None]
    if len(known) < len(values):
        return {value: float(at) for at, value in enumerate(values)}
    if min(known) > 0 and max(known) / min(known) >= 4:
        known = list(map(math.log, known))
    return dict(zip(values, known, strict=True))
