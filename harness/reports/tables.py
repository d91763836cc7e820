"""The tables of a run: for a terminal, as Markdown, and as CSV."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

from harness.reports.breakdowns import means_of, tables_of
from harness.reports.columns import HEALTH, NAMES
from harness.reports.document import failed_of
from harness.reports.marks import Cell, column_name, marked
from harness.reports.notes import notes_of
from harness.reports.numbers import NONE, number
from harness.reports.plain import csv_safe, markdown_escaped, markdown_table, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rich.console import Console

ANCHORS = ("± 95 %", "oracle", "random")


def wrapped(name: str, width: int = NAMES) -> str:
    """A name in lines that are no wider, as far as it can be broken behind `,`, `:`, `|` or `/`."""
    lines = [""]
    for piece in re.findall(r"[^,:|/]*[,:|/]|[^,:|/]+", name):
        if lines[-1] and len(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def groups(document: Mapping[str, Any]) -> Iterator[tuple[str, list[Cell]]]:
    """The cells that one table compares, with its heading."""
    by: dict[tuple[str, ...], list[Cell]] = {}
    for cell in document["cells"]:
        key = tuple(cell[name] for name in ("dataset", "embedder", "retriever", "profile"))
        by.setdefault(key, []).append(cell)
    for (dataset, embedder, retriever, profile), cells in by.items():
        model = "" if embedder == "none" else f"{embedder}, "
        yield (
            f"{dataset}: {cells[0]['n_queries']} queries, {model}{retriever}, profile {profile}, "
            f"data {cells[0]['fingerprint'][:12]}",
            cells,
        )


def rows_of(cell: Cell) -> list[list[str]]:
    """The four rows of a cell: means, half-widths of their intervals, oracle, random."""
    metrics = cell["metrics"].values()
    bound = ("", "≤")
    return [
        [marked(cell), *(number(one["mean"]) for one in metrics)],
        [ANCHORS[0], *(_half(one["ci95"]) for one in metrics)],
        [
            ANCHORS[1],
            *(bound[one["oracle_is_bound"]] + number(one["oracle"]) for one in metrics),
        ],
        [ANCHORS[2], *(number(one["random"]) for one in metrics)],
    ]


def _half(interval: list[float] | None) -> str:
    return NONE if interval is None else f"±{(interval[1] - interval[0]) / 2:.3f}"


def print_table(document: Mapping[str, Any], console: Console) -> None:
    """Print a run to a terminal: of the measures what fits, the first ones first."""
    from rich import box
    from rich.table import Table

    def table(headings: Iterable[str], names: int = 1) -> Table:
        made = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
        for place, heading in enumerate(headings):
            if place >= names:
                made.add_column(heading, justify="right", no_wrap=True)
            else:
                made.add_column(heading, max_width=NAMES, overflow="fold")
        return made

    for heading, cells in groups(document):
        console.print(plain(heading), markup=False, highlight=False, style="bold")
        names = list(cells[0]["metrics"])
        fits = _fitting(cells, console.width)
        headings = [column_name(name, cells[0]).replace("@", "\n@") for name in names[:fits]]
        scores = table(["chunker", *headings])
        for cell in cells:
            first, *anchors = rows_of(cell)
            scores.add_row(wrapped(plain(first[0])), *first[1 : fits + 1], style="bold")
            for row in anchors:
                scores.add_row(f"  {row[0]}", *row[1 : fits + 1], style="dim")
        console.print(scores)
        columns = HEALTH[: _fitting_health(cells, console.width)]
        health = table(["chunker", *(name for name, _ in columns)])
        for cell in cells:
            health.add_row(wrapped(plain(marked(cell))), *(show(cell) for _, show in columns))
        console.print(health)
        _print_splits(cells, console, table)
        for caption, rows in _reference(cells):
            made = table([caption, *rows[0][1:]])
            for values in rows[1:]:
                made.add_row(wrapped(plain(values[0])), *map(plain, values[1:]))
            console.print(made)
        notes = notes_of(document, cells)
        if fits < len(names) or len(columns) < len(HEALTH):
            rest = [_in_line(name) for name, _ in HEALTH]
            hidden = ", ".join([*names[fits:], *rest[len(columns) :]])
            notes.append(f"not shown for want of room: {hidden}; see --format markdown")
        for note in notes:
            console.print(plain(note), markup=False, highlight=False, style="dim")
        console.print()
    _print_overviews(document, console, table)
    for line in failed_of(document):
        console.print(plain(line), markup=False, highlight=False, style="bold red")
    console.print(f"run folder: {plain(document['out'])}", markup=False, highlight=False)


def _print_overviews(
    document: Mapping[str, Any], console: Console, table: Callable[..., Any]
) -> None:
    from harness.reports.overview import overviews

    for one in overviews(document, console.width):
        console.print(plain(one.heading), style="bold")
        made = table([name.replace("@", "\n@") for name in one.columns], one.parts)
        for row in one.rows:
            names = (wrapped(plain(name)) for name in row[: one.parts])
            made.add_row(*names, *map(plain, row[one.parts :]))
        console.print(made)
        if one.hidden:
            rest = f"not shown for want of room: {', '.join(one.hidden)}; see --format markdown"
            console.print(rest, style="dim")
        console.print()


def _fitting(cells: list[Cell], width: int) -> int:
    """How many measures fit beside the names, at least one."""
    widths = [len(marked(cell)) for cell in cells] + [len(one) + 2 for one in ANCHORS]
    names = min(NAMES, max(widths))
    fits, used = 0, names
    for name in cells[0]["metrics"]:
        used += 2 + max(7, *(len(part) for part in column_name(name, cells[0]).split("@", 1)))
        if used > width and fits:
            break
        fits += 1
    return fits


def _fitting_health(cells: list[Cell], width: int) -> int:
    """How many columns of `HEALTH` fit beside the names, at least one."""
    used = min(NAMES, max(len("chunker"), *(len(marked(cell)) for cell in cells)))
    fits = 0
    for name, show in HEALTH:
        used += 2 + max(len(part) for part in [*name.split("\n"), *map(show, cells)])
        if used > width and fits:
            break
        fits += 1
    return fits


def _reference(cells: list[Cell]) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """The tables of the system whose profile the cells have, where it prints one."""
    if cells[0]["profile"].partition(":")[0] == "code-chunk":
        from harness.reports.reference import macro_tables

        for cut, rows in macro_tables(cells):
            yield f"mean of {len(_corpora(cells))} repositories, k={cut}", rows


def _corpora(cells: list[Cell]) -> set[str]:
    return {corpus for one in cells[0]["metrics"].values() for corpus in one["by_corpus"]}


def _print_splits(
    cells: list[Cell], console: Console, table: Callable[[Iterable[str]], Any]
) -> None:
    for headings, rows, note in tables_of(cells):
        made = table(["\n".join(map(_heading, one.split("\n"))) for one in headings])
        for row in rows:
            made.add_row(wrapped(plain(row[0])), *map(plain, row[1:]))
        console.print(made)
        if note:
            console.print(note, style="dim")


def _heading(line: str) -> str:
    return wrapped(plain(line), NAMES // 2)


def as_markdown(document: Mapping[str, Any]) -> str:
    """Every measure and column as Markdown."""
    from harness.reports.overview import overviews

    lines: list[str] = []
    for heading, cells in groups(document):
        lines += [f"### {markdown_escaped(heading)}", ""]
        names = [column_name(name, cells[0]) for name in cells[0]["metrics"]]
        lines += markdown_table(
            ["chunker", *names], (row for cell in cells for row in rows_of(cell))
        )
        lines += markdown_table(
            ["chunker", *(_in_line(name) for name, _ in HEALTH)],
            ([marked(cell), *(show(cell) for _, show in HEALTH)] for cell in cells),
        )
        for tag, values in cells[0]["by"].items():
            for value, of in values.items():
                heads = [f"{tag}={value}, n={of['n']}", *names]
                lines += markdown_table(
                    heads,
                    ([one["chunker"], *means_of(one, tag, value).values()] for one in cells),
                )
        for caption, rows in _reference(cells):
            lines += markdown_table([caption, *rows[0][1:]], (list(row) for row in rows[1:]))
        lines += [f"- {markdown_escaped(note)}" for note in notes_of(document, cells)] + [""]
    for one in overviews(document):
        lines += [f"### {markdown_escaped(one.heading)}", ""]
        lines += markdown_table(list(map(_in_line, one.columns)), map(list, one.rows))
    lines += [f"- {markdown_escaped(line)}" for line in failed_of(document)]
    return "\n".join(lines)


def _in_line(heading: str) -> str:
    """A heading of several lines in one."""
    return heading.replace("-\n", "").replace("\n", " ")


def as_csv(document: Mapping[str, Any]) -> str:
    """Every number, one a row."""
    names = ("dataset", "chunker", "embedder", "retriever", "profile")
    columns = ("kind", "name", "value", "ci95_low", "ci95_high", "n")
    extra = ("comparable", "oracle", "oracle_is_bound", "random", "random_error")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, *columns, *extra])
    for cell in document["cells"]:
        key = [csv_safe(cell[name]) for name in names]
        for name, one in cell["metrics"].items():
            ends = one["ci95"] or (None, None)
            values = [one["mean"], *ends, one["n"], *(one[column] for column in extra)]
            writer.writerow([*key, "metric", name, *values])
        for tag, values in cell["by"].items():
            for value, of in values.items():
                for name, mean in of["metrics"].items():
                    label = csv_safe(f"{tag}={value}: {name}")
                    writer.writerow([*key, "by", label, mean, None, None, of["n"], *[None] * 5])
        writer.writerow([*key, "mark", "truncated", cell["truncated"], *[None] * 8])
        for kind in ("health", "cost"):
            for name, value in cell[kind].items():
                if not isinstance(value, dict):
                    writer.writerow([*key, kind, name, value, *[None] * 8])
        for name, of_query in cell["latency_ms"].items():
            for at, value in (of_query or {"p50": None, "p95": None}).items():
                writer.writerow([*key, "latency_ms", f"{name}_{at}", value, *[None] * 8])
    for one in document.get("failed", ()):
        key = [csv_safe(one.get(name, "")) for name in names]
        writer.writerow([*key, "failed", "files", len(one["failures"]), *[None] * 8])
    return out.getvalue()
