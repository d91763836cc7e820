"""A leaderboard as one HTML page, in the style of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.reports.contests import contends
from harness.reports.leaderboard.tables import board_document, board_rows
from harness.reports.page.render import fill
from harness.reports.recommendation import points, points_interval
from harness.support.wording import counted

if TYPE_CHECKING:
    from harness.reports.leaderboard.board import Board

_PAIRS = ("configuration", "and", "points", "95 %", "adjusted p", "verdict")


def board_page(board: Board) -> str:
    """The page of a board: the same text for the same board."""
    document = board_document(board)
    columns, rows = board_rows(board)
    _, exact = board_rows(board, exact=True)
    scores = len(board.tasks) + 1
    kinds = ["fact"] + ["name"] * (len(columns) - scores - 1) + ["measure"] * scores
    return fill(
        "leaderboard",
        ("report.css",),
        ("report.js",),
        heading=f"{board.measure} of {counted(len(rows), 'configuration')} "
        f"on {counted(len(board.tasks), 'task')}",
        columns=list(zip(columns, kinds, strict=True)),
        rows=[
            {
                "values": list(zip(kinds, texts, numbers, strict=True)),
                "control": not contends(row.configuration.chunker),
            }
            for row, texts, numbers in zip(board.rows, rows, exact, strict=True)
        ],
        pair_columns=_PAIRS,
        pairs=[
            (
                pair["a"],
                pair["b"],
                points(pair["difference"]),
                points_interval(pair["ci95"]) or "-",
                "-" if pair["p_adjusted"] is None else f"{pair['p_adjusted']:.3f}",
                pair["verdict"],
            )
            for pair in document["pairs"]
        ],
        tasks=document["tasks"],
        notes=document["notes"],
    )
