"""Small to big: what a ranked chunk brings with it.

`neighbours`: the chunk before and the chunk behind it in its file. `parent`: the other chunks of
the smallest named definition that holds the chunk and more than the chunk, or of the file where
there is none. White space weighs nothing: a definition holds a chunk if it holds its characters.
Comments and decorators above a definition are no part of it, as in `chunkers.grammars.outline`. A
chunk is of a definition if they share a character.
"""

from __future__ import annotations

import functools
import itertools
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
    from harness.chunking.corpus import Chunk, ChunkedCorpus
    from harness.retrieval.ranking import Order, Rankable


def companions(
    chunked: ChunkedCorpus, kind: Literal["neighbours", "parent"]
) -> tuple[Sequence[int], ...]:
    """For each chunk of a corpus the numbers of those that it brings, in order.

    A chunk may stand among its own companions. A file whose parser does not come back warns.
    """
    find = _neighbours if kind == "neighbours" else _relatives
    sources = {source.path: source for source in chunked.corpus.sources}
    found: list[Sequence[int]] = []
    for path, group in itertools.groupby(chunked.chunks, key=lambda chunk: chunk.path):
        found += find(tuple(group), len(found), sources[path])
    return tuple(found)


def _neighbours(chunks: Sequence[Chunk], first: int, source: Source) -> Iterator[Sequence[int]]:
    del source
    last = first + len(chunks) - 1
    for at in range(first, last + 1):
        yield [one for one in (at - 1, at + 1) if first <= one <= last]


def _relatives(chunks: Sequence[Chunk], first: int, source: Source) -> Iterator[Sequence[int]]:
    spans = np.array([chunk.nws for chunk in chunks], dtype=np.int64)
    try:
        scopes = _scopes(source)
    except UnparsedError as error:
        warnings.warn(f"{error}; its chunks bring the whole file", stacklevel=2)
        scopes = np.zeros((0, 2), dtype=np.int64)
    families: dict[int, Sequence[int]] = {-1: range(first, first + len(chunks))}
    for low, high in spans:
        holds = (scopes[:, 0] <= low) & (high <= scopes[:, 1])
        larger = np.flatnonzero(holds & (scopes[:, 1] - scopes[:, 0] > high - low))
        parent = int(larger[0]) if len(larger) else -1
        if parent not in families:
            begin, end = scopes[parent]
            inside = np.flatnonzero((spans[:, 0] < end) & (begin < spans[:, 1]))
            families[parent] = (inside + first).tolist()
        yield families[parent]


def unparsed(sources: Iterable[Source]) -> dict[str, int]:
    """Why files have no definitions to be parents, though their language has a grammar: in files.

    For `parent` their chunks bring the whole file, as those of a file without definitions do.
    """
    found: Counter[str] = Counter()
    distinct = dict.fromkeys(sources)
    prepare(distinct)
    for source in distinct:
        try:
            _scopes(source)
        except UnparsedError as error:
            found[f"no parents: {error.reason}"] += 1
    return dict(sorted(found.items()))


# Corpora that differ in one file share all others, and chunkers share them all.
@functools.lru_cache(maxsize=1 << 12)
def _scopes(source: Source) -> NDArray[np.int64]:
    """Definitions as intervals of non-white-space characters, the smallest first, shape (n, 2).

    Raises:
        UnparsedError: The parser does not come back.
    """
    before = source.lines.nws
    ends = [source.lines.offsets_of(one.start_line, one.end_line) for one in outline(source)]
    intervals = [(int(before[start]), int(before[end])) for start, end in ends]
    intervals.sort(key=lambda one: (one[1] - one[0], one[0]))
    return np.array(intervals, dtype=np.int64).reshape(-1, 2)


def expand(
    ranking: Ranking, companions: Sequence[Sequence[int]], order: Order, rankable: Rankable
) -> Ranking:
    """Put behind each ranked chunk its companions that do not stand further up.

    What is brought carries the score of the chunk that brought it. A chunk that was brought
    before its turn stays where it is, and at its turn brings its own.

    Args:
        ranking: Chunks, to the depth and the budget of `order`.
        companions: Of each chunk of the corpus.
        order: How far the result goes.
        rankable: The corpus.
    """
    scores: dict[int, float] = {}
    spent = 0
    for unit, score in zip(ranking.units.tolist(), ranking.scores.tolist(), strict=True):
        if len(scores) >= order.depth and spent >= order.budget:
            break
        for one in (unit, *companions[unit]):
            if one not in scores:
                scores[one] = score
                spent += int(rankable.spends[one])
    expanded = Ranking(
        np.array(list(scores), dtype=np.int64),
        np.array(list(scores.values()), dtype=np.float64),
        by_rank=True,
        disturbed=ranking.disturbed,
        counts=ranking.counts,
    )
    return fit(expanded, order, rankable)
