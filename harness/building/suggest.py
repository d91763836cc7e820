"""Places that may answer a question, by its distinctive words: candidates for a person to judge."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.lexical import identifiers
from harness.parsing import UnparsedError, outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    Their paths count as words of theirs. Names are split, as in `parse_url`.

    Args:
        corpus: Where to look.
        questions: The questions; their targets are not looked at.
        count: Candidates of each, at most.

    Returns:
        By the id of the question; empty where no word of it is anywhere.
    """
    asked = {one.id: tuple(dict.fromkeys(identifiers(one.text))) for one in questions}
    wanted = {word for words in asked.values() for word in words}
    places: list[tuple[str, int, frozenset[str]]] = []
    for source in corpus.sources:
        path = set(identifiers(source.path)) & wanted
        for first, last in _places(source):
            start, end = source.lines.offsets_of(first, last)
            held = path | (set(identifiers(source.text[start:end])) & wanted)
            if held:
                places.append((f"{source.path}:{first}-{last}", last - first, frozenset(held)))
    frequency = Counter(word for _, _, held in places for word in held)
    weight = {word: math.log(1 + len(places) / df) for word, df in frequency.items()}
    return {name: tuple(_best(words, places, weight))[:count] for name, words in asked.items()}


def _best(
    words: tuple[str, ...],
    places: list[tuple[str, int, frozenset[str]]],
    weight: dict[str, float],
) -> Iterator[Candidate]:
    """The places with a word of a question, best first; of equal ones the shortest is."""
    found = []
    for place, length, held in places:
        shared = sorted((one for one in words if one in held), key=lambda one: (-weight[one], one))
        if shared:
            score = math.fsum(weight[one] for one in shared)
            found.append((-score, length, place, tuple(shared)))
    for score, _, place, shared_words in sorted(found):
        yield Candidate(place, shared_words, -score)


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
