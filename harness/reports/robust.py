"""The document of `chunkmark robust`, and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.reports.contests import adjusted_together, contest_of, differences
from harness.reports.plain import latex_table, markdown_escaped, markdown_table, plain
from harness.reports.recommendation import points, points_interval
from harness.reports.tables import print_named
from harness.robust.study import MEASURES, PLAIN
from harness.runs.folder import CONFIGURATION
from harness.runs.health import TRUNCATION_MARK, truncated
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from harness.reports.contests import Contest, MeasureResult
    from harness.robust.study import Study, Trial
    from harness.stats.comparison import Difference

UNCHANGED = "no file changed"
"""In place of a verdict."""

_COLUMNS = ("chunker", "retriever", "transformation", "files", "chunks", "mean", "points", "95 %",
            "p", "better, worse", "verdict")  # fmt: skip
_CSV = ("dataset", "chunker", "embedder", "retriever", "transformation", "files", "changed",
        "chunks", "queries", "measure", "exploratory", "before", "after", "difference",
        "difference_low", "difference_high", "p", "p_adjusted", "better", "equal", "worse",
        "verdict", "mdd")  # fmt: skip


def robust_document(study: Study, margin: float, seed: int) -> dict[str, Any]:
    """The document `chunkmark.robust/1`; `margin` is the largest change that does not matter."""
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(trial.dataset for trial in study.trials):
        plain_trial, *trials = (trial for trial in study.trials if trial.dataset == name)
        contests = [_contest(plain_trial, trials, parts) for parts in plain_trial.cells]
        family = sum(len(contest.cells) - 1 for contest in contests)
        for measure in MEASURES:
            primary = measure == MEASURES[0]
            results = [
                differences(
                    contest,
                    measure,
                    PLAIN,
                    margin=margin,
                    primary=primary,
                    seed=seed,
                    family=family * primary,
                )
                for contest in contests
            ]
            if primary:
                results = adjusted_together(list(zip(contests, results, strict=True)), margin)
            for contest, result in zip(contests, results, strict=True):
                rows += _rows(plain_trial, trials, contest, result)
    return {
        "schema": "chunkmark.robust/1",
        "margin": margin,
        "seed": seed,
        "rows": rows,
        "most": _most(rows),
        "failures": list(study.failures),
    }


def _contest(before: Trial, trials: Sequence[Trial], parts: tuple[str, str, str]) -> Contest:
    """A cell as it is, and after each transformation that changed a file."""
    changed = [trial for trial in trials if trial.changed and parts in trial.cells]
    cells = [(trial.transformation, trial.cells[parts]) for trial in (before, *changed)]
    return contest_of(before.dataset, parts, cells)


def _rows(
    before: Trial, trials: Sequence[Trial], contest: Contest, result: MeasureResult
) -> Iterator[dict[str, Any]]:
    """What each transformation did to a cell by one measure."""
    chunker, embedder, retriever = parts = contest.shared
    pairs = {pair.a: pair for pair in result.of_these_corpora}
    for trial in trials:
        cell = trial.cells.get((chunker, embedder, retriever))
        if cell is None:
            continue  # it failed, which the failures say
        means = [each.metrics["metrics"][result.measure]["mean"] for each in
                 (before.cells[chunker, embedder, retriever], cell)]  # fmt: skip
        yield {
            "dataset": before.dataset,
            **dict(zip(CONFIGURATION, parts, strict=True)),
            "transformation": trial.transformation,
            "files": trial.files,
            "changed": trial.changed,
            "chunks": cell.cell["health"]["chunks"],
            "queries": len(contest.queries),
            "measure": result.measure,
            "exploratory": not result.primary,
            "before": means[0],
            "after": means[1],
            "difference": None,
            "truncated": truncated(cell.cell["health"]),
            "verdict": UNCHANGED,
            **_difference(pairs.get(trial.transformation)),
        }


def _difference(pair: Difference | None) -> dict[str, Any]:
    if pair is None:
        return {}
    low, high = pair.estimate.ci95 or (None, None)
    return {
        "difference": pair.estimate.mean,
        "difference_low": low,
        "difference_high": high,
        "p": pair.estimate.p,
        "p_adjusted": pair.p_adjusted,
        "better": pair.wins,
        "equal": pair.ties,
        "worse": pair.losses,
        "verdict": pair.verdict,
        "mdd": pair.mdd,
    }


def _most(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each cell the row of the transformation that lowers the primary measure most."""
    most: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        if row["measure"] == MEASURES[0] and row["difference"] is not None:
            key = tuple(row[name] for name in ("dataset", "chunker", "embedder", "retriever"))
            if key not in most or row["difference"] < most[key]["difference"]:
                most[key] = dict(row)
    return list(most.values())


def print_table(document: Mapping[str, Any], console: Console) -> None:
    """Print the tables to a terminal."""
    for title, rows in _tables(document):
        console.print(plain(title), style="bold")
        print_named(console, _COLUMNS, rows, 3, 20)
        console.print()
    for line in _lines(document):
        console.print(plain(line))


def as_markdown(document: Mapping[str, Any]) -> str:
    """The tables as Markdown."""
    lines: list[str] = []
    for title, rows in _tables(document):
        lines += [f"### {markdown_escaped(title)}", "", *markdown_table(_COLUMNS, rows)]
    return "\n".join([*lines, *(f"- {markdown_escaped(line)}" for line in _lines(document)), ""])


def as_latex(document: Mapping[str, Any]) -> str:
    """The tables as LaTeX."""
    tables = (latex_table(_COLUMNS, rows, title) for title, rows in _tables(document))
    return "\n".join(line for table in tables for line in table)


def csv_rows(document: Mapping[str, Any]) -> tuple[tuple[str, ...], list[list[object]]]:
    """Columns, and a row for each data set, cell, transformation and measure."""
    cells = ([row.get(name) for name in _CSV] for row in document["rows"])
    return _CSV, [["" if cell is None else cell for cell in row] for row in cells]


def _tables(document: Mapping[str, Any]) -> Iterator[tuple[str, list[list[str]]]]:
    """Title and rows of each data set and measure."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in document["rows"]:
        groups.setdefault((row["dataset"], row["measure"]), []).append(row)
    for (dataset, measure), rows in groups.items():
        title = f"{dataset}: {measure} of {counted(rows[0]['queries'], 'query', 'queries')}"
        yield title + " (exploratory)" * rows[0]["exploratory"], [_cells(row) for row in rows]


def _cells(row: Mapping[str, Any]) -> list[str]:
    retriever = ", ".join(row[name] for name in ("retriever", "embedder") if row[name] != "none")
    names = [row["chunker"], retriever, row["transformation"]]
    numbers = [f"{row['changed']}/{row['files']}", f"{row['chunks']:,}", f"{row['after']:.3f}"]
    if row["difference"] is None:
        return [*names, *numbers, "", "", "", "", row["verdict"]]
    low, high = row["difference_low"], row["difference_high"]
    return [
        *names,
        *numbers,
        points(row["difference"], "+"),
        "-" if low is None else points_interval((low, high)),
        f"{row['p_adjusted']:.3f}",
        f"{row['better']}, {row['worse']}",
        row["verdict"],
    ]


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    for row in document["most"]:
        cell = f"{row['chunker']} by {row['retriever']} on {row['dataset']}"
        change = f"{row['transformation']}, {points(row['difference'], '+')} points"
        if row["verdict"] == "worse":
            yield f"{cell}: hurt most by {change}"
        else:
            yield f"{cell}: no transformation is shown to hurt; lowest mean after {change}"
        if row["truncated"]:
            yield (
                f"{cell}: the embedder does not see over {TRUNCATION_MARK:.0%} of the chunk "
                "tokens, so little can be said of its boundaries; use a smaller max_size, or "
                "windows=max"
            )
    yield (
        "points: the change of the mean, in hundredths, with its 95 % interval; better, worse: "
        "queries. files: those that changed; the others cannot be changed, or already have "
        "this form. "
        f"Margin: {points(document['margin'])} points; p-values of a table of {MEASURES[0]} are "
        "adjusted together."
    )
