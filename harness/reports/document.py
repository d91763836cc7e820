"""The JSON document of a run, from which every other form is made."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from harness.reports.breakdowns import broken_down
from harness.runs.health import TRUNCATION_MARK, truncated
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.runs.runner import CellResult, RunResult


def run_document(result: RunResult, by: Sequence[str] = ()) -> dict[str, Any]:
    """The document `chunkmark.run/1`.

    Args:
        result: The run.
        by: By what its means are broken down; without any by every tag of the queries.
    """
    cells = [_cell(cell) for cell in result.cells]
    if by and result.out is not None:
        for cell in cells:
            cell["by"] = broken_down(result.out / "cells" / cell["key"], by)
    return {
        "schema": "chunkmark.run/1",
        "out": None if result.out is None else str(result.out),
        "cells": cells,
        "absent": [{"dataset": name, **dataclasses.asdict(one)} for name, one in result.absent],
        "left_out": [
            {"dataset": name, "reason": reason, "count": count}
            for name, reason, count in result.left_out
        ],
        "failed": [{**dataclasses.asdict(one), "reason": one.reason} for one in result.failed],
        "failures": result.failures,
    }


def failed_of(document: Mapping[str, Any]) -> list[str]:
    """A line for every cell that failed."""
    return [
        f"failed: {one['chunker']} on {one['dataset']} ({one['embedder']}, {one['retriever']}) "
        f"is not scored, for it {one['reason']}"
        for one in document.get("failed", ())
    ]


def _cell(cell: CellResult) -> dict[str, Any]:
    return {
        "dataset": cell.dataset,
        "fingerprint": cell.cell["identity"]["dataset"],
        "chunker": cell.chunker,
        "embedder": cell.embedder,
        "retriever": cell.retriever,
        "profile": cell.profile,
        "mask_query": cell.cell["identity"].get("mask_query", False),
        "key": cell.key,
        "n_queries": cell.metrics["n_queries"],
        "left_out": {
            **cell.metrics["left_out"],
            "no target that can be found": cell.cell["queries_left_out"],
        },
        "relevant_units": cell.metrics["relevant_units"],
        "targets_dropped": cell.cell["targets_dropped"],
        "mean_over": cell.metrics["mean_over"],
        "interval": cell.metrics["interval"],
        "metrics": cell.metrics["metrics"],
        "by": cell.metrics["by"],
        "health": cell.cell["health"],
        "cost": cell.cell["cost"],
        "latency_ms": cell.cell["latency_ms"],
        "truncated": truncated(cell.cell["health"]),
        "marks": _marks(cell),
    }


_COUNTED = {
    "files_skipped": ("file is not indexed", "files are not indexed"),
    "blank": ("blank chunk is dropped", "blank chunks are dropped"),
    "unlocated": (
        "string of the chunker stands nowhere in its file",
        "strings of the chunker stand nowhere in their file",
    ),
    "masked_copies": (
        "masked query still stands word for word in a file",
        "masked queries still stand word for word in a file",
    ),
    "zero_vectors": (
        "text has a zero or non-finite vector",
        "texts have a zero or non-finite vector",
    ),
}


def _marks(cell: CellResult) -> list[str]:
    """What a reader must know before believing the cell."""
    health = cell.cell["health"]
    marks = []
    unseen = health["unseen_chunk_tokens"] or 0
    if unseen > TRUNCATION_MARK:
        marks.append(f"truncated: the embedder never saw {unseen:.1%} of the chunk tokens")
    if health.get("truncated_pairs"):
        unseen = health.get("unseen_rerank_text_tokens") or 0
        truncation = "truncated: " if unseen > TRUNCATION_MARK else ""
        marks.append(
            f"{truncation}the cross-encoder never saw {unseen:.1%} of the tokens of the chunks; "
            f"{health['truncated_pairs']} of its pairs were cut short"
        )
    if health["coverage"] < 1:
        marks.append(f"{1 - health['coverage']:.2%} of the text is in no chunk")
    if health["gold_uncut"]:
        marks.append(_are(health["gold_uncut"], "target", "covered by no chunk"))
    if health["over_size"]:
        marks.append(_are(health["over_size"], "chunk", "over the size limit"))
    if health["single_chunk_files"] > 0.5 and cell.chunker != "whole-file":
        marks.append(f"{health['single_chunk_files']:.0%} of the files are one chunk")
    if health["disturbed"]:
        hold = counted(health["disturbed"], "ranking holds", "rankings hold")
        marks.append(
            f"{hold} scores of NaN, which the reproduced system cannot sort; here they stand last"
        )
    marks += [counted(health[name], *what) for name, what in _COUNTED.items() if health.get(name)]
    if health["files_failed"]:
        marks.append(f"failed on {counted(health['files_failed'], 'file')}")
    marks += [f"{note}: {counted(count, 'file')}" for note, count in health["notes"].items()]
    return marks


def _are(count: int, what: str, how: str) -> str:
    return counted(count, f"{what} is {how}", f"{what}s are {how}")
