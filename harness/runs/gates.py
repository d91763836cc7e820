"""Gates: compare the measures of every cell with lower bounds."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from chunkers.errors import InputError
from harness.measures.grammar import parse_measure, same_family
from harness.runs.folder import PARTS
from harness.support.wording import rerun_with

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

Verdict = Literal["pass", "fail", "skipped"]

_BOUND = re.compile(r"\s*(?P<measure>[^<>=]+?)\s*(?P<operator>>=?)\s*(?P<number>[^<>=\s]+)\s*")
DECIMALS = 12
"""Places that count: noise in the last digits of a sum must not decide a gate."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A lower bound, such as `MRR>0.6`, of a measure by its printed name."""

    measure: str
    operator: Literal[">", ">="]
    threshold: float

    def holds(self, value: float) -> bool:
        """Whether a finite value satisfies the bound, compared at 12 decimal places."""
        rounded, threshold = round(value, DECIMALS), round(self.threshold, DECIMALS)
        return rounded >= threshold if self.operator == ">=" else rounded > threshold


@dataclass(frozen=True, slots=True)
class GateCell:
    """The means of one cell, or of an external ranking, which has no names of parts.

    `counts` is by measure how many queries its mean is of, and `reasons` why it has no mean.
    """

    dataset: str | None
    chunker: str | None
    embedder: str | None
    retriever: str | None
    means: Mapping[str, float | None]
    counts: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


def parse_bound(text: str) -> Bound:
    """Parse a bound such as `nDCG@10>=0.5`.

    Raises:
        InputError: It is no bound, its measure is unknown, or all means satisfy it, or none.
    """
    match = _BOUND.fullmatch(text)
    try:
        number = float(match["number"]) if match else math.nan
    except ValueError:
        number = math.nan
    if match is None or not math.isfinite(number):
        raise InputError(
            f"invalid bound {text!r}\n"
            "write one measure, > or >=, and a number, in quotes: --min 'MRR>0.6'"
        )
    operator: Literal[">", ">="] = ">=" if match["operator"] == ">=" else ">"
    bound = Bound(str(parse_measure(match["measure"], repeat="")), operator, number)
    if not bound.holds(1.0):
        raise InputError(
            f"bound {text!r} can never pass: {bound.measure} is at most 1; give a lower number"
        )
    if bound.holds(0.0):
        raise InputError(
            f"bound {text!r} can never fail: {bound.measure} is at least 0; give a higher number"
        )
    return bound


def check(cells: Sequence[GateCell], bounds: Sequence[Bound]) -> list[dict[str, Any]]:
    """Check every bound on every cell: rows of the document `chunkmark.gate/1`.

    `value` is None if a cell has no such mean; then `why` says the reason.
    """
    rows = []
    for cell in cells:
        for bound in bounds:
            value = cell.means.get(bound.measure)
            verdict: Verdict = "skipped"
            if value is not None:
                verdict = "pass" if bound.holds(value) else "fail"
            rows.append(
                {
                    "kind": "min",
                    **{part: getattr(cell, part) for part in PARTS},
                    "n_queries": cell.counts.get(bound.measure),
                    "measure": bound.measure,
                    "value": value,
                    "operator": bound.operator,
                    "threshold": bound.threshold,
                    "verdict": verdict,
                    "why": _why_skipped(cell, bound.measure) if value is None else None,
                }
            )
    return rows


def _why_skipped(cell: GateCell, measure: str) -> str:
    if measure in cell.means:
        return f"{measure} is skipped: {cell.reasons.get(measure) or 'no query has a value'}"
    if cell.means:
        near = ", ".join(same_family(measure, cell.means))
        has = f"; it has {near}" if near else ""
        return f"{measure} is not in the run{has}; {rerun_with(measure)}"
    return f"{measure} is skipped: {cell.chunker} on {cell.dataset} failed"


def notes_of(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Why checks are skipped, or what they cannot see, and what to do, once for each reason."""
    notes = Counter(row["why"] for row in rows if row["why"])
    for note, count in notes.items():
        yield note if count == 1 else f"in {count} cells, {note}"
    yield from _query_count_notes(rows)


def _query_count_notes(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A note for each data set whose cells have different numbers of queries."""
    counts: dict[str, set[int]] = {}
    for row in rows:
        known = row["dataset"] is not None and row["n_queries"] is not None
        if row["kind"] == "min" and known:
            name = f"{row['measure']} on {row['dataset']}"
            counts.setdefault(name, set()).add(row["n_queries"])
    for name, different in counts.items():
        if len(different) > 1:
            numbers = " and ".join(map(str, sorted(different)))
            yield f"{name} is of {numbers} queries; compare only means of the same queries"


def overall(verdicts: Collection[str], *, require: bool) -> Verdict:
    """The verdict over those of all checks; with `require`, a skipped check fails."""
    if "fail" in verdicts or (require and set(verdicts) != {"pass"}):
        return "fail"
    return "pass" if "pass" in verdicts else "skipped"


def document(rows: Sequence[Mapping[str, Any]], *, require: bool) -> dict[str, Any]:
    """The document `chunkmark.gate/1` of rows of checks."""
    verdict = overall([row["verdict"] for row in rows], require=require)
    return {"schema": "chunkmark.gate/1", "checks": list(rows), "verdict": verdict}


def cells_of(results: Mapping[str, Any], where: str) -> list[GateCell]:
    """The cells of a document that `score` or `run` printed, in its order; failed ones last.

    Raises:
        InputError: The document is of another kind, or damaged.
    """
    schema = results.get("schema")
    if schema == "chunkmark.score/1":
        return [cell_of(results, results, where)]
    if schema != "chunkmark.run/1":
        raise InputError(
            f"{where} is not a result of `score` or `run`\n"
            "give a run folder, or what `score` or `run` printed with --format json"
        )
    cells, failed = results.get("cells"), results.get("failed", [])
    if not (_is_rows(cells) and _is_rows(failed)):
        raise InputError(f"{where} is damaged: `cells` is not a list of objects")
    rows = [*cells, *({**row, "metrics": {}} for row in failed)]
    return [cell_of(row, row, where) for row in rows]


def _is_rows(value: object) -> TypeGuard[list[Mapping[str, Any]]]:
    return isinstance(value, list) and all(isinstance(row, Mapping) for row in value)


def cell_of(names: Mapping[str, Any], results: Mapping[str, Any], where: str) -> GateCell:
    """One cell from the names of its parts, each optional, and its `metrics` with their means.

    Raises:
        InputError: The metrics are missing or damaged.
    """
    metrics = results.get("metrics")
    if not isinstance(metrics, Mapping):
        raise InputError(f"{where} is damaged: `metrics` is missing")
    parts = {part: names.get(part) for part in PARTS}
    if not all(part is None or isinstance(part, str) for part in parts.values()):
        raise InputError(f"{where} is damaged: the name of a part is not a string")
    means = {str(name): _mean(name, metric, where) for name, metric in metrics.items()}
    reasons = {str(name): str(row["why"]) for name, row in metrics.items() if "why" in row}
    counts = {str(name): n for name, row in metrics.items() if type(n := row.get("n")) is int}
    return GateCell(**parts, means=means, counts=counts, reasons=reasons)


def _mean(name: object, metric: object, where: str) -> float | None:
    mean = metric.get("mean", math.nan) if isinstance(metric, Mapping) else math.nan
    if mean is None:
        return None
    # JSON's whole numbers may be larger than any float.
    if type(mean) not in (int, float) or not abs(mean) <= sys.float_info.max:
        raise InputError(f"{where} is damaged: the mean of {name} is not a finite number")
    return float(mean)
