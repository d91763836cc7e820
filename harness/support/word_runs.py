r"""Runs of words that two texts share: how a query's text is found again in a corpus.

Words are runs of `\w+` and of the marks that belong to their letters, lower-cased; each letter of
Chinese and Japanese is one, for these are written without spaces. A run is eight of them, or a
whole text that is shorter. How many words a text has for a reader is another thing: `count_words`.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RUN = 8
"""Words that two texts share by copying, not by chance."""

_WORD = re.compile(r"\w+")
_JOINERS = "\u200c\u200d"
# Iteration marks, kana, Bopomofo and Han; half-width kana and the planes of rare Han.
_DENSE = "\u3005-\u3007\u3041-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_DENSE += "\uff66-\uff9f\U00020000-\U0003ffff"
# Thai and Lao, Burmese, Khmer.
_LOOSE = "\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff"
_DENSE_LETTERS, _LOOSE_LETTERS = 2, 4  # to a word
Gram = tuple[str, ...]


def words_of(text: str) -> list[str]:
    """Lower-cased words: runs of letters with their marks, digits and underscores; see above."""
    text = text.lower()
    if text.isascii():
        return _WORD.findall(text)
    rule = _words(rf"[{_DENSE}]", _DENSE)
    found: list[str] = []
    # Most lines of a file are ASCII, which is read many times as fast.
    for line in unicodedata.normalize("NFC", text).split("\n"):
        found += (_WORD if line.isascii() else rule).findall(line)
    return found


def count_words(text: str, *, letters: bool = False) -> int:
    """How many words a text has for a reader, in any script.

    A run of letters with their marks, digits and underscores is a word. Of scripts without spaces
    every two letters are one in Chinese and Japanese, every four in Thai, Lao, Burmese and Khmer,
    which is about how long words are there.

    Args:
        text: The text.
        letters: Whether words are letters alone, of which each has two or more, marks included.
    """
    text = unicodedata.normalize("NFC", text)
    dense = len(re.findall(rf"[{_DENSE}]", text))
    loose: int = sum(one.isalpha() for one in re.findall(rf"[{_LOOSE}]", text))
    others: list[str] = _words("(?!)", _DENSE + _LOOSE + (r"\d_" if letters else "")).findall(text)
    spaced = sum(len(one) > letters for one in others)
    return spaced + dense // _DENSE_LETTERS + loose // _LOOSE_LETTERS


@functools.cache
def _words(alone: str, without: str) -> re.Pattern[str]:
    """Letters of one kind, each alone, and runs of what is a word's but for some characters."""
    marks = "".join(
        chr(one) for one in range(0x20000) if unicodedata.category(chr(one)).startswith("M")
    )
    marks = re.escape(marks) + _JOINERS
    return re.compile(rf"{alone}[{marks}]*|(?:[^\W{without}][{marks}]*)+")


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
