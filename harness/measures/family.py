"""Families of measures. Each module of `harness.measures.catalog` lists some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from chunkers.lazy import np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from harness.measures.gold_ranks import GoldRanks
    from harness.measures.gold_tables import GoldTables
    from harness.support.arrays import Floats


@dataclass(frozen=True)
class Family:
    """A measure without its cut-off.

    Attributes:
        name: The printed name.
        description: One line for `chunkmark list measures`.
        source: The source of the definition.
        cut: `rank` (needs @k), `optional` (may have it), `none`, or `budget` (needs @10000c).
        evaluate: Values of all queries, shape (q,), from a ranking and the cut-off; an uncut
            measure gets `UNCUT`.
        aliases: Other names; case, `_` and `-` do not matter.
        lines: Whether its gold must be lines of files. Such a measure does not depend on the number
            of chunks that hold the gold, so it is comparable across chunkers.
        projected: Whether its units are runs of lines, scored by the chunks on them.
        chance: Expected values over all orders of the corpus, shape (q,), with twins and repeated
            units counted as any unit; None, or returning None for a profile, without a closed form.
    """

    name: str
    description: str
    source: str
    evaluate: Callable[[GoldRanks, int], Floats]
    cut: Literal["rank", "optional", "none", "budget"] = "optional"
    aliases: tuple[str, ...] = ()
    lines: bool = False
    projected: bool = False
    chance: Callable[[GoldTables, int], Floats | None] | None = None


def ratio(part: NDArray[Any], whole: NDArray[Any] | int) -> Floats:
    """The quotient of two arrays of one shape, or by one number, where 0/0 is 0."""
    below = np.broadcast_to(np.asarray(whole, dtype=np.float64), part.shape)
    quotient = np.zeros(part.shape)
    np.divide(part, below, out=quotient, where=below > 0)
    return quotient
