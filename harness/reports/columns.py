"""Columns of the tables of a run: what was lost, what it cost, and how wide a name may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.reports.numbers import coverage, milliseconds, number, share, short

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.reports.marks import Cell

NAMES = 32  # columns for a chunker's name; a longer one wraps

LATENCY: tuple[tuple[str, Callable[[Cell], str]], ...] = (
    ("embed\nms", lambda cell: milliseconds(cell["latency_ms"]["embedding"])),
    ("search\nms", lambda cell: milliseconds(cell["latency_ms"]["search"])),
    ("total\nms", lambda cell: milliseconds(cell["latency_ms"]["total"])),
)
"""Columns with the milliseconds of a query, p50 and p95."""

HEALTH: tuple[tuple[str, Callable[[Cell], str]], ...] = (
    ("chunks", lambda cell: str(cell["health"]["chunks"])),
    ("gold\nchunks", lambda cell: number(cell["relevant_units"], ".1f")),
    ("cover-\nage", lambda cell: coverage(cell["health"]["coverage"])),
    ("gold\nuncut", lambda cell: str(cell["health"]["gold_uncut"])),
    ("over\nsize", lambda cell: str(cell["health"]["over_size"])),
    ("unseen\nchunk", lambda cell: share(cell["health"]["unseen_chunk_tokens"])),
    ("unseen\nquery", lambda cell: share(cell["health"]["unseen_query_tokens"])),
    ("tokens", lambda cell: short(cell["cost"]["tokens"])),
    ("vectors", lambda cell: short(cell["cost"]["vectors"])),
    ("seconds", lambda cell: number(cell["cost"]["seconds"], ".1f")),
    *LATENCY,
    ("top 10\nc", lambda cell: short(cell["cost"]["chars_delivered"])),
    ("index\nMB", lambda cell: number(cell["cost"]["index_bytes"] / 1e6, ".2f")),
)
"""Columns of the second table: what was lost, and what it cost."""
