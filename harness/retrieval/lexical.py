"""Texts as tokens for the retrievers that need no model.

`words` are runs of word characters. `identifiers` are the same runs, each as a whole and then
split into its parts, so that `parse_url`, `parseURL` and "parse url" meet in `parse` and `url`,
while the whole name still tells apart what shares a part.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Literal

Tokens = Literal["identifiers", "words"]

_RUN = re.compile(r"\w+")


def tokenize(text: str, kind: Tokens) -> list[str]:
    """The tokens of a text, in order, repeats included."""
    return identifiers(text) if kind == "identifiers" else words(text)


def words(text: str) -> list[str]:
    """Runs of word characters, lower-cased."""
    return _RUN.findall(text.lower())


def identifiers(text: str) -> list[str]:
    """Runs of word characters, each followed by its parts, all lower-cased.

    A run that is its own only part stands once: `value` is one token, `_value` is `_value` and
    `value`. The text is read in Unicode's form NFKC, as Python reads identifiers; a combining
    mark that this form cannot join to a letter ends a run.
    """
    return [token for run in word_runs(text) for token in _tokens(run)]


def word_runs(text: str) -> list[str]:
    """Runs of word characters of a text in form NFKC, as they are written."""
    return _RUN.findall(unicodedata.normalize("NFKC", text))


# Code repeats its names, so each is split once.
@functools.lru_cache(maxsize=1 << 16)
def _tokens(run: str) -> tuple[str, ...]:
    whole, own = run.lower(), tuple(part.lower() for part in parts(run))
    return own if own == (whole,) else (whole, *own)


def parts(run: str) -> list[str]:
    """The parts of a run of word characters, as they are written.

    Borders are underscores, which belong to no part; between a digit and anything else; before a
    capital that follows no capital; and before the last of several capitals that a small letter
    follows: `HTTPServer2_utf8` is `HTTP`, `Server`, `2`, `utf`, `8`. Letters without case, such
    as Chinese ones, are no capitals and no small letters. None for underscores alone.
    """
    found: list[str] = []
    for piece in run.split("_"):
        start = 0
        for at in range(1, len(piece)):
            if _is_border(piece, at):
                found.append(piece[start:at])
                start = at
        if piece:
            found.append(piece[start:])
    return found


def _is_border(piece: str, at: int) -> bool:
    before, here = piece[at - 1], piece[at]
    if before.isdecimal() or here.isdecimal():
        return before.isdecimal() != here.isdecimal()
    if not _is_capital(here):
        return False
    return not _is_capital(before) or piece[at + 1 : at + 2].islower()


def _is_capital(mark: str) -> bool:
    return mark.isupper() or mark.istitle()
