"""The answer of a run: each contender against a baseline, in sentences and numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.reports.contests import contends, contests, differences
from harness.reports.matched import UNMATCHED
from harness.reports.recommendation import (
    BUDGETS,
    amount,
    baseline_pairs,
    headline,
    largest_first,
    limits_of,
    listed,
    verdict_sentence,
)
from harness.runs.health import TRUNCATION_MARK, truncated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.reports.contests import Contest, MeasureResult
    from harness.runs.stored_values import StoredCell

BASELINE = "fixed"
"""The chunker that others are compared with; without it, the first contender."""

PARTS = ("dataset", "embedder", "retriever")
"""What the cells of one answer share."""

SYNTAX, RANDOM_CUTS = "ast", "random-cuts"
"""A chunker, and the baseline that has its sizes under the same options."""

_CERTAIN = ("better", "worse")


def answers(
    cells: Iterable[StoredCell], margin: float, baseline: str | None = None
) -> list[dict[str, Any]]:
    """The answer for each data set, embedder and retriever with two contenders.

    Cells take no part if the embedder never saw over 10 % of their chunk tokens; a sentence names
    them.

    Args:
        cells: The cells of one run.
        margin: The largest difference that does not matter.
        baseline: The chunker to compare with; by default `fixed`, or the first contender.

    Returns:
        For each the parts `dataset`, `embedder`, `retriever`; `measure`, `baseline` (None if
        nothing could be compared), `margin`, `sentences`, and `differences`: a row for each measure
        and chunker.
    """
    groups: dict[tuple[str, ...], list[StoredCell]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.names[part] for part in PARTS), []).append(cell)
    documents: list[dict[str, Any]] = []
    for key, group in groups.items():
        seen = [cell for cell in group if not truncated(cell.cell["health"])]
        measure = headline(group[0].metrics["metrics"])
        if measure is None or len(_compared(group, baseline)) < 2:
            continue
        document: dict[str, Any] = dict(zip(PARTS, key, strict=True)) | {
            "measure": measure,
            "margin": margin,
        }
        if len(_compared(seen, baseline)) > 1:
            document |= _answer(seen, measure, margin, baseline)
        else:
            document |= {"baseline": None, "sentences": [], "differences": []}
        unseen = [f"`{cell.names['chunker']}`" for cell in group if cell not in seen]
        if unseen:
            document["sentences"].append(
                f"Not compared, since the embedder never saw over {TRUNCATION_MARK:.0%} of the "
                f"chunk tokens: {listed(unseen)}. Use a smaller max_size, or windows=max."
            )
        documents.append(document)
    return documents


def _compared(cells: Sequence[StoredCell], baseline: str | None) -> list[str]:
    """The contenders, and the baseline, whatever it is."""
    names = [cell.names["chunker"] for cell in cells]
    return [name for name in names if contends(name) or name == baseline]


def _answer(
    cells: Sequence[StoredCell], measure: str, margin: float, baseline: str | None
) -> dict[str, Any]:
    try:
        (contest,) = contests(cells)
    except InputError as error:  # a profile may leave other queries out for each chunker
        return {"baseline": None, "sentences": [f"Not compared: {error}."], "differences": []}
    names = contest.contenders
    if baseline is None or baseline not in contest.cells:
        baseline = BASELINE if BASELINE in names else names[0]
    others = [name for name in BUDGETS if measure in BUDGETS and name != measure]
    computed = [name for name in others if len(contest.columns(name)) > 1]
    results = [
        differences(contest, name, baseline, margin=margin, primary=name == measure)
        for name in (measure, *computed)
    ]
    first, *rest = results
    tight = [_budget_sentence(first, result, baseline) for result in rest]
    details = [*_boundaries(contest, (measure, *computed), margin), *_sizes(contest, baseline)]
    limits = [f"{line}." for line in limits_of(contest)]
    paragraphs = [[verdict_sentence(contest, first, baseline, margin)], tight, details, limits]
    return {
        "baseline": baseline,
        "sentences": [" ".join(lines) for lines in paragraphs if lines],
        "differences": [row for result in results for row in _rows(result)],
    }


def _rows(result: MeasureResult) -> Iterator[dict[str, Any]]:
    for pair in result.differences:
        if pair.estimand == "these corpora":
            yield {
                "measure": result.measure,
                "exploratory": not result.primary,
                "chunker": pair.a,
                "difference": pair.estimate.mean,
                "ci95": pair.estimate.ci95,
                "p_adjusted": pair.p_adjusted,
                "verdict": pair.verdict,
                "mdd": pair.mdd,
            }


def _budget_sentence(first: MeasureResult, other: MeasureResult, baseline: str) -> str:
    """The verdicts under another budget, and whose order with the baseline turns over."""
    budget, primary = (result.measure.partition("@")[2] for result in (other, first))
    pairs = baseline_pairs(other, baseline)
    says = [
        f"{word} than `{baseline}`: "
        + listed([f"`{pair.a}` by {amount(pair, unit='')}" for pair in largest_first(group)])
        for word in _CERTAIN
        if (group := [pair for pair in pairs if pair.verdict == word])
    ]
    opposite = {pair.a: pair for pair in baseline_pairs(first, baseline)}
    turned = [
        f"`{pair.a}`"
        for pair in pairs
        if pair.estimate.mean * opposite[pair.a].estimate.mean < 0
        and (pair.verdict in _CERTAIN or opposite[pair.a].verdict in _CERTAIN)
    ]
    ends = f" Between {budget} and {primary} the order turns over for {listed(turned)}."
    return f"At {budget}: {'; '.join(says) or 'undecided'}." + ends * bool(turned)


def _boundaries(contest: Contest, measures: Sequence[str], margin: float) -> Iterator[str]:
    """Whether `ast` is better than random boundaries at its own sizes."""
    for name in contest.cells:
        random_cuts = RANDOM_CUTS + name.removeprefix(SYNTAX)
        if not name.startswith(SYNTAX) or random_cuts not in contest.cells:
            continue
        pair = replace(contest, cells={key: contest.cells[key] for key in (name, random_cuts)})
        says = []
        for measure in reversed(measures):
            result = differences(pair, measure, random_cuts, margin=margin, primary=False)
            (row,) = (row for row in result.differences if row.estimand == "these corpora")
            place = f" at {measure.partition('@')[2]}" if measure in BUDGETS else ""
            by = f" by {amount(row, unit='')}" if row.verdict in _CERTAIN else ""
            says.append(f"{row.verdict}{by}{place}")
        yield (
            f"`{name}` against `{random_cuts}`, random boundaries at its sizes: {', '.join(says)}."
        )


def _sizes(contest: Contest, baseline: str) -> Iterator[str]:
    """Whose chunks are so much larger or smaller that size alone may explain a difference."""
    sizes = {name: cell.cell["health"]["median_c"] for name, cell in contest.cells.items()}
    own = sizes[baseline]
    apart = [
        f"`{name}` {size} c"
        for name, size in sizes.items()
        if contends(name) and own and size and max(size / own, own / size) > UNMATCHED
    ]
    if apart:
        yield (f"Median chunks differ: `{baseline}` {own} c, {listed(apart)} (try --match-size).")
