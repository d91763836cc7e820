"""What a source defines, imports and calls, by its syntax tree."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.building.calls.imports import bindings_of, required_of
from harness.building.docs.definitions import placed_of
from harness.building.docs.doc_nodes import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

    from chunkers.source import Source
    from harness.building.calls.imports import Binding

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
_JOINT = r"\s*(?:\?\.|!\.|\.|->|::|:|\\)\s*"
_CALLEE = re.compile(
    rf"(?:(?P<owner>\w+)?(?P<joint>{_JOINT})|(?<![\w$@%#-]))(?P<name>[^\W\d]\w*[!?]?)$"
)
_CHAIN = re.compile(rf"(?<![\w.)\]>:\\])\$?((?:\w+{_JOINT})+)\w+[!?]?$")
_WORD = re.compile(r"\w+")
_IMPORT = re.compile(r"import|use_declaration")
_TEXTS = re.compile(r"comment|string|char_literal|heredoc|regex")
# What gives a name another meaning, and where it has that name.
_REBINDS = {
    "as_pattern": "alias",
    "assignment": "left",
    "for_in_clause": "left",
    "for_in_statement": "left",
    "for_statement": "left",
    "named_expression": "name",
    "range_clause": "left",
    "short_var_declaration": "left",
    "variable_declarator": "name",
}
_PARAMETERS = frozenset({"formal_parameters", "lambda_parameters", "parameter_list", "parameters"})
_NO_NAMES = ("type", "value", "return_type", "right")
_MEMBERS = frozenset(
    {"attribute", "call", "member_expression", "selector_expression", "subscript", "type"}
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, method, class, … with a name.

    Attributes:
        path: Its file.
        language: Of the file.
        name: Its name.
        spaces: The names of all that it stands in, outer before inner.
        owner: Name of the class or the like that it is a member of; empty for none.
        local: Whether it stands inside a function, where no other file can call it.
        first: First line, that of its first attribute or decorator.
        last: Last line.
    """

    path: str
    language: str
    name: str
    spaces: tuple[str, ...]
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
        chain: All names before it, if there is nothing else, such as brackets; else empty.
        line: The line of the name.
    """

    name: str
    member: bool
    owner: str
    chain: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Names:
    """The names of one source, in order of place.

    Attributes:
        definitions: What it defines.
        calls: What it calls.
        bindings: What its imports bind, by the name that they bind it to.
        rebound: Names of its parameters, variables and the like.
        declared: Names of functions that it declares without a body.
        code: Its text, with spaces for comments and strings.
        words: Of that.
    """

    definitions: tuple[Definition, ...]
    calls: tuple[Call, ...]
    bindings: Mapping[str, tuple[Binding, ...]]
    rebound: frozenset[str]
    declared: frozenset[str]
    code: str
    words: frozenset[str]


def names_of(source: Source) -> Names | None:
    """The names of a source; None where no grammar is at hand.

    Raises:
        InputError: The grammar's wheel is missing.
    """
    tree = Tree.of(source)
    if tree is None:
        return None
    octets, code, language = tree.octets, bytearray(tree.octets), source.language or ""
    calls = []
    bindings: dict[str, list[Binding]] = defaultdict(list)
    rebound: set[str] = set()
    declared: set[str] = set()
    stack = [tree.root]
    while stack:
        node = stack.pop()
        kind = node.type
        if kind in _CALLS and (call := _call(node, octets)) is not None:
            calls.append(call)
        if _TEXTS.search(kind):
            blank = re.sub(rb"[^\n]", b" ", octets[node.start_byte : node.end_byte])
            code[node.start_byte : node.end_byte] = blank
        elif _is_import(node):
            for name, binding in bindings_of(node, language):
                bindings[name].append(binding)
            continue
        elif kind in _REBINDS or kind in _PARAMETERS or kind == "arrow_function":
            rebound.update(_rebound(node))
        elif kind == "function_declarator" and (name := _declared(node)):
            declared.add(name)
        stack += reversed(node.named_children)
    for name, binding in required_of(source.text, language):
        bindings[name].append(binding)
    left = code.decode("utf-8", "replace")
    return Names(
        definitions=tuple(_definitions(source, tree)),
        calls=tuple(calls),
        bindings={name: tuple(dict.fromkeys(some)) for name, some in bindings.items()},
        rebound=frozenset(rebound),
        declared=frozenset(declared),
        code=left,
        words=frozenset(_WORD.findall(left)),
    )


def _is_import(node: Node) -> bool:
    """Whether a node is a statement that imports; one that exports from elsewhere is one too."""
    if node.type == "export_statement":
        return node.child_by_field_name("source") is not None
    return _IMPORT.search(node.type) is not None and node.child_count > 0


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
    text = text.rstrip(" \t\r\n:")
    match = _CALLEE.search(text)
    if match is None:
        return None
    line = said.end_point[0] + 1
    owner, name, member = match["owner"] or "", match["name"], bool(match["joint"])
    chained = _CHAIN.search(re.sub(r"^\s*(?:new|await)\s+", "", text))
    chain = tuple(re.findall(r"\w+", chained[1])) if chained else ()
    if name == "new" and member and owner[:1].isupper() and "." in match["joint"]:
        name, owner, member = owner, "", False  # Ruby's way to make an object
    return Call(name, member, owner, chain, line)


def _rebound(node: Node) -> Iterator[str]:
    if node.type in _PARAMETERS:
        inside = list(node.named_children)
    else:
        field = _REBINDS.get(node.type, "parameter")
        found = node.child_by_field_name(field)
        value = node.child_by_field_name("value")
        if found is None or (value is not None and (value.text or b"").startswith(b"require")):
            return
        inside = [found]
    while inside:
        one = inside.pop()
        if one.type in ("identifier", "shorthand_property_identifier_pattern"):
            yield (one.text or b"").decode("utf-8", "replace")
        elif one.type not in _MEMBERS:
            left = {child.id for child in map(one.child_by_field_name, _NO_NAMES) if child}
            inside += [child for child in one.named_children if child.id not in left]


def _declared(node: Node) -> str:
    """The name of a function in C that is declared, not defined."""
    outer = node.parent
    while outer is not None and outer.type.endswith("declarator"):
        outer = outer.parent
    name = node.child_by_field_name("declarator")
    if outer is None or outer.type != "declaration" or name is None:
        return ""
    return (name.text or b"").decode("utf-8", "replace")


def _definitions(source: Source, tree: Tree) -> Iterator[Definition]:
    """Every named definition, outer before inner."""
    for one in placed_of(tree):
        named = one.named
        yield Definition(
            path=source.path,
            language=source.language or "",
            name=named.parts[-1],
            spaces=named.parts[:-1],
            owner=named.owner,
            local=named.local,
            first=one.first,
            last=one.last,
        )
