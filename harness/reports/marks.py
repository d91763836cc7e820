"""Signs behind a chunker's name: what a reader must know before believing its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.runs.health import TRUNCATION_MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Cell = dict[str, "Any"]

MARKS: tuple[tuple[str, Callable[[Cell], bool], str], ...] = (
    (
        "!",
        lambda cell: bool(cell["truncated"]),
        f"a model never saw over {TRUNCATION_MARK:.0%} of the chunk tokens, so the scores say "
        "little about where to cut",
    ),
    ("<", lambda cell: cell["health"]["coverage"] < 1, "part of the text is in no chunk"),
    (">", lambda cell: cell["health"]["over_size"] > 0, "some chunks are over the size limit"),
    ("x", lambda cell: cell["health"]["files_failed"] > 0, "the chunker failed on some files"),
)
"""Each with when it stands and what it means; in the order in which they stand."""


def marked(cell: Cell) -> str:
    """The name of a cell's chunker, with its signs."""
    signs = "".join(sign for sign, stands, _ in MARKS if stands(cell))
    return f"{cell['chunker']} {signs}".rstrip()


def legend(cells: Sequence[Cell]) -> list[str]:
    """What the signs of some cells mean, a line each."""
    return [
        f"{sign} behind a name: {meaning}"
        for sign, stands, meaning in MARKS
        if any(map(stands, cells))
    ]


def column_name(name: str, cell: Cell) -> str:
    """A measure's name, marked `*` where chunkers cannot be compared by it."""
    return name if cell["metrics"][name]["comparable"] else f"{name}*"
