"""Which factor of a grid makes most of the difference."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.plugins.spec import parse_spec
from harness.reports.contests import contends
from harness.stats.attribution import attribute

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.runs.stored_values import StoredCell

_OPTIONS = {"max_size": "default", "header": "off"}
"""Options of chunkers that are factors of their own, and the value of a spec without them."""


def variance(cells: Iterable[StoredCell], measure: str) -> dict[str, Any] | None:
    """The shares of chunker, max_size, header, embedder, retriever and data set in the variance.

    Args:
        cells: Stored cells; controls take no part, nor do cells without the measure.
        measure: Its mean in each cell is what varies; cells have equal weight.

    Returns:
        See `Attribution`; None with under two factors that vary, or if cells of one data set have
        different queries or profiles.
    """
    chosen: dict[tuple[str, ...], StoredCell] = {}
    for cell in cells:
        if contends(cell.names["chunker"]) and cell.column(measure) is not None:
            chosen.setdefault(tuple(cell.names.values()), cell)
    datasets: dict[str, list[StoredCell]] = {}
    for cell in chosen.values():
        datasets.setdefault(cell.names["dataset"], []).append(cell)
    if any(
        cell.members != group[0].members or cell.profile != group[0].profile
        for group in datasets.values()
        for cell in group
    ):
        return None
    ordered = [cell for group in datasets.values() for cell in group]
    if len(ordered) < 3:
        return None
    means = []
    for group in datasets.values():
        columns = [column for cell in group if (column := cell.column(measure)) is not None]
        means.append(np.stack(columns, axis=1).mean(axis=0))
    factors = [_factors(cell) for cell in ordered]
    result = attribute(
        np.concatenate(means),
        {name: [row[name] for row in factors] for name in factors[0]},
    )
    if result is None:
        return None
    return {"measure": measure, "cells": len(ordered), **asdict(result)}


def _factors(cell: StoredCell) -> dict[str, str]:
    spec = parse_spec(cell.names["chunker"])
    options = dict(spec.options)
    return {
        "chunker": str(spec.without(*_OPTIONS)),
        **{key: options.get(key, default) for key, default in _OPTIONS.items()},
        **{name: cell.names[name] for name in ("embedder", "retriever", "dataset")},
    }


def variance_line(document: Mapping[str, Any]) -> str:
    """The shares in a line, the largest first."""
    shares = sorted(document["shares"], key=lambda share: -share["unique"])
    known = [_share(share) for share in shares if share["identifiable"] != "no"]
    line = f"variance of {document['measure']} over {document['cells']} cells: {', '.join(known)}"
    if abs(document["shared"]) >= 0.005:
        line += f"; shared by several {document['shared']:.0%}"
    line += (
        f"; interactions and chance {document['rest']:.0%}"
        if document["freedom"]
        else "; too few cells to show interactions"
    )
    lost = [share["factor"] for share in shares if share["identifiable"] == "no"]
    return f"{line}; not identifiable in this grid: {', '.join(lost)}" if lost else line


def _share(share: Mapping[str, Any]) -> str:
    part = " (in part)" if share["identifiable"] == "in part" else ""
    return f"{share['factor']} {share['unique']:.0%}{part}"
