"""Chunk sizes of each chunker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.reports.contests import contends
from harness.reports.figures import style
from harness.reports.figures.figure import Figure
from harness.support.arrays import percentile
from harness.support.json_files import stored_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from harness.reports.figures.groups import Group

_ROW = 26
_SHARES = (5, 25, 50, 75, 95)

Box = tuple[int, tuple[int, ...]]
"""The number of chunks; the smallest, five percentiles and the largest."""


def chunk_sizes(group: Group) -> Iterator[Figure]:
    """A box for each chunker; none if no chunk was stored."""
    boxes = {
        name: box for name, cell in group.stored.items() if (box := _box(cell.folder)) is not None
    }
    if not boxes:
        return
    drawn = group.choose(list(boxes), style.MOST_ROWS)
    title = "Sizes of chunks"
    parts = (group.parts[0], *group.run)
    yield Figure(
        name=style.slug("sizes", *parts),
        section="sizes",
        title=f"{title}: {', '.join(parts)}",
        caption="Non-white-space characters (c) of a chunk. Box: the middle half of the chunks, "
        "with the median; line: from the 5th to the 95th percentile; dots: the smallest and "
        "the largest chunk." + style.left_out(drawn, list(boxes)),
        alt=" ".join(
            f"{style.short(name, style.SPOKEN)}: {boxes[name][0]} chunks, "
            f"median {boxes[name][1][3]:.0f} c."
            for name in drawn
        ),
        columns=("chunker", "chunks", "min_c", *(f"p{share}_c" for share in _SHARES), "max_c"),
        rows=tuple((name, count, *ends) for name, (count, ends) in boxes.items()),
        draw=lambda: _draw(title, " · ".join(parts), {name: boxes[name] for name in drawn}),
    )


def _box(cell: Path) -> Box | None:
    places = [row["nws"] for row in stored_rows(cell / "chunks.jsonl")]
    if not places:
        return None
    sizes = np.array([end - start for start, end in places])
    return len(sizes), tuple(percentile(sizes, share) for share in (0, *_SHARES, 100))


def _draw(title: str, under: str, boxes: Mapping[str, Box]) -> Drawing:
    drawing, top = style.canvas(title, under, _ROW * len(boxes) + 46)
    axes = style.panel(
        drawing, style.NAMES, top + 4, style.WIDTH - style.NAMES - 92, _ROW * len(boxes)
    )
    names = style.labels(boxes)
    low = max(1.0, min(ends[0] for _, ends in boxes.values()))
    high = max(low * 2, *(ends[-1] for _, ends in boxes.values()))
    style.log_ticks(axes, style.ticks_between(low * 0.8, high * 1.25))
    axes.set_xlim(low * 0.8, high * 1.25)
    axes.grid(axis="x", visible=True)
    style.name_rows(axes, [names[name] for name in boxes], [not contends(name) for name in boxes])
    for at, (count, ends) in enumerate(boxes.values()):
        _draw_box(axes, at, [max(end, low) for end in ends])
        style.beside(axes, at, f"{style.budget(ends[3])} c, n={count:,}", 6, size=style.SMALL)
    axes.set_xlabel("chunk size in c, logarithmic")
    return drawing


def _draw_box(axes: Axes, at: int, ends: Sequence[float]) -> None:
    axes.plot(ends[1::4], [at, at], color=style.SERIES[0])
    axes.barh(
        at,
        ends[4] - ends[2],
        0.56,
        ends[2],
        facecolor=style.PAPER,
        edgecolor=style.SERIES[0],
        linewidth=1.4,
        zorder=2,
    )
    axes.plot([ends[3]] * 2, [at - 0.28, at + 0.28], color=style.INK, linewidth=2.4, zorder=3)
    axes.plot(
        [ends[0], ends[-1]],
        [at, at],
        marker=".",
        color=style.SERIES[0],
        linestyle="none",
        markersize=4,
    )
