"""Gates: compare the measures of every cell with lower bounds."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from chunkers.errors import InputError
from harness.measures.grammar import parse_measure

if TYPE_CHECKING:
    from collections.abc import Sequence

Verdict = Literal["pass", "fail", "skipped"]

_BOUND = re.compile(r"\s*(?P<measure>[^<>=]+?)\s*(?P<operator>>=?)\s*(?P<number>[^<>=\s]+)\s*")
# A mean is a sum of floats divided: its last digits are noise, which must decide no gate.
_PLACES = 12
_LARGEST = sys.float_info.max  # whole numbers of JSON go on beyond


@dataclass(frozen=True, slots=True)
class Bound:
    """A lower bound of a measure, such as `MRR>0.6`.

    Attributes:
        measure: The measure's printed name.
        operator: `>` or `>=`.
        threshold: A finite number.
    """

    measure: str
    operator: Literal[">", ">="]
    threshold: float

    def holds(self, value: float) -> bool:
        """Whether a finite value is within the bound, at 12 decimal places."""
        rounded, threshold = round(value, _PLACES), round(self.threshold, _PLACES)
        return rounded >= threshold if self.operator == ">=" else rounded > threshold


@dataclass(frozen=True, slots=True)
class GateCell:
    """The means of one cell, or of one outside ranking, whose parts then have no names."""

    dataset: str | None
    chunker: str | None
    embedder: str | None
    retriever: str | None
    means: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class BoundCheck:
    """One bound on one cell; `value` is None where the cell has no such mean."""

    cell: GateCell
    bound: Bound
    value: float | None
    verdict: Verdict


def parse_bound(text: str) -> Bound:
    """Parse a bound such as `nDCG@10>=0.5`.

    Raises:
        InputError: It is malformed, or names an unknown measure.
    """
    match = _BOUND.fullmatch(text)
    number = _number(match["number"]) if match else None
    if match is None or number is None:
        raise InputError(
            f"invalid bound {text!r}\n"
            "write a measure, > or >=, and a number, in quotes: --min 'MRR>0.6'"
        )
    operator: Literal[">", ">="] = ">=" if match["operator"] == ">=" else ">"
    return Bound(str(parse_measure(match["measure"])), operator, number)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def check(cells: Sequence[GateCell], bounds: Sequence[Bound]) -> list[BoundCheck]:
    """Compare every cell with every bound, cell by cell."""
    checks = []
    for cell in cells:
        for bound in bounds:
            value = cell.means.get(bound.measure)
            verdict: Verdict = "skipped"
            if value is not None:
                verdict = "pass" if bound.holds(value) else "fail"
            checks.append(BoundCheck(cell, bound, value, verdict))
    return checks


def overall(checks: Sequence[BoundCheck], *, require: bool) -> Verdict:
    """One verdict for all: `fail` where one failed, or was skipped with `require`.

    `skipped` means that no bound could be held against anything.
    """
    verdicts = {one.verdict for one in checks}
    if "fail" in verdicts or (require and verdicts != {"pass"}):
        return "fail"
    return "pass" if "pass" in verdicts else "skipped"


def document(checks: Sequence[BoundCheck], *, require: bool) -> dict[str, Any]:
    """The document `chunkmark.gate/1`."""
    return {
        "schema": "chunkmark.gate/1",
        "checks": [
            {
                "dataset": one.cell.dataset,
                "chunker": one.cell.chunker,
                "embedder": one.cell.embedder,
                "retriever": one.cell.retriever,
                "measure": one.bound.measure,
                "value": one.value,
                "operator": one.bound.operator,
                "threshold": one.bound.threshold,
                "verdict": one.verdict,
            }
            for one in checks
        ],
        "verdict": overall(checks, require=require),
    }


def cells_of(found: Mapping[str, Any], where: str) -> list[GateCell]:
    """The cells of a document that `score` or `run` printed, in its order, failed ones last.

    Args:
        found: The document.
        where: Its place, for messages.

    Raises:
        InputError: It is neither, or damaged.
    """
    schema = found.get("schema")
    if schema == "chunkmark.score/1":
        cells: object = [found]
    elif schema == "chunkmark.run/1":
        cells = found.get("cells")
        failed = found.get("failed", [])
        if isinstance(cells, list) and isinstance(failed, list):
            cells = cells + [{**one, "metrics": {}} for one in failed if isinstance(one, Mapping)]
    else:
        raise InputError(
            f"{where} is not a result of `score` or `run`\n"
            "give a run folder, or what `score` or `run` printed with --format json"
        )
    if not isinstance(cells, list) or not all(isinstance(one, Mapping) for one in cells):
        raise InputError(f"{where} is damaged: `cells` is not a list of objects")
    return [cell_of(one, one, where) for one in cells]


def cell_of(names: Mapping[str, Any], found: Mapping[str, Any], where: str) -> GateCell:
    """One cell.

    Args:
        names: Holds the names of its parts; each may be missing.
        found: Holds `metrics`: for each measure an object with `mean`.
        where: Its place, for messages.

    Raises:
        InputError: The metrics are missing or damaged.
    """
    metrics = found.get("metrics")
    if not isinstance(metrics, Mapping):
        raise InputError(f"{where} is damaged: `metrics` is missing")
    parts = {part: names.get(part) for part in ("dataset", "chunker", "embedder", "retriever")}
    if not all(part is None or isinstance(part, str) for part in parts.values()):
        raise InputError(f"{where} is damaged: the name of a part is not a string")
    return GateCell(
        **parts, means={str(name): _mean(name, one, where) for name, one in metrics.items()}
    )


def _mean(name: object, one: object, where: str) -> float | None:
    mean = one.get("mean", math.nan) if isinstance(one, Mapping) else math.nan
    if mean is None:
        return None
    if type(mean) not in (int, float) or not -_LARGEST <= mean <= _LARGEST:
        raise InputError(f"{where} is damaged: the mean of {name} is not a finite number")
    return float(mean)
