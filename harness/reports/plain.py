"""Plain tables: for a terminal, as Markdown, as LaTeX, and as CSV."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console


def plain(text: object) -> str:
    """Text with every character replaced that could control a terminal."""
    return "".join(
        mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in str(text)
    )


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[object]], console: Console) -> None:
    """Print a table to a terminal; long cells wrap."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in table.columns:
        column.overflow = "fold"
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console.print(table)


def print_lines(
    columns: Sequence[str], rows: Sequence[Sequence[str]], console: Console, width: int
) -> None:
    """Print a table of one line a row to a terminal; its last column is cut after a word."""
    cells = [list(map(plain, row)) for row in [columns, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)][:-1]
    for number, (*row, last) in enumerate(cells):
        start = "".join(f"{cell:{size}}  " for cell, size in zip(row, widths, strict=True))
        line = f"{start}{last}".rstrip()
        if len(line) > width:
            words = line[: width - 1].rpartition(" ")[0].rstrip(" ,;:")
            # A last column without a space is cut anywhere.
            line = f"{words if len(words) > len(start) else line[: width - 2]} …"
        console.print(line, style=None if number else "bold", no_wrap=True, overflow="ignore")


def as_rows(columns: Sequence[str], rows: Iterable[Sequence[object]], form: str) -> str:
    """A table as `markdown`, `latex` or `csv`."""
    if form == "csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(map(csv_safe, columns))
        writer.writerows([csv_safe(cell) for cell in row] for row in rows)
        return out.getvalue()
    table = latex_table if form == "latex" else markdown_table
    return "\n".join(table(columns, ([str(cell) for cell in row] for row in rows)))


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table, with an empty one at the end; numbers align right."""
    rule = ["---", *["---:"] * (len(columns) - 1)]
    escaped = [[markdown_escaped(cell) for cell in row] for row in [columns, *rows]]
    lines = [f"| {' | '.join(row)} |" for row in [escaped[0], rule, *escaped[1:]]]
    return [*lines, ""]


def markdown_escaped(text: str) -> str:
    """Text without Markdown markup."""
    return "".join(f"\\{mark}" if mark in "\\`*_|<>[]" else mark for mark in plain(text))


_LATEX = {
    **{mark: f"\\{mark}" for mark in "%_&#{}$"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    "[": "{[}",  # an option of the line break before it
    "*": "{*}",
    "±": "$\\pm$",
    "≤": "$\\leq$",
    "\N{REPLACEMENT CHARACTER}": "?",
}


def latex_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = ""
) -> list[str]:
    """The lines of a LaTeX table that needs no package; numbers align right."""
    lines = [" & ".join(map(latex_escaped, row)) + r" \\" for row in [columns, *rows]]
    tabular = [
        rf"\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}",
        r"\hline",
        lines[0],
        r"\hline",
        *lines[1:],
        r"\hline",
        r"\end{tabular}",
    ]
    if not caption:
        return tabular
    top = [r"\begin{table}", rf"\caption{{{latex_escaped(caption)}}}", r"\centering"]
    return [*top, *tabular, r"\end{table}", ""]


def latex_escaped(text: str) -> str:
    """Text without LaTeX markup."""
    escaped = "".join(_LATEX.get(mark, mark) for mark in plain(text))
    # Two hyphens would be a dash, and a hyphen before a number is a minus.
    return re.sub(r"(?<![\w-])-(?=\.?\d)", "$-$", escaped.replace("--", "-{}-"))


def csv_safe(value: object) -> object:
    """A cell that neither a terminal nor a spreadsheet takes for a command."""
    if not isinstance(value, str):
        return value
    text = "".join(mark if mark in "\n\t" else plain(mark) for mark in value)
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text
