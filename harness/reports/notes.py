"""What stands below the tables of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from harness.reports.marks import Cell, legend
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ANCHOR_CHUNKERS = ("whole-file", "random-cuts")
ABSENT_LISTED = 8  # absent corpora named one by one; more for one reason are one line
MILLISECONDS = (
    "ms/query, p50 and p95: embedding it, as it was done then (in a batch of fixed shape where the "
    "model runs here), search, and both"
)

_FEW = 30
_CHANCE = 0.95
"""Share of the best that chance reaches where a measure says next to nothing."""


def notes_of(document: Mapping[str, Any], cells: list[Cell]) -> list[str]:
    """What stands below a table."""
    notes = [
        f"means over {cells[0]['mean_over']}; ± half the 95 % interval: {cells[0]['interval']}"
    ]
    if cells[0]["n_queries"] < _FEW:
        notes.append(
            f"{_queries(cells[0]['n_queries'])}: under {_FEW} an interval is narrower than what it "
            "stands for; `chunkmark dataset validate` says what differences so many can show"
        )
    if not all(one["comparable"] for one in cells[0]["metrics"].values()):
        notes.append(
            "* not comparable across chunkers: what is relevant depends on where the cuts lie"
        )
    skipped = {why: name for name, one in cells[0]["metrics"].items() if (why := one.get("why"))}
    notes += [f"{name} is skipped: {why}" for why, name in skipped.items()]
    notes += _undecided(cells)
    notes += legend(cells)
    notes.append(MILLISECONDS)
    if cells[0].get("mask_query"):
        notes.append(
            "masked: each query's own lines are taken out of its corpus; --no-mask-query leaves "
            "them in. Copies of files without them are cut too: they count, and may not parse"
        )
    anchors = [cell["chunker"] for cell in cells if cell["chunker"] in ANCHOR_CHUNKERS]
    if anchors:
        notes.append(f"{' and '.join(anchors)}: anchors to read the others against, no candidates")
    dropped = cells[0]["targets_dropped"]
    if dropped:
        many = "targets cannot be found and are dropped for all"
        notes.append(counted(dropped, "target cannot be found and is dropped for all", many))
    left_out = {why: count for why, count in cells[0]["left_out"].items() if count}
    notes += [f"left out: {_queries(count)}, {why}" for why, count in left_out.items()]
    notes += _marks(cells)
    notes += _absences(document, cells[0]["dataset"])
    told = [one for one in document["left_out"] if one["dataset"] == cells[0]["dataset"]]
    if told:
        counts = "; ".join(f"{one['reason']}: {one['count']}" for one in told)
        notes.append(f"left out by the data set: {counts}")
    return notes


def _queries(count: int) -> str:
    return counted(count, "query", "queries")


def _undecided(cells: list[Cell]) -> Iterator[str]:
    """The measures that chance does as well in, whatever the chunker."""
    names = [
        name
        for name in cells[0]["metrics"]
        if all(_by_chance(cell["metrics"][name]) for cell in cells)
    ]
    if names:
        yield (
            f"{', '.join(names)} {'decides' if len(names) == 1 else 'decide'} nothing here: the "
            "cut-off holds all of the corpus, or nearly, so chance does as well; take a smaller one"
        )


def _by_chance(one: Mapping[str, Any]) -> bool:
    mean, random, oracle = one["mean"], one["random"], one["oracle"]
    if mean is None or random is None or oracle is None:
        return False
    bound = oracle * _CHANCE if oracle > 0 and not one["oracle_is_bound"] else float("inf")
    # What is within a budget whole is found by every order, so nothing is left to chance.
    same = random > 0 and math.isclose(mean, random, rel_tol=1e-9)
    return same or bool(random >= bound)


def _absences(document: Mapping[str, Any], dataset: str) -> Iterator[str]:
    """What a data set lacks; many corpora that lack for one reason are one line."""
    by_reason: dict[str, list[Mapping[str, Any]]] = {}
    for one in document["absent"]:
        if one["dataset"] == dataset:
            by_reason.setdefault(one["reason"], []).append(one)
    for reason, absent in by_reason.items():
        if len(absent) > ABSENT_LISTED:
            queries = sum(one["n_queries"] for one in absent)
            of = f"{len(absent)} corpora ({_queries(queries)}), such as {absent[0]['corpus']}"
            yield f"absent: {of}: {reason}"
        else:
            yield from (
                f"absent: {one['corpus']} ({_queries(one['n_queries'])}): {reason}"
                for one in absent
            )


def _marks(cells: list[Cell]) -> Iterator[str]:
    """The marks of cells in words; one that all have stands once."""
    common = set.intersection(*(set(cell["marks"]) for cell in cells)) if len(cells) > 1 else set()
    yield from (f"! all: {mark}" for mark in cells[0]["marks"] if mark in common)
    for cell in cells:
        yield from (f"! {cell['chunker']}: {m}" for m in cell["marks"] if m not in common)
