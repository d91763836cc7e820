"""Finds comments, docstrings and attributes in the syntax tree of a source."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import warnings
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

import numpy as np

from chunkers.grammars.loading import grammar_of, parser
from chunkers.grammars.model import ATTRIBUTES, NONE, kind_of, kinds, words
from chunkers.grammars.outline import DefinitionNode, definition_nodes, name_in
from harness.building.docs.styles import STYLES, TRAILING, Style
from harness.chunking.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray
    from tree_sitter import Node, Query

    from chunkers.grammars.model import Grammar
    from chunkers.source import Source

# What may come between a doc comment and its definition, besides comments.
_ATTRIBUTES = (
    ATTRIBUTES
    | words(
        "annotation marker_annotation attribute attribute_list attribute_declaration"
        " annotated_expression"  # annotations with arguments in Kotlin's grammar
    )
    | kinds("unary_operator", "moduledoc")
)
# Nodes that name a structure without a name of its own -> what the structure may be.
_TYPES = {
    "type_alias_declaration": frozenset({"object_type"}),
    "type_definition": frozenset({"struct_specifier", "union_specifier", "enum_specifier"}),
}
# An attribute of what is around it, which may be a doc comment.
_INNER_ATTRIBUTE = "inner_attribute_item"
# A doc comment at the end of a line, outside of strings.
_REST = re.compile(r"(?:[^\"]|\"(?:[^\"\\]|\\.)*\")*?\s(//[/!].*)\Z")
_PLAIN = Style(markup="plain", comments=False)
_PLAIN_STRING = re.compile(r"[rRuU]*['\"]")
_ROUND_STRINGS = words("concatenated_string expression_statement parenthesized_expression")


@dataclass(frozen=True)
class Tree:
    """A source and its syntax tree.

    Attributes:
        source: The source.
        root: Root of the syntax tree.
        grammar: Grammar of the language.
        octets: The text as the parser read it.
        offsets: Offset in characters of every byte, and of the end; shape (bytes + 1,).
    """

    source: Source
    root: Node
    grammar: Grammar
    octets: bytes
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, source: Source) -> Tree | None:
        """Parse a source; None where there is no grammar, or where it would crash.

        Raises:
            InputError: The grammar's wheel is missing.
        """
        grammar, root = grammar_of(source.language), parse(source)
        if grammar is None or root is None:
            return None
        octets = source.text.encode("utf-8", "surrogatepass")
        leading = (np.frombuffer(octets, dtype=np.uint8) & 0xC0) != 0x80
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(leading, dtype=np.int64)))
        return cls(source, root, grammar, octets, offsets)

    def at(self, byte: int) -> int:
        """The offset in characters of a byte."""
        return int(self.offsets[byte])

    def errors(self) -> int:
        """The number of nodes that are errors, or missing from the text."""
        count, inside = 0, [self.root]
        while inside:
            node = inside.pop()
            count += node.is_error or node.is_missing
            if node.has_error:
                inside += node.children
        return count

    def nodes(self, kinds: Iterable[str]) -> list[Node]:
        """All nodes of these types, in order; types that the grammar lacks are ignored."""
        from tree_sitter import QueryCursor

        query = _query(self.source.language or "", frozenset(kinds))
        captures = QueryCursor(query).captures(self.root) if query else {}
        return sorted(captures.get("node", []), key=lambda node: node.start_byte)


def all_definitions(tree: Tree) -> list[DefinitionNode]:
    """All definitions, those within a statement of one line included."""
    grammar = tree.grammar
    definitions = list(definition_nodes(tree.root, grammar))
    known = {item.node.id for item in definitions}
    kinds = grammar.definitions | grammar.scopes | grammar.carriers | grammar.heads.keys()
    for node in tree.nodes({kind.split()[0] for kind in kinds}):
        if node.id not in known and node.start_point[0] == node.end_point[0]:
            first = next(definition_nodes(node, grammar), None)
            if first is not None and first.node.id == node.id:
                definitions.append(first)
    for node in tree.nodes(_TYPES):
        value = node.child_by_field_name("value") or node.child_by_field_name("type")
        # A structure with a name of its own is among them already.
        if (
            value is not None
            and value.type in _TYPES[node.type]
            and not value.child_by_field_name("name")
        ):
            definitions.append(DefinitionNode(node, node, value))
    return sorted(definitions, key=lambda item: (item.node.start_byte, -item.node.end_byte))


@functools.cache
def _query(name: str, kinds: frozenset[str]) -> Query | None:
    """The query for nodes of these types, cached: it takes longer than parsing most files."""
    from tree_sitter import Query

    language = parser(name).language
    if language is None:
        return None
    known = [f"({kind})" for kind in sorted(kinds) if language.id_for_node_kind(kind, True)]
    return Query(language, f"[{' '.join(known)}] @node") if known else None


@dataclass(frozen=True, slots=True)
class Piece:
    """A comment or an attribute: characters [start, end), without white space at its end.

    A comment is a doc comment of what follows, one of what comes before (`trailing`), or plain.
    """

    start: int
    end: int
    role: Literal["doc", "trailing", "plain", "attribute"]


def pieces_of(tree: Tree, style: Style | None = None) -> list[Piece]:
    """The comments and attributes of a source, in order; by default in the style of its language.

    A language that is not in `STYLES` has no doc comments.
    """
    style = style or STYLES.get(tree.source.language or "", _PLAIN)
    grammar = tree.grammar
    comments = [(node, *_extent(tree, node)) for node in tree.nodes(grammar.comments)]
    above = _above(tree, style, comments) if style.comments else frozenset()
    pieces = []
    for node, start, end in comments:
        doc = node.id in above or (style.marks and style.marks.match(tree.source.text, start))
        trailing = style.marks and TRAILING.match(tree.source.text, start)
        pieces.append(Piece(start, end, "plain" if not doc else "trailing" if trailing else "doc"))
    attributes = grammar.attributes | (NONE if style.strings else _ATTRIBUTES)
    for node in tree.nodes({_INNER_ATTRIBUTE, *(kind.split()[0] for kind in attributes)}):
        inner = node.type == _INNER_ATTRIBUTE
        if inner or kind_of(node, grammar) in attributes:
            start, end = _extent(tree, node)
            # Rust can spell a doc comment as an attribute.
            if style.marks and style.marks.match(tree.source.text, start):
                pieces.append(Piece(start, end, "doc"))
            elif not inner:
                pieces.append(Piece(start, end, "attribute"))
    for node in tree.nodes(style.rests):
        start, end = _extent(tree, node)
        if rest := _REST.match(tree.source.text, start, end):
            pieces.append(Piece(rest.start(1), end, "trailing"))
    return sorted(pieces, key=lambda piece: (piece.start, -piece.end))


def _extent(tree: Tree, node: Node) -> tuple[int, int]:
    """Characters [start, end) of a node, without white space at its end."""
    start, end = tree.at(node.start_byte), tree.at(node.end_byte)
    return start, start + len(tree.source.text[start:end].rstrip())


def _above(tree: Tree, style: Style, comments: list[tuple[Node, int, int]]) -> frozenset[int]:
    """The ids of the comments right above what they document, unless a marked one is with them."""
    text = tree.source.text
    lone = [
        (node, start, end)
        for node, start, end in comments
        if not text[text.rfind("\n", 0, start) + 1 : start].strip()
        and not _for_tools(tree, style, node)
    ]
    ids: set[int] = set()
    run: list[int] = []
    first = lone[0][0] if lone else tree.root
    marked = False
    described = {docstring.owner for docstring in docstrings_of(tree)} if style.strings else NONE
    starts = {
        start
        for item in all_definitions(tree)
        if not (style.strings and (item.node.start_byte in described or _is_inner(item, tree)))
        and name_in(item, tree.octets, tree.grammar)
        for start in (item.node.start_byte, item.begin.start_byte)
    }
    following = [start for _, start, _ in lone[1:]]
    for (node, start, end), after in zip_longest(lone, following):
        first = first if run else node
        run.append(node.id)
        marked = marked or bool(style.marks and style.marks.match(text, start))
        if after is not None and _next_line(text, end, after):
            continue
        # Between an attribute and a definition, only marked comments are doc comments.
        before = first.prev_sibling
        if before is not None and style.marks:
            marked = marked or kind_of(before, tree.grammar) in _ATTRIBUTES
        if not marked and _documents(tree, style, node, starts):
            ids.update(run)
        run, marked = [], False
    return frozenset(ids)


def _is_inner(item: DefinitionNode, tree: Tree) -> bool:
    """Whether a comment above a definition is about a decorator, or a step of a function."""
    outer = item.node.parent
    inner = outer is not None and outer.type in tree.grammar.wrappers
    while not inner and outer is not None:
        inner = kind_of(outer, tree.grammar) in tree.grammar.definitions
        outer = outer.parent
    return inner


def _next_line(text: str, end: int, start: int) -> bool:
    """Whether only the end of a line is between two characters."""
    between = text[end:start]
    return between.count("\n") == 1 and not between.strip()


def _documents(tree: Tree, style: Style, comment: Node, starts: AbstractSet[int]) -> bool:
    """Whether the line below a comment begins something that comments document.

    Comments for tools, attributes and decorators may come in between. `starts` are the first bytes
    of all definitions.
    """
    grammar = tree.grammar
    between = grammar.attributes | _ATTRIBUTES | grammar.comments
    within = style.inside | grammar.definitions | grammar.values
    end, separate = comment.end_byte, True
    while (at := _below(tree.octets, end, separate=separate)) is not None:
        node = tree.root.descendant_for_byte_range(at, at + 1)
        chain = []
        while node is not None and node.start_byte == at:
            chain.append(node)
            node = node.parent
        if at in starts:
            return True
        for node in chain:
            if kind_of(node, grammar) in style.above:
                outer = node.parent
                while outer is not None and kind_of(outer, grammar) not in within:
                    outer = outer.parent
                return outer is None
        passed = [node for node in chain if kind_of(node, grammar) in between]
        if not passed:
            return False
        end, separate = passed[-1].end_byte, passed[-1].type in grammar.comments
    return False


def _for_tools(tree: Tree, style: Style, comment: Node) -> bool:
    return style.tools.match(tree.source.text, tree.at(comment.start_byte)) is not None


def _below(octets: bytes, end: int, *, separate: bool) -> int | None:
    """The first byte on the next line that is not white space; None if that line is blank.

    Without `separate` it may be on the same line.
    """
    end -= octets[:end].endswith(b"\n")
    at = end
    while at < len(octets) and octets[at : at + 1].isspace():
        at += 1
    near = octets.count(b"\n", end, at) in ((1,) if separate else (0, 1))
    return at if near and at < len(octets) else None


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring, with the strings after it that would become one without it.

    Attributes:
        owner: First byte of the definition; -1 for the file.
        value: Value of the first string, without indentation.
        strings: Characters [start, end) of each string.
        emptied: Whether the body contains nothing else.
    """

    owner: int
    value: str
    strings: tuple[tuple[int, int], ...]
    emptied: bool


def docstrings_of(tree: Tree) -> list[Docstring]:
    """The docstrings of a Python source."""
    docstrings = []
    for node in [tree.root, *tree.nodes(("function_definition", "class_definition"))]:
        whole = node.parent is None
        body = node if whole else node.child_by_field_name("body")
        if body is None:
            continue
        comments = tree.grammar.comments
        statements = [child for child in body.named_children if child.type not in comments]
        strings = []
        for statement in statements:
            if not _is_string(statement):
                break
            strings.append(statement)
        if strings:
            places = tuple((tree.at(node.start_byte), tree.at(node.end_byte)) for node in strings)
            emptied = not whole and len(strings) == len(statements)
            owner = -1 if whole else node.start_byte
            docstrings.append(Docstring(owner, _value(tree, places[0]), places, emptied))
    return docstrings


def _is_string(statement: Node) -> bool:
    """Whether a statement is a string without variables, in parentheses or not."""
    if statement.type != "expression_statement" or statement.named_child_count != 1:
        return False
    inside = [statement]
    while inside:
        node = inside.pop()
        if node.type == "string":
            if not _PLAIN_STRING.match((node.text or b"").decode("utf-8", "replace")):
                return False
        elif node.type in _ROUND_STRINGS:
            inside += node.named_children
        elif node.type != "comment":
            return False
    return not statement.has_error


def _value(tree: Tree, place: tuple[int, int]) -> str:
    """The value of a docstring; its text without quotes where this Python cannot evaluate it."""
    source = tree.source.text[slice(*place)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes
            value = ast.literal_eval(f"({source}\n)")
    except (SyntaxError, ValueError, MemoryError):
        value = re.sub(r"^\(?\s*[rRuU]*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')\s*\)?$", "", source)
    return inspect.cleandoc(str(value))
