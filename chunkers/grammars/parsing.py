"""Parses a source, where a grammar is at hand and bears it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chunkers.grammars.loading import grammar_of, parser

if TYPE_CHECKING:
    from tree_sitter import Node

    from chunkers.source import Source

_BREAK = re.compile(r"[\r\n]")
# Where a line may open something: its first character, and behind a mark of a list or a key.
_OPENING = re.compile(r"(?:^|[-?:](?=\s))[ \t]*")


def parse(source: Source) -> Node | None:
    """The root of the syntax tree of a source. Its columns are bytes; its rows count LF alone.

    None where no grammar is at hand, or where its parser would crash on this text.

    Raises:
        InputError: The grammar's wheel is missing.
    """
    language = source.language
    grammar = grammar_of(language)
    if language is None or grammar is None:
        return None
    if grammar.deepest and deeper(source.text, grammar.deepest):
        return None
    octets = source.text.encode("utf-8", "surrogatepass")
    return parser(language).parse(octets).root_node


def deeper(text: str, limit: int) -> bool:
    """Whether lines, or lists on one line, may be nested in each other deeper than the limit.

    Everything that could open a level of its own counts, so that text may seem deeper than it is.
    """
    columns: list[int] = []
    for line in _BREAK.split(text):
        for opening in _OPENING.finditer(line):
            column = opening.end()
            while columns and columns[-1] >= column:
                columns.pop()
            columns.append(column)
            if len(columns) > limit:
                return True
    return False
