"""The document of `chunkmark churn`, and its tables."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.churn.edits import WHOLE
from harness.churn.summary import MEASURES
from harness.reports.plain import latex_table, markdown_escaped, markdown_table, plain
from harness.reports.recommendation import points, points_interval
from harness.reports.tables import print_named
from harness.support.arrays import percentile
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from harness.churn.study import Study
    from harness.churn.summary import ChurnPair, Measure, Result
    from harness.stats.sign_flips import Interval

FAILED = "a chunker failed on a file"
"""Why an edit does not count."""

_TITLES = {
    "again_per_changed": "Characters to embed again for each changed one",
    "again": "Chunks of the edited files to embed again",
    "moved": "Chunks of the edited files with another id path:start-end, but the same text",
}
_TOTALS = {"again_per_changed": "c", "again": "chunks", "moved": "ids"}
_SIZES = ("chunker", "chunks", "c per chunk", "coverage")
_VALUES = ("all edits", "95 %", "median", "p95")
_COMPARED = ("difference", "its 95 %", "p", "verdict", "detects")
_BY_GROUP = ("edits", "all edits", "95 %", "difference", "its 95 %", "verdict")
_NAMES = 18  # width at which the name of a chunker wraps
_COVERED = 0.9995  # below, the table shows less than 100.0 %
_CSV = ("by", "group", "edits", "files", "changed", "measure", "chunker", "value", "ci95_low",
        "ci95_high", "median", "p95", "total", "exploratory", "against", "difference",
        "difference_low", "difference_high", "p", "p_adjusted", "better", "equal", "worse",
        "verdict", "mdd", "edits_to_decide")  # fmt: skip


def churn_document(study: Study, repository: str, margin: float) -> dict[str, Any]:
    """The document `chunkmark.churn/1`; `margin` is what the verdicts were made with."""
    history = study.history
    edits = list(zip(history.edits, study.counted, strict=True))
    failed = sum(not counts for _, counts in edits)
    counted_edits = [edit for edit, counts in edits if counts]
    return {
        "schema": "chunkmark.churn/1",
        "repository": repository,
        "commit": history.head,
        "commits": history.commits,
        "left_out": dict(history.left_out) | ({FAILED: failed} if failed else {}),
        "margin": margin,
        "files": _spread([len(edit.files) for edit in counted_edits]),
        "changed": _spread([edit.changed for edit in counted_edits]),
        "chunkers": [
            {
                "chunker": name,
                "chunks": sum(counts[WHOLE].chunks for counts in replayed.counts if counts),
                "chunk_chars": replayed.chunk_chars,
                "coverage": replayed.coverage,
            }
            for name, replayed in study.replays.items()
        ],
        "groups": [
            {"by": by or None, "group": group or None} | _group(result, margin)
            for (by, group), result in study.results.items()
        ],
        "edits": [
            {
                "commit": edit.commit,
                "files": len(edit.files),
                "changed": edit.changed,
                "chunkers": {
                    name: (counts := replayed.counts[at]) and dataclasses.asdict(counts[WHOLE])
                    for name, replayed in study.replays.items()
                },
            }
            for at, edit in enumerate(history.edits)
        ],
        "failures": study.failures,
    }


def _spread(values: Sequence[int]) -> dict[str, int]:
    array = np.array(values)
    return {
        "median": percentile(array, 50),
        "p95": percentile(array, 95),
        "total": int(array.sum()),
    }


def _group(result: Result, margin: float) -> dict[str, Any]:
    return {
        "edits": result.edits,
        "files": result.files,
        "changed": result.changed,
        "measures": [dataclasses.asdict(summary) for summary in result.summaries],
        "pairs": [_pair(pair, margin) for pair in result.pairs],
    }


def _pair(pair: ChurnPair, margin: float) -> dict[str, Any]:
    """A pair in the direction of the measures, of which less is better."""
    verdict, difference = pair.difference, pair.difference.reversed()
    return {
        "measure": pair.measure,
        "exploratory": pair.exploratory,
        "a": verdict.a,
        "b": verdict.b,
        "difference": difference.estimate.mean,
        "ci95": _above(difference.estimate.ci95),
        "ci90": _above(difference.estimate.ci90),
        "p": verdict.estimate.p,
        "p_adjusted": verdict.p_adjusted,
        "better": verdict.wins,
        "equal": verdict.ties,
        "worse": verdict.losses,
        "verdict": verdict.verdict,
        "mdd": verdict.mdd,
        "edits_to_decide": verdict.to_decide(margin),
    }


def _above(interval: Interval | None) -> Interval | None:
    """An interval of a difference, which cannot be below -1: nothing is left then."""
    return interval and (max(-1.0, interval[0]), interval[1])


def print_table(document: Mapping[str, Any], console: Console) -> None:
    """Print the tables to a terminal."""
    console.print(plain(_heading(document)), style="bold")
    console.print()
    print_named(console, _SIZES, _size_rows(document))
    for title, columns, rows in _tables(document):
        console.print()
        console.print(plain(title), style="bold")
        print_named(console, columns, rows, 1 + ("against" in columns), _NAMES)
    console.print()
    for note in _notes(document):
        console.print(plain(note), style="dim")


def as_markdown(document: Mapping[str, Any]) -> str:
    """The tables as Markdown."""
    lines = [f"### {markdown_escaped(_heading(document))}", ""]
    lines += markdown_table(_SIZES, _size_rows(document))
    for title, columns, rows in _tables(document):
        lines += [f"#### {markdown_escaped(title)}", "", *markdown_table(columns, rows)]
    return "\n".join([*lines, *(f"- {markdown_escaped(note)}" for note in _notes(document)), ""])


def as_latex(document: Mapping[str, Any]) -> str:
    """The tables as LaTeX."""
    tables = [("Chunks of the edited files", _SIZES, _size_rows(document)), *_tables(document)]
    return "\n".join(
        line for title, columns, rows in tables for line in latex_table(columns, rows, title)
    )


def csv_rows(document: Mapping[str, Any]) -> tuple[tuple[str, ...], list[list[object]]]:
    """Columns, and a row for each group, measure and chunker."""
    rows = []
    for group in document["groups"]:
        for summary in group["measures"]:
            pair = _pair_of(group, summary) or {}
            values = group | summary | pair | {"against": pair.get("b")}
            for name, ends in (("ci95", summary["ci95"]), ("difference", pair.get("ci95"))):
                values |= dict(zip((f"{name}_low", f"{name}_high"), ends or ("", ""), strict=True))
            cells = (values.get(name) for name in _CSV)
            rows.append(["" if cell is None else cell for cell in cells])
    return _CSV, rows


def _heading(document: Mapping[str, Any]) -> str:
    files, changed = document["files"], document["changed"]
    number, commits = document["groups"][0]["edits"], document["commits"]
    left_out = "; ".join(f"{reason}: {count}" for reason, count in document["left_out"].items())
    return (
        f"{document['repository']}, commit {document['commit'][:12]}: "
        f"{counted(number, 'edit')} in the last {f'{commits} commits' if commits > 1 else 'commit'}"
        f"{f' (left out: {left_out})' if left_out else ''}; "
        f"{files['total']:,} {'file' if files['total'] == 1 else 'files'} edited "
        f"(median {files['median']:,}, p95 {files['p95']:,}), "
        f"{changed['total']:,} c changed (median {changed['median']:,}, p95 {changed['p95']:,})"
    )


def _size_rows(document: Mapping[str, Any]) -> list[list[str]]:
    return [
        [
            row["chunker"],
            f"{row['chunks']:,}",
            f"{row['chunk_chars']:.0f}",
            f"{row['coverage']:.1%}",
        ]
        for row in document["chunkers"]
    ]


def _tables(document: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...], list[list[str]]]]:
    """Title, columns and rows: each measure over all edits, and those with verdicts by group."""
    whole, *groups = document["groups"]
    for measure in MEASURES:
        columns: tuple[str, ...] = ("chunker", *_VALUES, _TOTALS[measure.name])
        title = _TITLES[measure.name]
        if measure.compared and whole["pairs"]:
            columns = ("chunker", "against", *columns[1:], *_COMPARED)
            title += "" if measure is MEASURES[0] else " (exploratory)"
        yield title, *_table(columns, [whole], measure)
    for by in dict.fromkeys(group["by"] for group in groups):
        parts = [group for group in groups if group["by"] == by]
        for measure in MEASURES:
            if measure.compared:
                title = f"{_TITLES[measure.name]}, by {by} (exploratory)"
                yield title, *_table(("chunker", "against", by, *_BY_GROUP), parts, measure)


def _table(
    columns: tuple[str, ...], groups: Iterable[Mapping[str, Any]], measure: Measure
) -> tuple[tuple[str, ...], list[list[str]]]:
    """Columns, and a row for each group and chunker."""
    rows = []
    for group in groups:
        for summary in group["measures"]:
            if summary["measure"] == measure.name:
                cells = _cells(group, summary, measure)
                rows.append([cells.get(column, "") for column in columns])
    return tuple(column.removeprefix("its ") for column in columns), rows


def _cells(
    group: Mapping[str, Any], summary: Mapping[str, Any], measure: Measure
) -> dict[str, str]:
    """The cells of a chunker's row, by column."""
    percent = not measure.relative
    cells = {
        str(group["by"]): str(group["group"]),
        "edits": str(group["edits"]),
        "chunker": summary["chunker"],
        "all edits": _value(summary["value"], percent=percent),
        "95 %": _interval(summary["ci95"], percent=percent),
        "median": _value(summary["median"], percent=percent),
        "p95": _value(summary["p95"], percent=percent),
        _TOTALS[measure.name]: f"{summary['total']:,}",
    }
    pair = _pair_of(group, summary)
    if pair is None:
        return cells
    # Differences are in points, or in per cent of the other's value.
    unit = "" if percent else " %"
    return cells | {
        "against": pair["b"],
        "difference": f"{points(pair['difference'], '+')}{unit}",
        "its 95 %": points_interval(pair["ci95"]) or "-",
        "p": f"{pair['p_adjusted']:.3f}",
        "verdict": pair["verdict"],
        "detects": "-" if pair["mdd"] is None else f"{points(pair['mdd'])}{unit}",
    }


def _pair_of(group: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """The comparison of a chunker with another one."""
    key = summary["measure"], summary["chunker"]
    return next((pair for pair in group["pairs"] if (pair["measure"], pair["a"]) == key), None)


def _value(value: float | None, *, percent: bool) -> str:
    return "-" if value is None else f"{value:.1%}" if percent else f"{value:.1f}"


def _interval(ends: Sequence[float] | None, *, percent: bool) -> str:
    if ends is None:
        return "-"
    low, high = ends
    return points_interval((low, high)) if percent else f"[{low:.1f}, {high:.1f}]"


def _notes(document: Mapping[str, Any]) -> Iterator[str]:
    whole = document["groups"][0]
    yield (
        "Less is better. c: non-white-space characters. all edits: the ratio of the totals, with "
        "an interval over edits; median and p95: of single edits. Ids made from the content do not "
        "move."
    )
    pairs = [pair for pair in whole["pairs"] if not pair["exploratory"]]
    if pairs:
        yield (
            f"Differences: in per cent of the other's value in the first table, in points in the "
            f"second; margin {100 * document['margin']:g}. Verdicts are adjusted for "
            f"{counted(len(pairs), 'comparison')}; detects: the difference that would show."
        )
    for row in document["chunkers"]:
        if row["coverage"] < _COVERED:
            yield (
                f"{row['chunker']} leaves out {1 - row['coverage']:.1%} of the text, which is "
                "never embedded again."
            )
