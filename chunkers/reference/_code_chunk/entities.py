"""What a file defines and imports, in the order in which the original's queries report it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.reference._code_chunk.imports import imported_names
from chunkers.reference._code_chunk.rules import RULES
from chunkers.reference._code_chunk.signatures import signature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from chunkers.reference._code_chunk.rules import Kind, Rule
    from chunkers.reference._utf16 import Utf16Text

NAMELESS = "<anonymous>"


@dataclass(frozen=True, slots=True)
class Entity:
    """Something with a name; offsets are UTF-16 code units.

    Attributes:
        kind: What it is.
        name: Its name; for an import, one name that it brings.
        start: Start of its node.
        end: End of its node.
        signature: What stands before its body, in one line; empty for an import.
    """

    kind: Kind
    name: str
    start: int
    end: int
    signature: str = ""


def entities(root: Node, text: Utf16Text, language: str) -> list[Entity]:
    """All entities of a tree.

    Args:
        root: Its root, parsed as UTF-16.
        text: Its text.
        language: A key of `RULES`.
    """
    rules = RULES[language]
    result: list[Entity] = []
    # Entities whose last required part is yet to come, by the id of that part.
    pending: dict[int, list[tuple[Rule, Node]]] = defaultdict(list)
    for node, parent in _walk(root):
        rule = rules.get(node.type)
        if rule is not None and rule.parent in ("", parent.type):
            last = _last_part(node, parent, rule)
            if last is not None:
                pending[last.id].append((rule, node))
        if pending and node.id in pending:
            for rule, entity_node in pending.pop(node.id):
                result += _entities_of(rule.kind, entity_node, text, language)
    return result


def _walk(root: Node) -> Iterator[tuple[Node, Node]]:
    """Every node but the root with its parent, parents first."""
    cursor = root.walk()
    parents = [root]
    if not cursor.goto_first_child():
        return
    while True:
        node = cursor.node
        if node is None:
            return
        yield node, parents[-1]
        if cursor.goto_first_child():
            parents.append(node)
            continue
        while not cursor.goto_next_sibling():
            cursor.goto_parent()
            parents.pop()
            if not parents:
                return


def _last_part(node: Node, parent: Node, rule: Rule) -> Node | None:
    """The part that completes an entity; None if a required part is missing, so it is none."""
    if rule.until == "itself":
        return node
    if rule.until == "export_clause":
        return next((child for child in node.children if child.type == rule.until), None)
    name = node.child_by_field_name("name")
    if name is None or rule.name not in ("", name.type):
        return None
    if rule.until == "parameters":
        parameters = node.child_by_field_name("parameters")
        if parameters is not None and _has_named_receiver(node):
            return _closing(parameters) or parameters
        return None
    return (_closing(parent) or name) if rule.until == "group" else name


def _closing(node: Node) -> Node | None:
    return next((child for child in reversed(node.children) if child.type == ")"), None)


def _has_named_receiver(node: Node) -> bool:
    """Whether a method of Go names its receiver; true of all that has none."""
    receiver = node.child_by_field_name("receiver")
    return receiver is None or any(
        child.child_by_field_name("name") and child.child_by_field_name("type")
        for child in receiver.named_children
    )


def _entities_of(kind: Kind, node: Node, text: Utf16Text, language: str) -> list[Entity]:
    start, end = node.start_byte // 2, node.end_byte // 2
    if kind == "import":
        names = imported_names(node, text, language) or [NAMELESS]
        return [Entity(kind, name, start, end) for name in names]
    name = _name(node, text, language)
    return [Entity(kind, name, start, end, signature(kind, node, text, language) or name)]


def _name(node: Node, text: Utf16Text, language: str) -> str:
    name_node = node.child_by_field_name("name")
    if name_node is None and language == "rust":
        plain = ("identifier", "type_identifier")
        name_node = next((child for child in node.children if child.type in plain), None)
    return NAMELESS if name_node is None else text.node(name_node)
