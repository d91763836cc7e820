"""What a source defines and what it calls, by its syntax tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.grammars.loading import grammar_of
from chunkers.grammars.model import kind_of
from chunkers.outline import defined, name_in
from harness.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from chunkers.grammars.model import Grammar
    from chunkers.source import Source

# Kinds of nodes that call something, of all grammars.
_CALLS = frozenset(
    """
    broadcast_call_expression call call_expression command function_call function_call_expr
    function_call_expression instance_expression invocation_expression macro_invocation
    macrocall_expression member_call_expression method_invocation new_expression
    nullsafe_member_call_expression object_creation_expression scoped_call_expression
    subroutine_call
    """.split()  # noqa: SIM905 - a list is longer than the page is wide
)
# Where such a node says what it calls; the first that it has ends the text that says so.
_FIELDS = ("function", "method", "name", "constructor", "type", "macro", "subroutine")
_LONGEST = 300  # bytes of that text
_GENERICS = re.compile(r"<[^<>()]*>|\[[^\[\]()]*\]")
_CALLEE = re.compile(
    r"(?:(?P<owner>\w+)?\s*(?P<joint>\?\.|!\.|\.|->|::|:|\\)\s*|(?<![\w$@%#-]))"
    r"(?P<name>[^\W\d]\w*[!?]?)$"
)
_SPACE = re.compile(r"namespace|module|mod_item|package|program")
_IMPORT = re.compile(r"import")
_REQUIRED = re.compile(r"(?:const|let|var)\s+([^=;]{1,1000})=\s*require\s*\(")
_NAME = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, method, class, … with a name.

    Attributes:
        path: Its file.
        language: Of the file.
        name: Its name.
        owner: Name of the class or the like that it is a member of; empty for none.
        local: Whether it stands inside a function, where no other file can call it.
        first: First line, comments and attributes above it not included.
        last: Last line.
    """

    path: str
    language: str
    name: str
    owner: str
    local: bool
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Call:
    """A place where something is called.

    Attributes:
        name: What is called.
        member: Whether it is called as a member of something.
        owner: Name of that something, if it is one; else empty.
        line: The line of the name.
    """

    name: str
    member: bool
    owner: str
    line: int


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one source, in order of place.

    Attributes:
        definitions: What it defines.
        calls: What it calls.
        imported: Names in its import statements.
        used: All its words.
    """

    definitions: tuple[Definition, ...]
    calls: tuple[Call, ...]
    imported: frozenset[str]
    used: frozenset[str]


def names_of(source: Source) -> Names | None:
    """The names of a source; None where no grammar is at hand.

    Raises:
        InputError: The grammar's wheel is missing.
    """
    grammar, root = grammar_of(source.language), parse(source)
    if grammar is None or root is None:
        return None
    octets = source.text.encode("utf-8", "surrogatepass")
    calls, imported = [], set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _CALLS:
            call = _call(node, octets)
            if call is not None:
                calls.append(call)
        elif _IMPORT.search(node.type) and node.child_count:
            imported.update(_NAME.findall(octets[node.start_byte : node.end_byte].decode()))
            continue
        stack += reversed(node.named_children)
    for names in _REQUIRED.findall(source.text):
        imported.update(_NAME.findall(names))
    return Names(
        definitions=tuple(_definitions(source, root, octets, grammar)),
        calls=tuple(calls),
        imported=frozenset(imported),
        used=frozenset(_NAME.findall(source.text)),
    )


def _call(node: Node, octets: bytes) -> Call | None:
    """What a node calls; None where no name says so."""
    said = next(filter(None, map(node.child_by_field_name, _FIELDS)), None)
    if said is None:
        said = next((one for one in node.named_children if "comment" not in one.type), None)
    if said is None:
        return None
    start = max(node.start_byte, said.end_byte - _LONGEST)
    text = octets[start : said.end_byte].decode("utf-8", "ignore")
    for _ in range(3):  # generics in generics
        text = _GENERICS.sub("", text)
    match = _CALLEE.search(text.rstrip(" \t\r\n:"))
    if match is None:
        return None
    line = said.end_point[0] + 1
    owner, name, member = match["owner"] or "", match["name"], bool(match["joint"])
    if name == "new" and member and owner[:1].isupper() and "." in match["joint"]:
        name, owner, member = owner, "", False  # Ruby's way to make an object
    return Call(name, member, owner, line)


def _definitions(
    source: Source, root: Node, octets: bytes, grammar: Grammar
) -> Iterator[Definition]:
    """Every named definition, outer before inner."""
    found = [(one, name_in(one, octets, grammar)) for one in defined(root, grammar)]
    named = [(one.node, one.begin, one.holder, name) for one, name in found if name]
    # Where the definitions round the current one end, and their names; empty for functions.
    around: list[tuple[int, str]] = []
    for node, begin, holder, name in sorted(
        named, key=lambda one: (one[0].start_byte, -one[0].end_byte)
    ):
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        owners = [owner for _, owner in around]
        row, column = node.end_point
        yield Definition(
            path=source.path,
            language=source.language or "",
            name=name,
            owner=next(filter(None, reversed(owners)), ""),
            local="" in owners,
            first=begin.start_point[0] + 1,
            last=row + 1 - (column == 0 and row > node.start_point[0]),
        )
        kind = kind_of(holder, grammar)
        if kind in grammar.definitions:
            around.append((node.end_byte, ""))
        elif not _SPACE.search(kind):
            around.append((node.end_byte, name))
