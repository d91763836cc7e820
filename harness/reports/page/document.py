"""The document of a report: what `run` and `compare` say of one or more run folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.reports.answer import BASELINE, baseline_of
from harness.reports.compare import compare_document, measures_of
from harness.reports.contests import agreed, contests
from harness.reports.document import document_of, failure_lines
from harness.reports.page.questions import sources_of
from harness.reports.page.stored import repeat_command
from harness.reports.page.summary import summary_of
from harness.reports.recommendation import headline
from harness.runs.failures import failure_lines as file_failure_lines
from harness.runs.folder import other_cells_notes
from harness.runs.health import truncated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.reports.contests import Contest
    from harness.reports.curves import Values
    from harness.reports.page.stored import StoredRun
    from harness.runs.stored_values import StoredCell

SCHEMA = "chunkmark.report/1"

MOST_PAIRED = 12
"""Cells of which all pairs are compared; of more, each is compared with the baseline alone."""


def report_document(
    runs: Sequence[StoredRun],
    baseline: str | None = None,
    prices: Mapping[str, float] | None = None,
    known: Values | None = None,
) -> dict[str, Any]:
    """The document `chunkmark.report/1`.

    Args:
        runs: The runs, in the order of the page.
        baseline: The chunker that the others are compared with; by default `fixed`, or the first.
        prices: The price of a million tokens, by embedder; without it, costs have no price.
        known: Values of span curves that were computed before.

    Returns:
        `runs` (each with `path`, `command`, `status`, `done` and `planned` cells, `notes`,
        `manifest`); `cells`, `verdicts`, `absent`, `left_out` and `failed` as in
        `chunkmark.run/1`, each with the number of its `run`; `compare`, a document
        `chunkmark.compare/1` for each data set; `not_compared`, why cells of a data set are not;
        `sources`, the order of chunkers under each source of questions; `summary`, the first
        screen; `warnings`.

    Raises:
        InputError: A file is damaged.
    """
    document: dict[str, Any] = {"schema": SCHEMA, "runs": []}
    lists = ("cells", "verdicts", "absent", "left_out", "failed")
    document |= {name: [] for name in lists}
    for at, run in enumerate(runs):
        own = document_of(run.result, run.cells, (), baseline, prices)
        for name in lists:
            document[name] += [{"run": at, **row} for row in own[name]]
        document["runs"].append(_run(run))
    stored = [cell for run in runs for cell in run.cells]
    document["compare"], document["not_compared"] = _comparisons(stored, baseline, known)
    document["sources"] = sources_of(document)
    document["summary"] = summary_of(document)
    document["warnings"] = list(_warnings(document, runs))
    return document


def _run(run: StoredRun) -> dict[str, Any]:
    path = str(run.path)
    return {
        "path": path,
        "command": repeat_command(run.manifest, path),
        "status": run.manifest["status"],
        "done": len(run.cells) + len(run.result.failed),
        "planned": run.manifest["planned"],
        "notes": [*run.manifest.get("notes", ()), *other_cells_notes(run.path)],
        "manifest": run.manifest,
    }


_APART = "make a report of each"


def _comparisons(
    cells: Sequence[StoredCell], baseline: str | None, known: Values | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """A comparison of each data set, and why there is none."""
    groups: dict[str, list[StoredCell]] = {}
    for cell in cells:
        comparable = headline(cell.metrics["metrics"], cell.primary) is not None
        if comparable and not truncated(cell.cell["health"]):
            groups.setdefault(cell.names["dataset"], []).append(cell)
    documents, reasons = [], []
    for dataset, group in groups.items():
        try:
            agreed("primary measures", (cell.primary for cell in group), _APART)
            margin = agreed("margins", (cell.margin for cell in group), _APART)
            parts = [part for part in contests(group) if part.queries]
            only_with = _only_with(parts, baseline)
            for part in parts:
                measures_of(part)
        except InputError as error:
            reasons.append(f"{dataset}: {str(error).splitlines()[0]}")
            continue
        if parts:
            documents.append(
                compare_document(parts, (), only_with, margin, cells=group, known=known)
            )
    return documents, reasons


def _only_with(parts: Sequence[Contest], baseline: str | None) -> str | None:
    """The cell to compare all with, where there are too many for all pairs.

    Raises:
        InputError: Not all parts have it.
    """
    if all(len(part.cells) <= MOST_PAIRED for part in parts):
        return None
    names = {baseline_of(part, baseline) for part in parts}
    if len(names) > 1 or None in names:
        raise InputError(
            f"over {MOST_PAIRED} cells are compared with one alone, and they have no "
            f"`{baseline or BASELINE}` in common"
        )
    return names.pop()


def _warnings(document: Mapping[str, Any], runs: Sequence[StoredRun]) -> Iterator[str]:
    """What is lost or lacks altogether, the worst first."""
    for at, run in enumerate(document["runs"]):
        if run["status"] != "complete":
            done = f"{run['done']} of {run['planned']} cells so far"
            yield f"{run['path']}: the run has not ended; {done}"
        if not any(cell["run"] == at for cell in document["cells"]):
            yield f"{run['path']}: no cell has a result"
    yield from failure_lines(document)
    for run in runs:
        scored = [(each.chunker, each.dataset, each.cell["failures"]) for each in run.result.cells]
        yield from file_failure_lines(scored, run.result.failed)
    yield from document["not_compared"]
    for run in document["runs"]:
        yield from run["notes"]
