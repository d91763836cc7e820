"""A board as one JSON document, as a plain table, and in words."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from harness.reports.contests import contends
from harness.runs.health import TRUNCATION_MARK, truncated
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.reports.leaderboard.board import Board

SCHEMA = "chunkmark.leaderboard/1"

MISSING = "missing"


def board_document(board: Board) -> dict[str, Any]:
    """The board as a document."""
    return {
        "schema": SCHEMA,
        "measure": board.measure,
        "margin": board.margin,
        "tasks": [
            {
                "task": task,
                "fingerprint": cell.cell["identity"]["dataset"],
                "n_queries": len(cell.values),
                "profile": cell.profile["name"],
            }
            for task, cell in board.tasks.items()
        ],
        "rows": [
            {
                "rank": row.rank,
                **dataclasses.asdict(row.configuration),
                "scores": dict(row.scores),
                "mean": row.mean,
                "cells": {task: cell.folder.name for task, cell in row.cells.items()},
            }
            for row in board.rows
        ],
        "pairs": [
            {
                "a": pair.a,
                "b": pair.b,
                "difference": pair.estimate.mean,
                "ci95": pair.estimate.ci95,
                "p": pair.estimate.p,
                "p_adjusted": pair.p_adjusted,
                "verdict": pair.verdict,
            }
            for pair in board.differences
        ],
        "notes": list(notes(board)),
    }


def board_rows(board: Board, *, exact: bool = False) -> tuple[list[str], list[list[object]]]:
    """Columns and rows.

    Args:
        board: The board.
        exact: Whether values are numbers, and an empty cell what is missing, as in CSV.
    """

    def cell(value: float | None) -> object:
        if exact:
            return "" if value is None else value
        return MISSING if value is None else f"{value:.4f}"

    columns = ["rank", "chunker", "embedder", "retriever", "profile", *board.tasks, "mean"]
    rows: list[list[object]] = [
        [
            ("" if exact else "-") if row.rank is None else row.rank,
            *dataclasses.astuple(row.configuration),
            *map(cell, row.scores.values()),
            cell(row.mean) if exact or row.mean is not None else "-",
        ]
        for row in board.rows
    ]
    return columns, rows


def notes(board: Board) -> Iterator[str]:
    """What a reader must know to read the table, one sentence or two a line."""
    complete = [row for row in board.rows if row.rank is not None]
    tasks = counted(len(board.tasks), "task")
    yield f"{board.measure}; the mean is over {tasks}, each with the same weight."
    if board.differences:
        yield (
            "Rank: 1 + the number of configurations that are shown to be better in the mean. An "
            "undecided difference does not count, so rows may share a rank."
        )
        yield (
            "Each test compares two configurations on the same queries, by sign-flips of clusters "
            "of queries. The p-values are adjusted by Holm's method for "
            f"{counted(len(board.differences), 'pair')}. The tests say nothing about other tasks."
        )
    if len(complete) < len(board.rows):
        yield "A configuration with a missing task has no mean and no rank."
    chunkers = dict.fromkeys(row.configuration.chunker for row in board.rows)
    controls = [name for name in chunkers if not contends(name)]
    if 0 < len(controls) < len(chunkers):
        yield f"Controls, not contenders: {', '.join(controls)}."
    cells = [cell for row in board.rows for cell in row.cells.values()]
    for configuration in dict.fromkeys(
        str(row.configuration)
        for row in board.rows
        if any(truncated(cell.cell["health"]) for cell in row.cells.values())
    ):
        yield (
            f"{configuration}: the embedder never saw over {TRUNCATION_MARK:.0%} of the chunk "
            "tokens of a task."
        )
    for task, follows in sorted({(c.names["dataset"], c.gold_follows) for c in cells}):
        if follows:
            yield f"{task}: the gold is {follows}, which favours chunkers that cut there."
    for task, limit in {
        task: cell.cell["identity"]["limit"] for task, cell in board.tasks.items()
    }.items():
        if limit is not None:
            yield f"{task}: at most {limit} of its queries (--limit)."
    if board.differences and all(pair.mdd is None for pair in board.differences):
        yield (
            "There are too few independent queries to show a difference among so many pairs, so "
            "all rows are tied."
        )
