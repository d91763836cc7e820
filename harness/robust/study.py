"""Ranks the queries of data sets before and after every transformation of their corpora."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.errors import FailedError, InputError
from harness.reading.stored_text import text_space
from harness.robust.transformations import transform
from harness.runs.plan import make_plan
from harness.runs.runner import run
from harness.runs.stored_values import read_stored_cells
from harness.support.progress import RESULTS, silent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from harness.model import Dataset
    from harness.runs.config import RunConfig
    from harness.runs.plan import Plan
    from harness.runs.stored_values import StoredCell
    from harness.support.progress import Tell

MEASURES = ("SpanR@10000c", "Hit@10")
"""The first is the primary one; the second is exploratory.

Neither depends on the number of chunks that hold a target, or on how long the rest of a file is.
"""

PLAIN = "as it is"
"""The name of a corpus without a transformation."""

Parts = tuple[str, str, str]
"""Chunker, embedder and retriever of a cell."""


@dataclass(frozen=True)
class Trial:
    """The cells of a data set after one transformation of its corpora.

    `changed` of `files` are not as they were.
    """

    dataset: str
    transformation: str
    files: int
    changed: int
    cells: Mapping[Parts, StoredCell]


@dataclass(frozen=True)
class Study:
    """All trials, of each data set as it is first.

    `failures` has a line for each failure; `complete` tells whether every chunker was scored.
    """

    trials: tuple[Trial, ...]
    failures: tuple[str, ...]
    complete: bool


def refuse_documents(dataset: Dataset) -> None:
    """Refuse a data set whose targets are not lines of files.

    Raises:
        InputError: It is a document collection.
    """
    if dataset.gold == "document":
        raise InputError(
            f"{dataset.name}: its targets are documents, not lines of files, so no edit of a file "
            "can carry them along; leave it out"
        )


def plan_of(config: RunConfig) -> Plan:
    """The plan of every run of a study; measures and primary measure of the options do not count.

    Raises:
        InputError: A part cannot be used.
    """
    return make_plan(config.over(measures=MEASURES, primary=MEASURES[0]))


def study(
    datasets: Sequence[Dataset],
    plan: Plan,
    transformations: Sequence[str],
    out: Path,
    tell: Tell = silent,
) -> Study:
    """Run the grid on every data set as it is, and after each transformation.

    Args:
        datasets: They have different names; see `refuse_documents`.
        plan: The grid, see `plan_of`.
        transformations: What to do to the corpora.
        out: An empty folder for the cells.
        tell: Gets the phase and the numbers of finished steps and of all.

    Raises:
        InputError: A part cannot be used.
        FailedError: No cell of a data set as it is was scored.
    """
    trials, failures, complete = [], dict[str, None](), True
    every = [(dataset, name) for dataset in datasets for name in (PLAIN, *transformations)]
    for at, (dataset, name) in enumerate(every):

        def told(phase: str, done: int, total: int, at: int = at) -> None:
            if phase == RESULTS:  # the steps of one run among others
                done, total = done + at * total, total * len(every)
            tell(phase, done, total)

        edited, changed = dataset, 0
        if name != PLAIN:
            with text_space(plan.space):
                edited, changed = transform(dataset, name, plan.config.seed)
        result = run(plan, [edited], out, told)
        failures |= dict.fromkeys(f"{name}: {each}" for each in result.failures)
        complete = complete and not result.failed
        cells = {
            (cell.names["chunker"], cell.names["embedder"], cell.names["retriever"]): cell
            for cell in read_stored_cells(out, earlier=False)
        }
        if name == PLAIN and not cells:
            raise FailedError("nothing is left to compare: " + "\n".join(result.failures[:2]))
        files = sum(len(corpus.sources) for corpus in dataset.corpora)
        trials.append(Trial(dataset.name, name, files, changed, cells))
    return Study(tuple(trials), tuple(failures), complete)
