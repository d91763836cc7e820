"""TOML files, whose errors say what to do at the line."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from chunkers.errors import InputError

_ADVICE = (  # the first whose pattern the parser's message has
    ("'=' after a key|Invalid statement", "write key = value"),
    ("Invalid initial character for a key", "write a key of letters, digits, - and _"),
    ("Expected newline or end", "write one key = value on a line"),
    ("Unclosed array", "end the list with ]"),
    ("Unclosed inline table", "end the table with }"),
    ("Expected ']", "write the heading of a table as [name]"),
    ("overwrite|twice|Duplicate|mutate|redefine", "remove the repeated key or table"),
    (r"Illegal character '\\n'|Unterminated|'''", "close the quotes"),
    ("[Ee]scape|hex", "write each backslash twice"),
    ("(Illegal|invalid) character", "remove the character"),
    ("", 'write "text", a number, true, false or a list such as ["text"]'),
)
"""What to do about a message of tomllib; it has no codes."""


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The table of a document.

    Args:
        text: The document.
        where: Its place, for messages.

    Raises:
        InputError: It is not TOML; the message names the line and what to write there.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem, _, place = str(error).rstrip(")").rpartition(" (at ")
        advice = next(advice for pattern, advice in _ADVICE if re.search(pattern, problem))
        problem = f"{problem[:1].lower()}{problem[1:]}"
        raise InputError(f"{where}: invalid TOML: {place}: {problem}; {advice}") from None
