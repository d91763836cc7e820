"""The null chunker: chunks with the sizes of those of `ast`, cut without regard to syntax.

It is the baseline for the question whether syntax boundaries matter: number and sizes of its chunks
are nearly those of `ast`, only the positions of the cuts differ.
"""

import functools
import hashlib
from bisect import bisect_left
from itertools import accumulate

from chunkers.builtin._lines import LineChunker, Runs
from chunkers.grammars.syntax import syntax_runs, version
from chunkers.sizes import Lines, Unit
from chunkers.source import Services

FAMILY = "anchor"


def _runs(seed: int, lines: Lines, services: Services, limit: int) -> Runs:
    runs = syntax_runs(lines, services, limit)
    if len(runs) < 2:
        return runs
    begins = lines.plain.before
    starts = [begins[first] for first, _ in runs]
    ends = [*starts[1:], lines.through[-1]]
    sizes = [end - start for start, end in zip(starts, ends, strict=True)]
    return _recut(lines, _shuffled(sizes, seed, lines.source.path), limit)


def _shuffled(sizes: list[int], seed: int, path: str) -> list[int]:
    """The sizes in an order that depends on the seed and the path alone."""
    digest = hashlib.blake2b(f"{seed}\0".encode() + path.encode("utf-8", "surrogatepass"))

    def key(at: int) -> bytes:
        copy = digest.copy()
        copy.update(b"\0%d" % at)
        return copy.digest()

    return [sizes[at] for at in sorted(range(len(sizes)), key=key)]


def _recut(lines: Lines, sizes: list[int], limit: int) -> Runs:
    """Runs that end at the line ends nearest to where chunks of these sizes would end.

    A run has at least one line, leaves one for each later run, and is within the limit if it has
    more than one. Lines that are left over at the end make further runs.
    """
    runs = []
    first, last = 0, lines.count - 1
    begins = lines.plain.before
    to_come = range(len(sizes) - 1, 0, -1)
    for later, target in zip(to_come, accumulate(sizes[:-1]), strict=True):
        end = min(
            _nearest(begins, first + 1, last, begins[0] + target) - 1,
            last - later,
            lines.reach(first, last, limit),
        )
        runs.append((first, end))
        first = end + 1
    return runs + lines.pack(first, last, limit)


def _nearest(values: list[int], low: int, high: int, target: int) -> int:
    """The index, from low to high, of the ascending value nearest to the target."""
    at = bisect_left(values, target, low, high)
    return at - 1 if at > low and target - values[at - 1] <= values[at] - target else at


def make(*, max_size: int = 600, unit: Unit = "nws", seed: int = 0) -> LineChunker:
    """The null chunker: `ast`'s sizes, random boundaries.

    The sizes come in random order, and are cut at the nearest line ends.

    Args:
        max_size: As for `ast`.
        unit: As for `ast`.
        seed: Another seed gives other cuts.

    Raises:
        InputError: `max_size` is below 1, or a grammar's wheel is missing.
    """
    return LineChunker(functools.partial(_runs, seed), max_size, unit, version())
