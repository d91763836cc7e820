"""What chunks hold of their corpus, and how large they are: what every output says alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chunkers.plugins.loading import LoadedChunker
    from harness.chunking.corpus import ChunkedCorpus


def covered_chars(chunked: ChunkedCorpus) -> tuple[int, int, int]:
    """Distinct characters in some chunk, characters in chunks, characters in the corpus (`c`)."""
    parts = sorted((chunk.path, *part) for chunk in chunked.chunks for part in chunk.parts)
    distinct = total = 0
    reach = ("", 0)
    for path, low, high in parts:
        before = reach[1] if reach[0] == path else 0
        distinct += max(0, high - max(low, before))
        total += high - low
        reach = (path, max(before, high))
    return distinct, total, sum(layout.size for layout in chunked.layouts)


def coverage_shares(chunked: Sequence[ChunkedCorpus]) -> dict[str, float]:
    """Shares of the non-white-space characters of corpora.

    Returns:
        `coverage` (of what is in some chunk; 1 where there is nothing to cover) and `repeated` (of
        what is in a further chunk, counted each time).
    """
    distinct, total, whole = np.sum([covered_chars(one) for one in chunked], axis=0).tolist()
    if not whole:
        return {"coverage": 1.0, "repeated": 0.0}
    return {"coverage": distinct / whole, "repeated": (total - distinct) / whole}


def size_statistics(chunked: Sequence[ChunkedCorpus], chunker: LoadedChunker) -> dict[str, Any]:
    """Sizes of chunks in the chunker's own unit.

    Returns:
        `size_max`, `size_p95` (0 without a chunk), `over_size` (chunks over the declared limit).
    """
    found = np.array([chunk.size for one in chunked for chunk in one.chunks] or [0])
    limit = chunker.max_size
    return {
        "size_max": int(found.max()),
        "size_p95": percentile(found, 95),
        "over_size": 0 if limit is None else int((found > limit).sum()),
    }


def percentile(values: NDArray[np.int64], share: int) -> int:
    """The smallest of the values that so many per cent of them do not exceed (nearest rank)."""
    return int(np.percentile(values, share, method="inverted_cdf"))
