"""Parses a source, if there is a grammar whose parser can take it."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from chunkers.grammars.blocks import parsed_text
from chunkers.grammars.loading import grammar_of, parser

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

    from chunkers.source import Source

_BREAK = re.compile(r"[\r\n]")
# Where a line may open a level: at its first character, and after the mark of a list or a key.
_OPENING = re.compile(r"(?:^|[-?:](?=\s))[ \t]*")


class _Last(threading.local):
    """What this thread parsed last."""

    source: Source | None = None
    tree: Tree | None = None


_last = _Last()


def parse(source: Source) -> Node | None:
    """The root of the syntax tree of a source. Its columns are bytes; only LF ends a row.

    Of a component only the scripts are parsed, at their own lines. The last tree is kept, for the
    headers of a file follow its chunks.

    None without a grammar, or if its parser would crash on this text.

    Raises:
        InputError: The grammar's wheel is missing.
    """
    if _last.source is not source:
        _last.tree, _last.source = _parse(source), source
    # A root of its own, since a node keeps all nodes that were made from it.
    return _last.tree and _last.tree.root_node


def _parse(source: Source) -> Tree | None:
    language = source.language
    grammar = grammar_of(language)
    if language is None or grammar is None:
        return None
    if grammar.deepest and deeper(source.text, grammar.deepest):
        return None
    return parser(language).parse(parsed_text(source))


def deeper(text: str, limit: int) -> bool:
    """Whether lines, or lists on one line, may be nested deeper than the limit.

    Everything that could open a level counts, so the text may be less deep than that.
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
