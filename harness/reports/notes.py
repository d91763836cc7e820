"""The notes below the tables of a run."""

from __future__ import annotations

import math
import re
import shlex
from typing import TYPE_CHECKING, Any

from harness.reports.columns import CellDocument, legend
from harness.reports.contests import contends
from harness.reports.recommendation import listed
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ABSENT_LISTED = 8  # absent corpora that are named; more with one reason share a line
MILLISECONDS = "ms per query, p50 and p95; embedding is timed when the query is first embedded"

_FEW = 30
_CHANCE = 0.95
"""Share of the best value from which a random ranking makes a measure undecided."""


def notes_of(document: Mapping[str, Any], cells: list[CellDocument]) -> list[str]:
    """The notes below all tables of some cells."""
    return list(_notes(document, cells))


def _notes(document: Mapping[str, Any], cells: list[CellDocument]) -> Iterator[str]:
    first = cells[0]
    yield f"means over {first['mean_over']}; 95 % interval: {first['interval']}"
    if not all(metric["comparable"] for metric in first["metrics"].values()):
        yield (
            "* not comparable between chunkers: which chunks are relevant depends on the boundaries"
        )
    skipped = {why: name for name, one in first["metrics"].items() if (why := one.get("why"))}
    yield from (f"{name} is skipped: {why}" for why, name in skipped.items())
    yield MILLISECONDS
    if first["mask_query"]:
        yield (
            "masked: each query's own lines are blank in its corpus, and --no-mask-query keeps "
            "them; masked copies of files are cut and counted too"
            + _fillers(first["health"]["masked_filled"])
        )
    controls = [cell["chunker"] for cell in cells if not contends(cell["chunker"])]
    if controls:
        yield f"{' and '.join(controls)}: controls, not contenders"
    yield from warnings_of(document, cells, first["metrics"])
    reasons = [row for row in document["left_out"] if row["dataset"] == first["dataset"]]
    if reasons:
        counts = "; ".join(f"{row['reason']}: {row['count']}" for row in reasons)
        yield f"left out by the data set: {counts}"


def warnings_of(
    document: Mapping[str, Any],
    cells: list[CellDocument],
    measures: Iterable[str],
    *,
    brief: bool = False,
) -> Iterator[str]:
    """What qualifies the given measures of some cells; marks of a kind may share a line."""
    first = cells[0]
    yield from few_queries(first)
    yield from chance(cells, measures)
    yield from _units(cells)
    yield from legend(cells)
    if first["targets_dropped"]:
        yield counted(
            first["targets_dropped"],
            "target cannot be found and is dropped for all chunkers",
            "targets cannot be found and are dropped for all chunkers",
        )
    left_out = {why: count for why, count in first["left_out"].items() if count}
    yield from (f"left out: {_queries(count)}, {why}" for why, count in left_out.items())
    yield from _marks_in_brief(cells) if brief else _marks(cells)
    yield from _absences(document, first["dataset"])


def _fillers(count: int) -> str:
    if not count:
        return ""
    keep = counted(count, "masked file keeps", "masked files keep")
    return f"; {keep} brackets or keywords there, without which the rest would not parse"


def _queries(count: int) -> str:
    return counted(count, "query", "queries")


def few_queries(cell: CellDocument) -> Iterator[str]:
    """Whether intervals of a cell are too narrow."""
    if cell["n_queries"] < _FEW:
        yield (
            f"{_queries(cell['n_queries'])}: with fewer than {_FEW}, intervals are unreliable; "
            f"`chunkmark dataset validate {shlex.quote(cell['dataset'])}` says what is needed"
        )


def chance(cells: Sequence[CellDocument], measures: Iterable[str]) -> Iterator[str]:
    """The measures in which a random ranking is as good for every chunker."""
    names = [name for name in measures if all(_by_chance(cell["metrics"][name]) for cell in cells)]
    if names:
        decide = f"{', '.join(names)} {'decides' if len(names) == 1 else 'decide'} nothing here: "
        if all(cell["health"]["chunks"] == 1 for cell in cells):
            yield f"{decide}the corpus is one chunk, so all rankings are equal; use more files"
            return
        yield (
            f"{decide}a random ranking does as well, since the cut-off covers (nearly) the whole "
            "corpus; use a smaller one"
        )


def _units(cells: list[CellDocument]) -> Iterator[str]:
    """The sizes of contenders in one unit, if their limits are in several."""
    contenders = [cell for cell in cells if contends(cell["chunker"])]
    units = [cell["health"]["limit_unit"] or "no limit" for cell in contenders]
    if len(set(units)) > 1:
        medians = [
            f"{cell['chunker']} ({unit}) {cell['health']['median_c']}"
            for cell, unit in zip(contenders, units, strict=True)
        ]
        yield f"size limits differ in kind, so compare the median chunks, in c: {listed(medians)}"


def _by_chance(metric: Mapping[str, Any]) -> bool:
    mean, random, oracle = metric["mean"], metric["random"], metric["oracle"]
    if mean is None or random is None or oracle is None:
        return False
    bound = oracle * _CHANCE if oracle > 0 and not metric["oracle_is_bound"] else math.inf
    # A corpus within the budget is delivered whole by every ranking.
    same = random > 0 and math.isclose(mean, random, rel_tol=1e-9)
    return same or bool(random >= bound)


def _absences(document: Mapping[str, Any], dataset: str) -> Iterator[str]:
    """The absent corpora of a data set; many with one reason share a line."""
    by_reason: dict[str, list[Mapping[str, Any]]] = {}
    for corpus in document["absent"]:
        if corpus["dataset"] == dataset:
            by_reason.setdefault(corpus["reason"], []).append(corpus)
    for reason, corpora in by_reason.items():
        if len(corpora) > ABSENT_LISTED:
            queries = _queries(sum(corpus["n_queries"] for corpus in corpora))
            example = corpora[0]["corpus"]
            yield f"absent: {len(corpora)} corpora ({queries}), for example {example}: {reason}"
            continue
        for corpus in corpora:
            yield f"absent: {corpus['corpus']} ({_queries(corpus['n_queries'])}): {reason}"


def _marks(cells: list[CellDocument]) -> Iterator[str]:
    """The marks of cells; one that all cells have is given once."""
    common = set.intersection(*(set(cell["marks"]) for cell in cells)) if len(cells) > 1 else set()
    yield from (f"! all chunkers: {mark}" for mark in cells[0]["marks"] if mark in common)
    for cell in cells:
        yield from (f"! {cell['chunker']}: {m}" for m in cell["marks"] if m not in common)


def _marks_in_brief(cells: list[CellDocument]) -> Iterator[str]:
    """A line for each kind of mark, with the numbers of the first cell that has it."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for cell in cells:
        for mark in cell["marks"]:
            kinds.setdefault(re.sub(r"[\d.,]+", "0", mark), []).append((cell["chunker"], mark))
    for (name, first), *others in kinds.values():
        everywhere = len(cells) > 1 and len(others) == len(cells) - 1
        if everywhere and all(mark == first for _, mark in others):
            yield f"! all chunkers: {first}"
            continue
        names = "all others" if everywhere else listed([other for other, _ in others])
        yield f"! {name}: {first}" + f"; likewise {names}" * bool(others)
