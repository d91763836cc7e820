"""Expands rankings from small to big: ranked chunks are followed by their companions.

`neighbours`: the chunk before and the chunk after it in its file. `parent`: the other chunks of the
smallest named definition that contains the chunk and more, or of the file if there is none. White
space does not count: a definition contains a chunk if it contains its characters. Comments and
decorators above a definition are not part of it, as in `chunkers.grammars.outline`. A chunk belongs
to a definition if they share a character.
"""

from __future__ import annotations

import functools
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Literal

import numpy as np

from harness.chunking.parsing import UnparsedError, outline, prepare
from harness.retrieval.ranking import Ranking, fit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from chunkers.source import Source
    from harness.chunking.chunks import FileChunks
    from harness.chunking.corpus import ChunkedCorpus
    from harness.retrieval.ranking import Order, Rankable


def companions(
    chunked: ChunkedCorpus, kind: Literal["neighbours", "parent"]
) -> tuple[Sequence[int], ...]:
    """For each chunk of a corpus, the numbers of its companions, in order.

    A chunk may be among its own companions. A file that cannot be parsed gives a warning.
    """
    families: list[Sequence[int]] = []
    for first, file in zip(chunked.chunks.starts, chunked.chunks.files, strict=False):
        if kind == "parent" and len(file):
            families += _families(file, first)
        else:
            numbers = range(first, first + len(file))
            families += [[near for near in (at - 1, at + 1) if near in numbers] for at in numbers]
    return tuple(families)


def _families(file: FileChunks, first: int) -> Iterator[Sequence[int]]:
    """For each chunk of a file, the chunks of its parent; `first` is the number of the first."""
    spans = np.stack((file.column("low"), file.column("high")), axis=1)
    try:
        scopes = _scopes(file.source)
    except UnparsedError as error:
        warnings.warn(f"{error}; the parent of its chunks is the whole file", stacklevel=2)
        scopes = np.zeros((0, 2), dtype=np.int64)
    families: dict[int, Sequence[int]] = {-1: range(first, first + len(file))}
    for low, high in spans:
        contains = (scopes[:, 0] <= low) & (high <= scopes[:, 1])
        larger = np.flatnonzero(contains & (scopes[:, 1] - scopes[:, 0] > high - low))
        parent = int(larger[0]) if len(larger) else -1
        if parent not in families:
            begin, end = scopes[parent]
            inside = np.flatnonzero((spans[:, 0] < end) & (begin < spans[:, 1]))
            families[parent] = (inside + first).tolist()
        yield families[parent]


def unparsed(sources: Iterable[Source]) -> dict[str, int]:
    """Number of files that have a grammar but cannot be parsed, by reason.

    The parent of their chunks is the whole file.
    """
    reasons: Counter[str] = Counter()
    distinct = dict.fromkeys(sources)
    prepare(distinct)
    for source in distinct:
        try:
            _scopes(source)
        except UnparsedError as error:
            reasons[f"no parents: {error.reason}"] += 1
    return dict(sorted(reasons.items()))


# Masked corpora differ in one file, and chunkers share them all.
@functools.lru_cache(maxsize=1 << 12)
def _scopes(source: Source) -> NDArray[np.int64]:
    """Definitions as intervals of non-white-space characters, smallest first, shape (n, 2).

    Raises:
        UnparsedError: The source cannot be parsed.
    """
    before = source.lines.nws
    ends = [source.lines.offsets_of(scope.start_line, scope.end_line) for scope in outline(source)]
    intervals = [(int(before[start]), int(before[end])) for start, end in ends]
    intervals.sort(key=lambda interval: (interval[1] - interval[0], interval[0]))
    return np.array(intervals, dtype=np.int64).reshape(-1, 2)


def expand(
    ranking: Ranking, companions: Sequence[Sequence[int]], order: Order, rankable: Rankable
) -> Ranking:
    """Insert after each ranked chunk its companions that are not ranked higher.

    A companion gets the score of the chunk that it follows. It keeps its place when its own turn
    comes, and is followed by its own companions then.

    Args:
        ranking: Chunks, to the depth and the budget of `order`.
        companions: For each chunk of the corpus.
        order: The length of the result.
        rankable: The corpus.
    """
    scores: dict[int, float] = {}
    spent = 0
    for unit, score in zip(ranking.units.tolist(), ranking.scores.tolist(), strict=True):
        if len(scores) >= order.depth and spent >= order.budget:
            break
        for chunk in (unit, *companions[unit]):
            if chunk not in scores:
                scores[chunk] = score
                spent += int(rankable.spends[chunk])
    expanded = Ranking(
        np.array(list(scores), dtype=np.int64),
        np.array(list(scores.values()), dtype=np.float64),
        by_rank=True,
        disturbed=ranking.disturbed,
        counts=ranking.counts,
    )
    return fit(expanded, order, rankable)
