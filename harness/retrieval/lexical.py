"""Texts as tokens for the retrievers that need no model.

`words` are runs of word characters. `identifiers` are the same runs, each as a whole and then
split into its parts, so that `parse_url`, `parseURL` and "parse url" meet in `parse` and `url`,
while the whole name still tells apart what shares a part. Chinese, Japanese, Korean, Thai and other
scripts without spaces between words are read as overlapping pairs of letters.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from itertools import chain
from typing import Literal

Tokens = Literal["identifiers", "words"]

# Blocks of scripts that put no spaces between words; a run of their letters is read as pairs.
_BLOCKS = (
    *((0x0E00, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF)),  # Thai, Lao, Tibetan, Burmese, Khmer
    *((0x1950, 0x19DF), (0x1A20, 0x1AAF), (0x1B00, 0x1B7F)),  # Tai Le to Tai Tham, Balinese
    *((0xA980, 0xA9FF), (0xAA00, 0xAADF)),  # Javanese, Cham, more Burmese, Tai Viet
    *((0x1100, 0x11FF), (0xA960, 0xA97F), (0xD7B0, 0xD7FF)),  # Korean letters
    *((0x3005, 0x3007), (0x3040, 0x31FF)),  # Japanese, Bopomofo
    (0xA000, 0xA4CF),  # Yi
)
_ASCII_RUN = re.compile(r"\w+")
_IDEOGRAPHS = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3\U00020000-\U0003ffff"  # Chinese, Korean
)


class _Patterns:
    """The patterns of scripts without spaces, compiled on first use.

    Attributes:
        run: A run of word characters.
        scripts: A run of letters of these scripts, or of anything else.
        paired: Such a letter.
    """

    def __init__(self) -> None:
        letters = (
            letter
            for first, last in _BLOCKS
            for letter in map(chr, range(first, last + 1))
            if unicodedata.category(letter) in ("Lo", "Lm", "Mn", "Mc", "Nl")
        )
        unspaced = "".join(letters) + _IDEOGRAPHS
        self.run = re.compile(rf"[\w{unspaced}]+")
        self.scripts = re.compile(rf"[{unspaced}]+|[^{unspaced}]+")
        self.paired = re.compile(f"[{unspaced}]")


_patterns = functools.cache(_Patterns)


def tokenize(text: str, kind: Tokens) -> list[str]:
    """The tokens of a text, in order, repeats included."""
    return identifiers(text) if kind == "identifiers" else words(text)


def words(text: str) -> list[str]:
    """Runs of word characters in form NFKC, lower-cased; scripts without spaces as pairs."""
    runs = [run.lower() for run in word_runs(text)]
    if text.isascii():
        return runs
    return [token for run in runs for token in _split(run) or (run,)]


@functools.lru_cache(maxsize=1 << 15)
def _split(run: str) -> tuple[str, ...]:
    """A run with letters of scripts without spaces as its other parts and pairs of these letters.

    Pairs overlap, as in Lucene's CJK analyzer; a single letter is a token. Empty for other runs.
    """
    if not _patterns().paired.search(run):
        return ()
    tokens: list[str] = []
    for part in _patterns().scripts.findall(run):
        if _patterns().paired.match(part):
            tokens += [part[at : at + 2] for at in range(max(1, len(part) - 1))]
        else:
            tokens.append(part)
    return tuple(tokens)


def identifiers(text: str) -> list[str]:
    """Runs of word characters, each followed by its parts, all lower-cased.

    A run that is its own only part stands once: `value` is one token, `_value` is `_value` and
    `value`. The text is read in Unicode's form NFKC, as Python reads identifiers; a combining
    mark that this form cannot join to a letter ends a run.
    """
    return list(chain.from_iterable(map(_tokens, word_runs(text))))


def word_runs(text: str) -> list[str]:
    """Runs of word characters of a text in form NFKC, as they are written."""
    if text.isascii():  # as the same form, and without the other scripts
        return _ASCII_RUN.findall(text)
    return _patterns().run.findall(unicodedata.normalize("NFKC", text))


# Code repeats its names, so each is split once; about 14 MB.
@functools.lru_cache(maxsize=1 << 15)
def _tokens(run: str) -> tuple[str, ...]:
    if not run.isascii() and (mixed := _split(run)):
        return tuple(
            token
            for part in mixed
            for token in ((part,) if _patterns().paired.match(part) else _tokens(part))
        )
    whole, own = run.lower(), tuple(part.lower() for part in parts(run))
    return own if own == (whole,) else (whole, *own)


def parts(run: str) -> list[str]:
    """The parts of a run of word characters, as they are written.

    Borders are underscores, which belong to no part; between a digit and anything else; before a
    capital that follows no capital; and before the last of several capitals that a small letter
    follows: `HTTPServer2_utf8` is `HTTP`, `Server`, `2`, `utf`, `8`. Letters without case, such
    as Chinese ones, are no capitals and no small letters. None for underscores alone.
    """
    pieces: list[str] = []
    for piece in run.split("_"):
        start = 0
        for at in range(1, len(piece)):
            if _is_border(piece, at):
                pieces.append(piece[start:at])
                start = at
        if piece:
            pieces.append(piece[start:])
    return pieces


def _is_border(piece: str, at: int) -> bool:
    before, here = piece[at - 1], piece[at]
    if before.isdecimal() or here.isdecimal():
        return before.isdecimal() != here.isdecimal()
    if not _is_capital(here):
        return False
    return not _is_capital(before) or piece[at + 1 : at + 2].islower()


def _is_capital(mark: str) -> bool:
    return mark.isupper() or mark.istitle()
