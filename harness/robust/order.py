"""Another order for functions that stand next to each other."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from chunkers.grammars.model import kind_of, name_of, text_of, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from harness.robust.positions import Edit, Interval
    from harness.robust.syntax import File

LANGUAGES = words("go java javascript kotlin php python ruby rust scala swift tsx typescript")
"""Languages in which a function may stand before those that it calls, or after them."""

_AT_ONCE = re.compile("call|await|yield|named_expression|comprehension|generator")
"""Parts of a Python signature that may do something when the function is defined."""


class _Function(NamedTuple):
    """The name of a function, its lines, and the words that defining it reads."""

    name: str
    span: Interval
    reads: frozenset[str]


def reordered(file: File) -> Iterator[Edit]:
    """Give functions other places, with the comments right above them, in runs of adjacent ones.

    A run ends at any other code, at a function with a decorator, at a name that it has already, and
    at a Python function whose definition may depend on the others. It stays as it is if a target or
    a masked region holds more than one of its functions, but not all.
    """
    parents = [file.root] if file.source.language in LANGUAGES else []
    while parents:
        children = parents.pop().children
        for run in _runs(file, children):
            spans = [function.span for function in run]
            if len(run) > 1 and all(_keeps(spans, place) for place in file.places):
                order = _order([function.name for function in run], file.seed)
                yield from ((*spans[to], spans[number]) for to, number in enumerate(order))
        # What is inside of a function moves with it.
        kinds = file.grammar.definitions | file.grammar.values
        parents += [child for child in children if kind_of(child, file.grammar) not in kinds]


def _runs(file: File, children: Sequence[Node]) -> Iterator[list[_Function]]:
    run: list[_Function] = []
    attributed = False
    for node in children:
        if node.type in file.grammar.comments:
            continue
        function = None if attributed else _function(file, node)
        attributed = node.type in file.grammar.attributes or _declares(node)
        if function is None or any(_tied(function, other) for other in run):
            yield run
            run = []
        if function is not None:
            run.append(function)
    yield run


def _declares(node: Node) -> bool:
    """Whether the next function may be one with this, an overload of it, say."""
    return any(
        word in part.type
        for part in (node, *node.named_children[:1])
        for word in ("signature", "decorated")
    )


def _tied(function: _Function, other: _Function) -> bool:
    """Whether the order of two functions may matter."""
    return (
        function.name == other.name or function.name in other.reads or other.name in function.reads
    )


def _function(file: File, node: Node) -> _Function | None:
    """A function that can be moved."""
    inner = node
    if node.type == "export_statement":
        inner = next(iter(node.named_children), node)
    if kind_of(inner, file.grammar) not in file.grammar.definitions:
        return None
    name, receiver = name_of(inner, file.grammar), inner.child_by_field_name("receiver")
    reads = _reads(inner) if file.source.language == "python" else frozenset()
    span = _lines(file, node)
    if name is None or reads is None or span is None:
        return None
    owner = text_of(receiver) if receiver else ""  # of a method in Go
    return _Function(owner + text_of(name), span, reads)


def _reads(node: Node) -> frozenset[str] | None:
    """The words of a Python signature; None if it may do more than read."""
    read = set()
    nodes = [
        child
        for field in ("parameters", "return_type", "type_parameters")
        if (child := node.child_by_field_name(field))
    ]
    while nodes:
        part = nodes.pop()
        if _AT_ONCE.search(part.type):
            return None
        read.add(text_of(part))
        nodes += part.children
    return frozenset(read)


def _lines(file: File, node: Node) -> Interval | None:
    """The lines of a node with the comments right above it; None if other code shares them."""
    text, lines, tokens = file.source.text, file.source.lines, file.tokens
    start, end = file.span(node)
    first, last = lines.start_of(lines.line_of(start)), lines.end_of(lines.line_of(end - 1))
    rest = tokens[bisect_left(tokens, (end,)) : bisect_left(tokens, (last,))]
    if any(stop > last or not comment for _, stop, comment in rest):
        return None
    if text[first:start].strip() or not text[:last].endswith("\n"):
        return None
    at = bisect_left(tokens, (start,)) - 1
    column = start - first
    while at >= 0 and tokens[at][2]:
        begin, close, _ = tokens[at]
        above = lines.start_of(lines.line_of(begin))
        touching = text[close:first].strip() == "" and text.count("\n", close, first) == 1
        alone = begin - above == column and not text[above:begin].strip()
        # The first two lines may name an interpreter or an encoding.
        if not (touching and alone and lines.line_of(begin) > 2):
            break
        first, at = above, at - 1
    if at >= 0 and tokens[at][1] > first:
        return None
    return first, last


def _keeps(spans: Sequence[Interval], place: Interval) -> bool:
    """Whether a place is in one piece after any reordering of the spans."""
    low, high = place
    touched = [(start, end) for start, end in spans if start < high and low < end]
    within = len(touched) == 1 and touched[0][0] <= low and high <= touched[0][1]
    return not touched or within or (low <= spans[0][0] and spans[-1][1] <= high)


def _order(names: Sequence[str], seed: int) -> list[int]:
    """A permutation by names alone, so that copies are treated alike; it moves something."""

    def draw(number: int) -> bytes:
        return hashlib.sha256(f"{seed}\t{names[number]}".encode("utf-8", "replace")).digest()

    order = sorted(range(len(names)), key=draw)
    return order if order != sorted(order) else [*order[1:], order[0]]
