r"""Runs of words that two texts share: how a query's text is found again in a corpus.

Words are runs of `\w+`, lower-cased. A run is eight of them, or a whole text that is shorter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RUN = 8
"""Words that two texts share by copying, not by chance."""

_WORD = re.compile(r"\w+")
Gram = tuple[str, ...]


def words_of(text: str) -> list[str]:
    """Lower-cased words: runs of letters, digits and underscores."""
    return _WORD.findall(text.lower())


def grams_of(text: str) -> list[Gram]:
    """The runs of eight words of a text, or all its words where it has fewer."""
    words = words_of(text)
    if not words:
        return []
    return [tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))]


def held(wanted: set[Gram], texts: Iterable[str]) -> set[Gram]:
    """Which runs of words stand in one of the texts."""
    lengths = sorted({len(gram) for gram in wanted})
    found: set[Gram] = set()
    for text in texts if wanted else ():
        words = words_of(text)
        for length in lengths:
            runs = zip(*(words[at:] for at in range(length)), strict=False)
            found.update(run for run in runs if run in wanted)
    return found


def remaining(queries: Mapping[str, str], texts: Iterable[str]) -> frozenset[str]:
    """The ids of the queries (id -> text) of which a run of words stands in one of the texts.

    A query whose words the corpus still holds is found by its words, and is no fair question.
    """
    grams = {one: grams_of(text) for one, text in queries.items()}
    there = held({gram for mine in grams.values() for gram in mine}, texts)
    return frozenset(one for one, mine in grams.items() if not there.isdisjoint(mine))
