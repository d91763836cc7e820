"""The first screen of a run: the answer, a row for each chunker, and the warnings that apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.box import Box
from rich.table import Table

from harness.reports.answer import SHARED_PARTS
from harness.reports.columns import CellDocument, ends, marked, number, short
from harness.reports.contests import contends
from harness.reports.document import failure_lines
from harness.reports.notes import warnings_of
from harness.reports.plain import plain
from harness.reports.recommendation import BUDGET_MEASURES, points, points_interval
from harness.reports.tables import groups, print_breakdowns, print_group, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rich.console import Console

NAME_WIDTH = 16
"""Width of the column of chunkers in 100 columns."""

_BOX = Box("    \n    \n ── \n    \n ── \n ── \n    \n    \n")  # a rule below each section

_LEGEND = (
    "SpanR: share of targets in N non-white-space characters (Nc); * exploratory; "
    "oracle: best possible"
)


def _costs(cells: list[CellDocument]) -> list[tuple[str, Callable[[CellDocument], str]]]:
    """Columns of what a chunker costs, those that say the same of all left out.

    Characters in the first ten chunks, characters embedded for each character of a chunk, number
    of chunks, tokens to embed, and seconds.
    """
    columns: list[tuple[str, Callable[[CellDocument], str]]] = [
        ("c in\ntop 10", lambda cell: short(cell["cost"]["chars_delivered"]))
    ]
    if any(round(cell["health"]["embedded_per_char"], 1) != 1 for cell in cells):
        columns.append(("embed\nratio", lambda cell: f"{cell['health']['embedded_per_char']:.1f}x"))
    columns.append(("chunks", lambda cell: short(cell["health"]["chunks"])))
    if any(cell["cost"]["tokens"] is not None for cell in cells):
        columns.append(("tokens", lambda cell: short(cell["cost"]["tokens"])))
    return [*columns, ("sec-\nonds", lambda cell: number(cell["cost"]["seconds"], ".1f"))]


def print_first_screen(document: Mapping[str, Any], console: Console) -> None:
    """Print the answer of a run to a terminal of 100 columns.

    A measure that cannot compare chunkers is not shown; if a run has no other, all are shown.
    """
    shortened = False
    for heading, cells in groups(document):
        if cells[0]["primary"] is None:
            print_group(document, heading, cells, console)
            continue
        shortened = True
        answer = _answer_of(document, cells[0])
        _print_line(heading, console, "bold")
        for sentence in answer["sentences"]:
            _print_line(sentence, console)
        console.print(_table(cells, answer, console.width))
        if document["by"]:
            print_breakdowns(cells, console)
        measures = _measures(cells[0])
        warnings = warnings_of(document, cells, measures, brief=True)
        for note in (*_legend(cells[0], measures, answer), *warnings):
            _print_line(note, console, "dim")
    for line in failure_lines(document):
        _print_line(line, console, "bold red")
    more = "; for all measures and costs add --details" * shortened
    _print_line(f"run folder: {document['out']}{more}", console)


def _print_line(text: str, console: Console, style: str | None = None) -> None:
    console.print(plain(text), markup=False, highlight=False, style=style)


def _answer_of(document: Mapping[str, Any], cell: CellDocument) -> Mapping[str, Any]:
    for answer in document["verdicts"]:
        if all(answer[part] == cell[part] for part in SHARED_PARTS):
            matching: Mapping[str, Any] = answer
            return matching
    return {"baseline": None, "sentences": [], "differences": []}


def _legend(cell: CellDocument, measures: list[str], answer: Mapping[str, Any]) -> Iterator[str]:
    """What the headings do not say."""
    yield _LEGEND if measures[0] in BUDGET_MEASURES else "c: non-white-space characters"
    notes = [] if _whole(cell) is None else ["Complete: share of queries with a whole target"]
    rows = [row for row in answer["differences"] if not row["exploratory"]]
    if any(r["verdict"] == "undecided" and (r["ci95"][0] > 0 or r["ci95"][1] < 0) for r in rows):
        # So an interval without 0 may be undecided.
        notes.append(f"verdicts adjusted for {answer['comparisons']} comparisons, intervals not")
    if notes:
        yield "; ".join(notes)


def _whole(cell: CellDocument) -> str | None:
    """The measure of targets that are delivered whole."""
    return next((name for name in cell["metrics"] if name.startswith("Complete@")), None)


def _measures(cell: CellDocument) -> list[str]:
    """The measures of the screen, the headline first."""
    first = str(cell["primary"])
    return (
        [name for name in BUDGET_MEASURES if name in cell["metrics"]]
        if first in BUDGET_MEASURES
        else [first]
    )


def _table(cells: list[CellDocument], answer: Mapping[str, Any], width: int) -> Table:
    """A row for each contender and budget; below a rule, one for each control."""
    measures = _measures(cells[0])
    whole = _whole(cells[0])
    columns = _costs(cells)
    titles = [title for title, _ in columns]
    table = _empty_table(measures, answer, whole, titles, width)
    rows = {(row["chunker"], row["measure"]): row for row in answer["differences"]}
    for contender in (True, False):
        for cell in cells:
            if contends(cell["chunker"]) is contender:
                shown = measures if contender else measures[:1]
                lines = wrapped(plain(marked(cell)), NAME_WIDTH).split("\n")
                for at, measure in enumerate(shown):
                    last = at == len(shown) - 1
                    part = "\n".join(lines[at:] if last else lines[at : at + 1])
                    values = _values(cell, measure, rows.get((cell["chunker"], measure)), answer)
                    costs = [show(cell) if at == 0 else "" for _, show in columns]
                    complete = [_mean(cell, whole) if at == 0 else ""] * (whole is not None)
                    table.add_row(part, *_budget(measures, measure), *values, *complete, *costs)
        if contender:
            table.add_section()
    own = next((cell for cell in cells if cell["chunker"] == answer["baseline"]), cells[0])
    for name in ("oracle", "random"):
        metric = own["metrics"][measures[0]]
        value = "≤" * (name == "oracle" and metric["oracle_is_bound"]) + number(metric[name])
        table.add_row(f"{name} ({own['chunker']})", *_budget(measures, measures[0]), value)
    return table


def _empty_table(
    measures: list[str],
    answer: Mapping[str, Any],
    whole: str | None,
    costs: list[str],
    width: int,
) -> Table:
    table = Table(box=_BOX, pad_edge=False, padding=0, show_edge=False)
    table.add_column(
        "chunker", overflow="fold", max_width=max(NAME_WIDTH, width - 100 + NAME_WIDTH)
    )
    budgets = len(measures) > 1
    name = measures[0].partition("@")[0] if budgets else measures[0].replace("@", "\n@")
    columns = [*["bud-\nget"] * budgets, name, "95 %"]
    if answer["baseline"]:
        columns += [f"vs {answer['baseline']}"[:NAME_WIDTH], "95 %", "verdict"]
    columns += ["Comp-\nlete"] * (whole is not None)
    for column in (*columns, *costs):
        table.add_column(column, justify="left" if column == "verdict" else "right")
    return table


def _budget(measures: list[str], measure: str) -> list[str]:
    """The budget of a row, with a star if its verdicts are exploratory."""
    star = "*" * (measure != measures[0])
    return [measure.partition("@")[2] + star] * (len(measures) > 1)


def _values(
    cell: CellDocument, measure: str, row: Mapping[str, Any] | None, answer: Mapping[str, Any]
) -> Iterator[str]:
    metric = cell["metrics"][measure]
    yield number(metric["mean"])
    yield "" if metric["ci95"] is None else ends(metric["ci95"])
    if row is not None:
        yield points(row["difference"], "+")
        yield points_interval(row["ci95"])
        yield row["verdict"]
    elif answer["baseline"]:
        yield from ("", "", "")


def _mean(cell: CellDocument, measure: str | None) -> str:
    return "" if measure is None else number(cell["metrics"][measure]["mean"])
