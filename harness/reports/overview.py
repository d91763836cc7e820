"""One table for all cells of a data set, if a run compares embedders or retrievers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.reports.columns import (
    LATENCY,
    NAMES,
    CellDocument,
    column_name,
    marked,
    number,
    share,
)
from harness.runs.folder import CONFIGURATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass(frozen=True)
class Overview:
    """One table.

    Attributes:
        heading: Data set, profile, and the parts that all cells share.
        columns: Headings; the first `parts` of them are of names.
        parts: Number of columns of names.
        rows: One for each cell, in the order of the grid.
        hidden: Measures that do not fit.
    """

    heading: str
    columns: tuple[str, ...]
    parts: int
    rows: tuple[tuple[str, ...], ...]
    hidden: tuple[str, ...] = ()


def overviews(document: Mapping[str, Any], width: int | None = None) -> Iterator[Overview]:
    """A table for each data set and profile with several embedders or retrievers.

    The means are followed by the share of chunk tokens that the embedder never saw, and the
    milliseconds of a query.

    Args:
        document: The document of a run.
        width: Columns of a terminal, to leave out the measures that do not fit; None shows all.
    """
    by: dict[tuple[str, str], list[CellDocument]] = {}
    for cell in document["cells"]:
        by.setdefault((cell["dataset"], cell["profile"]), []).append(cell)
    for (dataset, profile), cells in by.items():
        if len({(cell["embedder"], cell["retriever"]) for cell in cells}) > 1:
            yield _overview(f"{dataset}, profile {profile}, side by side", cells, width)


def _overview(heading: str, cells: Sequence[CellDocument], width: int | None) -> Overview:
    parts = [part for part in CONFIGURATION if len({cell[part] for cell in cells}) > 1]
    same = [f"{part} {cells[0][part]}" for part in CONFIGURATION if part not in parts]
    measures = list(cells[0]["metrics"])
    names = [[part, *(_name(cell, part) for cell in cells)] for part in parts]
    means = [
        [
            column_name(measure, cells[0]),
            *(number(cell["metrics"][measure]["mean"]) for cell in cells),
        ]
        for measure in measures
    ]
    costs = [[title, *map(show, cells)] for title, show in (("unseen\nchunk", _unseen), *LATENCY)]
    fits = len(means)
    while width is not None and fits > 1 and _width(names, [*means[:fits], *costs]) > width:
        fits -= 1
    columns = [*names, *means[:fits], *costs]
    return Overview(
        heading=", ".join([heading, *same]),
        columns=tuple(column[0] for column in columns),
        parts=len(names),
        rows=tuple(zip(*(column[1:] for column in columns), strict=True)),
        hidden=tuple(measures[fits:]),
    )


def _name(cell: CellDocument, part: str) -> str:
    return marked(cell) if part == "chunker" else str(cell[part])


def _unseen(cell: CellDocument) -> str:
    return share(cell["health"]["unseen_chunk_tokens"])


def _width(names: Sequence[Sequence[str]], columns: Sequence[Sequence[str]]) -> int:
    """The width of a table; names wrap, and headings break at `@`."""
    wide = [min(NAMES, max(map(len, column))) for column in names]
    lines = [
        [line for cell in column for line in cell.replace("@", "\n@").split("\n")]
        for column in columns
    ]
    return sum(wide) + sum(2 + max(map(len, column)) for column in lines) + 2 * (len(wide) - 1)
