"""The tables of a run: for a terminal, as Markdown, and as CSV."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from harness.reports.answer import SHARED_PARTS
from harness.reports.breakdowns import breakdown_tables, means_of, single_queries
from harness.reports.columns import (
    NAMES,
    NONE,
    CellDocument,
    column_name,
    ends,
    health_columns,
    in_line,
    marked,
    number,
)
from harness.reports.document import failure_lines
from harness.reports.notes import notes_of
from harness.reports.overview import overviews
from harness.reports.plain import csv_safe, latex_table, markdown_escaped, markdown_table, plain
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

REFERENCES = ("95 %", "oracle", "random")
"""The rows below the means of a cell."""


def wrapped(name: str, width: int = NAMES) -> str:
    """A name in lines of at most `width`, broken after `,`, `:`, `|` or `/` if possible."""
    lines = [""]
    for piece in re.findall(r"[^,:|/]*[,:|/]|[^,:|/]+", name):
        if lines[-1] and len(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def groups(document: Mapping[str, Any]) -> Iterator[tuple[str, list[CellDocument]]]:
    """The cells that one table compares, with its heading."""
    by: dict[tuple[str, ...], list[CellDocument]] = {}
    for cell in document["cells"]:
        key = tuple(cell[name] for name in (*SHARED_PARTS, "profile"))
        by.setdefault(key, []).append(cell)
    for (dataset, embedder, retriever, profile), cells in by.items():
        model = "" if embedder == "none" else f"{embedder}, "
        yield (
            f"{dataset}: {counted(cells[0]['n_queries'], 'query', 'queries')}, {model}{retriever}, "
            f"profile {profile}, "
            f"data {cells[0]['fingerprint'][:12]}",
            cells,
        )


def rows_of(cell: CellDocument, decimals: int = 3) -> list[list[str]]:
    """The four rows of a cell: means, intervals with so many decimals, oracle, random."""
    metrics = cell["metrics"].values()
    interval, oracle, random = REFERENCES
    return [
        [marked(cell), *(number(metric["mean"]) for metric in metrics)],
        [interval, *(ends(metric["ci95"], decimals) for metric in metrics)],
        [oracle, *("≤" * m["oracle_is_bound"] + number(m["oracle"]) for m in metrics)],
        [random, *(number(metric["random"]) for metric in metrics)],
    ]


def print_table(document: Mapping[str, Any], console: Console) -> None:
    """Print a run to a terminal; the measures and columns that do not fit are named."""
    for heading, cells in groups(document):
        print_group(document, heading, cells, console)
    for overview in overviews(document, console.width):
        console.print(plain(overview.heading), style="bold")
        columns = [name.replace("@", "\n@") for name in overview.columns]
        print_named(console, columns, overview.rows, overview.parts)
        if overview.hidden:
            rest = ", ".join(overview.hidden)
            console.print(f"not shown, too wide: {rest}; use --format markdown", style="dim")
        console.print()
    for line in failure_lines(document):
        console.print(plain(line), markup=False, highlight=False, style="bold red")
    console.print(f"run folder: {plain(document['out'])}", markup=False, highlight=False)


def print_group(
    document: Mapping[str, Any], heading: str, cells: list[CellDocument], console: Console
) -> None:
    """Print all tables of the cells that one table compares."""
    console.print(plain(heading), markup=False, highlight=False, style="bold")
    for sentence in _sentences(document, cells[0]):
        console.print(plain(sentence), markup=False, highlight=False)
    hidden = [*_print_scores(cells, console), *_print_health(cells, console)]
    print_breakdowns(cells, console)
    for columns, summary in _reference_tables(cells):
        print_named(console, columns, summary)
    notes = notes_of(document, cells)
    if hidden:
        notes.append(f"not shown, too wide: {', '.join(hidden)}; use --format markdown")
    for note in notes:
        console.print(plain(note), markup=False, highlight=False, style="dim")
    console.print()


def print_breakdowns(cells: list[CellDocument], console: Console) -> None:
    """Print a table for each break-down of the first measure."""
    for columns, rows, notes in breakdown_tables(cells):
        print_named(console, ["\n".join(map(_half_wrapped, c.split("\n"))) for c in columns], rows)
        for note in notes:
            console.print(plain(note), markup=False, highlight=False, style="dim")


def _sentences(document: Mapping[str, Any], cell: CellDocument) -> Iterator[str]:
    """The answer for the cells that one table compares."""
    for verdict in document.get("verdicts", ()):
        if all(verdict[part] == cell[part] for part in SHARED_PARTS):
            yield from verdict["sentences"]


def _table(columns: Iterable[str], names: int = 1, width: int = NAMES) -> Table:
    """An empty table, the first columns of which are names of at most `width`."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for place, column in enumerate(columns):
        if place >= names:
            table.add_column(column, justify="right", no_wrap=True)
        else:
            table.add_column(column, max_width=width, overflow="fold")
    return table


def print_named(
    console: Console,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    names: int = 1,
    width: int = NAMES,
) -> None:
    """Print a table whose first columns are names, which wrap at `width`, and the rest does not."""
    table = _table(columns, names, width)
    for row in rows:
        first = (wrapped(plain(name), width) for name in row[:names])
        table.add_row(*first, *map(plain, row[names:]))
    console.print(table)


def _print_scores(cells: list[CellDocument], console: Console) -> list[str]:
    """Print the measures that fit; the names of the others."""
    names = list(cells[0]["metrics"])
    fits = _fitting(cells, console.width)
    columns = [column_name(name, cells[0]).replace("@", "\n@") for name in names[:fits]]
    table = _table(["chunker", *columns])
    for cell in cells:
        means, *references = rows_of(cell, decimals=2)  # as wide as the means
        table.add_row(wrapped(plain(means[0])), *means[1 : fits + 1], style="bold")
        for row in references:
            table.add_row(f"  {row[0]}", *row[1 : fits + 1], style="dim")
    console.print(table)
    return names[fits:]


def _print_health(cells: list[CellDocument], console: Console) -> list[str]:
    """Print the columns of losses and costs that fit; the names of the others."""
    columns = health_columns(cells)
    fits = _fitting_health(cells, console.width)
    rows = [[marked(cell), *(show(cell) for _, show in columns[:fits])] for cell in cells]
    print_named(console, ["chunker", *(name for name, _ in columns[:fits])], rows)
    return [in_line(name) for name, _ in columns[fits:]]


def _fitting(cells: list[CellDocument], width: int) -> int:
    """The number of measures that fit beside the names, at least one."""
    widths = [len(marked(cell)) for cell in cells] + [len(name) + 2 for name in REFERENCES]
    fits, used = 0, min(NAMES, max(widths))
    for name in cells[0]["metrics"]:
        used += 2 + max(7, *(len(part) for part in column_name(name, cells[0]).split("@", 1)))
        if used > width and fits:
            break
        fits += 1
    return fits


def _fitting_health(cells: list[CellDocument], width: int) -> int:
    """The number of columns of losses and costs that fit beside the names, at least one."""
    used = min(NAMES, max(len("chunker"), *(len(marked(cell)) for cell in cells)))
    fits = 0
    for name, show in health_columns(cells):
        used += 2 + max(len(part) for part in [*name.split("\n"), *map(show, cells)])
        if used > width and fits:
            break
        fits += 1
    return fits


def _reference_tables(
    cells: list[CellDocument],
) -> Iterator[tuple[list[str], list[tuple[str, ...]]]]:
    """Columns and rows of the summary that code-chunk's evaluation prints, under its profile.

    One table for each cut-off at which P, R and nDCG were computed, and each size; `fixed` is the
    baseline.
    """
    metrics = cells[0]["metrics"]
    if cells[0]["profile"].partition(":")[0] != "code-chunk":
        return
    from chunkers.plugins.spec import parse_spec
    from harness.measures.grammar import parse_measure
    from harness.parity.code_chunk import Metrics, macro_table
    from harness.reports.matched import OPTION

    corpora = {corpus for metric in metrics.values() for corpus in metric["by_corpus"]}
    measures = map(parse_measure, metrics)
    for cut in sorted({one.cut for one in measures if one.family == "nDCG" and one.cut}):
        names = [f"{family}@{cut}" for family in ("P", "R", "nDCG")]
        if all(name in metrics for name in names):
            repositories = counted(len(corpora), "repository", "repositories")
            sizes: dict[str, dict[str, Metrics]] = {}
            for cell in cells:
                spec = parse_spec(cell["chunker"])
                size = dict(spec.options).get(OPTION)
                means = sizes.setdefault(f", {OPTION}={size}" if size else "", {})
                # Names as in the original: `fixed` for `code-chunk-fixed:max_size=1800`.
                short = spec.name.removeprefix("code-chunk-")
                means[cell["chunker"] if short in means else short] = Metrics(
                    *(cell["metrics"][name]["mean"] for name in names)
                )
            for size, means in sizes.items():
                (_, *columns), *rows = macro_table(means)
                yield [f"mean of {repositories}, k={cut}{size}", *columns], rows


def _half_wrapped(line: str) -> str:
    return wrapped(plain(line), NAMES // 2)


def as_markdown(document: Mapping[str, Any]) -> str:
    """Every measure and column as Markdown."""
    lines: list[str] = []
    for heading, cells in groups(document):
        lines += [f"### {markdown_escaped(heading)}", ""]
        for sentence in _sentences(document, cells[0]):
            lines += [markdown_escaped(sentence), ""]
        names = [column_name(name, cells[0]) for name in cells[0]["metrics"]]
        lines += markdown_table(
            ["chunker", *names], [row for cell in cells for row in rows_of(cell)]
        )
        lines += markdown_table(
            ["chunker", *(in_line(name) for name, _ in health_columns(cells))],
            [[marked(cell), *(show(cell) for _, show in health_columns(cells))] for cell in cells],
        )
        for tag, values in cells[0]["by"].items():
            for value, part in values.items():
                rows = [[one["chunker"], *means_of(one, tag, value).values()] for one in cells]
                lines += markdown_table([f"{tag}={value}, n={part['n']}", *names], rows)
        for tag, part in cells[0]["by_groups"].items():
            groups_of = [one["by_groups"][tag]["metrics"].values() for one in cells]
            rows = [
                [one["chunker"], *map(number, means)]
                for one, means in zip(cells, groups_of, strict=True)
            ]
            lines += markdown_table([f"{tag}, mean of {part['n']} groups", *names], rows)
        for columns, reference in _reference_tables(cells):
            lines += markdown_table(columns, reference)
        alone = filter(None, (single_queries(*item) for item in cells[0]["by"].items()))
        notes = [*alone, *notes_of(document, cells)]
        lines += [f"- {markdown_escaped(note)}" for note in notes] + [""]
    for overview in overviews(document):
        lines += [f"### {markdown_escaped(overview.heading)}", ""]
        lines += markdown_table(list(map(in_line, overview.columns)), overview.rows)
    lines += [f"- {markdown_escaped(line)}" for line in failure_lines(document)]
    return "\n".join(lines)


def as_latex(document: Mapping[str, Any]) -> str:
    """The means of a run as LaTeX, each with its 95 % interval."""
    lines: list[str] = []
    for heading, cells in groups(document):
        names = [column_name(name, cells[0]) for name in cells[0]["metrics"]]
        rows = []
        for cell in cells:
            (name, *means), (_, *intervals), *_ = rows_of(cell)
            pairs = zip(means, intervals, strict=True)
            rows.append(
                [name, *(f"{mean} {both}".removesuffix(f" {NONE}") for mean, both in pairs)]
            )
        lines += latex_table(["chunker", *names], rows, f"{heading}.")
    return "\n".join(lines)


_CELL = ("dataset", "chunker", "embedder", "retriever", "profile")
_VALUE = ("kind", "name", "value", "ci95_low", "ci95_high", "n")
_METRIC = ("comparable", "oracle", "oracle_is_bound", "random", "random_error")


def as_csv(document: Mapping[str, Any]) -> str:
    """Every number, one per row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_CELL, *_VALUE, *_METRIC])
    for cell in document["cells"]:
        key = [csv_safe(cell[name]) for name in _CELL]
        for row in _csv_rows(cell):
            writer.writerow([*key, *row, *[None] * (len(_VALUE) + len(_METRIC) - len(row))])
    for cell in document.get("failed", ()):
        key = [csv_safe(cell.get(name, "")) for name in _CELL]
        writer.writerow([*key, "failed", "files", len(cell["failures"]), *[None] * 8])
    return out.getvalue()


def _csv_rows(cell: CellDocument) -> Iterator[list[object]]:
    """The rows of a cell; columns at the end that have no value are left out."""
    for name, metric in cell["metrics"].items():
        ends = metric["ci95"] or (None, None)
        extra = [metric[column] for column in _METRIC]
        yield ["metric", name, metric["mean"], *ends, metric["n"], *extra]
    for tag, values in cell["by"].items():
        for value, part in values.items():
            for name, mean in part["metrics"].items():
                label = csv_safe(f"{tag}={value}: {name}")
                yield ["by", label, mean, None, None, part["n"]]
    for tag, part in cell["by_groups"].items():
        for name, mean in part["metrics"].items():
            yield ["by_groups", csv_safe(f"{tag}: {name}"), mean, None, None, part["n"]]
    yield ["mark", "truncated", cell["truncated"]]
    for kind in ("health", "cost"):
        for name, value in cell[kind].items():
            if not isinstance(value, dict):
                yield [kind, name, value]
    for name, times in cell["latency_ms"].items():
        for at, value in (times or {"p50": None, "p95": None}).items():
            yield ["latency_ms", f"{name}_{at}", value]
