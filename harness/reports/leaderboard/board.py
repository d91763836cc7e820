"""The board: configurations by task, their mean over tasks, and ranks with ties."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from chunkers.errors import InputError
from harness.reports.contests import SAME, agreed
from harness.reports.recommendation import (
    BUDGET_MEASURES,
    NOT_COMPARABLE,
    choose_or_rerun,
    headline,
)
from harness.runs.folder import CONFIGURATION
from harness.stats.comparison import compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.runs.stored_values import StoredCell
    from harness.stats.clusters import Member
    from harness.stats.comparison import Difference


@dataclass(frozen=True)
class Configuration:
    """What a row stands for: the specs of its parts, and its scoring conventions."""

    chunker: str
    embedder: str
    retriever: str
    profile: str

    @classmethod
    def of(cls, cell: StoredCell) -> Configuration:
        """The configuration of a cell."""
        names = cell.names
        return cls(names["chunker"], names["embedder"], names["retriever"], cell.profile["name"])

    def __str__(self) -> str:
        """Its parts, for messages."""
        return " + ".join((self.chunker, self.embedder, self.retriever, self.profile))


@dataclass(frozen=True)
class Row:
    """A configuration on the board.

    Attributes:
        configuration: What was run.
        cells: Its cells by task, in the order of the board's tasks.
        scores: Its mean over the queries of each task, as metrics.json has it; None if missing.
        mean: The unweighted mean over tasks; None if a task is missing.
        rank: 1 + the number of configurations that are shown to be better; None likewise.
    """

    configuration: Configuration
    cells: Mapping[str, StoredCell]
    scores: Mapping[str, float | None]
    mean: float | None
    rank: int | None


@dataclass(frozen=True)
class Board:
    """A leaderboard.

    Attributes:
        measure: The measure of all scores.
        margin: The largest difference that does not matter, as the runs declared it.
        tasks: A cell of each task by the task's name, in order of name.
        rows: By rank, then mean, then name; those without a rank last.
        differences: Of all pairs of rows with a mean, named by their configurations.
    """

    measure: str
    margin: float
    tasks: Mapping[str, StoredCell]
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]


def make_board(cells: Iterable[StoredCell], measure: str | None = None, seed: int = 0) -> Board:
    """The board of stored cells, of one or more runs.

    Args:
        cells: Of cells of one configuration and task in one run folder the first is taken, which is
            that of its last run; so is the first of two in two folders that are equal.
        measure: By default what the runs declared, or the headline of the first screen.
        seed: Of the sign-flips, 0 or above.

    Raises:
        InputError: Cells of a task differ in data, profile or how they were run; a
            configuration has two results of a task, or two versions of a part; a cell lacks the
            measure, or the measure cannot compare the cells.
    """
    table: dict[Configuration, dict[str, StoredCell]] = {}
    first: dict[str, StoredCell] = {}
    for cell in cells:
        task, row = cell.names["dataset"], table.setdefault(Configuration.of(cell), {})
        if task not in row or row[task].folder.parent != cell.folder.parent:
            _refuse_other(first.setdefault(task, cell), cell)
            _add(row, task, cell)
    if not first:
        raise InputError("the runs have no cell; wait until one is complete")
    tasks = dict(sorted(first.items()))
    several = len({configuration.chunker for configuration in table}) > 1
    name = measure or _default(tasks, several=several)
    for cell in (cell for row in table.values() for cell in row.values()):
        _refuse_measure(cell, name, several=several)
    return _ranked(name, tasks, table, seed)


def _refuse_other(first: StoredCell, cell: StoredCell) -> None:
    """Refuse a cell that is not comparable with another one of its task.

    Raises:
        InputError: They differ; the message says in what.
    """
    a, b = first.cell["identity"], cell.cell["identity"]
    differing = [
        f"{key.replace('_', ' ')} ({_shown(a[key])}, {_shown(b[key])})"
        for key in SAME
        if a[key] != b[key]
    ]
    if first.profile != cell.profile:
        differing.append(f"profile ({first.profile['name']}, {cell.profile['name']})")
    if first.values.keys() != cell.values.keys() and not differing:
        differing.append(f"queries ({len(first.values)}, {len(cell.values)})")
    if differing:
        what = "; ".join(differing).replace("dataset (", "data fingerprint (")
        task, runs = cell.names["dataset"], (run_of(first), run_of(cell))
        if runs[0] == runs[1]:
            raise InputError(
                f"{runs[0]} holds cells of {task} from runs that differ in {what}; give each run a "
                "folder of its own with -o"
            )
        raise InputError(
            f"{task} is not the same task in {runs[0]} and {runs[1]}: they differ in {what}\n"
            "run both on the same data with the same options, or leave one out"
        )


def run_of(cell: StoredCell) -> str:
    """The run folder of a cell."""
    return str(cell.folder.parent.parent)


def _shown(value: Any) -> str:
    """A value of an identity, a hash by its beginning."""
    return value[:12] if isinstance(value, str) else "none" if value is None else str(value)


def _add(row: dict[str, StoredCell], task: str, cell: StoredCell) -> None:
    """Put a cell in the row of its configuration."""
    configuration, other = Configuration.of(cell), row.get(task)
    if other is not None:
        if other.folder.name == cell.folder.name or other.values == cell.values:
            return
        raise InputError(
            f"{run_of(other)} and {run_of(cell)} have different results of {configuration} on "
            f"{task}; give one of them"
        )
    for other, part in itertools.product(row.values(), CONFIGURATION):
        if other.cell["identity"][part] != cell.cell["identity"][part]:
            raise InputError(
                f"{run_of(other)} and {run_of(cell)} have different versions of the {part} "
                f"{cell.names[part]}; run both with the same"
            )
    row[task] = cell


def _default(tasks: Mapping[str, StoredCell], *, several: bool) -> str:
    """The measure by which every task compares chunkers."""
    by_task = {
        task: headline(cell.metrics["metrics"], cell.primary) for task, cell in tasks.items()
    }
    different = {measure: task for task, measure in by_task.items()}
    if len(different) > 1:
        listed = "; ".join(f"{task}: {measure or 'none'}" for measure, task in different.items())
        raise InputError(
            f"the tasks have no common measure ({listed}); make a board of each, or give a measure "
            "of all with -m"
        )
    (measure,) = different
    if measure is None:
        task, cell = next(iter(tasks.items()))
        advice = _advice(cell, BUDGET_MEASURES[0], several=several)
        raise InputError(f"no measure of {task} compares chunkers; {advice}")
    return measure


def _refuse_measure(cell: StoredCell, measure: str, *, several: bool) -> None:
    """Refuse a measure that a cell lacks, or that cannot compare several chunkers."""
    task, metrics = cell.names["dataset"], cell.metrics["metrics"]
    if several and not cell.compares_chunkers(measure):
        advice = _advice(cell, BUDGET_MEASURES[0], several=several)
        raise InputError(f"{task}: {NOT_COMPARABLE.format(measure)}\n{advice}")
    if measure not in metrics or cell.column(measure) is None:
        raise InputError(
            f"{run_of(cell)} has no {measure} of {Configuration.of(cell)} on {task}\n"
            f"{_advice(cell, measure, several=several)}"
        )


def _advice(cell: StoredCell, measure: str, *, several: bool) -> str:
    """The measures of a cell that can rank it, or how to compute one."""
    names = [
        name
        for name, metric in cell.metrics["metrics"].items()
        if metric["mean"] is not None and (metric["comparable"] or not several)
    ]
    return choose_or_rerun(names, measure)


def _ranked(
    measure: str,
    tasks: Mapping[str, StoredCell],
    table: Mapping[Configuration, Mapping[str, StoredCell]],
    seed: int,
) -> Board:
    """The rows with their ranks."""
    rows = []
    for configuration, own in table.items():
        cells = {task: own[task] for task in tasks if task in own}
        scores = {
            task: cells[task].metrics["metrics"][measure]["mean"] if task in cells else None
            for task in tasks
        }
        values = [value for value in scores.values() if value is not None]
        mean = sum(values) / len(tasks) if len(values) == len(tasks) else None
        rows.append(Row(configuration, cells, scores, mean, None))
    rows.sort(key=lambda row: str(row.configuration))
    complete = [row for row in rows if row.mean is not None]
    every = (cell for own in table.values() for cell in own.values())
    margin = agreed("margins", (cell.margin for cell in every), "make a board of each")
    pairs = _differences(complete, measure, margin, seed)
    losers = [
        pair.a if pair.verdict.startswith("worse") else pair.b for pair in pairs if shows(pair)
    ]
    ranked = [
        replace(row, rank=1 + losers.count(str(row.configuration))) if row in complete else row
        for row in rows
    ]
    ranked.sort(key=lambda row: (row.rank or len(rows) + 1, -(row.mean or 0)))
    return Board(measure, margin, tasks, tuple(ranked), tuple(pairs))


def _column(cell: StoredCell, measure: str) -> NDArray[np.float64]:
    """The values of a measure that `_refuse_measure` accepted, shape (included queries,)."""
    return cast("NDArray[np.float64]", cell.column(measure))


def shows(pair: Difference) -> bool:
    """Whether one of a pair is shown to be better, if only by a little."""
    return pair.verdict.startswith(("better", "worse"))


def _differences(rows: Sequence[Row], measure: str, margin: float, seed: int) -> list[Difference]:
    """The differences of all pairs of rows in their mean over tasks, as one family.

    The queries of all tasks are resampled together, each within its corpus. Their values are
    weighted so that their mean is the mean over tasks.
    """
    if len(rows) < 2:
        return []
    weights = _weights(rows[0].cells.values())
    values = {
        str(row.configuration): weights
        * np.concatenate([_column(cell, measure) for cell in row.cells.values()])
        for row in rows
    }
    largest = float(weights.max())
    return compare(
        {(a, b): values[a] - values[b] for a, b in itertools.combinations(values, 2)},
        _members(rows[0].cells),
        margin=margin,
        seed=seed,
        bounds=(-largest, largest),
    )


def _members(cells: Mapping[str, StoredCell]) -> list[Member]:
    """Corpus and cluster of each query of each task; names of one task do not occur in another."""
    return [
        (f"{task}\n{corpus}", f"{task}\n{cluster}")
        for task, cell in cells.items()
        for corpus, cluster in cell.members.values()
    ]


def _weights(cells: Iterable[StoredCell]) -> NDArray[np.float64]:
    """The weight of each query of each task, 1 on average; shape (queries of all tasks,)."""
    columns = []
    for cell in cells:
        corpora = [corpus for corpus, _ in cell.members.values()]
        groups = corpora if cell.profile["mean"] == "corpora" else [""] * len(corpora)
        sizes = Counter(groups)
        columns.append(np.array([1 / (sizes[group] * len(sizes)) for group in groups]))
    joined = np.concatenate(columns)
    return joined * (len(joined) / len(columns))
