"""Drops of measures between the last runs of two run folders, against the drops allowed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.measures.grammar import parse_measure
from harness.reports.contests import contest_of, ways
from harness.runs.folder import PARTS, read_complete_manifest, why_no_cell
from harness.runs.gates import DECIMALS
from harness.runs.stored_values import read_queries, read_stored_cells
from harness.stats.clusters import clusters_of
from harness.stats.drops import FEWEST_FOR_DROP, Drop, drop_of
from harness.support.wording import counted, rerun_with

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.reports.contests import Contest
    from harness.runs.stored_values import StoredCell

SHOWN = 10
"""Queries that are named of those that fell."""


@dataclass(frozen=True, slots=True)
class AllowedDrop:
    """The largest drop of a measure that is allowed."""

    measure: str
    most: float


def parse_allowed_drop(text: str) -> AllowedDrop:
    """Parse an allowed drop such as `SpanR@10000c=0.01`.

    Raises:
        InputError: The text is not an allowed drop, or the measure is unknown.
    """
    match = re.fullmatch(r"\s*([^=]+?)\s*=\s*(\S+)\s*", text)
    try:
        most = float(match[2]) if match else math.nan
    except ValueError:
        most = math.nan
    if match is None or not 0 <= most < 1:
        raise InputError(
            f"invalid drop {text!r}\n"
            "write one measure, = and a number from 0 to below 1: --max-drop 'SpanR@10000c=0.01'"
        )
    return AllowedDrop(str(parse_measure(match[1], repeat="")), most)


def check_drops(
    run: Path, base: Path, allowed: Sequence[AllowedDrop], *, strict: bool = False
) -> list[dict[str, Any]]:
    """Check every cell of the last run of two folders: rows of the document `chunkmark.gate/1`.

    Cells are matched by data set, chunker, embedder and retriever. One that is missing in `run`
    fails, one that is missing in `base` is skipped.

    Args:
        run: The run folder to check.
        base: The run folder to compare it with.
        allowed: The largest drops.
        strict: Whether a check fails if a drop over the allowed one might not be seen.

    Raises:
        InputError: A folder has no complete run, or matching cells differ in data, queries, profile
            or options of the ranking.
    """
    if run.resolve() == base.resolve():
        raise InputError(f"{run} is compared with itself; give another run folder with --against")
    new, old = _cells_by_names(run), _cells_by_names(base)
    datasets = _datasets(run), _datasets(base)
    if not set(datasets[0]) & set(datasets[1]):
        raise InputError(
            f"{run} and {base} have no data set in common: {', '.join(datasets[0])}, and "
            f"{', '.join(datasets[1])}\nrun both on the same data"
        )
    rows = []
    for names in [*old, *(names for names in new if names not in old)]:
        before, after = old.get(names), new.get(names)
        if before is not None and after is not None:
            contest = _matched(before, after, base, run)
            rows += [_compared(names, contest, drop, strict=strict) for drop in allowed]
            continue
        cell = f"{names[1]} on {names[0]} ({', '.join(names[2:])})"
        missing, present = (run, base) if after is None else (base, run)
        why = f"{cell} is scored in {present}, but not in {missing}"
        verdict = "fail" if after is None else "skipped"
        rows += [_row(names, drop, verdict, why) for drop in allowed]
    return rows


def _cells_by_names(run: Path) -> dict[tuple[str, ...], StoredCell]:
    read_complete_manifest(run)
    cells = {
        tuple(cell.names[part] for part in PARTS): cell
        for cell in read_stored_cells(run, earlier=False)
    }
    if not cells:
        raise InputError(why_no_cell([run]))
    return cells


def _datasets(run: Path) -> list[str]:
    """The data sets of the last run, also those on which every chunker failed."""
    manifest = read_complete_manifest(run)
    rows = [*manifest["cells"], *manifest.get("failed", ())]
    return list(dict.fromkeys(row["dataset"] for row in rows))


def _matched(before: StoredCell, after: StoredCell, base: Path, run: Path) -> Contest:
    differing = "; ".join(ways(after, before))
    if differing:
        raise InputError(
            f"{run} and {base} cannot be compared: they differ in {differing}\n"
            "run both on the same data with the same options"
        )
    return contest_of(after.names["dataset"], (), [("before", before), ("after", after)])


def _compared(
    names: Sequence[str], contest: Contest, allowed: AllowedDrop, *, strict: bool
) -> dict[str, Any]:
    columns = contest.columns(allowed.measure)
    profile = contest.cells["after"].profile
    if profile["mean"] == "corpora":
        why = f"the means of profile {profile['name']} are over corpora; drops are over queries"
        return _row(names, allowed, "skipped", why)
    lacking = [name for name in contest.cells if name not in columns]
    if lacking:
        run = contest.cells[lacking[0]].folder.parent.parent
        name = allowed.measure
        why = f"{name} has no values in {run}; {rerun_with(name)}"
        # What BASE has and RUN lost must not pass.
        return _row(names, allowed, "fail" if lacking == ["after"] else "skipped", why)
    before, after = columns["before"], columns["after"]
    drop = drop_of(before, after, contest.members)
    keys = {cell.cell["key"] for cell in contest.cells.values()}
    if len(keys) == 1 and (before == after).all():
        drop = Drop(0.0, 0.0, 0.0)  # the same cell: nothing was changed, so nothing can be missed
    queries, clusters = len(contest.queries), len(clusters_of(contest.members).sizes)
    size = f"{counted(queries, 'query', 'queries')} in {counted(clusters, 'cluster')}"
    verdict, why = "pass", ""
    if drop.lower is None or drop.detects is None:
        verdict = "fail" if strict else "skipped"
        why = f"{size} can show no drop of {allowed.measure}; {FEWEST_FOR_DROP} clusters can"
    elif _above(drop.mean, allowed.most) and _above(drop.lower, 0):
        verdict = "fail"
    elif _above(drop.detects, allowed.most):
        verdict = "fail" if strict else "pass"
        why = (
            f"a drop of {allowed.measure} by less than {drop.detects:.2g} may pass unseen with "
            f"{size}; add queries"
        )
    return _row(names, allowed, verdict, why) | {
        "value": float(after.mean()),
        "before": float(before.mean()),
        "drop": drop.mean,
        "drop_at_least": drop.lower,
        "detects": drop.detects,
        "n_queries": queries,
        "clusters": clusters,
        "queries": _fallen(contest, allowed.measure),
    }


def _above(value: float, bound: float) -> bool:
    return round(value, DECIMALS) > round(bound, DECIMALS)


def _row(names: Sequence[str], allowed: AllowedDrop, verdict: str, why: str) -> dict[str, Any]:
    """The row of a check without values."""
    return {
        "kind": "max-drop",
        **dict(zip(PARTS, names, strict=True)),
        "measure": allowed.measure,
        "value": None,
        "operator": "drop <=",
        "threshold": allowed.most,
        "verdict": verdict,
        "why": why or None,
        "before": None,
        "drop": None,
        "drop_at_least": None,
        "detects": None,
        "n_queries": None,
        "clusters": None,
        "queries": [],
    }


def _fallen(contest: Contest, measure: str) -> list[dict[str, Any]]:
    """The queries with the largest drops."""
    columns = contest.columns(measure)
    before, after = columns["before"], columns["after"]
    order = sorted(
        (at for at in range(len(before)) if before[at] > after[at]),
        key=lambda at: (after[at] - before[at], contest.queries[at]),
    )[:SHOWN]
    readable = read_queries(contest.cells["after"].folder) if order else {}
    return [
        {
            "query_id": (query := contest.queries[at]),
            "text": readable[query].text,
            "targets": list(readable[query].targets),
            "before": float(before[at]),
            "after": float(after[at]),
        }
        for at in order
    ]
