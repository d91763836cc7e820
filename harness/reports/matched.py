"""Matched size: whether boundaries or the size of chunks explains a difference.

Chunkers differ in the size of their chunks as well as in where they cut. Where a run has two of
them at about the same size too, a difference is the sum of two parts: the difference at matched
size, which boundaries make, and the rest, which size makes.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.plugins.spec import parse_spec
from harness.reports.recommendation import points, points_interval
from harness.stats.clusters import clusters_of
from harness.stats.sign_flips import estimates
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.reports.contests import Contest
    from harness.stats.sign_flips import Estimate

OPTION = "max_size"
"""The option that is tuned to match sizes."""

UNMATCHED = 1.5
"""The ratio of two median chunks above which a difference may be one of size."""

MATCHED = 1.2
"""The ratio up to which two median chunks count as equal."""

_BOUNDS = (-2.0, 2.0)  # of the difference of two differences

LINES = 5
"""Pairs that are printed; the document has all."""


def matched_sizes(contest: Contest, measure: str, seed: int = 0) -> list[dict[str, Any]]:
    """The pairs of contenders with median chunks of different size, and what explains each.

    Args:
        contest: Its cells may hold a chunker at several values of `max_size`.
        measure: What they are compared by.
        seed: 0 or above.

    Returns:
        For each pair: its `sizes` (medians in non-white-space characters) and `difference` with
        `ci95`. `matched` is None if the run has no such pair at matched size; else the two cells,
        their sizes, the parts `boundaries` and `size` of the difference, and `explained_by`:
        `boundaries`, `size`, `both`, `undecided`, or None if the difference itself is not shown.
        The intervals are not adjusted for the number of pairs.
    """
    columns = contest.columns(measure)
    names = [name for name in contest.contenders if name in columns]
    sizes = {
        name: size
        for name in names
        # 0 without a chunk.
        if (size := contest.cells[name].cell["health"]["median_c"])
    }
    kinds = {name: without_size(contest.cells[name].names["chunker"]) for name in sizes}
    clusters = clusters_of(contest.members)
    rows = []
    for a, b in itertools.combinations(sizes, 2):
        if kinds[a] == kinds[b] or size_ratio(sizes[a], sizes[b]) <= UNMATCHED:
            continue
        whole = columns[a] - columns[b]
        partner = min(
            itertools.product(
                [name for name in sizes if kinds[name] == kinds[a]],
                [name for name in sizes if kinds[name] == kinds[b]],
            ),
            # Of equal ratios the pair that changes less.
            key=lambda pair: (
                size_ratio(*(sizes[n] for n in pair)),
                (pair[0] != a) + (pair[1] != b),
            ),
        )
        row: dict[str, Any] = {"a": a, "b": b, "sizes": [sizes[a], sizes[b]], "matched": None}
        parts = [whole]
        if size_ratio(*(sizes[name] for name in partner)) <= MATCHED:
            at_size = columns[partner[0]] - columns[partner[1]]
            parts += [at_size, whole - at_size]
        total, *rest = estimates(np.stack(parts, axis=1), clusters, seed, bounds=_BOUNDS)
        row |= _shown(total)
        if rest:
            row["matched"] = {
                "a": partner[0],
                "b": partner[1],
                "sizes": [sizes[name] for name in partner],
                "boundaries": _shown(rest[0]),
                "size": _shown(rest[1]),
                "explained_by": _explanation(total, *rest),
            }
        rows.append(row)
    return rows


def without_size(name: str) -> str:
    """A chunker without its `max_size`."""
    spec = parse_spec(name)
    return str(spec.without(OPTION))


def size_ratio(a: float, b: float) -> float:
    """The larger of two sizes by the smaller one."""
    low, high = sorted((a, b))
    return high / low if low else math.inf


def _shown(estimate: Estimate) -> dict[str, Any]:
    interval = estimate.ci95
    return {"difference": estimate.mean, "ci95": None if interval is None else list(interval)}


def _explanation(total: Estimate, boundaries: Estimate, size: Estimate) -> str | None:
    """Which part of a difference the data show to have its sign."""
    if not total.sign:
        return None
    by_boundaries, by_size = (part.sign == total.sign for part in (boundaries, size))
    if by_boundaries and by_size:
        return "both"
    return "boundaries" if by_boundaries else "size" if by_size else "undecided"


_SAYS = {
    "both": "boundaries and size both explain it",
    "boundaries": "boundaries explain it",
    "size": "size explains it",
    "undecided": "which of the two explains it is undecided",
}


def matched_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each difference that is shown and matched, the largest first."""
    clear = [row for row in rows if row["ci95"] and (row["ci95"][0] > 0 or row["ci95"][1] < 0)]
    clear.sort(key=lambda row: -abs(row["difference"]))
    known = [row for row in clear if row["matched"]]
    for row in known[:LINES]:
        matched = row["matched"]
        yield (
            f"{_pair(row)}. At the same size, {matched['a']} - {matched['b']}: "
            f"{_points(matched['boundaries'])}; the rest is size: {_points(matched['size'])}; "
            f"{_SAYS[matched['explained_by']]} (intervals are not adjusted)"
        )
    if len(known) > LINES:
        yield f"{len(known) - LINES} further pairs at matched size are in --format json"
    unknown = [row for row in clear if not row["matched"]]
    if unknown:
        yield (
            f"{_pair(unknown[0])}. Boundaries or size: unknown, since the two are not in these "
            "runs at the same size; see `chunkmark run --match-size`"
        )
    if len(unknown) > 1:
        yield f"{counted(len(unknown) - 1, 'further pair')} of different size likewise"


def _pair(row: Mapping[str, Any]) -> str:
    a, b = row["sizes"]
    return (
        f"{row['a']} - {row['b']}: {_points(row)} points, with median chunks of {a:.0f} and "
        f"{b:.0f} c"
    )


def _points(part: Mapping[str, Any]) -> str:
    return f"{points(part['difference'])} {points_interval(part['ci95'])}".rstrip()
