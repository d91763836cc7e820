"""Reciprocal rank fusion of `dense` and a lexical retriever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from chunkers.errors import InputError
from harness.retrieval.retrievers import bm25, bow, dense, vsa

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from harness.retrieval.ranking import Index, Material, Retriever, SearchQuery

Lexical = Literal["bm25", "bow", "vsa"]

_MOST = 1_000_000  # beyond it no rank counts more than another


@dataclass(frozen=True)
class HybridIndex:
    """Both sides of one corpus."""

    sides: tuple[Index, ...]
    n_units: int
    k: int

    @property
    def nbytes(self) -> int:
        """Size of both indexes, in bytes."""
        return sum(side.nbytes for side in self.sides)

    def scores(
        self, question: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Fused scores of all units that a side scored; depth is that of the corpus."""
        del depth  # a unit's place on either side counts, however far down it is
        total = np.zeros(self.n_units)
        ranked = np.zeros(self.n_units, dtype=bool)
        for side in self.sides:
            units, scores = side.scores(question, self.n_units)
            scored = ~np.isnan(scores)
            units, scores = units[scored], scores[scored]
            units = units[np.lexsort((units, -scores))]
            total[units] += 1.0 / (self.k + np.arange(1, len(units) + 1))
            ranked[units] = True
        found = np.flatnonzero(ranked)
        return found, total[found]


@dataclass(frozen=True)
class Hybrid:
    """The retriever `hybrid`."""

    sides: tuple[Retriever, ...]
    k: int
    dense: bool = True

    @property
    def version(self) -> str:
        """Version of the fusion and of both sides."""
        return f"1 ({'; '.join(side.version for side in self.sides)})"

    def index(self, material: Material) -> Index:
        """Index the corpus for both sides."""
        sides = tuple(cast("Index", side.index(material)) for side in self.sides)
        return HybridIndex(sides, material.n_units, self.k)


def make(*, lexical: Lexical = "bm25", k: int = 60) -> Hybrid:
    """Sums 1 / (k + rank) over the complete rankings of both sides.

    On each side units of equal score stand in corpus order, and a unit that the side did not
    score gets nothing from it.

    Source: Cormack, Clarke and Büttcher 2009.

    Args:
        lexical: The side beside `dense`, with its defaults.
        k: Weight of deep ranks: the larger, the more they count against the first ones. Ranks
            begin at 1, so that 0 is the sum of the reciprocal ranks themselves.
    """
    if not 0 <= k <= _MOST:
        raise InputError(f"hybrid: k={k}: it is 0 to {_MOST}")
    sides: dict[Lexical, Callable[[], Retriever]]
    sides = {"bm25": bm25.make, "bow": bow.make, "vsa": vsa.make}
    return Hybrid((dense.make(), sides[lexical]()), k)
