"""A control: chunks with the sizes of those of `ast`, cut without regard to syntax.

It is the control for the question whether syntax boundaries matter: number and sizes of its chunks
are nearly those of `ast`, only the positions of the cuts differ.
"""

import functools
import hashlib
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, groupby

from chunkers.builtin._lines import Cut, LineChunker, Runs
from chunkers.grammars.long_lines import LineCutter
from chunkers.grammars.syntax import syntax_runs, version
from chunkers.sizes import Lines, Unit
from chunkers.source import Services, Span

FAMILY = "control"


def _runs(seed: int, lines: Lines, services: Services, limit: int) -> Runs:
    """The runs between lines over the limit, each with the sizes of those of `ast` there."""
    begins = lines.plain.before
    cut: Runs = []
    for long, group in groupby(
        syntax_runs(lines, services, limit), key=lambda run: lines.size(*run) > limit
    ):
        runs = list(group)
        if long:
            cut += runs
            continue
        (start, _), (_, last) = runs[0], runs[-1]
        starts = [begins[first] for first, _ in runs]
        ends = [*starts[1:], lines.through[last]]
        sizes = [end - start for start, end in zip(starts, ends, strict=True)]
        sizes = _shuffled(sizes, seed, lines.source.path, start)
        cut += _recut(lines, start, last, sizes, limit)
    return cut


def _split(seed: int, cutter: LineCutter, spans: Sequence[Span]) -> Cut:
    """Cuts of lines over the limit with the sizes of those of `ast`, at any token or word."""
    by_syntax = cutter.at_tokens(spans)
    anywhere = replace(by_syntax, tokens=dict.fromkeys(by_syntax.tokens, 0))

    def cut(span: Span) -> list[Span]:
        sizes = [cutter.size(piece) for piece in by_syntax.cut(span)]
        return anywhere.cut(span, _shuffled(sizes, seed, cutter.source.path, span.start))

    return cut


def _shuffled(sizes: list[int], seed: int, path: str, start: int) -> list[int]:
    """The sizes in an order that depends on the seed, the path and where they start in the file."""
    digest = hashlib.blake2b(f"{seed}\0".encode() + path.encode("utf-8", "surrogatepass"))

    def key(at: int) -> bytes:
        copy = digest.copy()
        copy.update(b"\0%d" % (start + at))
        return copy.digest()

    return [sizes[at] for at in sorted(range(len(sizes)), key=key)]


def _recut(lines: Lines, first: int, last: int, sizes: list[int], limit: int) -> Runs:
    """Runs of lines that end at the line ends nearest to where chunks of these sizes would.

    A run has at least one line, leaves one for each later run, and is within the limit if it has
    more than one. Lines that are left over at the end make further runs.
    """
    runs = []
    begins = lines.plain.before
    origin = begins[first]
    to_come = range(len(sizes) - 1, 0, -1)
    for later, target in zip(to_come, accumulate(sizes[:-1]), strict=True):
        end = min(
            _nearest(begins, first + 1, last, origin + target) - 1,
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
    """A control: `ast`'s sizes, random boundaries.

    The sizes come in random order, and are cut at the nearest line ends; in a line over the limit,
    at any token.

    Args:
        max_size: As for `ast`.
        unit: As for `ast`.
        seed: Another seed gives other cuts.

    Raises:
        InputError: `max_size` is below 1, or a grammar's wheel is missing.
    """
    return LineChunker(
        functools.partial(_runs, seed),
        max_size,
        unit,
        version(),
        split=functools.partial(_split, seed),
    )
