"""The summary of code-chunk's evaluation, for runs under its profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.measures.grammar import parse_measure
from harness.parity.code_chunk import Metrics, macro_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PREFIX = "code-chunk-"


def macro_tables(cells: Sequence[dict[str, Any]]) -> Iterator[tuple[int, list[tuple[str, ...]]]]:
    """For each cut-off at which P, R and nDCG were asked for, the table as the original prints it.

    Args:
        cells: Cells of a run document under the profile `code-chunk`.

    Yields:
        The cut-off, and a heading with a row for each chunker; `fixed` is the baseline.
    """
    names = [parse_measure(name) for name in cells[0]["metrics"]]
    for cut in sorted({one.cut for one in names if one.family == "nDCG" and one.cut}):
        wanted = [f"{family}@{cut}" for family in ("P", "R", "nDCG")]
        if all(name in cells[0]["metrics"] for name in wanted):
            yield (
                cut,
                macro_table(
                    {
                        _short(cell["chunker"]): Metrics(
                            *(cell["metrics"][name]["mean"] for name in wanted)
                        )
                        for cell in cells
                    }
                ),
            )


def _short(chunker: str) -> str:
    """Names as in the original, options left out: `fixed` for `code-chunk-fixed:max_size=1800`."""
    return chunker.partition(":")[0].removeprefix(_PREFIX)
