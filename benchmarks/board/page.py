"""The page of the board: tables of ranks, fingerprints and commands, from the run folders."""

from __future__ import annotations

import string
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from benchmarks.board.picture import picture
from benchmarks.board.tasks import PACKAGES, TASKS, Step, steps
from harness.reports.contests import contends
from harness.reports.leaderboard.board import make_board
from harness.reports.leaderboard.tables import MISSING
from harness.reports.plain import markdown_escaped, markdown_table
from harness.runs.folder import read_manifest
from harness.runs.stored_values import read_stored_cells
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.reports.leaderboard.board import Board
    from harness.runs.stored_values import StoredCell

TEMPLATE = Path(__file__).with_name("template.md")
FAILED = "failed"
_DIGITS = 12  # of a fingerprint or key that is shown


@dataclass(frozen=True)
class StepResult:
    """What is stored of a step.

    Attributes:
        step: The step.
        manifest: Of its last run.
        cells: Its cells, named by the task and the row of their chunker.
    """

    step: Step
    manifest: Mapping[str, Any]
    cells: tuple[StoredCell, ...]

    @property
    def complete(self) -> bool:
        """Whether all of it was run."""
        return bool(self.manifest["status"] == "complete")

    @property
    def failed(self) -> set[str]:
        """The chunkers that failed on too many files."""
        failed = self.manifest.get("failed", ())
        return {_row_of(each["chunker"], self.step) for each in failed}


@dataclass(frozen=True)
class Ranking:
    """The cells of a section under one retriever, and their board.

    Attributes:
        tasks: All of the section, by name.
        results: Those of the steps that were begun.
        retriever: `bm25` or `dense`.
        board: Of the tasks whose first step is complete, of all if none is; None without a cell.
        measure: Its measure.
    """

    tasks: tuple[str, ...]
    results: tuple[StepResult, ...]
    retriever: str
    board: Board | None
    measure: str

    @cached_property
    def cells(self) -> dict[tuple[str, str], StoredCell]:
        """The cells by chunker and task."""
        return {
            (cell.names["chunker"], cell.names["dataset"]): cell
            for result in self.results
            for cell in result.cells
            if cell.names["retriever"] == self.retriever
        }

    @property
    def chunkers(self) -> list[str]:
        """The chunkers of the table: those with a rank, then the others of its steps."""
        rows = self.board.rows if self.board else ()
        ranked = [row.configuration.chunker for row in rows]
        others = [_row_of(name, r.step) for r in self.results for name in r.step.chunkers]
        return list(dict.fromkeys([*ranked, *others]))

    def text(self, chunker: str, task: str) -> str:
        """The value of a chunker, or why there is none."""
        cell = self.cells.get((chunker, task))
        if cell is not None:
            return f"{cell.metrics['metrics'][self.measure]['mean']:.3f}"
        failed = any(
            chunker in result.failed for result in self.results if result.step.task.name == task
        )
        return FAILED if failed else MISSING


Tables: TypeAlias = "Mapping[tuple[str, bool], Sequence[Ranking]]"
"""The rankings by section, and whether they are of chunks of equal size."""


def write_page(
    folder: Path, absent: Mapping[str, str], seconds: Mapping[str, float], docs: Path
) -> list[Path]:
    """Write board.md and images/board.svg.

    Args:
        folder: Of the packages, with the run folders in `runs`.
        absent: Why tasks could not be run, by name.
        seconds: The processor's seconds of each step, by its folder.
        docs: The folder of the page.

    Returns:
        Both files.

    Raises:
        InputError: A run folder is damaged, or no step was run.
    """
    results = list(read_steps(folder))
    page, image = docs / "board.md", docs / "images" / "board.svg"
    image.parent.mkdir(parents=True, exist_ok=True)
    tables = _tables(results)
    figure = picture(_drawn(tables["docstring", False]))
    image.write_text(figure.svg, "utf-8")
    template = string.Template(TEMPLATE.read_text("utf-8"))
    text = template.substitute(
        {
            "alt": figure.alt,
            "summary": "\n".join(_summary(tables)),
            "packages": "\n".join(_packages()),
            "docstring": _section("docstring", tables),
            "matched": _section("docstring", tables, matched=True),
            "calls": _section("calls", tables),
            "commits": _section("commits", tables),
            "repoeval": _section("repoeval", tables),
            "swebench": _section("swebench", tables),
            "cosqa": _section("cosqa", tables),
            "missing": "\n".join(_missing(results, absent)),
            "data": "\n".join(_data(results)),
            "environment": "\n".join(_environment(results, seconds)),
            "keys": "\n".join(_keys(results)),
        }
    )
    page.write_text(text, "utf-8")
    return [page, image]


def _tables(results: Sequence[StepResult]) -> Tables:
    """All rankings, in the order of the page: each is computed once."""
    tables: dict[tuple[str, bool], list[Ranking]] = {}
    for section in dict.fromkeys(task.section for task in TASKS):
        tasks = [task for task in TASKS if task.section == section]
        for matched in (False, True):
            dense = not matched and any(task.dense for task in tasks)
            tables[section, matched] = [
                ranking(section, results, retriever, measure, matched=matched)
                for retriever in ("bm25", *(("dense",) if dense else ()))
                for measure in tasks[0].measures
            ]
    return tables


def _drawn(rankings: Sequence[Ranking]) -> list[Ranking]:
    """The rankings by the two budgets that are over the same tasks as the first one."""
    boards = [
        each
        for measure in ("SpanR@10000c", "SpanR@2500c")
        for each in rankings
        if each.measure == measure and each.board
    ]
    return [each for each in boards if _tasks_of(each) == _tasks_of(boards[0])]


def _tasks_of(ranking: Ranking) -> list[str]:
    return list(ranking.board.tasks) if ranking.board else []


def read_steps(folder: Path) -> Iterator[StepResult]:
    """The steps that were begun, in their order."""
    for step in steps():
        run = folder / "runs" / step.folder
        if (run / "manifest.json").is_file():
            cells = tuple(_named(cell, step) for cell in read_stored_cells(run))
            yield StepResult(step, read_manifest(run), cells)


def _named(cell: StoredCell, step: Step) -> StoredCell:
    """A cell named by its task and the row of its chunker."""
    chunker = _row_of(cell.names["chunker"], step)
    identity = cell.cell["identity"]
    identity = identity | {"chunker": [chunker, *identity["chunker"][1:]]}
    return replace(
        cell,
        names={**cell.names, "dataset": step.task.name, "chunker": chunker},
        cell={**cell.cell, "identity": identity},
    )


def _row_of(chunker: str, step: Step) -> str:
    """A chunker of a matched size has another size on each task, and is one row all the same."""
    return chunker.partition(":")[0] if step.part == "matched" else chunker


def ranking(
    section: str,
    results: Sequence[StepResult],
    retriever: str,
    measure: str,
    *,
    matched: bool = False,
) -> Ranking:
    """The ranking of a section under a retriever, by a measure."""
    first = "matched" if matched else retriever
    parts = {first} if matched else {first, "semantic"}
    own = tuple(
        result
        for result in results
        if result.step.task.section == section
        and result.step.part in parts
        and retriever in result.step.retrievers
    )
    complete = {r.step.task.name: r.complete for r in own if r.step.part == first}
    # Where no task is complete, the chunkers that are compare all the same.
    ranked = {name for name in complete if complete[name] or not any(complete.values())}
    tasks = [task for task in TASKS if task.section == section]
    wanted = tuple(task.name for task in tasks if task.dense or retriever == "bm25")
    counted_cells = [
        cell
        for result in own
        if result.step.task.name in ranked
        for cell in result.cells
        if cell.names["retriever"] == retriever
    ]
    board = make_board(counted_cells, measure) if counted_cells else None
    return Ranking(wanted, own, retriever, board, measure)


def _section(section: str, tables: Tables, *, matched: bool = False) -> str:
    """The tables of a section; of a retriever that was not run, one that says so."""
    lines: list[str] = []
    rankings = tables.get((section, matched), ())
    for each in rankings:
        first = each.measure == rankings[0].measure
        if first or each.board is not None:
            primary = "" if first else ", exploratory"
            title = _title(section, each.retriever, each.measure, matched=matched)
            lines += [f"### {title}{primary}", "", *_table(each)]
    return "\n".join(lines).strip()


_HEADS = {"repoeval": "RepoEval", "swebench": "SWE-bench Lite", "cosqa": "CoSQA"}


def _title(section: str, retriever: str, measure: str, *, matched: bool) -> str:
    size = ", equal sizes" if matched else ""
    return f"{_HEADS.get(section, section)}{size}: {measure}, {retriever}"


def _table(ranking: Ranking) -> list[str]:
    """The table of a ranking, and what it shows in a sentence."""
    if ranking.board is None:
        return ["Not computed.", ""]
    several = len(ranking.board.tasks) > 1
    rows = {row.configuration.chunker: row for row in ranking.board.rows}
    body = []
    for chunker in ranking.chunkers:
        row = rows.get(chunker)
        rank = "-" if row is None or row.rank is None else str(row.rank)
        mean = "-" if row is None or row.mean is None else f"{row.mean:.3f}"
        own = [cell for (name, _), cell in ranking.cells.items() if name == chunker]
        sizes = [cell.cell["health"]["median_c"] for cell in own]
        size = "-".join(dict.fromkeys(f"{end(sizes):.0f}" for end in (min, max) if sizes)) or "-"
        chunks = f"{sum(cell.cell['health']['chunks'] for cell in own):,}" if own else "-"
        values = [ranking.text(chunker, task) for task in ranking.tasks]
        name = chunker if contends(chunker) else f"{chunker} (control)"
        body.append([name, rank, *([mean] if several else []), *values, size, chunks])
    heads = ["chunker", "rank", *(["mean"] if several else []), *ranking.tasks]
    return [
        *markdown_table([*heads, "median chunk, c", "chunks"], body),
        *_sentences(ranking.board),
        "",
    ]


def _sentences(board: Board) -> Iterator[str]:
    """What a table shows."""
    ranked = [row for row in board.rows if row.rank is not None]
    if len(ranked) < 2:
        return
    first = _first_group(board)
    clusters = {member for cell in board.tasks.values() for member in cell.members.values()}
    queries = sum(len(cell.values) for cell in board.tasks.values())
    yield (
        f"Ranked: {counted(len(ranked), 'chunker')} over {counted(len(board.tasks), 'task')}, "
        f"{counted(queries, 'query', 'queries')} in {counted(len(clusters), 'cluster')}, "
        f"{counted(len(board.differences), 'pair')}."
    )
    yield (
        f"No other is shown to be better than these {len(first)}: {_names(first)}."
        if len(first) < len(ranked)
        else "No chunker is shown to be better than another: all are one group."
    )
    better = _better_than(board, "random-cuts")
    yield f"Shown to be better than `random-cuts`: {_names(better) if better else 'none'}."
    shown = [pair.mdd for pair in board.differences if pair.mdd is not None]
    if shown:
        yield (
            f"A difference of {100 * float(np.median(shown)):.1f} points would show with a "
            "probability of 80 % (median over the pairs)."
        )


def _first_group(board: Board) -> list[str]:
    return [row.configuration.chunker for row in board.rows if row.rank == 1]


def _names(chunkers: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in chunkers)


def _better_than(board: Board, chunker: str) -> list[str]:
    """The chunkers that are shown to be better than one, in the order of the rows."""
    names = {str(row.configuration): row.configuration.chunker for row in board.rows}
    pairs = [each for pair in board.differences for each in (pair, pair.reversed())]
    winners = {
        names[pair.a]
        for pair in pairs
        if names[pair.b] == chunker and pair.verdict.startswith("better")
    }
    return [name for name in names.values() if name in winners]


def _summary(tables: Tables) -> list[str]:
    """A row for each table that was computed."""
    rows = []
    for (section, matched), rankings in tables.items():
        for each in rankings:
            if each.board is None:
                continue
            better = _better_than(each.board, "random-cuts")
            title = _title(section, each.retriever, each.measure, matched=matched)
            ranked = sum(row.rank is not None for row in each.board.rows)
            rows.append(
                [title, str(len(each.board.tasks)), str(ranked),
                 str(len(_first_group(each.board))), str(len(better))]
            )  # fmt: skip
    heads = ["table", "tasks", "chunkers ranked", "in the first group", "better than random-cuts"]
    return markdown_table(heads, rows)


def _packages() -> list[str]:
    """The packages, with what pins them."""
    rows = [
        [name, package.language, f"{package.registry} {package.name}", package.folder,
         package.exclude or "-", package.licence, package.sha256]
        for name, package in PACKAGES.items()
    ]  # fmt: skip
    return markdown_table(
        ["task", "language", "package", "folder", "without", "licence", "sha256"], rows
    )


def _missing(results: Sequence[StepResult], absent: Mapping[str, str]) -> Iterator[str]:
    """A line for all that is planned and not there."""
    begun = {result.step.folder: result for result in results}
    for name, reason in absent.items():
        yield f"- {markdown_escaped(name)}: {reason}."
    left: dict[str, list[str]] = {}
    for step in steps():
        result = begun.get(step.folder)
        if step.task.name in absent or (result is not None and result.complete):
            continue
        stored = len(result.cells) if result else 0
        planned = len(step.chunkers) * len(step.retrievers)
        left.setdefault(step.part, []).append(f"{step.task.name} ({stored} of {planned} cells)")
    for part, tasks in left.items():
        yield f"- `{part}` is not complete on {', '.join(tasks)}."
    failed: dict[str, list[str]] = {}
    for result in results:
        for chunker in sorted(result.failed):
            names = failed.setdefault(chunker, [])
            names += [result.step.task.name] * (result.step.task.name not in names)
    for chunker, names in sorted(failed.items()):
        yield f"- `{chunker}` failed on over 1 % of the files of {', '.join(names)}."


def _data(results: Sequence[StepResult]) -> list[str]:
    """The tasks with the fingerprints of their data."""
    rows = []
    for task in TASKS:
        own = [result for result in results if result.step.task == task and result.cells]
        if not own:
            continue
        (data,) = own[0].manifest["datasets"].values()
        cell = own[0].cells[0]
        rows.append(
            [task.name, str(data["queries"]), str(len(set(cell.members.values()))),
             str(data["corpora"]), data["fingerprint"][:_DIGITS], task.spec,
             " ".join(task.options) or "-"]
        )  # fmt: skip
    heads = ["task", "queries", "clusters", "corpora", "fingerprint", "-d", "further options"]
    return markdown_table(heads, rows)


def _environment(results: Sequence[StepResult], seconds: Mapping[str, float]) -> Iterator[str]:
    """What the runs were made with, and their cost."""
    manifests = [result.manifest for result in results]
    versions = Counter(
        f"{name} {version}"
        for manifest in manifests
        for name, version in manifest["versions"].items()
    )
    codes = {cell.cell["identity"]["code"] for r in results for cell in r.cells}
    yield f"- Versions: {', '.join(sorted(versions))}; Python {_all(manifests, 'python')}."
    yield f"- Hash of the program: {', '.join(sorted(code[:_DIGITS] for code in codes))}."
    yield f"- Platform: {_all(manifests, 'platform')}; {_all(manifests, 'cores')} cores."
    for part in dict.fromkeys(step.part for step in steps()):
        own = [seconds.get(step.folder, 0.0) for step in steps() if step.part == part]
        yield f"- Processor time of `{part}`: {sum(own) / 60:.0f} minutes."


def _all(manifests: Sequence[Mapping[str, Any]], key: str) -> str:
    return ", ".join(sorted({str(manifest[key]) for manifest in manifests}))


def _keys(results: Sequence[StepResult]) -> Iterator[str]:
    """The key of every cell."""
    for result in results:
        names = dict.fromkeys(cell.names["chunker"] for cell in result.cells)
        keys = {
            (cell.names["chunker"], cell.names["retriever"]): cell.folder.name[:_DIGITS]
            for cell in result.cells
        }
        rows = [
            [name, *(keys.get((name, each), "-") for each in result.step.retrievers)]
            for name in names
        ]
        yield f"<details><summary>{result.step.task.name}, {result.step.part}</summary>"
        yield ""
        yield from markdown_table(["chunker", *result.step.retrievers], rows)
        yield "</details>"
        yield ""
