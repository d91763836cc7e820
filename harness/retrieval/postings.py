"""Inverted indexes over the tokens of chunks; a text that several corpora share is read once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harness.retrieval.lexical import tokenize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from harness.retrieval.lexical import Tokens

_MOST = 1 << 18  # texts whose tokens are remembered


@dataclass(frozen=True)
class Postings:
    """Which chunks hold each token of a corpus, and how often.

    Attributes:
        places: Number of every token of the corpus.
        starts: First posting of each token, shape (tokens + 1,).
        chunks: The chunk of each posting, ascending for a token, shape (postings,).
        counts: The token's count in that chunk, shape (postings,).
        lengths: Number of tokens of each chunk, shape (chunks,).
    """

    places: Mapping[str, int]
    starts: NDArray[np.int64]
    chunks: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int64]


@dataclass
class TokenCounter:
    """Makes postings; corpora that share most of their chunks cost what differs.

    Attributes:
        kind: The kind of tokens.
    """

    kind: Tokens
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)
    _texts: dict[str, tuple[NDArray[np.int32], NDArray[np.int32]]] = field(
        default_factory=dict, repr=False
    )

    def postings(self, chunks: Sequence[str]) -> Postings:
        """The postings of a corpus."""
        if len(self._texts) > _MOST:
            self._numbers, self._texts = {}, {}
        rows = [self._texts.get(text) or self._count(text) for text in chunks]
        empty = np.zeros(0, np.int32)
        tokens = np.concatenate([empty, *(row[0] for row in rows)])
        counts = np.concatenate([empty, *(row[1] for row in rows)])
        of_chunk = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row[0]) for row in rows])
        # The numbers of this corpus leave out the tokens that only others have.
        own = np.flatnonzero(np.bincount(tokens, minlength=len(self._numbers)))
        renumbered = np.zeros(len(self._numbers), np.int32)
        renumbered[own] = np.arange(len(own))
        places = renumbered[tokens]
        by_token = np.argsort(places, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(places, minlength=len(own))))
        names = [*self._numbers]
        return Postings(
            {names[number]: place for place, number in enumerate(own.tolist())},
            starts,
            of_chunk[by_token],
            counts[by_token],
            np.bincount(of_chunk, counts, len(rows)).astype(np.int64),
        )

    def _count(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Numbers and counts of the tokens of a text."""
        terms = Counter(tokenize(text, self.kind))
        numbers = [self._numbers.setdefault(token, len(self._numbers)) for token in terms]
        row = np.array(numbers, np.int32), np.array([*terms.values()], np.int32)
        self._texts[text] = row
        return row
