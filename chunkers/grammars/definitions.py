"""Finds functions and methods in a syntax tree, and makes each of them a chunk."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from chunkers.grammars.blocks import by_block
from chunkers.grammars.line_map import LineMap
from chunkers.grammars.loading import grammar_of
from chunkers.grammars.model import kind_of, name_of, text_of
from chunkers.grammars.syntax import TreeCutter, tree_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from chunkers.grammars.model import Grammar
    from chunkers.sizes import Lines
    from chunkers.source import Services

_CLOSERS = frozenset("})];, \t\r\n")
# Maximum nesting of wrappers, since arguments of calls may be nested without end.
_DEPTH = 6


@by_block
def definition_runs(lines: Lines, services: Services, limit: int) -> list[tuple[int, int]]:
    """Runs of all lines of a source, cut before and after every definition.

    Code between definitions is merged while it fits; code over the limit is split along the tree.
    Lines of closing brackets stay with the definition before them, if they fit. No run exceeds
    `limit`, unless it is a single line. Notes go to `services`.
    """
    last = lines.count - 1
    if last < 0:
        return []
    if last == 0 and grammar_of(lines.source.language):
        return [(0, 0)]
    root = tree_of(lines.source, services)
    if root is None:
        return lines.pack(0, last, limit)
    limit = min(limit, lines.size(0, last))
    walls = set()
    places = [*definitions(root, lines), (lines.count, lines.count)]
    for (first, end), (after, _) in pairwise(places):
        walls |= {first, _closed(lines, end, after) + 1}
    inner = sorted(wall for wall in walls if 0 < wall <= last)
    groups = [(first, after - 1) for first, after in pairwise([0, *inner, lines.count])]
    fitting = [group for group in groups if lines.size(*group) <= limit]
    if fitting == groups:
        return groups
    starts, whole = [0, *inner], {first for first, _ in fitting}
    runs = TreeCutter(lines.walled(inner, limit), limit).cut(root)
    split = [run for run in runs if starts[bisect_right(starts, run[0]) - 1] not in whole]
    return sorted(fitting + split)


def _closed(lines: Lines, end: int, after: int) -> int:
    """The last line of closing brackets after a definition that ends on line `end`, or `end`."""
    while end + 1 < after:
        line = int(lines.rows[end + 1]) + 1
        start, stop = lines.source.lines.offsets_of(line, line)
        if not _CLOSERS.issuperset(lines.source.text[start:stop]):
            break
        end += 1
    return end


def definitions(root: Node, lines: Lines) -> list[tuple[int, int]]:
    """The lines first..last of every outermost function or method, in order, without overlaps.

    Attributes and the comments right above are included. Definitions that share a line are one, as
    are neighbouring clauses of the same name.
    """
    walk = _Walk(LineMap.of(lines), lines.rows.tolist())
    stack = [root]
    while stack:
        node = stack.pop()
        first, last = walk.line_map.place(node)
        if first <= last:
            stack.extend(reversed(walk.enter(node, first, last)))
    return walk.definitions


@dataclass(slots=True)
class _Walk:
    """A walk over the nodes of a tree, in order.

    Attributes:
        line_map: The lines of nodes.
        rows: The row of each line.
        definitions: The lines of the definitions so far.
        above: First and last line of the comments and attributes that may belong to the next
            definition, whether they do so over blank lines, and whether the last is a lead.
        code: The last line so far with other code.
        name: The name of the last definition, if it may have more clauses.
    """

    line_map: LineMap
    rows: list[int]
    definitions: list[tuple[int, int]] = field(default_factory=list)
    above: tuple[int, int, bool, bool] | None = None
    code: int = -1
    name: str = ""

    def enter(self, node: Node, first: int, last: int) -> Sequence[Node]:
        """Record a node on the lines first..last; returns the nodes to visit inside."""
        grammar = self.line_map.grammar
        kind = kind_of(node, grammar)
        if kind in grammar.attributes or kind in grammar.comments:
            self._hold(first, last, kind)
            return ()
        candidate = kind in grammar.candidates or node.type in grammar.candidates
        if candidate and (definition := _definition(node, grammar)):
            tail = self.line_map.tail(node)
            if tail:
                last = self.line_map.place(tail[0])[0] - 1
            name = name_of(definition, grammar) if grammar.clauses else None
            self._define(first, last, text_of(name) if name else "")
            return tail
        if kind == ":" and self.above and self.above[1] == last:
            return ()  # the colon of an access specifier is a node of its own
        if (first < last or kind in grammar.blocks) and node.child_count:
            return node.children
        self.above, self.code = None, max(self.code, last)
        return ()

    def _hold(self, first: int, last: int, kind: str) -> None:
        """Record a comment or an attribute."""
        grammar, above = self.line_map.grammar, self.above
        attribute, lead = kind in grammar.attributes, kind in grammar.leads
        if above and above[3] and first > above[1]:
            above = None  # only its definition comes after a lead
        if above and (above[2] or self.rows[first] <= self.rows[above[1]] + 1):
            self.above = (above[0], last, above[2] or attribute, above[3] or lead)
        elif first > self.code:
            self.above = (first, last, attribute, lead)

    def _define(self, first: int, last: int, name: str) -> None:
        """Record a definition."""
        places, above, rows = self.definitions, self.above, self.rows
        if above and (above[2] or rows[first] == rows[above[1]] + 1):
            first = above[0]
        clause = name and name == self.name and not above and self.code == places[-1][1]
        if places and (first <= places[-1][1] or clause):
            first, last = places[-1][0], max(last, places.pop()[1])
        places.append((first, last))
        self.above, self.code, self.name = None, last, name


def _definition(node: Node, grammar: Grammar) -> Node | None:
    """The function or method of a node: the node itself, or one that it wraps."""
    inside = [(node, 0)]
    while inside:
        node, depth = inside.pop()
        kind = kind_of(node, grammar)
        if kind in grammar.definitions:
            return node
        if kind in grammar.heads:
            if any(child.type in grammar.heads[kind] for child in node.named_children[:2]):
                return node
        elif kind in grammar.carriers:
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            if value and value.type in grammar.values:
                return node
        elif (kind in grammar.wrappers or node.type in grammar.wrappers) and depth < _DEPTH:
            children = node.named_children
            if any(child.type in grammar.values for child in children):
                return node
            inside += [(child, depth + 1) for child in children]
    return None
