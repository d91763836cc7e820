"""The description of a grammar: which kinds of nodes are definitions, scopes, comments, …."""

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
    """The kinds `kind word` for the words of a text; see `Grammar.kind_steps`."""
    return frozenset(f"{kind} {word}" for word in text.split())


NONE: frozenset[str] = frozenset()
COMMENTS = words("comment line_comment block_comment")
ATTRIBUTES = words("decorator attribute_item access_specifier")
BODIES = ("body", "consequence", "definition", "declaration")
BLOCKS = ("block", "statement_list")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """A tree-sitter grammar, and the roles of its nodes, as sets of kinds (see `kind_of`).

    Attributes:
        module: Import name of its wheel; the distribution's name has `-` for `_`.
        function: The wheel's function that returns the grammar.
        symbol: Without a wheel, its name in the library of `tree-sitter-languages`.
        definitions: Functions and methods.
        values: Functions that are values; a definition if a carrier names it.
        carriers: Nodes that name a value (their field `value` or `right`).
        heads: Kind -> kinds; the node is a definition if one of its first two named children has
            one of these kinds.
        wrappers: Nodes round one definition that belong to it.
        names: The steps from a definition or scope to its name, if it has no field `name`: fields,
            types of children, or indices of named children; a step that leads nowhere is skipped.
        clauses: Whether neighbouring definitions of the same name are one definition.
        scopes: Named containers of definitions or members: classes, modules, namespaces, types.
            C's `struct_specifier` and the like are scopes only if they have a body.
        comments: Comments.
        attributes: Nodes that belong to the next definition: decorators, annotations, doc strings.
        leads: Attributes that a definition has at most one of, such as a signature.
        bodies: Fields that hold the body of a construct; the first that exists counts.
        blocks: Kinds of bodies that are in no field.
        openers: Nodes that belong to the rest of their construct: start tags, headings.
        closers: Nodes that belong to the part before them.
        kind_steps: Kind -> steps as in `names`, to the word that distinguishes its kinds.
        transparent: Kinds that count as their only named child.
        loose: Whether a node may end in the indentation of a later line, or with the comments of
            the next node.
        deepest: Levels of indentation that its scanner can keep; 0 if unlimited.
        plain: Whether the kind of every node is its type.
        candidates: Kinds and types of definitions and of wrappers round them.
        roles: Types of nodes that may be a definition, a scope or a wrapper round one.
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
    roles: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", not (self.kind_steps or self.transparent))
        kinds = self.definitions | self.carriers | self.wrappers | self.heads.keys()
        object.__setattr__(self, "candidates", kinds)
        roles = kinds | self.scopes | self.transparent | self.kind_steps.keys()
        object.__setattr__(self, "roles", roles)


def kind_of(node: Node, grammar: Grammar) -> str:
    """The kind of a node: its type, with a word after it if the grammar has `kind_steps`.

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
    """The name of a definition or a scope by `Grammar.names`; None if no step leads anywhere."""
    name = node
    for step in grammar.names or ("name",):
        name = _step(name, step) or name
    return None if name is node else name


def _step(node: Node, step: str) -> Node | None:
    if step.isdigit():
        children = node.named_children
        return children[int(step)] if int(step) < len(children) else None
    if child := node.child_by_field_name(step):
        return child
    return next((child for child in node.named_children if child.type == step), None)


def text_of(node: Node) -> str:
    """The source of a node."""
    return (node.text or b"").decode("utf-8", "replace")
