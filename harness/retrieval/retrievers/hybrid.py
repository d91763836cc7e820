"""Reciprocal rank fusion of `dense` and a lexical retriever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from harness.retrieval.options import require_range
from harness.retrieval.retrievers import bm25, bow, dense, vsa

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from harness.retrieval.ranking import Index, Material, Retriever, SearchQuery

Lexical = Literal["bm25", "bow", "vsa"]

_MOST = 1_000_000  # above it all ranks count the same


@dataclass(frozen=True)
class HybridIndex:
    """The indexes of both sides."""

    sides: tuple[Index, ...]
    n_units: int
    k: int

    @property
    def nbytes(self) -> int:
        """Size of both indexes, in bytes."""
        return sum(side.nbytes for side in self.sides)

    def scores(
        self, query: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Fused scores of all units that a side scored."""
        del depth  # both rankings are complete
        total = np.zeros(self.n_units)
        ranked = np.zeros(self.n_units, dtype=bool)
        for side in self.sides:
            units, scores = side.scores(query, self.n_units)
            scored = ~np.isnan(scores)
            units, scores = units[scored], scores[scored]
            units = units[np.lexsort((units, -scores))]
            total[units] += 1.0 / (self.k + np.arange(1, len(units) + 1))
            ranked[units] = True
        units = np.flatnonzero(ranked)
        return units, total[units]


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

    Units of equal score are in corpus order on each side. A unit without a score on a side gets
    nothing from it.

    Source: Cormack, Clarke and Büttcher 2009.

    Args:
        lexical: The side beside `dense`, with its defaults.
        k: Weight of deep ranks: the larger, the more they count. Ranks begin at 1, so 0 gives the
            sum of reciprocal ranks.
    """
    require_range("hybrid: k", k, 0, _MOST)
    sides: dict[Lexical, Callable[[], Retriever]]
    sides = {"bm25": bm25.make, "bow": bow.make, "vsa": vsa.make}
    return Hybrid((dense.make(), sides[lexical]()), k)
