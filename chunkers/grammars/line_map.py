"""Puts the nodes of a tree on the lines of its source, and says what each is to the cutter."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.grammars.loading import GRAMMARS
from chunkers.grammars.model import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node

    from chunkers.grammars.model import Grammar
    from chunkers.sizes import Lines

# What an item or a part is. A part has the first three only if all its items do, the other two if
# any does; `DEEP` is what has parts of its own on several lines.
COMMENT, ATTRIBUTE, CLOSE, OPEN, DEEP = 1, 2, 4, 8, 16
OF_ALL = COMMENT | ATTRIBUTE | CLOSE
OF_ANY = OPEN | DEEP
BINDERS = COMMENT | ATTRIBUTE | OPEN
FLAGS = {
    ":": ATTRIBUTE,  # the colon of an access specifier is a node of its own
    ",": CLOSE,
    ";": CLOSE,
    "\n": OF_ALL,
    "CharData": OF_ALL,  # in XML, the blanks between elements
    "template_parameter_list": OPEN,
    "jsx_opening_element": OPEN,
    "jsx_closing_element": CLOSE,
}

# How deep the end of a node is searched for comments of what follows it.
_DEPTH = 64


@dataclass(frozen=True, slots=True)
class LineMap:
    """What puts the nodes of a tree on the lines of its source.

    Attributes:
        grammar: Of the language of the source.
        flags: Kind of node -> what an entry of that kind is.
        numbers: For every row and the two behind them, the non-blank lines before it.
        indents: Up to which column of each row a node still ends with the row before.
    """

    grammar: Grammar
    flags: Mapping[str, int]
    numbers: list[int]
    indents: list[int]

    @classmethod
    def of(cls, lines: Lines) -> LineMap:
        """The line map of a source whose language has a grammar."""
        language = lines.source.language or ""
        grammar = GRAMMARS[language]
        numbers = lines.numbers()
        indents = [0] * len(numbers)
        if grammar.loose:
            octets = lines.source.text.encode("utf-8", "surrogatepass")
            rows = octets.split(b"\n")
            indents[: len(rows)] = [len(row) - len(row.lstrip()) for row in rows]
        return cls(grammar, _flags(language), numbers, indents)

    def place(self, node: Node) -> tuple[int, int]:
        """First and last line of a node, the last before the first where it has but blank lines."""
        row = node.start_point[0]
        end, column = node.end_point
        # What ends with a line feed ends before the next line.
        if end > row and column <= self.indents[end]:
            end -= 1
        return self.numbers[row], self.numbers[end + 1] - 1

    def kind(self, node: Node) -> str:
        """The kind of a node."""
        return kind_of(node, self.grammar)

    def tail(self, node: Node) -> list[Node]:
        """The comments at the end of a node, on lines of their own, which belong to what follows.

        Some grammars put them into the last of the nodes before, however deep that is nested.
        """
        tail: list[Node] = []
        if not self.grammar.loose:
            return tail
        comments = self.grammar.comments
        for _ in range(_DEPTH):
            children = node.children
            count = len(children)
            while count and children[count - 1].type in comments:
                count -= 1
            if not count:
                break
            tail = children[count:] + tail
            node = children[count - 1]
        _, last = self.place(node)
        return [comment for comment in tail if self.place(comment)[0] > last]


@functools.cache
def _flags(language: str) -> Mapping[str, int]:
    grammar = GRAMMARS[language]
    return {
        **FLAGS,
        **dict.fromkeys(grammar.comments, COMMENT),
        **dict.fromkeys(grammar.attributes, ATTRIBUTE),
        **dict.fromkeys(grammar.openers, OPEN),
        **dict.fromkeys(grammar.closers, CLOSE),
    }
