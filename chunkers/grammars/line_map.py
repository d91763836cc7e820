"""Maps the nodes of a tree to lines of the source, and to the flags that guide the cutter."""

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

# The flags of an item or a part. A part has the first three if all its items do, the other two if
# any does; `DEEP` marks an item with parts of its own on several lines.
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

# Levels at the end of a node that are searched for comments of the next node.
_DEPTH = 64


@dataclass(frozen=True, slots=True)
class LineMap:
    """The lines of the nodes of a tree.

    Attributes:
        grammar: The grammar of the source.
        flags: Kind of node -> flags.
        numbers: The number of non-blank lines before each row and the two rows after the last.
        indents: The last column of each row at which a node still ends on the row before.
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
        """First and last line of a node; last < first if all its lines are blank."""
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
        """The comments at the end of a node, on lines of their own, that belong to the next node.

        Some grammars put them into the innermost last node.
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
