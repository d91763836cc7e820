"""The named definitions of a source: where each stands, what it is called, and its signature."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.grammars.loading import grammar_of
from chunkers.grammars.model import ATTRIBUTES, COMMENTS, kind_of, name_of
from chunkers.grammars.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from chunkers.grammars.model import Grammar
    from chunkers.source import Source

LONGEST = 200
"""Characters of a name or a signature that are kept."""

# What stands above a definition, or in front of it inside its own node.
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
        start_line: First line, counted from 1; comments, attributes and decorators above it are
            not included, a C++ template head is.
        end_line: Last line, included.
        name: Its name; the type of an `impl`, the variable that holds a function.
        signature: The source from its first line up to its body, white space collapsed, at most
            200 characters; its first line where it has no body.
        body_line: The line on which its body begins, the bracket included; `end_line` where it
            has none.
    """

    start_line: int
    end_line: int
    name: str
    signature: str
    body_line: int


def outline(source: Source) -> tuple[Scope, ...]:
    """Every named definition of a source, nested ones too, in order of start, outer before inner.

    What begins and ends inside a statement of one line is left out. Without a grammar there is
    none; broken code has those that the parser recovers. Every call parses the source anew.

    Raises:
        InputError: The grammar's wheel is missing.
    """
    grammar, root = grammar_of(source.language), parse(source)
    if grammar is None or root is None:
        return ()
    octets = source.text.encode("utf-8", "surrogatepass")
    found = ((one, _scope(one, octets, grammar)) for one in definition_nodes(root, grammar))
    scopes = [(one.begin.start_byte, scope) for one, scope in found if scope is not None]
    # A function in a decorator begins before what it decorates.
    return tuple(scope for _, scope in sorted(scopes, key=lambda one: one[0]))


@dataclass(frozen=True, slots=True)
class DefinitionNode:
    """A definition as nodes of a syntax tree.

    Attributes:
        node: The definition, without what is wrapped round it.
        begin: Its first part, or that of its outermost wrapper, that is no comment, attribute or
            decorator.
        holder: What has its body: itself, or the value that it names.
    """

    node: Node
    begin: Node
    holder: Node


def definition_nodes(root: Node, grammar: Grammar) -> Iterator[DefinitionNode]:
    """Every definition of a tree, outer before inner; see `outline` for what is left out.

    Some have no name; see `name_in`.
    """
    # A node, and where the wrappers round it begin.
    stack: list[tuple[Node, Node | None]] = [(root, None)]
    while stack:
        node, begin = stack.pop()
        wraps = node.type in grammar.wrappers
        holder = None if wraps else _holder(node, grammar)
        if holder is not None:
            yield DefinitionNode(node, begin or _begin(node), holder)
        if wraps or node.start_point[0] < node.end_point[0] or _is_body(node.type, grammar):
            children = node.children
            first = _first(children, grammar) if wraps else -1
            begin = (begin or _begin(node)) if wraps else None
            stack += [
                (child, begin if at == first else None)
                for at, child in reversed(list(enumerate(children)))
                if child.child_count
            ]


def name_in(one: DefinitionNode, octets: bytes, grammar: Grammar) -> str:
    """What a definition is called in a source of these bytes; empty where it defines nothing."""
    name = _collapsed(_name(one.node, grammar), octets)
    # `struct store *make()` names a type, it does not define one.
    if one.node.type.endswith("_specifier") and _body(one.holder, grammar) is None:
        return ""
    return name


def _holder(node: Node, grammar: Grammar) -> Node | None:
    """The node that has the body, if the node is a definition: itself, or the value it names."""
    if node.type in grammar.transparent and node.start_point[0] < node.end_point[0]:
        return None  # what it stands for comes next
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
    """Which of a wrapper's children begins where the wrapper does; -1 if none."""
    kinds = grammar.definitions | grammar.scopes | grammar.carriers | grammar.wrappers
    return next((at for at, child in enumerate(children) if child.type in kinds), -1)


def _begin(node: Node) -> Node:
    """The first part of a node that is no comment, attribute or decorator."""
    while True:
        for child in node.children:
            if child.type == "modifiers":
                rest = [one for one in child.children if one.type not in _ABOVE]
                if rest:
                    return rest[0]
            elif child.type not in _ABOVE:
                break
        else:
            return node
        if child.start_byte == node.start_byte:
            return node
        node = child


def _scope(one: DefinitionNode, octets: bytes, grammar: Grammar) -> Scope | None:
    node, begin, name = one.node, one.begin, name_in(one, octets, grammar)
    if not name:
        return None
    body = _body(one.holder, grammar)
    first, last = begin.start_point[0], _last_row(node)
    start = begin.start_byte
    line = octets.rfind(b"\n", 0, start) + 1
    if _WORDS.fullmatch(octets[line:start].decode("utf-8", "replace")):
        start = line  # `export default`, `type`: words that belong to it
    if body is None:
        head = octets[start : node.end_byte].partition(b"\n")[0]
        return Scope(first + 1, last + 1, name, _short(head.rstrip(b"{ \t\r")), last + 1)
    head = octets[start : _head_end(body)]
    return Scope(first + 1, last + 1, name, _short(head), body.start_point[0] + 1)


def _head_end(body: Node) -> int:
    """The byte behind what comes before a body, comments between the two left out."""
    before = body.prev_sibling
    while before is not None and before.type in COMMENTS:
        before = before.prev_sibling
    return body.start_byte if before is None else before.end_byte


def _last_row(node: Node) -> int:
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _name(node: Node, grammar: Grammar) -> Node | None:
    """What names a definition."""
    if grammar.names and (found := name_of(node, grammar)):
        return found
    for field in _NAMES:
        if found := node.child_by_field_name(field):
            return found
    inner = node.child_by_field_name("declarator")
    if inner is None:
        return node.child_by_field_name("type") or _identifier(node)
    while inner.type != "operator_cast":
        deeper = inner.child_by_field_name("declarator") or next(
            (child for child in inner.named_children if child.type.endswith("declarator")), None
        )
        if deeper is None:
            break
        inner = deeper
    return inner


def _identifier(node: Node) -> Node | None:
    return next((one for one in node.named_children if one.type.endswith("identifier")), None)


def _body(holder: Node, grammar: Grammar) -> Node | None:
    """What follows the signature of a definition."""
    inside = [holder, *map(holder.child_by_field_name, _VALUES)]
    for node in filter(None, inside):
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
    """A piece of source on one line. What lies far behind, or in half a character, is lost."""
    return " ".join(octets[: 8 * LONGEST].decode("utf-8", "ignore").split())[:LONGEST].rstrip()
