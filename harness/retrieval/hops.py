"""Two hops: names found by a first ranking make a second query; one budget pays for both.

The second query is made of the identifiers in the first units of the first ranking that do not
stand in the query, the most distinctive first: those that the fewest chunks of the corpus hold,
then in order of the alphabet, at most 32. An identifier is a run of word characters that Python
would take for a name, as it is written, whatever it stands for: comments, keywords and words of
strings are among them, though keywords are too common to come first. Headers are not read. Where
there is no such identifier there is no second hop.

The final ranking is the beginning of the first one, then the second one without repeats.
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
    from collections.abc import Iterable, Mapping, Sequence

    from harness.retrieval.ranking import Order, Rankable

NAMES = 32
"""Identifiers of a second query, at most."""


# Corpora that differ in one file share the chunks of all others.
@functools.lru_cache(maxsize=1 << 14)
def names(text: str) -> frozenset[str]:
    """The identifiers of a text, as they are written but for Unicode's form NFKC."""
    return frozenset(run for run in word_runs(text) if run.isidentifier() and run.strip("_"))


@dataclass(frozen=True)
class Lexicon:
    """The identifiers of every chunk of a corpus, and how many chunks hold each."""

    of_chunk: tuple[frozenset[str], ...]
    holding: Mapping[str, int]

    @classmethod
    def of(cls, chunks: Sequence[str]) -> Lexicon:
        """Read the texts of a corpus's chunks."""
        found = tuple(names(chunk) for chunk in chunks)
        return cls(found, Counter(itertools.chain.from_iterable(found)))

    def second_query(self, query: str, chunks: Iterable[int]) -> str:
        """What is asked after a query that found these chunks; empty where they add no name."""
        fresh = frozenset[str]().union(*(self.of_chunk[chunk] for chunk in chunks)) - names(query)
        return " ".join(sorted(fresh, key=lambda name: (self.holding[name], name))[:NAMES])


def join(
    first: Ranking, second: Ranking, hop_units: int, order: Order, rankable: Rankable
) -> Ranking:
    """The first scored units of the first ranking, then the second one without them.

    Each keeps the scores of its own hop, which are not to be compared: the order is what counts.
    """
    head = slice(0, min(hop_units, int(np.count_nonzero(~np.isnan(first.scores)))))
    new = ~np.isin(second.units, first.units[head])
    joined = Ranking(
        np.concatenate((first.units[head], second.units[new])),
        np.concatenate((first.scores[head], second.scores[new])),
        by_rank=True,
        disturbed=first.disturbed or second.disturbed,
        counts=Counter(first.counts) + Counter(second.counts),
    )
    return fit(joined, order, rankable)
