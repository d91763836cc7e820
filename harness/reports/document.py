"""The JSON document of a run, from which every other form is made."""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING, Any

from harness.reports.answer import answers
from harness.reports.breakdowns import break_down, group_means
from harness.reports.prices import with_price
from harness.reports.recommendation import headline
from harness.runs.failures import not_scored
from harness.runs.folder import PARTS, read_manifest
from harness.runs.health import TRUNCATION_MARK, truncated
from harness.runs.stored_values import read_stored_cell, with_declared
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from harness.runs.runner import CellResult, RunResult
    from harness.runs.stored_values import StoredCell


def run_document(
    result: RunResult,
    by: Sequence[str] = (),
    baseline: str | None = None,
    prices: Mapping[str, float] | None = None,
    *,
    power: bool = True,
) -> dict[str, Any]:
    """The document `chunkmark.run/1`.

    Args:
        result: The run.
        by: Break-downs of the means; by default every tag of the queries.
        baseline: The chunker that the answer compares the others with; by default `fixed`, or the
            first one.
        prices: The price of a million tokens, by embedder; without it, costs have no price.
        power: As for `answers`; no table shows it.
    """
    stored = () if result.out is None else _stored(result, result.out)
    return document_of(result, stored, by, baseline, prices, power=power)


def document_of(
    result: RunResult,
    stored: Iterable[StoredCell],
    by: Sequence[str] = (),
    baseline: str | None = None,
    prices: Mapping[str, float] | None = None,
    *,
    power: bool = True,
) -> dict[str, Any]:
    """The document `chunkmark.run/1`, as `run_document` makes it, of cells that are read already.

    Args:
        result: The run.
        stored: Its cells with the values of each query.
        by: Break-downs of the means; by default every tag of the queries.
        baseline: As for `run_document`.
        prices: As for `run_document`.
        power: As for `run_document`.
    """
    stored = list(stored)
    primaries = {cell.folder.name: cell.primary for cell in stored}
    cells = [_cell(cell, primaries.get(cell.key)) for cell in result.cells]
    if by and result.out is not None:
        for cell in cells:
            cell["by"] = break_down(result.out / "cells" / cell["key"], by)
    for cell in cells:
        cell["by_groups"] = group_means(cell["by"])
    for cell in cells if prices else ():
        cell["cost"] = with_price(cell, prices or {})
    verdicts = answers(stored, baseline, power=power)
    return {
        "schema": "chunkmark.run/1",
        "out": None if result.out is None else str(result.out),
        "verdicts": verdicts,
        "by": list(by),
        "cells": cells,
        "absent": [
            {"dataset": name, **dataclasses.asdict(corpus)} for name, corpus in result.absent
        ],
        "left_out": [
            {"dataset": name, "reason": reason, "count": count}
            for name, reason, count in result.left_out
        ],
        "failed": [{**dataclasses.asdict(cell), "reason": cell.reason} for cell in result.failed],
        "failures": result.failures,
    }


def _stored(result: RunResult, out: Path) -> Iterator[StoredCell]:
    """The cells of this run alone: those of earlier runs in the folder may be damaged."""
    manifest = read_manifest(out)
    datasets = manifest["datasets"]
    for cell in result.cells:
        names = {part: getattr(cell, part) for part in PARTS}
        information = datasets[cell.dataset]["information"]
        stored = read_stored_cell(out / "cells" / cell.key, names, information)
        yield with_declared(stored, manifest)


def failure_lines(document: Mapping[str, Any]) -> list[str]:
    """A line for each failed cell."""
    return [
        not_scored(
            *(cell[key] for key in ("chunker", "dataset", "embedder", "retriever", "reason"))
        )
        for cell in document.get("failed", ())
    ]


def _cell(cell: CellResult, declared: str | None) -> dict[str, Any]:
    return {
        "dataset": cell.dataset,
        "fingerprint": cell.cell["identity"]["dataset"],
        "chunker": cell.chunker,
        "embedder": cell.embedder,
        "retriever": cell.retriever,
        "profile": cell.profile,
        "mask_query": cell.cell["identity"]["mask_query"],
        "key": cell.key,
        "primary": headline(cell.metrics["metrics"], declared),
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
    "blank": ("blank chunk is dropped", "blank chunks are dropped"),
    "unlocated": (
        "string of the chunker is not in its file",
        "strings of the chunker are not in their file",
    ),
    "masked_copies": (
        "masked query is still word for word in a file",
        "masked queries are still word for word in a file",
    ),
    "masked_syntax_errors": (
        "masked file has a syntax error that it had not unmasked",
        "masked files have syntax errors that they had not unmasked",
    ),
    "zero_query_vectors": (
        "query has a zero or non-finite vector and retrieves nothing",
        "queries have a zero or non-finite vector and retrieve nothing",
    ),
    "zero_vectors": (
        "text has a zero or non-finite vector",
        "texts have a zero or non-finite vector",
    ),
}


def _marks(cell: CellResult) -> list[str]:
    """Losses and faults that qualify the scores of a cell."""
    health = cell.cell["health"]
    marks = []
    unseen = health["unseen_chunk_tokens"] or 0
    if unseen > TRUNCATION_MARK:
        marks.append(f"truncated: the embedder never saw {unseen:.1%} of the chunk tokens")
    if health["truncated_pairs"]:
        unseen = health["unseen_rerank_text_tokens"]
        truncation = "truncated: " if unseen > TRUNCATION_MARK else ""
        marks.append(
            f"{truncation}the cross-encoder never saw {unseen:.1%} of the tokens of the chunks; "
            f"{health['truncated_pairs']} of its pairs were cut"
        )
    if health["coverage"] < 1:
        marks.append(f"{1 - health['coverage']:.2%} of the text is in no chunk")
    if health["embedded"] < 1:
        marks.append(
            f"{1 - health['embedded']:.2%} of the chunks' text is not in what is embedded for it"
        )
    if count := health["gold_uncut"]:
        marks.append(
            counted(count, "target is covered by no chunk", "targets are covered by no chunk")
        )
    if count := health["over_size"]:
        marks.append(
            counted(count, "chunk is over the size limit", "chunks are over the size limit")
        )
    if health["single_chunk_files"] > 0.5 and cell.chunker != "whole-file":
        marks.append(f"{health['single_chunk_files']:.0%} of the files are one chunk")
    queries = counted(cell.metrics["n_queries"], "query", "queries")
    if count := health["unranked_queries"]:
        marks.append(f"nothing was retrieved for {count} of {queries}, scored as 0")
    if count := health["short_rankings"]:
        marks.append(f"less than the budget was retrieved for {count} of {queries}")
    if count := health["disturbed"]:
        rankings = counted(count, "ranking has", "rankings have")
        marks.append(f"{rankings} NaN scores, which the reproduced system cannot sort; put last")
    if count := health["files_skipped"]:
        files = counted(count, "file is not indexed", "files are not indexed")
        marks.append(f"{files}; `chunkmark dataset info {shlex.quote(cell.dataset)}` says why")
    marks += [counted(health[name], *words) for name, words in _COUNTED.items() if health[name]]
    if health["files_failed"]:
        marks.append(f"failed on {counted(health['files_failed'], 'file')}")
    marks += [f"{note}: {counted(count, 'file')}" for note, count in health["notes"].items()]
    return marks
