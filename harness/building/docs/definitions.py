"""The named definitions of a source: what each is called, and its lines.

Whoever speaks of definitions by name does so by these: ids and targets out of doc comments, targets
of calls, and the symbols of people's own questions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.grammars.model import NONE, kind_of
from chunkers.grammars.outline import DefinitionNode, definition_nodes, name_in
from harness.building.docs.doc_nodes import Tree, pieces_of
from harness.building.docs.doc_styles import STYLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tree_sitter import Node

    from chunkers.grammars.model import Grammar
    from chunkers.source import Source
    from harness.building.docs.doc_nodes import Piece

_RECEIVER = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)?\)\s*$")
_WORDS = re.compile(r"[\w\s]*")
_ARGUMENTS = re.compile(r"(?<=\w)\s*<[^<>]*>")
_OPERATOR = re.compile(r"(?:^|(?<=\W))operator\b")
_JOINTS = re.compile(r"\s*(?:::|\.|\\|:(?=\w+$))\s*")
_PART = re.compile(r"[~\w$@]")
_SPACE = re.compile(r"namespace|module|mod_item|package|program")
# What JavaScript says before a name without making the name a member of a class.
_NO_OWNERS = frozenset({"exports", "module", "self", "this", "window", "globalThis"})
# What names a structure without a name of its own, and which of its parts is one.
_TYPES = {
    "type_alias_declaration": frozenset({"object_type"}),
    "type_definition": frozenset({"struct_specifier", "union_specifier", "enum_specifier"}),
}


@dataclass(frozen=True, slots=True)
class Named:
    """A definition with a name: characters [start, end), attributes above it not included.

    Attributes:
        key: Its first byte, attributes and wrappers not included.
        parts: The names of the definitions round it, outer before inner, and its own. Where it
            names its class itself, as in Go or outside of a C++ class, that is one of them.
        start: First character, words such as `export` included.
        end: Behind the last, comments of what follows not included.
        container: Whether it only holds others: a namespace, or an `impl` beside its type.
        owner: Name of the class or the like that it is a member of; empty for none.
        local: Whether it stands inside a function, where no other file can name it.
        function: Whether it is a function or a method.
    """

    key: int
    parts: tuple[str, ...]
    start: int
    end: int
    container: bool
    owner: str
    local: bool
    function: bool

    @property
    def name(self) -> str:
        """Its name with those round it: `Class.method` in every language."""
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class Placed:
    """A definition and its lines, attributes and decorators above it included."""

    named: Named
    first: int
    last: int


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a name: `Class`, `method` of `Class.method`, `Class<T>::method`, `Class:method`.

    What is no such name, as most operators are, is one part.
    """
    match = _OPERATOR.search(name)
    head, tail = (name[: match.start()], [name[match.start() :]]) if match else (name, [])
    while (shorter := _ARGUMENTS.sub("", head)) != head:
        head = shorter
    parts = _JOINTS.split(head.strip())
    if match and parts[-1] == "":  # `Class::` before `operator`
        parts.pop()
    parts = [*(one for one in parts if one != "prototype"), *tail]
    return tuple(parts) if all(map(_PART.match, parts)) else (name,)


def named_of(tree: Tree) -> Iterator[Named]:
    """The named definitions of a source, outer before inner.

    Those on one line inside of a statement of one line are among them.
    """
    grammar, text = tree.grammar, tree.source.text
    style = STYLES.get(tree.source.language or "")
    containers = style.containers if style else NONE
    # Where the definitions round the current one end, their parts, whether each is a function, and
    # whether it can own members.
    around: list[tuple[int, tuple[str, ...], bool, bool]] = []
    for one in _found(tree):
        parts = _parts(one, tree)
        if not parts:
            continue
        while around and around[-1][0] <= one.node.start_byte:
            around.pop()
        owners = [last[-1] for _, last, _, owns in around if owns]
        owners += [part for part in parts[:-1] if part not in _NO_OWNERS]
        kind = kind_of(one.holder, grammar)
        function = kind in grammar.definitions | grammar.values | grammar.heads.keys()
        yield Named(
            key=one.node.start_byte,
            parts=tuple(part for _, outer, _, _ in around for part in outer) + parts,
            start=_start(text, tree.at(one.begin.start_byte)),
            end=tree.at(_end(one.node, grammar)),
            container=kind_of(one.node, grammar) in containers,
            owner=owners[-1] if owners else "",
            local=any(inside for _, _, inside, _ in around),
            function=function,
        )
        around.append((one.node.end_byte, parts, function, not (function or _SPACE.search(kind))))


def placed_in(source: Source) -> list[Placed]:
    """The named definitions of a source with their lines, outer before inner; none without grammar.

    Raises:
        UnparsedError: Its parser does not come back.
        InputError: The grammar's wheel is missing.
    """
    tree = Tree.of(source)
    return [] if tree is None else placed_of(tree)


def placed_of(tree: Tree) -> list[Placed]:
    """The named definitions of a source with their lines, outer before inner."""
    text, lines = tree.source.text, tree.source.lines
    ends = ends_of(pieces_of(tree, STYLES.get(tree.source.language or "")))
    placed = []
    for one in named_of(tree):
        first, _ = above(text, one, ends)
        placed.append(Placed(one, lines.line_of(first), lines.line_of(max(one.end - 1, first))))
    return placed


def ends_of(pieces: Sequence[Piece]) -> dict[int, Piece]:
    """Comments and attributes by their ends.

    To some grammars a comment behind an attribute is the end of it: then the attribute counts.
    """
    return {piece.end: piece for piece in reversed(pieces)}


def above(text: str, one: Named, ends: Mapping[int, Piece]) -> tuple[int, tuple[str, ...]]:
    """Where a definition begins with its attributes, and the doc comments right above it.

    Attributes may stand between the two, and so may other comments, on lines of their own or
    behind an attribute. Of comments of several lines the last counts; those of a line count as far
    as they stand together.
    """
    first = at = one.start
    comments: list[str] = []
    near = True
    while piece := ends.get(_visible(text, at)):
        apart = text.count("\n", piece.end, at)
        if piece.role == "attribute":
            first = piece.start
        elif piece.role == "behind" or not (
            not apart or _alone(text, piece) or _behind_attribute(text, piece, ends)
        ):
            break
        elif apart > 1:
            near = False  # for doc comments; attributes may be any distance away
        elif piece.role == "doc" and near:
            comments = _joined(text, piece, ends)
            near = False
        at = piece.start
    return first, tuple(comments)


def _joined(text: str, piece: Piece, ends: Mapping[int, Piece]) -> list[str]:
    """A doc comment, with those before it where it is one of a line and they stand together."""
    comments = [text[piece.start : piece.end]]
    while not comments[0].startswith("/*"):
        end = _visible(text, piece.start)
        before = ends.get(end)
        joined = before and before.role == "doc" and text.count("\n", end, piece.start) == 1
        if before is None or not joined or text.startswith("/*", before.start):
            break
        piece = before
        comments.insert(0, text[piece.start : piece.end])
    return comments


def _alone(text: str, piece: Piece) -> bool:
    """Whether nothing stands before a comment on its line."""
    return not text[text.rfind("\n", 0, piece.start) + 1 : piece.start].strip()


def _behind_attribute(text: str, piece: Piece, ends: Mapping[int, Piece]) -> bool:
    """Whether a comment stands on the line of an attribute, behind it or behind more comments."""
    before = ends.get(_visible(text, piece.start))
    while before and "\n" not in text[before.end : piece.start]:
        if before.role == "attribute":
            return True
        piece, before = before, ends.get(_visible(text, before.start))
    return False


def _visible(text: str, end: int) -> int:
    """Behind the last character before `end` that is no white space."""
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _found(tree: Tree) -> list[DefinitionNode]:
    """All definitions; those too that are part of a statement of one line."""
    grammar = tree.grammar
    found = list(definition_nodes(tree.root, grammar))
    known = {one.node.id for one in found}
    kinds = grammar.definitions | grammar.scopes | grammar.carriers | grammar.heads.keys()
    for node in tree.nodes({kind.split()[0] for kind in kinds}):
        if node.id not in known and node.start_point[0] == node.end_point[0]:
            one = next(definition_nodes(node, grammar), None)
            if one is not None and one.node.id == node.id:
                found.append(one)
    for node in tree.nodes(_TYPES):
        value = node.child_by_field_name("value") or node.child_by_field_name("type")
        # One with a name of its own was found by that.
        if (
            value is not None
            and value.type in _TYPES[node.type]
            and not value.child_by_field_name("name")
        ):
            found.append(DefinitionNode(node, node, value))
    return sorted(found, key=lambda one: (one.node.start_byte, -one.node.end_byte))


def _parts(one: DefinitionNode, tree: Tree) -> tuple[str, ...]:
    """The parts of the name that a definition gives itself; none where it has no name."""
    name = name_in(one, tree.octets, tree.grammar)
    if not name:
        return ()
    receiver = one.node.child_by_field_name("receiver")
    match = receiver and _RECEIVER.search((receiver.text or b"").decode("utf-8", "replace"))
    return (match[1], name) if match else parts_of(name)


def _start(text: str, start: int) -> int:
    """Where a definition begins with the words before it on its line."""
    line = text.rfind("\n", 0, start) + 1
    before = text[line:start]
    return line + len(before) - len(before.lstrip()) if _WORDS.fullmatch(before) else start


def _end(node: Node, grammar: Grammar) -> int:
    """Where a node ends without the comments at its end, which some grammars put there."""
    while True:
        children = node.children
        while children and children[-1].type in grammar.comments:
            children = children[:-1]
        if not children:
            return node.end_byte
        node = children[-1]
