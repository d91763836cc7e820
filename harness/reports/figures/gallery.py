"""All figures of a report, in the order of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.reports.figures import style
from harness.reports.figures.bars import measure_bars, tokenizers_of
from harness.reports.figures.breakdowns import breakdown_figures
from harness.reports.figures.costs import cost_bars, latency
from harness.reports.figures.curves import span_curves
from harness.reports.figures.differences import forest, query_differences
from harness.reports.figures.front import pareto_fronts
from harness.reports.figures.groups import groups_of, shown_parts
from harness.reports.figures.sizes import chunk_sizes
from harness.reports.figures.sweeps import sweep_figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.reports.figures.figure import Figure
    from harness.reports.figures.groups import Group
    from harness.runs.stored_values import StoredCell


def figures(document: Mapping[str, Any], stored: Sequence[StoredCell]) -> list[Figure]:
    """The figures of a report; one that would show nothing is left out.

    Args:
        document: `cells` and `verdicts` as in `chunkmark.run/1`, `compare`: documents
            `chunkmark.compare/1`, and `runs`, each with its `manifest`.
        stored: The stored cells of the same runs.
    """
    out: list[Figure] = []
    names: set[str] = set()
    for figure in _figures(document, groups_of(document, stored)):
        name, number = figure.name, 2
        while name in names:
            name, number = f"{figure.name}-{number}", number + 1
        names.add(name)
        out.append(replace(figure, name=name, title=style.short(figure.title, 120)))
    return out


def _figures(document: Mapping[str, Any], groups: Sequence[Group]) -> Iterator[Figure]:
    contests = [part for compared in document["compare"] for part in compared["contests"]]
    for group in groups:
        yield from forest(group)
    for contest in contests:
        group_of = _group_of(contest, groups)
        yield from span_curves(contest, None if group_of is None else group_of.baseline)
    for contest in contests:
        group_of = _group_of(contest, groups)
        yield from pareto_fronts(contest, group_of)
    for draw in (query_differences, breakdown_figures, sweep_figures):
        for group in groups:
            yield from draw(group)
    datasets: dict[tuple[str, ...], list[Group]] = {}
    for group in groups:
        datasets.setdefault(group.data, []).append(group)
    # Chunks do not depend on what embeds and ranks them.
    for group in groups:
        if group is datasets[group.data][0]:
            yield from chunk_sizes(group)
    for draw in (cost_bars, latency):
        for group in groups:
            yield from draw(group)
    tokenizers = tokenizers_of([run["manifest"] for run in document["runs"]])
    for own in datasets.values():
        yield from measure_bars(own, tokenizers)


def _group_of(contest: Mapping[str, Any], groups: Sequence[Group]) -> Group | None:
    """The group of the same cells; None where several runs have them."""
    parts = shown_parts(contest["dataset"], *contest["shared"])
    own = [g for g in groups if g.parts == parts and g.queries == contest["n_queries"]]
    return own[0] if len(own) == 1 else None
