"""The named definitions of a source: their names, their lines and their doc comments.

The ids and targets of doc comments, the targets of calls and the symbols in a user's questions
all come from here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.grammars.model import NONE, kind_of
from chunkers.grammars.outline import name_in
from harness.building.docs.nodes import Tree, all_definitions, pieces_of
from harness.building.docs.styles import STYLES
from harness.building.docs.text import is_block

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tree_sitter import Node

    from chunkers.grammars.model import Grammar
    from chunkers.grammars.outline import DefinitionNode
    from chunkers.source import Source
    from harness.building.docs.nodes import Piece

_RECEIVER = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)?\)\s*$")
_WORDS = re.compile(r"[\w\s]*")
_ARGUMENTS = re.compile(r"(?<=\w)\s*<[^<>]*>")
_OPERATOR = re.compile(r"(?:^|(?<=\W))operator\b")
_JOINTS = re.compile(r"\s*(?:::|\.|\\|:(?=\w+$))\s*")
_PART = re.compile(r"[~\w$@]")
_SPACE = re.compile(r"namespace|module|mod_item|package|program")
# What JavaScript writes before a name that is not a member of a class.
_NO_OWNERS = frozenset({"exports", "module", "self", "this", "window", "globalThis"})
_BODILESS = frozenset({"csharp", "hack", "java", "kotlin", "php", "scala", "swift"})
# Kinds that cannot be called; a class can, to make an object.
_TYPES = re.compile(
    r"interface|trait|protocol|alias|enum|union|namespace|module|package|mod_item|impl_item"
    r"|type_(?:spec|definition|declaration|item)"
)
_BODIES = frozenset({"block", "function_body", "compound_statement", "arrow_expression_clause"})
# How a definition begins that only its own file can use.
_PRIVATE = {"c": "static ", "lua": "local "}


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition with a name.

    Attributes:
        key: Its first byte, without attributes and wrappers.
        parts: The names of the definitions around it, outermost first, and its own. A class that
            it names itself, as in Go or outside of a class of C++, is one of them.
        start: First character of it or of its first attribute or decorator.
        end: Character after its last, without the comments of what follows.
        first_line: Line of `start`.
        last_line: Its last line.
        comment: The doc comments right above it.
        container: Whether it only holds others: a namespace, or an `impl` beside its type.
        owner: Name of the class or the like that it is a member of; empty if there is none.
        local: Whether it is inside a function or private to its file, unseen by other files.
        function: Whether it is a function or a method.
        declared: Whether it is a function that is only declared, without a body.
        callable: Whether it is a function, or a class that is called to make an object.
    """

    key: int
    parts: tuple[str, ...]
    start: int
    end: int
    first_line: int
    last_line: int
    comment: tuple[str, ...]
    container: bool
    owner: str
    local: bool
    function: bool
    declared: bool = False
    callable: bool = True

    @property
    def name(self) -> str:
        """Its name with those around it: `Class.method` in every language."""
        return ".".join(self.parts)


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a name: `Class`, `method` of `Class.method`, `Class<T>::method`, `Class:method`.

    Anything else, such as the names of most operators, is one part.
    """
    match = _OPERATOR.search(name)
    head, tail = (name[: match.start()], [name[match.start() :]]) if match else (name, [])
    while (shorter := _ARGUMENTS.sub("", head)) != head:
        head = shorter
    parts = _JOINTS.split(head.strip())
    if match and parts[-1] == "":  # `Class::` before `operator`
        parts.pop()
    parts = [*(part for part in parts if part != "prototype"), *tail]
    return tuple(parts) if all(map(_PART.match, parts)) else (name,)


def definitions_in(source: Source) -> list[Definition]:
    """The named definitions of a source, outermost first; none where there is no grammar.

    Raises:
        UnparsedError: Its parser fails.
        InputError: The grammar's wheel is missing.
    """
    tree = Tree.of(source)
    return [] if tree is None else [*definitions_of(tree, pieces_of(tree))]


def definitions_of(tree: Tree, pieces: Sequence[Piece]) -> Iterator[Definition]:
    """The named definitions of a source, outermost first, those within one line included.

    Args:
        tree: The source.
        pieces: Its comments and attributes, by `pieces_of`.
    """
    grammar, text, lines = tree.grammar, tree.source.text, tree.source.lines
    language = tree.source.language or ""
    containers = STYLES[language].containers if language in STYLES else NONE
    # To some grammars a comment after an attribute is the end of it: then the attribute counts.
    ends = {piece.end: piece for piece in reversed(pieces)}
    # The definitions around the current one: their ends, their parts, whether each is a function,
    # and whether it can own members.
    around: list[tuple[int, tuple[str, ...], bool, bool]] = []
    for item in all_definitions(tree):
        parts = _parts(item, tree)
        if not parts:
            continue
        while around and around[-1][0] <= item.node.start_byte:
            around.pop()
        owners = [outer[-1] for _, outer, _, owns in around if owns]
        owners += [part for part in parts[:-1] if part not in _NO_OWNERS]
        kind = kind_of(item.holder, grammar)
        function = kind in grammar.definitions | grammar.values | grammar.heads.keys()
        begin = _start(text, tree.at(item.begin.start_byte))
        start, comment = _above(text, begin, ends)
        end = tree.at(_end(item.node, grammar))
        first, last = lines.lines_of(start, end)
        private = text.startswith(_PRIVATE.get(language, "\0"), begin)
        yield Definition(
            key=item.node.start_byte,
            parts=tuple(part for _, outer, _, _ in around for part in outer) + parts,
            start=start,
            end=end,
            first_line=first,
            last_line=last,
            comment=comment,
            container=kind_of(item.node, grammar) in containers,
            owner=owners[-1] if owners else "",
            local=private or any(inside for _, _, inside, _ in around),
            function=function,
            declared=function and _is_declared(item.holder, language),
            callable=function
            or not (language == "c" or _TYPES.search(kind_of(item.node, grammar))),
        )
        around.append((item.node.end_byte, parts, function, not (function or _SPACE.search(kind))))


def _is_declared(function: Node, language: str) -> bool:
    """Whether a function has no body, in languages whose grammars do not tell it by its kind."""
    return language in _BODILESS and not any(
        function.child_by_field_name("body") or child.type in _BODIES for child in function.children
    )


def _above(text: str, start: int, ends: Mapping[int, Piece]) -> tuple[int, tuple[str, ...]]:
    """Where a definition begins with its attributes, and the doc comments right above it.

    Attributes and other comments may come between the two, on lines of their own or after an
    attribute. Of several block comments the last counts; line comments count together.
    """
    first = at = start
    comments: list[str] = []
    near = True
    while piece := ends.get(_visible(text, at)):
        apart = text.count("\n", piece.end, at)
        if piece.role == "attribute":
            first = piece.start
        elif piece.role == "trailing" or not (
            not apart or _alone(text, piece) or _after_attribute(text, piece, ends)
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
    """A doc comment, with the line comments right above it if it is a line comment."""
    comments = [text[piece.start : piece.end]]
    while not is_block(comments[0]):
        end = _visible(text, piece.start)
        before = ends.get(end)
        joined = before and before.role == "doc" and text.count("\n", end, piece.start) == 1
        if before is None or not joined or is_block(text[before.start : before.end]):
            break
        piece = before
        comments.insert(0, text[piece.start : piece.end])
    return comments


def _alone(text: str, piece: Piece) -> bool:
    """Whether a comment is the first on its line."""
    return not text[text.rfind("\n", 0, piece.start) + 1 : piece.start].strip()


def _after_attribute(text: str, piece: Piece, ends: Mapping[int, Piece]) -> bool:
    """Whether an attribute comes before a comment on its line, perhaps with comments between."""
    before = ends.get(_visible(text, piece.start))
    while before and "\n" not in text[before.end : piece.start]:
        if before.role == "attribute":
            return True
        piece, before = before, ends.get(_visible(text, before.start))
    return False


def _visible(text: str, end: int) -> int:
    """The end of the last character before `end` that is not white space."""
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _parts(item: DefinitionNode, tree: Tree) -> tuple[str, ...]:
    """The parts of the name that a definition gives itself; none where it has no name."""
    name = name_in(item, tree.octets, tree.grammar)
    if not name:
        return ()
    receiver = item.node.child_by_field_name("receiver")
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
