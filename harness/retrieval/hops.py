"""Two hops: names in the first results make a second query; one budget pays for both.

The second query has at most 32 identifiers from the first units of the first ranking that are not
in the query. The most distinctive come first: those in the fewest chunks of the corpus, then in
alphabetical order. An identifier is a run of word characters that is a valid Python name, as it is
written; words of comments and strings and keywords are included, though keywords are too common to
come first. Headers are not read. Without such an identifier there is no second hop.

The final ranking is the beginning of the first one, then the second one, then the rest of the
first, without repeats.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.retrieval.lexical import word_runs
from harness.retrieval.ranking import Ranking, fit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.retrieval.ranking import Order, Rankable

NAMES = 32
"""Maximum number of identifiers of a second query."""


# Masked corpora differ in one file and share the chunks of all others.
@functools.lru_cache(maxsize=1 << 14)
def names(text: str) -> frozenset[str]:
    """The identifiers of a text, in Unicode's form NFKC."""
    return frozenset(run for run in word_runs(text) if run.isidentifier() and run.strip("_"))


@dataclass(frozen=True)
class Lexicon:
    """The identifiers of every chunk of a corpus, and the number of chunks that have each."""

    of_chunk: tuple[frozenset[str], ...]
    holding: Mapping[str, int]

    @classmethod
    def of(cls, chunks: Iterable[str]) -> Lexicon:
        """The lexicon of the texts of chunks."""
        of_chunk = tuple(map(names, chunks))
        return cls(of_chunk, Counter(itertools.chain.from_iterable(of_chunk)))

    def second_query(self, query: str, chunks: Iterable[int]) -> str:
        """The second query after a query that found these chunks; empty if they add no name."""
        fresh = frozenset[str]().union(*(self.of_chunk[chunk] for chunk in chunks)) - names(query)
        return " ".join(sorted(fresh, key=lambda name: (self.holding[name], name))[:NAMES])


def join(
    first: Ranking, second: Ranking, hop_units: int, order: Order, rankable: Rankable
) -> Ranking:
    """The first scored units of the first ranking, the second one, then the rest of the first.

    Units keep the scores of their own hop, which cannot be compared with each other.
    """
    head = slice(0, min(hop_units, int(np.count_nonzero(~np.isnan(first.scores)))))
    new = ~np.isin(second.units, first.units[head])
    rest = ~np.isin(first.units, np.concatenate((first.units[head], second.units)))
    joined = Ranking(
        np.concatenate((first.units[head], second.units[new], first.units[rest])),
        np.concatenate((first.scores[head], second.scores[new], first.scores[rest])),
        by_rank=True,
        disturbed=first.disturbed or second.disturbed,
        counts=Counter(first.counts) + Counter(second.counts),
    )
    return fit(joined, order, rankable)
