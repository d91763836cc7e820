"""Files of patterns that git ignores by, as `gitignore` and git's `wildmatch` define them.

Paths and patterns are bytes, as in git: `?` is one byte of a name that is not ASCII. They are held
as Latin-1 text, one character a byte.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

_STAR, _FOLDERS = "*", "**/"  # parts of a pattern that are no regular expression yet
_SEGMENTS = re.compile(r"\*{2,}(?=/|$)")
_WILD = re.compile(r"[*?\[\\]")
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t-\\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of a file of patterns.

    Attributes:
        fits: What it matches.
        ignores: False where it begins with `!`.
        folders: Whether it fits folders alone.
        whole: Whether it is compared with the whole path, not with the name alone.
    """

    fits: re.Pattern[str]
    ignores: bool
    folders: bool
    whole: bool


def read_patterns(data: bytes) -> tuple[Pattern, ...]:
    """The patterns of a file; lines that are none are passed over, as git does."""
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1").split("\n")
    found = (_pattern(line.removesuffix("\r")) for line in lines)
    return tuple(one for one in found if one is not None)


def verdict(patterns: tuple[Pattern, ...], path: str) -> bool | None:
    """Whether the last pattern that fits a path ignores it; None where none fits.

    Args:
        patterns: Of one file.
        path: Relative to that file's folder; that of a folder ends in `/`. Whether a folder above
            is ignored is not looked at.
    """
    folder = path.endswith("/")
    whole = os.fsencode(path.removesuffix("/")).decode("latin-1")
    name = whole.rsplit("/", 1)[-1]
    for one in reversed(patterns):
        if (folder or not one.folders) and one.fits.fullmatch(whole if one.whole else name):
            return one.ignores
    return None


def _pattern(line: str) -> Pattern | None:
    if line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    text = _trimmed(line.removeprefix("!"))
    folders = text.endswith("/")
    text = text.removesuffix("/")
    whole = "/" in text
    regex = _regex(text.removeprefix("/"), whole)
    return None if regex is None else Pattern(re.compile(regex, re.DOTALL), ignores, folders, whole)


def _trimmed(text: str) -> str:
    """Without the spaces at its end; one behind a backslash stays."""
    bare = text.rstrip(" ")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2 and len(bare) < len(text)
    return bare + " " if escaped else bare


def _regex(text: str, whole: bool) -> str | None:
    """A regular expression; None for what can match nothing."""
    parts: list[str] = []
    at = 0
    wild = len(_WILD.split(text, maxsplit=1)[0])  # git compares what stands before on its own
    while at < len(text):
        mark = text[at]
        begins = whole and (at == wild or text[at - 1] == "/")
        segments = _SEGMENTS.match(text, at) if begins else None
        if segments is not None:
            at = segments.end()
            if at < len(text):  # `**/`: any number of folders
                parts.append(_FOLDERS)
                at += 1
            else:  # `/**`: everything inside
                parts.append(".*")
        elif mark == "*":
            while text[at : at + 1] == "*":
                at += 1
            parts.append(_STAR)
        elif mark == "?":
            parts.append("[^/]")
            at += 1
        elif mark == "[":
            found = _bracket(text, at)
            if found is None:
                return None
            regex, at = found
            parts.append(regex)
        elif mark == "\\":
            if at + 1 == len(text):
                return None
            parts.append(re.escape(text[at + 1]))
            at += 2
        else:
            parts.append(re.escape(mark))
            at += 1
    return _joined(parts) or None


def _joined(parts: list[str]) -> str:
    """One regular expression, which takes no time without bound.

    What stands between two `*` is found where it stands first, for that leaves the most to the
    rest, and no other place of it is tried; so are the folders between two `**`.
    """
    first, *others = (_starred(block) for block in _split(parts, _FOLDERS))
    if not others:
        return first
    between = (f"(?>(?:.*?/)??{block})" for block in others[:-1])
    return first + "".join(between) + "(?:.*/)?" + others[-1]


def _starred(parts: list[str]) -> str:
    first, *others = map("".join, _split(parts, _STAR))
    if not others:
        return first
    return first + "".join(f"(?>[^/]*?{one})" for one in others[:-1]) + "[^/]*" + others[-1]


def _split(parts: list[str], at: str) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for part in parts:
        if part == at:
            found.append([])
        else:
            found[-1].append(part)
    return found


def _bracket(text: str, at: int) -> tuple[str, int] | None:
    """The set that begins at a `[`, and where it ends; None where nothing closes it."""
    at += 1
    negated = text[at : at + 1] in ("!", "^") and at < len(text)
    at += negated
    body: list[str] = []
    start = at
    while True:
        if at >= len(text):
            return None
        if text[at] == "]" and at > start:
            break
        if text.startswith("[:", at) and ":]" in text[at + 2 :]:
            end = text.index(":]", at + 2)
            if text[at + 2 : end] not in _CLASSES:
                return None
            body.append(_CLASSES[text[at + 2 : end]])
            at = end + 2
            continue
        low, at = _member(text, at)
        high = low
        if text[at : at + 1] == "-" and at + 1 < len(text) and text[at + 1] != "]":
            high, at = _member(text, at + 1)
        if low <= high:  # one that runs backwards holds nothing but its first character, if that
            body.append(re.escape(low) + "-" + re.escape(high))
        else:
            body.append(re.escape(low))
    inside = "".join(body)
    return (f"(?!/)[^{inside}]" if negated else f"(?!/)[{inside}]"), at + 1


def _member(text: str, at: int) -> tuple[str, int]:
    if text[at] == "\\" and at + 1 < len(text):
        return text[at + 1], at + 2
    return text[at], at + 1
