"""Chains of constructs that a grammar nests, as the siblings that a reader sees.

In `if … else if … else if` each `else if` lies one level deeper in the tree, and so do the calls
of `a.b().c()`, the operands of `a || b || c`, nested ternaries and `elsif`. Split level by level,
every arm becomes a chunk of its own. Here the arms of a chain are found at once.

A chain is a run of nodes of which each is the last child of the one before (to the right: `else
if`) or the first (to the left: calls, operators), without a body between, and in which a kind of
node repeats.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from tree_sitter import Node

_BRACKETS = frozenset({")", "]", "}"})


def arms(node: Node, bodies: Collection[str], comments: Collection[str]) -> list[list[Node]]:
    """The arms of the chain that begins at a node, in order; empty where there is none.

    Args:
        node: The outermost node of the chain.
        bodies: Fields that hold the body of a construct; a chain goes through those alone that are
            of a kind it has already, such as the `if` in PHP's `else if`.
        comments: Kinds of comments.

    Returns:
        For each arm its nodes in order. Together they are all that lies in the chain.
    """
    for spine in (_right(node, bodies), _left(node)):
        kinds = Counter(link.type for link in spine)
        while len(spine) > 1 and kinds[spine[-1].type] == 1:
            spine.pop()
        if len(spine) > 1:
            return (
                _to_right(spine, comments)
                if spine[0].start_byte < spine[1].start_byte
                else (_to_left(spine))
            )
    return []


def _right(node: Node, bodies: Collection[str]) -> list[Node]:
    """The nodes from `node` on, each the last of the one before but for words such as `end`."""
    spine = [node]
    while True:
        children = node.children.copy()  # the node keeps the list
        while children and not children[-1].is_named and children[-1].type not in _BRACKETS:
            children.pop()
        if len(children) < 2 or not _is_long(children[-1]) or not children[-1].is_named:
            return spine
        kind = children[-1].type
        if all(kind != link.type for link in spine) and children[-1] in [
            node.child_by_field_name(field) for field in bodies
        ]:
            return spine
        node = children[-1]
        spine.append(node)


def _left(node: Node) -> list[Node]:
    """The nodes from `node` on, each the first of the one before."""
    spine = [node]
    # In broken code `child_count` may exceed the children that there are.
    while len(children := node.children) > 1 and _is_long(children[0]):
        node = children[0]
        spine.append(node)
    return spine


def _is_long(node: Node) -> bool:
    return node.start_point[0] < node.end_point[0]


def _to_right(spine: list[Node], comments: Collection[str]) -> list[list[Node]]:
    arms: list[list[Node]] = []
    after: list[Node] = []
    for node, link in zip(spine, [*spine[1:], None], strict=True):
        children = node.children
        if link is None:
            arms.append(children)
            break
        at = children.index(link)
        after = children[at + 1 :] + after
        before = at
        while before and children[before - 1].type in comments:
            before -= 1  # a comment right above an arm is of that arm
        arms.append(children[:before])
        if before < at:
            arms.append(children[before:at])
    arms[-1] = arms[-1] + after
    return arms


def _to_left(spine: list[Node]) -> list[list[Node]]:
    return [spine[-1].children, *(node.children[1:] for node in reversed(spine[:-1]))]
