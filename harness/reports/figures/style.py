"""The common look of figures: size, colours, names, axes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from harness.reports.contests import contends
from harness.reports.plain import plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

WIDTH = 400
"""Width of every figure in points: text of 10 points is readable on a screen of 360 pixels."""

LIGHT = {
    "series-1": "#0072b2",
    "series-2": "#d55e00",
    "series-3": "#009e73",
    "series-4": "#8c1aff",
    "series-5": "#4a1c3b",
    "series-6": "#e6004c",
    "series-7": "#001580",
    "series-8": "#660000",
    "ink": "#1a1a1b",
    "muted": "#5a5a5c",
    "grid": "#dcdcde",
    "band": "#ececee",
    "paper": "#ffffff",
}
"""Colours by CSS variable: three of Okabe and Ito, and those farthest from them under the three
kinds of colour blindness; a contrast of 3:1 or more with `paper`, of text 4.5:1 or more. Those
of a dark page are in `report.css`."""

SERIES = tuple(color for name, color in LIGHT.items() if name.startswith("series"))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.5)),
    (0, (6, 2, 1, 2)),
    (0, (9, 2)),
    (0, (3, 1.5)),
    (0, (6, 2, 1, 2, 1, 2)),
    (0, (2, 3)),
)
HATCHES = ("", "////", "xxx", "---", "\\\\", "|||")

INK, MUTED, GRID, BAND, PAPER = (LIGHT[name] for name in ("ink", "muted", "grid", "band", "paper"))

MOST_LINES = len(SERIES)
"""Lines that can be told apart."""

MOST_ROWS = 20
"""Rows that can be read without losing the axis."""

TEXT, SMALL = 10, 9
LINE = 11.5
"""Height of a line of text in points."""

NAMES = 122
"""Width of the column of names in points."""

SPOKEN = 60
"""Characters of a name in a text alternative."""

_NAME = 19  # characters of a name in a line
_TITLE = 48  # characters of a title in a line

RC: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name may hold dollar signs
    "text.usetex": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # of matplotlib itself: the same on any machine
    "font.size": TEXT,
    "figure.dpi": 72,  # a pixel is a point
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "axes.facecolor": "none",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": TEXT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "hatch.linewidth": 0.8,
    "hatch.color": PAPER,
    "path.simplify": False,
}
"""Settings of matplotlib while a figure is drawn and saved."""


def short(text: object, width: int) -> str:
    """Text in a line of at most `width` Latin characters, without its middle if it is longer."""
    line = " ".join(plain(" ".join(str(text).split())).split())
    if _columns(line) <= width:
        return line
    tail = (width - 1) // 3
    return f"{_first(line, width - 1 - tail)}…{_first(line[::-1], tail)[::-1]}"


def _columns(text: str) -> int:
    """The width of a text; a character of Chinese, Japanese or Korean takes two columns."""
    return sum(2 if east_asian_width(mark) in "WF" else 1 for mark in text)


def _first(text: str, width: int) -> str:
    """As much of a text as has at most `width` columns."""
    own = text[:width]
    while _columns(own) > width:
        own = own[:-1]
    return own


def labels(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """A label of one or two lines for each name, different for different names."""
    own = {name: _two_lines(short(name, 2 * _NAME - 2), _NAME) for name in names}
    return _distinct(own, _NAME)


def lines_of(names: Iterable[str], width: int = 30) -> dict[str, str]:
    """A label of one line for each name, different for different names."""
    own = _distinct({name: (short(name, width),) for name in names}, width)
    return {name: line for name, (line,) in own.items()}


def _distinct(own: Mapping[str, tuple[str, ...]], width: int) -> dict[str, tuple[str, ...]]:
    used: dict[tuple[str, ...], int] = {}
    out = {}
    for name, lines in own.items():
        used[lines] = used.get(lines, 0) + 1
        if used[lines] > 1:
            mark = f" ({used[lines]})"
            lines = (*lines[:-1], _first(lines[-1], width - len(mark)) + mark)  # noqa: PLW2901
        out[name] = lines
    return out


def _two_lines(text: str, width: int) -> tuple[str, ...]:
    if _columns(text) <= width:
        return (text,)
    most = len(_first(text, width))
    breaks = [at.end() for at in re.finditer(r"[,:|/ ]|-(?=\w)", text) if at.end() <= most]
    cut = breaks[-1] if breaks and _columns(text[breaks[-1] :]) <= width else most
    return text[:cut].rstrip(), short(text[cut:].lstrip(), width)


def text_width(text: str, size: float) -> float:
    """About the width of a text in points."""
    return 0.6 * size * _columns(text)


def slug(*parts: str) -> str:
    """The name of a figure and its files."""
    return re.sub("[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-")[:60].strip("-")


def choose(
    names: Sequence[str], means: Mapping[str, float], most: int, keep: Collection[str]
) -> list[str]:
    """At most `most` of the names, in their order: those to keep, and those with high means."""
    ranked = sorted(names, key=lambda name: (name not in keep, -means.get(name, 0.0)))
    kept = set(ranked[:most])
    return [name for name in names if name in kept]


def open_bars(drawn: Sequence[str]) -> str:
    """What open bars are, if a control is drawn."""
    return " Open bars: controls, not contenders." if not all(map(contends, drawn)) else ""


def left_out(drawn: Sequence[object], names: Sequence[object], what: str = "chunkers") -> str:
    """A sentence on the names that are not drawn; empty without any."""
    if len(drawn) == len(names):
        return ""
    return (
        f" Drawn are {len(drawn)} of {len(names)} {what}, those with the highest means and the "
        "baseline; the table has all."
    )


def canvas(title: str, subtitle: str, height: float) -> tuple[Drawing, float]:
    """A figure with its heading above `height` points, and the height of the heading."""
    from matplotlib.figure import Figure as Drawing

    lines = _title_lines(title)
    top = 8 + 14 * len(lines) + 20
    drawing = Drawing(figsize=(WIDTH / 72, (top + height) / 72))
    for at, line in enumerate(lines):
        _write(drawing, 8, 8 + 14 * at + 10, line, size=11.5, weight="bold")
    _write(drawing, 8, top - 11, short(subtitle, 68), size=SMALL, color=MUTED)
    return drawing, float(top)


def _title_lines(title: str) -> list[str]:
    words, lines = short(title, 2 * _TITLE - 12).split(" "), [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) >= _TITLE:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return [short(line, _TITLE) for line in lines]


def _write(drawing: Drawing, left: float, top: float, text: str, **style: Any) -> None:
    """Write a line whose baseline is `top` points below the upper edge."""
    height = drawing.get_figheight() * 72
    drawing.text(left / WIDTH, 1 - top / height, text, va="baseline", **style)


def panel(drawing: Drawing, left: float, top: float, width: float, height: float) -> Axes:
    """Axes at a place in points, from the upper left corner."""
    full = drawing.get_figheight() * 72
    return drawing.add_axes((left / WIDTH, 1 - (top + height) / full, width / WIDTH, height / full))


def name_rows(axes: Axes, names: Sequence[Sequence[str]], muted: Sequence[bool] = ()) -> None:
    """Turn the vertical axis into rows, from the top, with labels of one or two lines."""
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    for at, lines in enumerate(names):
        for place, line in enumerate(lines):
            beside(
                axes,
                at,
                line,
                -8,
                (len(lines) - 1) / 2 - place,
                ha="right",
                style="italic" if muted and muted[at] else "normal",
            )


def beside(axes: Axes, y: float, text: str, offset: float, lines: float = 0, **style: Any) -> None:
    """Write beside the axes at a row: to the left for an offset below 0, else to the right."""
    look: dict[str, Any] = {"size": SMALL + 0.5, "ha": "left"} | style
    axes.annotate(
        text,
        (0 if offset < 0 else 1, y),
        xycoords=axes.get_yaxis_transform(),
        xytext=(offset, lines * LINE - 3.4),
        textcoords="offset points",
        va="baseline",
        annotation_clip=False,
        **look,
    )


def above(axes: Axes, text: str) -> None:
    """Name the vertical axis above it, where a long name has room."""
    axes.annotate(
        short(text, 50),
        (0, 1),
        (-30, 9),
        "axes fraction",
        "offset points",
        va="baseline",
        size=TEXT,
        annotation_clip=False,
    )


def heading(axes: Axes, text: str, **look: Any) -> None:
    """Name a panel above its left corner."""
    place = ((0, 1), (0, 4), "axes fraction", "offset points")
    axes.annotate(text, *place, va="baseline", size=SMALL + 0.5, **look)


def spread(places: Sequence[float], gaps: Sequence[float], low: float, high: float) -> list[float]:
    """Places moved apart so that labels of heights `gaps` do not overlap, in the same order."""
    order = sorted(range(len(places)), key=lambda at: places[at])
    moved = list(places)
    edge = low
    for at in order:
        moved[at] = max(moved[at], edge + gaps[at] / 2)
        edge = moved[at] + gaps[at] / 2
    edge = high
    for at in reversed(order):
        moved[at] = min(moved[at], edge - gaps[at] / 2)
        edge = moved[at] - gaps[at] / 2
    return moved


def legend_height(names: Sequence[str]) -> float:
    """The height of a legend in points."""
    return LINE * 1.25 * (1 + max((row for row, _ in _legend_places(names)), default=0)) + 4


def _legend_places(names: Sequence[str]) -> list[tuple[int, float]]:
    row, left, places = 0, 8.0, []
    for name in names:
        width = 26 + text_width(name, SMALL + 0.5)
        if left > 8 and left + width > WIDTH - 4:
            row, left = row + 1, 8.0
        places.append((row, left))
        left += width + 8
    return places


def draw_legend(
    drawing: Drawing, top: float, names: Sequence[str], styles: Sequence[Mapping[str, Any]]
) -> None:
    """Names with their markers or bars in lines below a heading."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    height = drawing.get_figheight() * 72
    for name, style, (row, left) in zip(names, styles, _legend_places(names), strict=True):
        y = top + LINE * 1.25 * row + 6
        at = 1 - y / height
        if "facecolor" in style:
            box = Rectangle((left / WIDTH, at - 4 / height), 16 / WIDTH, 8 / height, **style)
            drawing.add_artist(box)
        else:
            drawing.add_artist(
                Line2D(
                    [left / WIDTH, (left + 9) / WIDTH, (left + 18) / WIDTH],
                    [at, at, at],
                    markevery=[1],
                    **style,
                )
            )
        _write(drawing, left + 23, y + 3.4, name, size=SMALL + 0.5)


def budget(value: float) -> str:
    """A number of characters in few digits: 2.5k."""
    for bound, suffix in ((1e6, "M"), (1e3, "k")):
        if value >= bound:
            return f"{value / bound:.3g}{suffix}"
    return f"{value:.3g}"


def log_ticks(axes: Axes, ticks: Sequence[float]) -> None:
    """A logarithmic x axis with the given ticks alone."""
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_ticks(list(ticks), [budget(tick) for tick in ticks])


def ticks_between(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: 1, 2 and 5 times powers of ten; few of them."""
    import math

    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) <= 6:
            return inside
    return inside[:: math.ceil(len(inside) / 6)]
