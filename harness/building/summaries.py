"""The first sentence of a description, and what it has in common with a name."""

from __future__ import annotations

import re

_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
# A full stop before a lower-case letter belongs to `e.g.`, `i.e.` or a file's name.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?![a-z])")
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SHORTEST_NAME_WORD = 3
# What stands before the last part of a name; a colon ends the parts of Objective-C's own names.
_LAST_PART = re.compile(r"(?:\.|::|:(?=\w+$)|#|\\|/|->)(?=[^\W\d])")
_NUMBER = re.compile(r"#\d+$")


def summary_of(docstring: str) -> str:
    """The first sentence of the first paragraph, its white space collapsed."""
    paragraph = " ".join(_PARAGRAPH_END.split(docstring.strip(), maxsplit=1)[0].split())
    return _SENTENCE_END.split(paragraph, maxsplit=1)[0]


def names_overlap(name: str, summary: str) -> bool:
    """Whether a word of the function's name stands in its summary.

    Of `Class.method`, `Class::method`, `Class#method` and their like, with `#2` behind it or not,
    the last part is the function's name.

    Names, those in the summary too, are split at underscores, digits and capitals. Words of under
    three letters are ignored, for `is`, `to` or `of` give nothing away.
    """
    mine = name_words(_LAST_PART.split(_NUMBER.sub("", name))[-1])
    return any(len(word) >= _SHORTEST_NAME_WORD for word in mine & name_words(summary))


def name_words(text: str) -> set[str]:
    """The words of a name, split at underscores, digits and capitals; lower-cased."""
    return {word.lower() for word in _NAME_WORD.findall(text)}
