"""Finds functions and methods in a syntax tree, and cuts a source so that each is a chunk."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from chunkers.languages import GRAMMARS
from chunkers.syntax import ATTRIBUTES, BLOCKS, COMMENTS, Cutter, place, tree_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from chunkers.languages import Grammar
    from chunkers.sizes import Lines
    from chunkers.source import Services

_CLOSERS = frozenset("})];, \t\r\n")


def definition_runs(lines: Lines, services: Services, limit: int) -> list[tuple[int, int]]:
    """Runs of all lines of a source, cut before and behind every definition.

    What lies between definitions is merged as long as it fits; what exceeds the limit is split
    along the tree. Lines of closing brackets stay with the definition before, where they fit.

    Args:
        lines: The lines of the source.
        services: Where notes go.
        limit: The size that no run exceeds, unless one line does.
    """
    last = lines.count - 1
    language = lines.source.language or ""
    if last < 0:
        return []
    if last == 0 and language in GRAMMARS:
        return [(0, 0)]
    root = tree_of(lines.source, services)
    if root is None:
        return lines.pack(0, last, limit)
    limit = min(limit, lines.size(0, last))
    walls = set()
    found = definitions(root, lines, GRAMMARS[language])
    for (first, end), (after, _) in pairwise([*found, (lines.count, lines.count)]):
        walls |= {first, _closed(lines, end, after) + 1}
    inner = sorted(wall for wall in walls if 0 < wall <= last)
    groups = [(first, after - 1) for first, after in pairwise([0, *inner, lines.count])]
    fitting = [group for group in groups if lines.size(*group) <= limit]
    if fitting == groups:
        return groups
    starts, whole = [0, *inner], {first for first, _ in fitting}
    runs = Cutter(lines.walled(inner, limit), limit).cut(root)
    split = [run for run in runs if starts[bisect_right(starts, run[0]) - 1] not in whole]
    return sorted(fitting + split)


def _closed(lines: Lines, end: int, after: int) -> int:
    """The last of the lines of closing brackets that follow a definition; `end` if none does."""
    while end + 1 < after:
        line = int(lines.rows[end + 1]) + 1
        start, stop = lines.source.lines.offsets_of(line, line)
        if not _CLOSERS.issuperset(lines.source.text[start:stop]):
            break
        end += 1
    return end


def definitions(root: Node, lines: Lines, grammar: Grammar) -> list[tuple[int, int]]:
    """The lines first..last of every outermost function or method, in order, apart.

    Comments right above and attributes belong to it. Two that share a line count as one.
    """
    numbers, rows = lines.numbers(), lines.rows
    found: list[tuple[int, int]] = []
    above: tuple[int, int, bool] | None = None  # comments and attributes; whether they must bind
    code = -1  # last line so far that holds anything else
    stack = [root]
    while stack:
        node = stack.pop()
        first, last = place(node, numbers)
        if first > last:
            continue
        attribute = node.type in ATTRIBUTES
        if attribute or node.type in COMMENTS:
            if above and (above[2] or rows[first] <= rows[above[1]] + 1):
                above = (above[0], last, above[2] or attribute)
            elif first > code:
                above = (first, last, attribute)
        elif _is_definition(node, grammar):
            if above and (above[2] or rows[first] == rows[above[1]] + 1):
                first = above[0]
            if found and first <= found[-1][1]:
                first, last = found[-1][0], max(last, found.pop()[1])
            found.append((first, last))
            above, code = None, last
        elif node.type == ":" and above and above[1] == last:
            pass  # the colon of an access specifier is a node of its own
        elif (first < last or node.type in BLOCKS) and node.child_count:
            stack.extend(reversed(node.children))
        else:
            above, code = None, max(code, last)
    return found


def _is_definition(node: Node, grammar: Grammar) -> bool:
    inside = [node]
    while inside:
        node = inside.pop()
        if node.type in grammar.definitions:
            return True
        if node.type in grammar.carriers:
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            if value and value.type in grammar.values:
                return True
        elif node.type in grammar.wrappers:
            children = node.named_children
            if any(child.type in grammar.values for child in children):
                return True
            inside += children
    return False
