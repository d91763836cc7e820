"""Places that may answer a question, by its distinctive words: candidates for a person to judge."""

from __future__ import annotations

import heapq
import math
import warnings
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.chunking.parsing import UnparsedError, outline
from harness.retrieval.lexical import identifiers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from chunkers.source import Source
    from harness.building.questions import Question
    from harness.model import Corpus

_WINDOW = 40
_LONGEST = 200  # lines of a definition that is a candidate itself; of a longer one its parts are


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that shares words with a question.

    Attributes:
        place: As a target is written, `path:start-end`.
        words: Those that it shares, the rarest first.
        score: Sum over these of ln(1 + n/df), where df of n places have the word.
    """

    place: str
    words: tuple[str, ...]
    score: float


def suggest(
    corpus: Corpus, questions: Iterable[Question], count: int = 3
) -> dict[str, tuple[Candidate, ...]]:
    """The places that share most with each question, best first; none is taken for the answer.

    Places are the definitions of up to 200 lines, and stretches of 40 lines where a file has none.
    Their paths count as words of theirs. Names are split, as in `parse_url`. Words such as `how`
    and `which`, by bm25s's longer list for English, distinguish nothing, however rare in code.

    Args:
        corpus: Where to look.
        questions: The questions; their targets are not looked at.
        count: Candidates of each, at most.

    Returns:
        By the id of the question; empty where no word of it is anywhere.
    """
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    usual = frozenset(STOPWORDS_EN_PLUS)
    asked = {one.id: _distinctive(one.text, usual) for one in questions}
    wanted = {word for words in asked.values() for word in words}
    places: list[tuple[str, int, frozenset[str]]] = []
    for source in corpus.sources:
        path = set(identifiers(source.path)) & wanted
        for first, last in _places(source):
            start, end = source.lines.offsets_of(first, last)
            held = path | (set(identifiers(source.text[start:end])) & wanted)
            if held:
                places.append((f"{source.path}:{first}-{last}", last - first, frozenset(held)))
    having: dict[str, list[int]] = defaultdict(list)
    for number, (_, _, its) in enumerate(places):
        for word in its:
            having[word].append(number)
    weight = {word: math.log(1 + len(places) / len(found)) for word, found in having.items()}
    return {
        name: tuple(_best(words, places, having, weight, count)) for name, words in asked.items()
    }


def _distinctive(text: str, usual: frozenset[str]) -> tuple[str, ...]:
    """The words of a question but for those that any has; all, if it has no others."""
    asked = dict.fromkeys(identifiers(text))
    return tuple(one for one in asked if one not in usual) or tuple(asked)


def _best(
    words: tuple[str, ...],
    places: list[tuple[str, int, frozenset[str]]],
    having: Mapping[str, list[int]],
    weight: Mapping[str, float],
    count: int,
) -> Iterator[Candidate]:
    """The places with a word of a question, best first; of equal ones the shortest is.

    `having` tells the places that have a word, so that no other is looked at.
    """
    shared: dict[int, list[str]] = defaultdict(list)
    for word in sorted(weight.keys() & words, key=lambda one: (-weight[one], one)):
        for number in having[word]:
            shared[number].append(word)
    found = (
        (-math.fsum(weight[one] for one in mine), places[number][1], places[number][0], mine)
        for number, mine in shared.items()
    )
    for score, _, place, mine in heapq.nsmallest(count, found):
        yield Candidate(place, tuple(mine), -score)


def _places(source: Source) -> Iterator[tuple[int, int]]:
    """Lines of definitions, or of stretches."""
    try:
        scopes = [(one.start_line, one.end_line) for one in outline(source)]
    except UnparsedError as error:
        warnings.warn(f"{error}; stretches of lines are candidates there", stacklevel=2)
        scopes = []
    short = [(first, last) for first, last in scopes if last - first < _LONGEST]
    if short:
        yield from dict.fromkeys(short)
        return
    for first in range(1, source.lines.count + 1, _WINDOW):
        yield first, min(first + _WINDOW - 1, source.lines.count)
