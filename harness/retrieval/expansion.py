"""Expands rankings from small to big: ranked chunks are followed by their companions.

`neighbours`: the chunk before and the chunk after it in its file. `parent`: the other chunks of the
smallest named definition that contains the chunk and more, or of the file if there is none. White
space does not count: a definition contains a chunk if it contains its characters. Comments and
decorators above a definition are not part of it, as in `chunkers.grammars.outline`. A chunk belongs
to a definition if they share a character.
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from harness.chunking.parsing import UnparsedError, outline, prepare
from harness.retrieval.ranking import Ranking, fit
from harness.support.sequences import LazySequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from chunkers.source import Source
    from harness.chunking.chunks import FileChunks
    from harness.chunking.corpus import ChunkedCorpus
    from harness.retrieval.ranking import Order, Rankable

K = TypeVar("K")
V = TypeVar("V")


def _while_it_lives(function: Callable[[K], V]) -> Callable[[K], V]:
    """Remembers a value for as long as there is what it was computed for."""
    values: WeakKeyDictionary[K, V] = WeakKeyDictionary()

    def remembered(key: K) -> V:
        if key not in values:
            values[key] = function(key)
        return values[key]

    return remembered


def companions(
    chunked: ChunkedCorpus, kind: Literal["neighbours", "parent"]
) -> Sequence[Sequence[int]]:
    """For each chunk of a corpus, the numbers of its companions, in order.

    A chunk may be among its own companions. A file that cannot be parsed gives a warning.
    """
    chunks = chunked.chunks
    families = [_families(file) for file in chunks.files] if kind == "parent" else []

    def item(number: int) -> Sequence[int]:
        file, at = chunks.place(number)
        first = chunks.starts[file]
        if kind == "parent":
            return [first + near for near in families[file][at]]
        return [n for n in (number - 1, number + 1) if first <= n < chunks.starts[file + 1]]

    return LazySequence(len(chunks), item)


@_while_it_lives  # masked corpora share most of their files
def _families(file: FileChunks) -> Sequence[Sequence[int]]:
    """For each chunk of a file, the chunks of its parent, as numbers in the file."""
    if not len(file):
        return []
    spans = np.stack((file.column("low"), file.column("high")), axis=1)
    try:
        scopes = _scopes(file.source)
    except UnparsedError as error:
        warnings.warn(f"{error}; the parent of its chunks is the whole file", stacklevel=2)
        scopes = np.zeros((0, 2), dtype=np.int64)
    inside: dict[int, Sequence[int]] = {-1: range(len(file))}
    families = []
    for low, high in spans:
        contains = (scopes[:, 0] <= low) & (high <= scopes[:, 1])
        larger = np.flatnonzero(contains & (scopes[:, 1] - scopes[:, 0] > high - low))
        parent = int(larger[0]) if len(larger) else -1
        if parent not in inside:
            begin, end = scopes[parent]
            overlaps = (spans[:, 0] < end) & (begin < spans[:, 1])
            inside[parent] = np.flatnonzero(overlaps).tolist()
        families.append(inside[parent])
    return families


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


@_while_it_lives  # chunkers share the files
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
