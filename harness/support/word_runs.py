r"""Runs of words that two texts share: how the text of a query is found again in a corpus.

Words are runs of `\w+` with the marks of their letters, lower-cased; each Chinese or Japanese
letter is a word of its own, for these scripts have no spaces. A run is eight words, or a whole
text that is shorter. `count_words` counts words as a reader sees them, which is something else.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RUN = 8
"""Words of a run: two texts share that many by copying, not by chance."""

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
    """The lower-cased words of a text, as defined above."""
    text = text.lower()
    if text.isascii():
        return _WORD.findall(text)
    rule = _word_pattern(rf"[{_DENSE}]", _DENSE)
    words: list[str] = []
    # Most lines of a file are ASCII, for which the simple pattern is many times as fast.
    for line in unicodedata.normalize("NFC", text).split("\n"):
        words += (_WORD if line.isascii() else rule).findall(line)
    return words


def count_words(text: str, *, letters: bool = False) -> int:
    """The number of words that a reader sees, in any script.

    A run of letters with their marks, digits and underscores is a word. In scripts without spaces
    two letters (Chinese, Japanese) or four (Thai, Lao, Burmese, Khmer) count as a word, which is
    about the length of words there.

    Args:
        text: The text.
        letters: Count only words of letters, two or more each, marks included.
    """
    text = unicodedata.normalize("NFC", text)
    dense = len(re.findall(rf"[{_DENSE}]", text))
    loose: int = sum(letter.isalpha() for letter in re.findall(rf"[{_LOOSE}]", text))
    pattern = _word_pattern("(?!)", _DENSE + _LOOSE + (r"\d_" if letters else ""))
    spaced = sum(len(word) > letters for word in pattern.findall(text))
    return spaced + dense // _DENSE_LETTERS + loose // _LOOSE_LETTERS


@functools.cache
def _word_pattern(alone: str, without: str) -> re.Pattern[str]:
    """Single letters that match `alone`, and runs of word characters but those in `without`."""
    letters = map(chr, range(0x20000))
    marks = "".join(letter for letter in letters if unicodedata.category(letter).startswith("M"))
    marks = re.escape(marks) + _JOINERS
    return re.compile(rf"{alone}[{marks}]*|(?:[^\W{without}][{marks}]*)+")


def grams_of(text: str) -> list[Gram]:
    """The runs of eight words of a text, or all its words if it has fewer."""
    words = words_of(text)
    if not words:
        return []
    return [tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))]


def shared_grams(wanted: set[Gram], texts: Iterable[str]) -> set[Gram]:
    """The wanted runs of words that one of the texts contains."""
    lengths = sorted({len(gram) for gram in wanted})
    shared: set[Gram] = set()
    for text in texts if wanted else ():
        words = words_of(text)
        for length in lengths:
            runs = zip(*(words[at:] for at in range(length)), strict=False)
            shared.update(run for run in runs if run in wanted)
    return shared


def leaked_queries(queries: Mapping[str, str], texts: Iterable[str]) -> frozenset[str]:
    """The ids of the queries (id -> text) that share a run of words with one of the texts.

    A query whose words the corpus still holds can be found by its words alone.
    """
    grams = {query: grams_of(text) for query, text in queries.items()}
    shared = shared_grams({gram for runs in grams.values() for gram in runs}, texts)
    return frozenset(query for query, runs in grams.items() if not shared.isdisjoint(runs))
