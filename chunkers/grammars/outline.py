"""The named definitions of a source: their lines, names and signatures."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.grammars.loading import grammar_of
from chunkers.grammars.model import ATTRIBUTES, COMMENTS, kind_of, name_of
from chunkers.grammars.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from chunkers.grammars.model import Grammar
    from chunkers.source import Source

LONGEST = 200
"""Characters of a name or a signature that are kept."""

# Nodes above a definition, or at the start of its own node, that do not belong to its signature.
_ABOVE = (
    ATTRIBUTES
    | COMMENTS
    | {"annotation", "marker_annotation", "attribute", "attribute_list", "attribute_declaration"}
)
_NAMES = ("name", "property", "key", "left")
_VALUES = ("value", "right", "type")
_BODY = re.compile(r"(^|_)(body|block|suite|declaration_list|compound_statement)$")
_WORDS = re.compile(r"[\w\s]*")


@dataclass(frozen=True, slots=True)
class Scope:
    """A named definition: function, method, class, module, namespace, ….

    Attributes:
        start_line: First line, from 1, with a C++ template head but without the comments,
            attributes and decorators above.
        end_line: Last line, included.
        name: Its name; the type of an `impl`, the variable that holds a function.
        signature: The source from its first line up to its body, white space collapsed, at most
            200 characters; without a body, its first line.
    """

    start_line: int
    end_line: int
    name: str
    signature: str


def outline(source: Source, lines: Sequence[int] | None = None) -> tuple[Scope, ...]:
    """The named definitions of a source, nested or not, in order of start, outer before inner.

    Definitions inside a statement of one line are left out. Without a grammar there are none;
    broken code has those that the parser recovers.

    Args:
        source: The source.
        lines: Ascending lines, from 1. All definitions that have one of them are returned, and
            perhaps others: the rest of the tree is not walked. None for every definition.

    Raises:
        InputError: The grammar's wheel is missing.
    """
    grammar, root = grammar_of(source.language), parse(source)
    if grammar is None or root is None:
        return ()
    octets = source.text.encode("utf-8", "surrogatepass")
    # A function in a decorator begins before the function that it decorates.
    nodes = sorted(definition_nodes(root, grammar, lines), key=lambda node: node.begin.start_byte)
    scopes = (_scope(node, octets, grammar) for node in nodes)
    return tuple(scope for scope in scopes if scope is not None)


@dataclass(frozen=True, slots=True)
class DefinitionNode:
    """A definition as nodes of a syntax tree.

    Attributes:
        node: The definition without its wrappers.
        begin: The first part of it, or of its outermost wrapper, after comments, attributes and
            decorators.
        holder: The node with its body: itself, or the value that it names.
    """

    node: Node
    begin: Node
    holder: Node


def definition_nodes(
    root: Node, grammar: Grammar, lines: Sequence[int] | None = None
) -> Iterator[DefinitionNode]:
    """The definitions of a tree as in `outline`, named or not, outer before inner."""
    # A node, and the beginning of the wrappers round it.
    stack: list[tuple[Node, Node | None]] = [(root, None)]
    while stack:
        node, begin = stack.pop()
        kind = node.type
        wraps = kind in grammar.wrappers
        if kind in grammar.roles and not wraps:
            holder = _holder(node, grammar)
            if holder is not None:
                yield DefinitionNode(node, begin or _begin(node), holder)
        if not (wraps or node.start_point[0] < node.end_point[0] or _is_body(kind, grammar)):
            continue
        children = node.children
        first = _first(children, grammar) if wraps else -1
        begin = (begin or _begin(node)) if wraps else None
        # Most nodes lie on one line, and are neither definitions nor bodies of some.
        inner = [
            (child, begin if at == first else None)
            for at, child in enumerate(children)
            if child.child_count
            and (wraps or lines is None or _has_one_of(child, lines))
            and (
                child.start_point[0] < child.end_point[0]
                or (kind := child.type) in grammar.roles
                or _is_body(kind, grammar)
            )
        ]
        stack += reversed(inner)


def _has_one_of(node: Node, lines: Sequence[int]) -> bool:
    at = bisect_right(lines, node.start_point[0])
    return at < len(lines) and lines[at] <= node.end_point[0] + 1


def name_in(definition: DefinitionNode, octets: bytes, grammar: Grammar) -> str:
    """The name of a definition in a source of these bytes; empty if it only refers to a type."""
    node = definition.node
    # `struct store *make()` does not define the type that it names.
    if node.type.endswith("_specifier") and _body(definition.holder, grammar) is None:
        return ""
    return _collapsed(_name(node, grammar), octets)


def _holder(node: Node, grammar: Grammar) -> Node | None:
    """The node that has the body, if the node is a definition: itself, or the value it names."""
    if node.type in grammar.transparent and node.start_point[0] < node.end_point[0]:
        return None  # its only child comes next
    kind = kind_of(node, grammar)
    if kind in grammar.definitions or kind in grammar.scopes:
        return node
    heads = grammar.heads.get(kind)
    if heads and any(child.type in heads for child in node.named_children[:2]):
        return node
    if node.type in grammar.carriers:
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if value is not None and (value.type in grammar.values or value.type in grammar.scopes):
            return value
    return None


def _first(children: list[Node], grammar: Grammar) -> int:
    """Index of the child of a wrapper that counts from the wrapper's beginning; -1 if none."""
    kinds = grammar.definitions | grammar.scopes | grammar.carriers | grammar.wrappers
    return next((at for at, child in enumerate(children) if child.type in kinds), -1)


def _begin(node: Node) -> Node:
    """The first part of a node that is not a comment, attribute or decorator."""
    while True:
        for child in node.children:
            if child.type == "modifiers":
                rest = [part for part in child.children if part.type not in _ABOVE]
                if rest:
                    return rest[0]
            elif child.type not in _ABOVE:
                break
        else:
            return node
        if child.start_byte == node.start_byte:
            return node
        node = child


def _scope(definition: DefinitionNode, octets: bytes, grammar: Grammar) -> Scope | None:
    node, begin = definition.node, definition.begin
    name = name_in(definition, octets, grammar)
    if not name:
        return None
    body = _body(definition.holder, grammar)
    first, last = begin.start_point[0], _last_row(node)
    start = begin.start_byte
    line = octets.rfind(b"\n", 0, start) + 1
    if _WORDS.fullmatch(octets[line:start].decode("utf-8", "replace")):
        start = line  # `export default` and `type` belong to the definition
    if body is None:
        head = octets[start : node.end_byte].partition(b"\n")[0]
        return Scope(first + 1, last + 1, name, _short(head.rstrip(b"{ \t\r")))
    head = octets[start : _head_end(body)]
    return Scope(first + 1, last + 1, name, _short(head))


def _head_end(body: Node) -> int:
    """The end of the code before a body, in bytes, comments between the two left out."""
    before = body.prev_sibling
    while before is not None and before.type in COMMENTS:
        before = before.prev_sibling
    return body.start_byte if before is None else before.end_byte


def _last_row(node: Node) -> int:
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _name(node: Node, grammar: Grammar) -> Node | None:
    """The node that names a definition."""
    if grammar.names and (name := name_of(node, grammar)):
        return name
    for field in _NAMES:
        if name := node.child_by_field_name(field):
            return name
    inner = node.child_by_field_name("declarator")
    if inner is None:
        identifiers = (child for child in node.named_children if child.type.endswith("identifier"))
        return node.child_by_field_name("type") or next(identifiers, None)
    while inner.type != "operator_cast":
        deeper = inner.child_by_field_name("declarator") or next(
            (child for child in inner.named_children if child.type.endswith("declarator")), None
        )
        if deeper is None:
            break
        inner = deeper
    return inner


def _body(holder: Node, grammar: Grammar) -> Node | None:
    """The node after the signature of a definition."""
    for node in filter(None, [holder, *map(holder.child_by_field_name, _VALUES)]):
        if body := node.child_by_field_name("body"):
            return body
        for child in node.children:
            if _is_body(child.type, grammar):
                return child
    return None


def _is_body(kind: str, grammar: Grammar) -> bool:
    return kind in grammar.blocks or _looks_like_body(kind)


@functools.cache
def _looks_like_body(kind: str) -> bool:
    return _BODY.search(kind) is not None


def _collapsed(node: Node | None, octets: bytes) -> str:
    if node is None:
        return ""
    name = _short(octets[node.start_byte : node.end_byte])
    if node.type == "operator_cast":
        name = name.partition("(")[0].rstrip()
    return name.strip("\"'`")


def _short(octets: bytes) -> str:
    """The beginning of a piece of source on one line, at most `LONGEST` characters."""
    return " ".join(octets[: 8 * LONGEST].decode("utf-8", "ignore").split())[:LONGEST].rstrip()
