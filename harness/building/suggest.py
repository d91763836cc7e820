"""Places that may answer a question, found by its rare words, for a person to judge."""

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
_LONGEST = 200  # lines of a definition; the parts of a longer one are places


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that shares words with a question.

    `place` is written as a target; `words` are those it shares, the rarest first; `score` is the
    sum over these of ln(1 + n/df), where df of n places have the word.
    """

    place: str
    words: tuple[str, ...]
    score: float


def suggest(
    corpus: Corpus, questions: Iterable[Question], count: int = 3
) -> dict[str, tuple[Candidate, ...]]:
    """The places that share the most words with each question, best first.

    Places are the definitions of up to 200 lines, and stretches of 40 lines in a file without
    definitions. The words of a place include those of its path; names such as `parse_url` are
    split. Words such as `how` and `which`, by bm25s's longer list for English, do not count. The
    questions' targets are not looked at. The result is by the id of the question.
    """
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    stopwords = frozenset(STOPWORDS_EN_PLUS)
    rare = {question.id: _distinctive(question.text, stopwords) for question in questions}
    wanted = {word for words in rare.values() for word in words}
    places: list[tuple[str, int, frozenset[str]]] = []
    for source in corpus.sources:
        path = set(identifiers(source.path)) & wanted
        for first, last in _places(source):
            shared = path | (set(identifiers(source.lines.text_of(first, last))) & wanted)
            if shared:
                places.append((f"{source.path}:{first}-{last}", last - first, frozenset(shared)))
    postings: dict[str, list[int]] = defaultdict(list)
    for number, (_, _, words) in enumerate(places):
        for word in words:
            postings[word].append(number)
    weights = {word: math.log(1 + len(places) / len(numbers)) for word, numbers in postings.items()}
    return {
        name: tuple(_best(words, places, postings, weights, count)) for name, words in rare.items()
    }


def _distinctive(text: str, stopwords: frozenset[str]) -> tuple[str, ...]:
    """The words of a question without stop words; all, if it has no others."""
    words = dict.fromkeys(identifiers(text))
    return tuple(word for word in words if word not in stopwords) or tuple(words)


def _best(
    words: tuple[str, ...],
    places: list[tuple[str, int, frozenset[str]]],
    postings: Mapping[str, list[int]],
    weights: Mapping[str, float],
    count: int,
) -> Iterator[Candidate]:
    """The places with a word of a question, best first, the shorter of equal ones first."""
    shared: dict[int, list[str]] = defaultdict(list)
    for word in sorted(weights.keys() & words, key=lambda word: (-weights[word], word)):
        for number in postings[word]:
            shared[number].append(word)
    ranked = (
        (-math.fsum(weights[word] for word in common), places[number][1], places[number][0], common)
        for number, common in shared.items()
    )
    for score, _, place, common in heapq.nsmallest(count, ranked):
        yield Candidate(place, tuple(common), -score)


def _places(source: Source) -> Iterator[tuple[int, int]]:
    """First and last lines of the definitions, or of stretches of lines."""
    try:
        scopes = [(scope.start_line, scope.end_line) for scope in outline(source)]
    except UnparsedError as error:
        warnings.warn(f"{error}; stretches of lines are candidates there", stacklevel=2)
        scopes = []
    short = [(first, last) for first, last in scopes if last - first < _LONGEST]
    if short:
        yield from dict.fromkeys(short)
        return
    for first in range(1, source.lines.count + 1, _WINDOW):
        yield first, min(first + _WINDOW - 1, source.lines.count)
