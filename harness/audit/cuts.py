"""Gold cut by chunk borders: whether a target comes whole, in pieces, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.relevance.gold import Place, Table


@dataclass(frozen=True)
class GoldCut:
    """How a chunker cuts the targets.

    A line is cut off where the target has a further non-blank line and no chunk holds characters
    of both: a decorator, a signature or a last statement without the rest.

    Attributes:
        targets: How many there are.
        whole: Share that lies whole in one chunk.
        chunks_per_target: Chunks that share a character with a target, on average.
        uncovered: Targets of which no chunk holds a character.
        first_line_cut: Targets whose first non-blank line is cut off from the rest.
        last_line_cut: Targets whose last one is.
    """

    targets: int
    whole: float
    chunks_per_target: float
    uncovered: int
    first_line_cut: int
    last_line_cut: int


def count_cuts(asked: Iterable[tuple[Table, Sequence[Place]]]) -> GoldCut:
    """Count over the targets of all queries, each with the chunks of its corpus."""
    whole, touching, first, last = [], [], [], []
    for table, places in asked:
        for place in places:
            units = table.touching(place.stretch)
            _, low, high = place.stretch
            begin, behind = place.lines
            inside = table.held(units, low, high) == high - low
            starts, ends = table.first[units], table.behind[units]
            several = behind - begin > 1 and len(units) > 0
            touching.append(len(units))
            whole.append(bool(inside.any()))
            first.append(several and not ((starts <= begin) & (ends > begin + 1)).any())
            last.append(several and not ((starts < behind - 1) & (ends >= behind)).any())
    return GoldCut(
        targets=len(touching),
        whole=_mean(whole),
        chunks_per_target=_mean(touching),
        uncovered=touching.count(0),
        first_line_cut=sum(first),
        last_line_cut=sum(last),
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0
