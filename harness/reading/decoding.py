"""The text of a file's bytes, and the encoding that they are in."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.languages import parse_patterns

if TYPE_CHECKING:
    from collections.abc import Iterable

NOT_UTF8 = "not UTF-8, and no encoding given"
"""Why a file is skipped of which nothing says the encoding."""

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # The mark of UTF-32-LE begins with that of UTF-16-LE, so it is looked for first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# A comment (PEP 263, or that of Emacs or Vim in another language), an XML or a CSS declaration.
_DECLARATION = re.compile(
    rb"[ \t\f]*(?:(?:#|//|/\*|--|;|%|\(\*|<!--|\").*?coding[:=]"
    rb"|<\?xml\b.*?\bencoding[ \t]*=|@charset\b)[ \t]*[\"']?([-\w.]+)"
)
_BLANK_OR_COMMENT = re.compile(rb"[ \t\f]*(?:(?:#|//|/\*|--|;|%|\(\*|<!--|\"|<\?).*)?\r?")
_LINE_ENDS = re.compile(r"-(?:unix|dos|mac)$")  # as Emacs writes them after an encoding
# Python counts these as text encodings, but files do not use them; some take quadratic time.
NO_FILE_ENCODINGS = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
_SEVEN_BIT = ("iso2022", "utf-7", "hz")  # beginnings of names; their bytes look like ASCII
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_UTF8_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)


class NotTextError(Exception):
    """The reason that bytes are not text."""


def text_of(data: bytes, given: str | None = None, guess: str | None = None) -> tuple[str, str]:
    """The text of bytes and the encoding that they were decoded by.

    A byte order mark decides first. Bytes with characters outside ASCII are UTF-8 where they are
    valid UTF-8. All others have the encoding that is given, else the one that the file declares in
    its first two lines.

    Args:
        data: The bytes.
        given: What the user says of the file: Python's name of an encoding.
        guess: What is tried where nothing says the encoding and the bytes look like text.

    Raises:
        NotTextError: The reason that they are not text.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decoded(data, encoding, "its byte order mark says"), encoding
    utf8, offset = None, 0
    try:
        utf8 = data.decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start
    if given is not None and (utf8 is None or data.isascii()):
        return _decoded(data, given, "the option encoding says"), given
    if b"\0" in data:
        raise NotTextError("binary: holds NUL bytes")
    if utf8 is not None:
        seven_bit = _declared(data, unknown=False) if data.isascii() else None
        if seven_bit is None or not seven_bit.startswith(_SEVEN_BIT):
            return utf8, "utf-8"
        return _decoded(data, seven_bit, "its coding comment says"), seven_bit
    declared = _declared(data)
    if declared is not None:
        return _decoded(data, declared, "its coding comment says"), declared
    if _CONTROL.search(data):
        raise NotTextError("binary: control characters and no UTF-8")
    if guess is None:
        raise NotTextError(NOT_UTF8)
    # Text in a Western code page practically never holds whole UTF-8 characters.
    if _UTF8_CHARACTER.search(data):
        raise NotTextError(f"damaged UTF-8 at byte {offset}")
    return _decoded(data, guess, "is guessed"), guess


def parse_encodings(texts: Iterable[str]) -> dict[str, str]:
    """Parse `PATTERN=ENCODING`: glob over the name or the whole path -> Python's name.

    Raises:
        InputError: A text has no `=` or no pattern, or names an unknown encoding.
    """

    def known(name: str) -> str:
        encoding = _encoding(name)
        if encoding is None:
            raise InputError(
                f"unknown encoding {name!r}; use a name that Python knows, such as cp1251, "
                "shift_jis or iso8859-2"
            )
        return encoding

    return parse_patterns("encoding", "ENCODING, such as 'src/**=cp1251'", texts, known)


def _encoding(name: str) -> str | None:
    """Python's name of an encoding of files; None for anything else."""
    try:
        encoding = codecs.lookup(name).name
        b" ".decode(name, "replace")  # codecs that are not text encodings refuse this
    except (LookupError, UnicodeError, ValueError):
        return None
    return None if encoding in NO_FILE_ENCODINGS else encoding


def _decoded(data: bytes, encoding: str, says: str) -> str:
    try:
        text = data.decode(encoding)
        text.encode("utf-8")  # lone surrogates are not text
    except (UnicodeError, ValueError):
        raise NotTextError(f"not {encoding}, as {says}") from None
    if "\0" in text:
        raise NotTextError("binary: holds NUL characters")
    return text


def _declared(data: bytes, *, unknown: bool = True) -> str | None:
    """The encoding that the first two lines declare, in Python's name; None without any.

    An unknown one is an error if `unknown`, else none.
    """
    for line in data.split(b"\n", 2)[:2]:
        match = _DECLARATION.match(line)
        if match:
            name = _LINE_ENDS.sub("", match.group(1).decode("ascii", "replace"))
            encoding = _encoding(name)
            if encoding is None and unknown:
                raise NotTextError(f"declares the unknown encoding {name}")
            return encoding
        if not _BLANK_OR_COMMENT.fullmatch(line):
            break
    return None
