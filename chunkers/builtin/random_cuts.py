"""The null chunker: chunks of the sizes that `ast` makes, cut without regard to syntax.

Whether syntax boundaries matter is judged against it: number and sizes of the chunks are nearly
those of `ast`, only the places of the cuts are not.
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
        mine = digest.copy()
        mine.update(b"\0%d" % at)
        return mine.digest()

    return [sizes[at] for at in sorted(range(len(sizes)), key=key)]


def _recut(lines: Lines, sizes: list[int], limit: int) -> Runs:
    """Runs that end at the line ends nearest to where chunks of these sizes would end.

    A run has one line at least, leaves one for each later run, and stays within the limit where it
    has more than one. What the limit leaves over at the end makes further runs.
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
    """Where in low..high of ascending values the nearest to the target stands."""
    at = bisect_left(values, target, low, high)
    return at - 1 if at > low and target - values[at - 1] <= values[at] - target else at


def make(*, max_size: int = 600, unit: Unit = "nws", seed: int = 0) -> LineChunker:
    """The null chunker: the chunk sizes of `ast` in random order, cut at the nearest line ends.

    Args:
        max_size: As for `ast`.
        unit: As for `ast`.
        seed: Another seed gives other cuts.

    Raises:
        InputError: `max_size` is below 1, or a grammar's wheel is missing.
    """
    return LineChunker(functools.partial(_runs, seed), max_size, unit, version())
