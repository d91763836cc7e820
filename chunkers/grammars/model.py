"""What a chunker must know of a grammar."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set of names."""
    return frozenset(text.split())


def kinds(kind: str, text: str) -> frozenset[str]:
    """The kinds that the words of a text tell apart; see `Grammar.kind_steps`."""
    return frozenset(f"{kind} {word}" for word in text.split())


NONE: frozenset[str] = frozenset()
COMMENTS = words("comment line_comment block_comment")
ATTRIBUTES = words("decorator attribute_item access_specifier")
BODIES = ("body", "consequence", "definition", "declaration")
BLOCKS = ("block", "statement_list")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """A tree-sitter grammar, and what its nodes are.

    Sets hold kinds of nodes: a kind is the node's type, or what `kind_of` makes of it.

    Attributes:
        module: Import name of its wheel, whose distribution is spelt with `-`.
        function: The wheel's function that returns the grammar.
        symbol: Where there is no wheel, its name in the library of `tree-sitter-languages`.
        definitions: Functions and methods.
        values: Functions that are values, which are definitions where something is named so.
        carriers: What gives a value (its field `value` or `right`) a name.
        heads: Kind -> kinds, of which one of its first two named children must be for it to be a
            definition.
        wrappers: What stands round one definition and belongs to it.
        names: The steps from a definition or scope to its name, where that is in no field `name`:
            fields, types of children, or numbers of named children; one that leads nowhere is left
            out.
        clauses: Whether neighbouring definitions of one name are one.
        scopes: Named containers of definitions or members: classes, modules, namespaces, types.
            A node of C's `struct_specifier` kind is one only where it has a body.
        comments: Comments.
        attributes: What belongs to the definition that comes next: decorators, annotations that
            are no part of it, doc strings.
        leads: Attributes of which a definition has but one, such as a signature.
        bodies: Fields that hold what a construct opens, the first found counts.
        blocks: Kinds that do so without a field.
        openers: What belongs to all that follows in its construct: start tags, headings.
        closers: What belongs to all that comes before.
        kind_steps: Kind -> steps as in `names`, to the word that tells its kinds apart.
        transparent: Kinds that are what their only named child is.
        loose: Whether a node may end in the indentation of a later line, or with the comments of
            what follows it.
        deepest: How many levels of indentation its scanner can keep; 0 where it has no such bound.
    """

    module: str = ""
    function: str = "language"
    symbol: str = ""
    definitions: frozenset[str] = NONE
    values: frozenset[str] = NONE
    carriers: frozenset[str] = NONE
    heads: Mapping[str, frozenset[str]] = field(default_factory=dict)
    wrappers: frozenset[str] = NONE
    names: tuple[str, ...] = ()
    clauses: bool = False
    scopes: frozenset[str] = NONE
    comments: frozenset[str] = COMMENTS
    attributes: frozenset[str] = ATTRIBUTES
    leads: frozenset[str] = NONE
    bodies: tuple[str, ...] = BODIES
    blocks: tuple[str, ...] = BLOCKS
    openers: frozenset[str] = NONE
    closers: frozenset[str] = NONE
    kind_steps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    transparent: frozenset[str] = NONE
    loose: bool = False
    deepest: int = 0
    plain: bool = field(init=False)
    candidates: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        # Whether a node's kind is its type, whatever the node; and of which kinds or types a
        # definition is, or what is wrapped round one.
        object.__setattr__(self, "plain", not (self.kind_steps or self.transparent))
        kinds = self.definitions | self.carriers | self.wrappers | self.heads.keys()
        object.__setattr__(self, "candidates", kinds)


def kind_of(node: Node, grammar: Grammar) -> str:
    """The kind of a node: its type, with a word behind it where the grammar says so.

    An Elixir function is a call of `def`, so its kind is `call def`.
    """
    if grammar.plain:
        return node.type
    while node.type in grammar.transparent and node.named_child_count == 1:
        node = node.named_children[0]
    kind = node.type
    if kind not in grammar.kind_steps:
        return kind
    word: Node | None = node
    for step in grammar.kind_steps[kind]:
        word = word and _step(word, step)
    return f"{kind} {text_of(word)}" if word else kind


def name_of(node: Node, grammar: Grammar) -> Node | None:
    """What names a definition or a scope by the steps of its grammar, if they lead anywhere."""
    name = node
    for step in grammar.names or ("name",):
        name = _step(name, step) or name
    return None if name is node else name


def _step(node: Node, step: str) -> Node | None:
    if step.isdigit():
        children = node.named_children
        return children[int(step)] if int(step) < len(children) else None
    if found := node.child_by_field_name(step):
        return found
    return next((child for child in node.named_children if child.type == step), None)


def text_of(node: Node) -> str:
    """The source of a node."""
    return (node.text or b"").decode("utf-8", "replace")
