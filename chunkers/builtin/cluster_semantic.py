"""Chunks with the most similar contents: a file is cut by dynamic programming."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from chunkers.builtin._lines import LineChunker, Runs, cut_at_tokens
from chunkers.builtin._semantics import (
    mean_similarity,
    pack_units,
    similarities,
    small_units,
    texts_of,
    vectors_of,
)
from chunkers.errors import InputError
from chunkers.grammars.syntax import version
from chunkers.lazy import np
from chunkers.sizes import Unit  # noqa: TC001 # read to convert the option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chunkers.sizes import Lines
    from chunkers.source import Services

FAMILY = "semantic"


@dataclass(frozen=True)
class _Clusters:
    """The options of `make`."""

    unit_size: int

    def texts(self, lines: Lines, services: Services, limit: int) -> list[str]:
        """The texts to embed; none if the vectors would not matter."""
        units = small_units(lines, services, min(self.unit_size, limit))
        # The only similarity of two units is the mean, so it is neither for nor against a cut.
        return texts_of(lines, units) if len(units) > 2 else []

    def runs(self, lines: Lines, services: Services, limit: int) -> Runs:
        units = small_units(lines, services, min(self.unit_size, limit))
        if len(units) < 3:
            return pack_units(lines, units, limit)
        vectors = vectors_of(texts_of(lines, units), services)
        most = _most_units(lines, units, limit)
        starts = best_cut(gains(vectors, max(most)), most)
        return [
            run
            for first, after in pairwise([*starts, len(units)])
            for run in pack_units(lines, units[first:after], limit)
        ]


def _most_units(lines: Lines, units: Sequence[tuple[int, int]], limit: int) -> list[int]:
    """For each unit, the number of units ending with it that fit into the limit, at least 1."""
    most, first = [], 0
    for at, (_, last) in enumerate(units):
        while first < at and lines.size(units[first][0], last) > limit:
            first += 1
        most.append(at - first + 1)
    return most


def gains(vectors: NDArray[np.float64], longest: int) -> NDArray[np.float64]:
    """The value of chunks: the sum of similarities of all pairs inside, each minus the file's mean.

    Args:
        vectors: Unit vectors of the units, shape (d, n).
        longest: Maximum number of units of a chunk.

    Returns:
        Shape (longest, n): row s - 1 has the chunks of s units, by their last unit; its first s - 1
        values are unused.
    """
    count = vectors.shape[1]
    worth = np.zeros((longest, count))
    mean = mean_similarity(vectors)
    near = np.zeros(count)  # similarity of each unit to all units before it in the chunk
    for apart in range(1, min(longest, count)):
        near[apart:] += similarities(vectors, apart) - mean
        worth[apart, apart:] = worth[apart - 1, apart - 1 : -1] + near[apart:]
    return worth


def best_cut(worth: NDArray[np.float64], most: Sequence[int]) -> list[int]:
    """The cut into chunks with the largest total value.

    Args:
        worth: The values from `gains`.
        most: Maximum number of units of a chunk, by its last unit.

    Returns:
        The first unit of every chunk. Of equal cuts, the one whose last chunk begins first, then
        the one whose last but one does, and so on.
    """
    best = np.zeros(len(most) + 1)
    begins = []
    for at, longest in enumerate(most):
        sums = best[at + 1 - longest : at + 1] + worth[longest - 1 :: -1, at]
        first = int(np.argmax(sums))
        best[at + 1] = sums[first]
        begins.append(at + 1 - longest + first)
    starts, after = [], len(most)
    while after > 0:
        after = begins[after - 1]
        starts.append(after)
    return starts[::-1]


def make(*, max_size: int = 600, unit: Unit = "nws", unit_size: int = 100) -> LineChunker:
    """Makes chunks whose parts are most similar to each other.

    It is found by dynamic programming.

    Units are statements along the syntax tree, or lines, each embedded alone. Of all cuts into
    chunks within `max_size` it is the one with the largest sum of cosines of all pairs of units
    inside chunks, each minus the mean over all pairs of the file. This is the
    ClusterSemanticChunker of Chroma's chunking evaluation, whose units are an eighth of a chunk.

    Args:
        max_size: No chunk is larger; a line that is larger is cut at tokens of the tree.
        unit: What sizes count: `nws`, `chars` or `tokens`.
        unit_size: No unit is larger, unless it is a single line; small statements are merged.

    Raises:
        InputError: A size is below 1, or a grammar's wheel is missing.
    """
    if unit_size < 1:
        raise InputError(f"unit_size={unit_size}: a unit holds at least 1")
    clusters = _Clusters(unit_size)
    return LineChunker(
        clusters.runs, max_size, unit, version(), wants=clusters.texts, split=cut_at_tokens
    )
