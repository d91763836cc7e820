"""The sources of questions side by side: where they disagree about the order of chunkers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from chunkers.plugins.spec import parse_spec
from harness.reports.contests import contends
from harness.reports.page.pairs import pairs_of
from harness.reports.recommendation import points
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.reports.columns import CellDocument

SHOWN = 4
"""Changes of order that are told."""

Verdicts = dict[tuple[str, str, str], str]
"""A verdict by a data set and two chunkers."""

_KINDS = {"docstring": "documentation", "commits": "commits", "calls": "calls"}


def kind_of(dataset: str) -> str:
    """What the questions of a data set are made from, as far as its name says so."""
    try:
        spec = parse_spec(dataset)
    except InputError:
        return ""
    if spec.name != "repo":
        return "documentation" if spec.name == "stdlib" else ""
    queries = dict(spec.options).get("queries", "docstring")
    return _KINDS.get(str(queries), "own questions")


def sources_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The order of chunkers under each source of questions.

    Args:
        document: `cells` and `compare` of a report.

    Returns:
        For each embedder and retriever with two data sets or more that are scored by one measure:
        `embedder`, `retriever`, `measure`, `columns` (`dataset`, `run`, `kind`, `n_queries`, and
        `order`: contenders with `mean` and `ci95`, the highest first), and `sentences` on where
        they disagree.
    """
    groups: dict[tuple[str, str, str], dict[tuple[int, str], list[CellDocument]]] = {}
    for cell in document["cells"]:
        measure = cell["primary"]
        if measure is not None and contends(cell["chunker"]):
            parts = groups.setdefault((cell["embedder"], cell["retriever"], measure), {})
            parts.setdefault((cell["run"], cell["dataset"]), []).append(cell)
    return [
        _source(document, *key, parts)
        for key, parts in groups.items()
        if len({dataset for _, dataset in parts}) > 1
    ]


def _source(
    document: Mapping[str, Any],
    embedder: str,
    retriever: str,
    measure: str,
    parts: Mapping[tuple[int, str], Sequence[CellDocument]],
) -> dict[str, Any]:
    columns = [_column(run, name, cells, measure) for (run, name), cells in parts.items()]
    shared = [part for part in (embedder, retriever) if part != "none"]
    verdicts = {run: _verdicts(document, measure, shared, run) for run, _ in parts}
    return {
        "embedder": embedder,
        "retriever": retriever,
        "measure": measure,
        "columns": columns,
        "sentences": list(_sentences(columns, verdicts)),
    }


def _column(run: int, dataset: str, cells: Sequence[CellDocument], measure: str) -> dict[str, Any]:
    metrics = {cell["chunker"]: cell["metrics"].get(measure, {"mean": None}) for cell in cells}
    rows = [
        {"chunker": name, "mean": metric["mean"], "ci95": metric["ci95"]}
        for name, metric in metrics.items()
        if metric["mean"] is not None
    ]
    return {
        "dataset": dataset,
        "run": run,
        "kind": kind_of(dataset),
        "n_queries": cells[0]["n_queries"],
        "order": sorted(rows, key=lambda row: (-row["mean"], row["chunker"])),
    }


def _verdicts(
    document: Mapping[str, Any], measure: str, shared: Sequence[str], run: int
) -> Verdicts:
    """The verdict of each pair of chunkers of a run on a data set, both ways round."""
    opposite = {"better": "worse", "worse": "better"}
    verdicts = {}
    contests = (contest for compared in document["compare"] for contest in compared["contests"])
    for pair in (pair for contest in contests for pair in pairs_of(document, contest, run)):
        own = pair["measure"] == measure and pair["estimand"] == "these corpora"
        if own and pair["shared"] == shared:
            verdict = pair["verdict"]
            verdicts[pair["dataset"], pair["a"], pair["b"]] = verdict
            verdicts[pair["dataset"], pair["b"], pair["a"]] = opposite.get(verdict, verdict)
    return verdicts


def _sentences(
    columns: Sequence[Mapping[str, Any]], verdicts: Mapping[int, Verdicts]
) -> Iterator[str]:
    """The changes of order, those that the data show on both sides first."""
    changes, common = [], 0
    for left, right in itertools.combinations(columns, 2):
        if left["dataset"] == right["dataset"]:
            continue  # the same questions in two runs
        first, second = ({r["chunker"]: r["mean"] for r in side["order"]} for side in (left, right))
        for a, b in itertools.combinations([name for name in first if name in second], 2):
            common += 1
            if (first[a] - first[b]) * (second[a] - second[b]) < 0:
                changes.append(
                    (_change(left, first, a, b, verdicts), _change(right, second, b, a, verdicts))
                )
    changes.sort(key=lambda change: -sum(shown for _, shown in change))
    for (before, _), (after, _) in changes[:SHOWN]:
        yield f"{before}, but {after}."
    if len(changes) > SHOWN:
        rest = counted(len(changes) - SHOWN, "further pair changes", "further pairs change")
        yield f"{rest} their order."
    if not common:
        yield "No two chunkers were run on two of the sources, so their order is not compared."
    elif not changes:
        yield "The sources agree: no two chunkers change their order."


def _change(
    column: Mapping[str, Any],
    means: Mapping[str, float],
    a: str,
    b: str,
    verdicts: Mapping[int, Verdicts],
) -> tuple[str, bool]:
    """Who is ahead under a source, by how much, and whether the data show it."""
    ahead, behind = (a, b) if means[a] > means[b] else (b, a)
    shown = verdicts[column["run"]].get((column["dataset"], ahead, behind)) == "better"
    amount = f"{points(means[ahead] - means[behind])} points{'' if shown else ', not shown'}"
    return f"`{ahead}` is ahead of `{behind}` on `{column['dataset']}` ({amount})", shown
