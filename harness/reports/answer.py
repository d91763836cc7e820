"""The answer of a run: each contender against a baseline, in sentences and numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.reports.contests import adjusted_together, contends, contests, differences
from harness.reports.matched import MATCHED, UNMATCHED, size_ratio, without_size
from harness.reports.recommendation import (
    BUDGET_MEASURES,
    amount,
    baseline_pairs,
    headline,
    largest_first,
    limits_of,
    listed,
    verdict_sentence,
)
from harness.runs.health import TRUNCATION_MARK, truncated
from harness.stats import MARGIN
from harness.stats.comparison import adjust, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.reports.contests import Contest, MeasureResult
    from harness.runs.stored_values import StoredCell
    from harness.stats.comparison import Estimand

BASELINE = "fixed"
"""The chunker that others are compared with; without it, the first contender."""

SHARED_PARTS = ("dataset", "embedder", "retriever")
"""What the cells of one answer share."""

SYNTAX, RANDOM_CUTS = "ast", "random-cuts"
"""A chunker, and the control that has its sizes under the same options."""

_ESTIMANDS: tuple[Estimand, ...] = ("these corpora",)

_CERTAIN = ("better", "worse")

_MUCH = 0.1
"""The share of lost text above which the answer names the chunker."""


def answers(
    cells: Iterable[StoredCell], baseline: str | None = None, *, power: bool = True
) -> list[dict[str, Any]]:
    """The answer for each data set, embedder and retriever with two contenders.

    Cells take no part if the embedder never saw over 10 % of their chunk tokens; a sentence names
    them.

    Args:
        cells: The cells of one run, which have one margin.
        baseline: The chunker to compare with; by default `fixed`, or the first contender.
        power: Whether rows have `mdd`, the minimum detectable difference, which needs scipy.

    Returns:
        For each the parts `dataset`, `embedder`, `retriever`; `measure`, `baseline` (None if
        nothing could be compared), `margin`, `sentences`, `differences`: a row for each measure and
        chunker, and `comparisons`: the number that the verdicts by `measure` are adjusted for.
    """
    groups: dict[tuple[str, ...], list[StoredCell]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.names[part] for part in SHARED_PARTS), []).append(cell)
    margin = next((group[0].margin for group in groups.values()), MARGIN)
    family = sum(len(group) for group in groups.values())
    documents: list[dict[str, Any]] = []
    compared: list[tuple[dict[str, Any], Contest, MeasureResult]] = []
    for key, group in groups.items():
        seen = [cell for cell in group if not truncated(cell.cell["health"])]
        measure = headline(group[0].metrics["metrics"], group[0].primary)
        if measure is None or len(_compared(group, baseline)) < 2:
            continue
        document: dict[str, Any] = dict(zip(SHARED_PARTS, key, strict=True)) | {
            "measure": measure,
            "margin": margin,
        }
        document |= {"baseline": None, "sentences": [], "differences": [], "comparisons": 0}
        documents.append(document)
        if len(_compared(seen, baseline)) > 1:
            try:
                (contest,) = contests(seen)
            except InputError as error:  # a profile may leave other queries out for each chunker
                document["sentences"].append(f"Not compared: {error}.")
            else:
                document["baseline"] = baseline_of(contest, baseline)
                if document["baseline"] is None:
                    document["sentences"].append(f"Not compared: `{baseline}` has no result.")
                else:
                    result = differences(
                        contest,
                        measure,
                        document["baseline"],
                        margin=margin,
                        family=family,
                        estimands=_ESTIMANDS,
                    )
                    compared.append((document, contest, result))
        unseen = [f"`{cell.names['chunker']}`" for cell in group if cell not in seen]
        if unseen:
            document["sentences"].append(
                f"Not compared, since the embedder never saw over {TRUNCATION_MARK:.0%} of the "
                f"chunk tokens: {listed(unseen)}. Use a smaller max_size, or windows=max."
            )
    adjusted = adjusted_together([(contest, result) for _, contest, result in compared], margin)
    for (document, contest, _), result in zip(compared, adjusted, strict=True):
        said = _answer(contest, result, document["baseline"], margin, power=power)
        document["differences"] = said["differences"]
        document["comparisons"] = sum(
            len(other.of_these_corpora)
            for of, _, other in compared
            if of["dataset"] == document["dataset"]
        )
        document["sentences"] = [*said["sentences"], *document["sentences"]]
    return documents


def _compared(cells: Sequence[StoredCell], baseline: str | None) -> list[str]:
    """The contenders, and the baseline, whatever it is."""
    names = [cell.names["chunker"] for cell in cells]
    return [name for name in names if contends(name) or name == baseline]


def _answer(
    contest: Contest, first: MeasureResult, baseline: str, margin: float, *, power: bool
) -> dict[str, Any]:
    """The sentences and rows of a contest, from its result by the primary measure."""
    measure = first.measure
    others = [name for name in BUDGET_MEASURES if measure in BUDGET_MEASURES and name != measure]
    rest = [
        differences(contest, name, baseline, margin=margin, primary=False, estimands=_ESTIMANDS)
        for name in others
        if len(contest.columns(name)) > 1
    ]
    computed = [result.measure for result in rest]
    tight = [_budget_sentence(first, result, baseline) for result in rest]
    compared = [name for name in (measure, *computed) if contest.compares(name)]
    details = [*_boundaries(contest, compared, margin), *_lost(contest), *_sizes(contest, baseline)]
    limits = [f"{line}." for line in limits_of(contest)]
    paragraphs = [[verdict_sentence(contest, first, baseline, margin)], tight, details, limits]
    return {
        "sentences": [" ".join(lines) for lines in paragraphs if lines],
        "differences": [row for result in (first, *rest) for row in _rows(result, power=power)],
    }


def baseline_of(contest: Contest, chunker: str | None) -> str | None:
    """The cell to compare with: that of a chunker, or of this chunker at a size that was matched.

    Args:
        contest: Cells of one or more runs; of a chunker that two runs have, the first is taken.
        chunker: By default `fixed`, or the first contender.

    Returns:
        The name of the cell; None if there is none.
    """
    wanted = chunker or BASELINE
    chunkers = {name: cell.names["chunker"] for name, cell in contest.cells.items()}
    same = [name for name, other in chunkers.items() if other == wanted] or [
        name for name, other in chunkers.items() if without_size(other) == without_size(wanted)
    ]
    if len({chunkers[name] for name in same}) == 1:
        return same[0]
    return None if chunker else next(iter(contest.contenders), None)


def _rows(result: MeasureResult, *, power: bool) -> Iterator[dict[str, Any]]:
    for pair in result.of_these_corpora:
        yield {
            "measure": result.measure,
            "exploratory": not result.primary,
            "chunker": pair.a,
            "difference": pair.estimate.mean,
            "ci95": pair.estimate.ci95,
            "p_adjusted": pair.p_adjusted,
            "verdict": pair.verdict,
            **({"mdd": pair.mdd} if power else {}),
        }


def _budget_sentence(first: MeasureResult, other: MeasureResult, baseline: str) -> str:
    """The verdicts under another budget, and whose order with the baseline turns over."""
    budget, primary = (result.measure.partition("@")[2] for result in (other, first))
    pairs = baseline_pairs(other, baseline)
    says = [
        f"{word}: "
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
    return f"At {budget} (exploratory): {'; '.join(says) or 'undecided'}." + ends * bool(turned)


def _boundaries(contest: Contest, measures: Sequence[str], margin: float) -> Iterator[str]:
    """Whether `ast` is better than random boundaries at its own sizes.

    Exploratory: Holm's method adjusts for all such pairs and measures.
    """
    pairs = [
        (name, other)
        for name in contest.cells
        if measures and (other := _random_cuts(contest, name)) is not None
    ]
    rows = [
        row
        for name, other in pairs
        for measure in reversed(measures)
        for row in differences(
            replace(contest, cells={key: contest.cells[key] for key in (name, other)}),
            measure,
            other,
            margin=margin,
            estimands=_ESTIMANDS,
        ).of_these_corpora
    ]
    adjusted = adjust([row.estimate.p for row in rows], "holm")
    says = []
    for row, p in zip(rows, adjusted, strict=True):
        verdict = verdict_of(row.estimate, p, margin)
        says.append(verdict + (f" by {amount(row, unit='')}" if verdict in _CERTAIN else ""))
    places = [
        f" at {name.partition('@')[2]}" * (name in BUDGET_MEASURES) for name in reversed(measures)
    ]
    for at, (name, other) in enumerate(pairs):
        own = says[at * len(places) : (at + 1) * len(places)]
        shown = ", ".join(map("".join, zip(own, places, strict=True)))
        yield f"`{name}` against `{other}` (same sizes, random boundaries): {shown}."


def _random_cuts(contest: Contest, name: str) -> str | None:
    """The control with the sizes of a kind of `ast`, if the run has it."""
    if name.partition(":")[0] != SYNTAX:
        return None
    twin = RANDOM_CUTS + name.removeprefix(SYNTAX)
    if twin in contest.cells:
        return twin
    sizes = {key: cell.cell["health"]["median_c"] for key, cell in contest.cells.items()}
    near = {
        key: ratio
        for key in contest.cells
        if without_size(key) == without_size(twin)
        and (ratio := size_ratio(sizes[key], sizes[name])) <= MATCHED
    }
    return min(near, key=lambda key: near[key], default=None)


def _sizes(contest: Contest, baseline: str) -> Iterator[str]:
    """Whose chunks are so much larger or smaller that size alone may explain a difference."""
    sizes = {name: cell.cell["health"]["median_c"] for name, cell in contest.cells.items()}
    own = sizes[baseline]
    apart = [
        f"`{name}` {size} c"
        for name, size in sizes.items()
        if contends(name) and own and size and size_ratio(size, own) > UNMATCHED
    ]
    if apart:
        yield f"Median chunks differ: `{baseline}` {own} c, {listed(apart)}{_size_advice(contest)}."


def _size_advice(contest: Contest) -> str:
    """How to give all contenders one size, if that was not tried: one may have no limit to set."""
    unlimited = [
        name
        for name, cell in contest.cells.items()
        if contends(name) and not cell.cell["health"]["limit_unit"]
    ]
    if len(unlimited) > 1 or any(cell.config["match_size"] for cell in contest.cells.values()):
        return ""
    return f" (try --match-size{''.join(f' {name}' for name in unlimited)})"


def _lost(contest: Contest) -> Iterator[str]:
    """The contenders that leave much of the text in no chunk: what is not indexed is not found."""
    lost = {name: 1 - cell.cell["health"]["coverage"] for name, cell in contest.cells.items()}
    names = [
        f"`{name}` ({share:.0%})"
        for name, share in lost.items()
        if contends(name) and share > _MUCH
    ]
    if names:
        yield f"Much of the text is in no chunk of {listed(names)}, so it cannot be retrieved."
