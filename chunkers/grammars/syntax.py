"""Cuts a source along its syntax tree into runs of whole lines: split, then merge.

The tree's nodes are put on lines, and what shares a line is never cut apart: the parts of a node
are its children, joined where they share one. From the root down, parts that follow each other are
merged as long as they fit into the limit; a part that is too large by itself is first split into
its own parts; what cannot be split is cut by lines. So every non-blank line is in exactly one run,
whatever the tree looks like, and a run is over the limit only where one line is.

Some parts hold on to a neighbour, where both fit or the neighbour must be split anyway: comments
right above something and attributes to what comes next, the opening lines of a construct to the
first part of its body, closing brackets to the part before.

The walk keeps its own stack, for code may be nested deeper than Python calls.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from chunkers.grammars.blocks import by_block
from chunkers.grammars.chains import arms
from chunkers.grammars.line_map import (
    ATTRIBUTE,
    BINDERS,
    CLOSE,
    COMMENT,
    DEEP,
    OF_ALL,
    OF_ANY,
    OPEN,
    LineMap,
)
from chunkers.grammars.loading import grammar_of, grammar_versions
from chunkers.grammars.model import kind_of
from chunkers.grammars.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node

    from chunkers.sizes import Lines
    from chunkers.source import Services, Source

# First line, last line, flags, and what it can be split into: a node, items, or nothing.
_Entry: TypeAlias = "tuple[int, int, int, Node | list[_Part] | None]"


@dataclass(slots=True)
class _Part:
    """What is not cut apart at this level, with all lines up to the next part.

    Attributes:
        first: First line.
        last: Last line.
        flags: What it is.
        node: The node that can be split, if there is one.
        items: The parts that it is joined from, where more than one has several lines.
    """

    first: int
    last: int
    flags: int
    node: Node | None = None
    items: list[_Part] | None = None

    @property
    def opens(self) -> bool:
        """Whether this is the opening lines of a construct and no more."""
        return self.flags & OF_ANY == OPEN


def version() -> str:
    """Version of all that cuts along syntax trees, the grammars included.

    Raises:
        InputError: A grammar's wheel is missing.
    """
    return f"4 ({grammar_versions()})"


def tree_of(source: Source, services: Services) -> Node | None:
    """Root of the syntax tree of a source. Its columns are bytes; its rows count LF alone.

    It is None, with the note `fallback: fixed` and the language, where no grammar is at hand; the
    caller then cuts by lines. A syntax error is noted too.
    """
    root = parse(source)
    if root is None:
        services.note(f"fallback: fixed ({source.language or 'unknown language'})")
        return None
    if root.has_error:
        services.note("syntax error")
    return root


@by_block
def syntax_runs(lines: Lines, services: Services, limit: int) -> list[tuple[int, int]]:
    """Runs of all lines of a source along its syntax tree, which follow each other without a gap.

    What fits into one run, or is one line, is not parsed.

    Args:
        lines: The lines of the source.
        services: Where notes go.
        limit: The size that no run exceeds, unless one line does.
    """
    last = lines.count - 1
    if last < 0:
        return []
    if grammar_of(lines.source.language) and (last == 0 or lines.size(0, last) <= limit):
        return [(0, last)]
    root = tree_of(lines.source, services)
    return lines.pack(0, last, limit) if root is None else TreeCutter(lines, limit).cut(root)


@dataclass(frozen=True, slots=True)
class TreeCutter:
    """Cuts lines, one at least, into runs first..last that follow each other without a gap.

    Attributes:
        lines: The lines of one source.
        limit: The size that no run exceeds, unless one line does.
    """

    lines: Lines
    limit: int

    def cut(self, root: Node) -> list[tuple[int, int]]:
        """The runs of all lines along the tree of their source."""
        lines, limit = self.lines, self.limit
        before, through = lines.before, lines.through
        line_map = LineMap.of(lines)
        total = lines.count - 1
        levels = [iter([_Part(0, total, 0, root)])]
        runs: list[tuple[int, int]] = []
        depths: dict[int, int] = {}  # of the outermost part that begins at a line
        start, end = 0, -1  # the run that is being filled
        most = before[0] + limit  # what may come before its end
        while levels:
            for part in levels[-1]:
                last = part.last
                depths.setdefault(part.first, len(levels))
                if through[last] > most:
                    if start <= end:
                        runs.append((start, end))
                        start = part.first
                        most = before[start] + limit
                    if through[last] > most:
                        parts = _split(part, line_map)
                        if parts:
                            levels.append(iter(self._hold(parts)))
                            break
                        *whole, (start, last) = lines.pack(start, last, limit)
                        runs += whole
                        most = before[start] + limit
                end = last
            else:
                levels.pop()
        runs.append((start, end))
        return self._balanced(runs, depths)

    def _balanced(
        self, runs: list[tuple[int, int]], depths: Mapping[int, int]
    ) -> list[tuple[int, int]]:
        """The runs, with the borders of small ones moved so that they hold more.

        A run under a fifth of the limit is joined with a neighbour if both fit, or takes some of
        the parts of one.

        Args:
            runs: Lines first..last, in order.
            depths: Lines at which parts begin, where runs may be cut, ascending, each with its
                depth in the tree.
        """
        borders = list(depths)
        at = 0
        while at < len(runs):
            moves = []
            if self.lines.size(*runs[at]) < self.limit // 5:
                for left in (at - 1, at):  # the border between runs[left] and runs[left + 1]
                    if 0 <= left < len(runs) - 1:
                        begin, end = runs[left][0], runs[left + 1][1]
                        inside = borders[bisect_left(borders, begin) : bisect_right(borders, end)]
                        # The deeper a border, the more belongs together across it.
                        joint = -depths.get(runs[left + 1][0], 0)
                        for border in inside:
                            imbalance = self._imbalance(begin, border, end)
                            if imbalance is not None:
                                splits = border > begin
                                moves.append(
                                    (splits, joint, depths[border], imbalance, left, border)
                                )
            if not moves:
                at += 1
                continue
            *_, left, border = min(moves)
            begin, end = runs[left][0], runs[left + 1][1]
            halves = [(begin, border - 1), (border, end)]
            runs[left : left + 2] = [(begin, end)] if border == begin else halves
            at = left
        return runs

    def _imbalance(self, begin: int, border: int, end: int) -> int | None:
        """How much the two runs of a border differ, 0 for a single one; None if it must not be."""
        size, limit = self.lines.size, self.limit
        if border == begin:
            return 0 if size(begin, end) <= limit else None
        sizes = size(begin, border - 1), size(border, end)
        fits = limit // 5 <= min(sizes) and max(sizes) <= limit
        return abs(sizes[0] - sizes[1]) if fits else None

    def _fits(self, first: int, last: int) -> bool:
        return self.lines.through[last] - self.lines.before[first] <= self.limit

    def _hold(self, parts: list[_Part]) -> list[_Part]:
        """Join the parts that hold on to a neighbour with it."""
        held: list[_Part] = []
        for part in parts:
            if not (part.flags & (CLOSE | COMMENT) and held and self._hold_previous(held, part)):
                held.append(part)
        # What belongs to opening lines is joined with them before they are with a body.
        for opening in (True, False):
            binders = [at for at, part in enumerate(held) if part.flags & BINDERS]
            for at in reversed(binders):
                if at + 1 < len(held) and (held[at + 1].opens or not opening):
                    self._hold_next(held, at)
        return held

    def _hold_previous(self, held: list[_Part], part: _Part) -> bool:
        """Join a part with the last one held, if they belong together."""
        old = held[-1]
        fits = self._fits(old.first, part.last)
        if part.flags & CLOSE:
            joins = fits or not self._fits(old.first, old.last)
        else:
            joins = bool(old.flags & COMMENT) and fits and self._adjoins(old, part)
        if joins:
            held[-1] = _merge(old, part, _common_flags(old.flags, part.flags), part.flags & CLOSE)
        return joins

    def _hold_next(self, held: list[_Part], at: int) -> None:
        """Join a part held with the one behind it, if they belong together."""
        part, new = held[at : at + 2]
        if not self._binds(part, new):
            return
        if not self._fits(part.first, new.last):
            # They can be together only where the next one is split, in a run with its beginning.
            begins = new.items[0] if new.items else new
            if self._fits(new.first, new.last) or not self._fits(
                part.first, begins.first if begins.node else begins.last
            ):
                return
        held[at : at + 2] = [_merge(part, new, new.flags, OPEN if new.opens else 0)]

    def _binds(self, part: _Part, after: _Part) -> bool:
        """Whether a part holds on to the next one."""
        if part.flags & ATTRIBUTE or part.opens:
            return True
        return part.flags & COMMENT > 0 and self._adjoins(part, after)

    def _adjoins(self, part: _Part, after: _Part) -> bool:
        """Whether no blank line lies between two parts."""
        rows = self.lines.rows
        return bool(rows[after.first] == rows[part.last] + 1)


def _split(part: _Part, line_map: LineMap) -> list[_Part]:
    """The parts of a part; empty if it has no node that can be split.

    Opening lines and attributes stay whole as long as there is something else to split.
    """
    items = part.items or [part]
    deep = [item.flags for item in items if item.node]
    if not deep:
        return []
    shy = 0 if all(flags & (OPEN | ATTRIBUTE) for flags in deep) else OPEN | ATTRIBUTE
    entries: list[_Entry] = []
    for item in items:
        if item.node is None or item.flags & shy:
            entries.append((item.first, item.last, item.flags, item.node))
        elif line_map.grammar.loose:
            entries += _loose(item, line_map)
        else:
            entries += _arms(item, line_map) or [
                (first, min(last, item.last), flags, node)
                for first, last, flags, node in _children(item.node, line_map)
                if first <= item.last
            ]
    return _join(part, entries) if entries else []


def _arms(item: _Part, line_map: LineMap) -> list[_Entry]:
    """The arms of a chain, each with the lines up to the next; empty without a chain."""
    grammar = line_map.grammar
    parts: list[_Part] = []
    for arm in arms(item.node, grammar.bodies, grammar.comments) if item.node else ():
        places = [(*line_map.place(node), node) for node in arm]
        items = [
            _Part(
                first,
                last,
                COMMENT if node.type in grammar.comments else DEEP if first < last else 0,
                node if first < last and node.child_count else None,
            )
            for first, last, node in places
            if first <= last
        ]
        if parts and items and items[0].first <= parts[-1].first:
            (parts[-1].items or []).extend(items)
        elif items and items[0].first <= item.last:
            if parts:
                _end(parts[-1], items[0].first - 1)
            parts.append(_Part(items[0].first, item.last, 0, None, items))
    if not parts:
        return []
    parts[0].first = item.first
    _end(parts[-1], item.last)
    return [(part.first, part.last, part.flags, part.items) for part in parts]


def _end(arm: _Part, last: int) -> None:
    """Let an arm end where the next one begins, which may be on the last line of its nodes."""
    arm.last = last
    arm.items = [
        _Part(item.first, min(item.last, last), item.flags, item.node)
        for item in arm.items or ()
        if item.first <= last
    ]
    kinds = {item.flags for item in arm.items}
    arm.flags = COMMENT if kinds == {COMMENT} else DEEP if DEEP in kinds else 0


def _children(node: Node, line_map: LineMap) -> list[_Entry]:
    """The children of a node, with those of its body in the place of the body.

    So the opening lines are followed by single statements, however the body is bracketed.
    """
    children, flags, body = _flagged_children(node, line_map)
    while body >= 0:
        inside, inner, at = _flagged_children(children[body], line_map)
        if not inside:
            break
        children = [*children[:body], *inside, *children[body + 1 :]]
        flags[body : body + 1] = inner
        body = body + at if at >= 0 else -1
    numbers, indents = line_map.numbers, line_map.indents
    entries: list[_Entry] = []
    for child, flag in zip(children, flags, strict=True):
        # As `place` has it, without the cost of a call for every node.
        row = child.start_point[0]
        end, column = child.end_point
        if end > row and column <= indents[end]:
            end -= 1
        first, last = numbers[row], numbers[end + 1] - 1
        if first < last and child.child_count and not flag & COMMENT:
            entries.append((first, last, flag if flag & OPEN else flag | DEEP, child))
        elif first <= last:
            entries.append((first, last, flag, None))
    return entries


def _loose(item: _Part, line_map: LineMap) -> list[_Entry]:
    """The children of the node of an item, each without the comments of what follows it.

    Those stand as entries of their own behind it; what belongs to what follows the item is left
    out.
    """
    entries: list[_Entry] = []
    for first, last, flags, node in _children(item.node, line_map) if item.node else ():
        tail = line_map.tail(node) if node and not isinstance(node, list) else []
        places = [line_map.place(comment) for comment in tail]
        ends = [start for start, _ in places] + [last + 1]
        entries.append((first, ends[0] - 1, flags, node))
        entries += [(start, end, COMMENT, None) for start, end in places]
    return [
        (first, min(last, item.last), flags, node)
        for first, last, flags, node in entries
        if first <= min(last, item.last)
    ]


def _flagged_children(node: Node, line_map: LineMap) -> tuple[list[Node], list[int], int]:
    """The children of a node, their flags, and which of them is the body, or -1."""
    grammar = line_map.grammar
    children = node.children
    if grammar.plain:
        kinds = [child.type for child in children]
    else:
        kinds = [kind_of(child, grammar) for child in children]
    known = line_map.flags.get
    flags = [known(kind, 0) for kind in kinds]
    if not children:
        return children, flags, -1
    if not children[0].is_named:
        flags[0] |= OPEN
    if not children[-1].is_named:
        flags[-1] |= CLOSE
    body = -1
    for field in grammar.bodies:
        if block := node.child_by_field_name(field):
            # In broken code a field may name a node further down.
            with contextlib.suppress(ValueError):
                body = children.index(block)
            break
    else:
        for kind in grammar.blocks:
            if kind in kinds:
                body = kinds.index(kind)
                break
    for at in range(body):
        flags[at] |= 0 if flags[at] & COMMENT else OPEN
    return children, flags, body


def _join(part: _Part, entries: list[_Entry]) -> list[_Part]:
    """The entries joined where they share a line, as parts that have all lines of `part`."""
    parts: list[_Part] = []
    new, reach = part, -1
    for first, last, flags, node in entries:
        if first > reach:
            if parts:
                new.last = first - 1
            new = _part(first, last, flags, node)
            parts.append(new)
            reach = last
            continue
        # A comment behind code changes nothing.
        if flags != COMMENT:
            new.flags = new.flags & flags & OF_ALL | (new.flags | flags) & OF_ANY
        if first < last:
            added = _part(first, last, flags, node)
            if new.items:
                new.items += added.items or [added]
            elif new.first < reach:
                old = _Part(new.first, reach, new.flags, new.node)
                new.node, new.items = None, [old, *(added.items or [added])]
            else:
                new.node, new.items = added.node, added.items
            reach = max(reach, last)
    parts[0].first = part.first
    new.last = part.last
    return parts


def _part(first: int, last: int, flags: int, inside: Node | list[_Part] | None) -> _Part:
    if isinstance(inside, list):
        return _Part(first, last, flags, None, inside)
    return _Part(first, last, flags, inside)


def _merge(old: _Part, new: _Part, flags: int, bracket: int = 0) -> _Part:
    """Two parts as one. Rows of brackets become one item, for there may be thousands."""
    items = old.items or [old]
    added = new.items or [new]
    tail = items[-1]
    if tail.flags & bracket and not tail.node and not any(item.node for item in added):
        items[-1] = _Part(tail.first, new.last, bracket)
    else:
        items += added
    return _Part(old.first, max(old.last, new.last), flags, None, items)


def _common_flags(first: int, second: int) -> int:
    return first & second & OF_ALL | (first | second) & OF_ANY
