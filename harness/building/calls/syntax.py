"""The definitions, calls, imports and variables of a file, by tree-sitter queries.

The queries of a language are in `patterns/`. Their captures:

    @call @owner            the name that is called, and what it is called on
    @module @name @alias    an import: module, imported name, name in this file
    @all @default           marks of an import of all names, or of a script's default export
    @use                    a `use` of Rust, whose lists may contain lists
    @package @declares      the file's package, and what C declares
    @binds                  a place that gives names a new meaning: parameters, assignments
    @variable @field @type  a variable or field of an object, and the class written beside it
    @class @base            a class and one that it inherits from
    @constant @declaration  a constant of a module, which may be a function or a class
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from chunkers.grammars.loading import parser
from chunkers.grammars.model import text_of
from harness.building.docs.definitions import Definition, definitions_of
from harness.building.docs.nodes import Tree, pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import TypeAlias

    from tree_sitter import Language, Node, Query

    from chunkers.source import Source

    _Captures: TypeAlias = dict[str, list[Node]]

_PATTERNS = {
    **{name: (name,) for name in ("bash", "c", "csharp", "go", "java", "kotlin", "lua", "php")},
    **{name: (name,) for name in ("python", "ruby", "rust", "scala", "swift")},
    "cpp": ("c", "cpp"),
    "javascript": ("script", "javascript"),
    **dict.fromkeys(("tsx", "typescript"), ("script", "typescript")),
}
PACKAGED = frozenset({"csharp", "java", "kotlin", "php", "scala"})
"""Languages whose files name the package that they belong to."""

_LONGEST = 200  # bytes of a call's owner, characters of a type
_CHAIN = re.compile(r"[$@]*\w+(?:(?:\?\.|!\.|\.|->|::|\\)\w+)*")
_STEP = re.compile(r"@?\w+")
_QUOTES = "\"'`<>"
_FIELDS = re.compile(r"attribute|field|member|selector|dot_index")
_NO_NAMES = re.compile(r"call|subscript|index|type|literal|string")
_NOT_BOUND = ("type", "value", "return_type", "right")
_TYPE = re.compile(
    r"(?:const\b|mut\b|struct\b|Optional\[|[:&*?'\"\s])*(?:\w+(?:\.|::|\\))*(\w+)"
    r"(?:<.*>|\[.+\])?(?:[\]|&*?!'\"\s]|None|null|undefined)*",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Call:
    """A call.

    Attributes:
        name: The name that is called.
        owner: The names before it, as `a`, `b` in `a.b.name()`; None for a bare name, empty where
            something other than names comes before it.
        line: Line of the name.
    """

    name: str
    owner: tuple[str, ...] | None
    line: int


@dataclass(frozen=True, slots=True, order=True)
class Import:
    """An imported name.

    Attributes:
        module: The module as written, dots in front included.
        name: Name in the module. Empty means the module itself, `*` all its names, `default` the
            default export of a script.
    """

    module: str
    name: str = ""


@dataclass(frozen=True)
class FileNames:
    """The names of a file.

    Attributes:
        path: Path of the file.
        language: Its language.
        definitions: What it defines, outermost first.
        calls: Its calls, in order.
        imports: Its imports by their names in this file; `*` for all names of a module.
        variables: Variable, or field as `self.name` -> line and class of every place that sets it;
            the class is empty where the place does not give it.
        bases: First line, last line and base of every class that has one.
        package: The package or namespace, with dots.
        declared: Functions and classes that a file of C or C++ declares.
    """

    path: str
    language: str
    definitions: tuple[Definition, ...]
    calls: tuple[Call, ...]
    imports: Mapping[str, set[Import]]
    variables: Mapping[str, set[tuple[int, str]]]
    bases: frozenset[tuple[int, int, str]]
    package: str
    declared: frozenset[str]


def names_of(source: Source) -> FileNames | None:
    """The names of a source; None where its language has no grammar or no patterns.

    Raises:
        UnparsedError: The parser fails on the source.
        InputError: The grammar's wheel is missing.
    """
    language = source.language or ""
    if language not in _PATTERNS or (tree := Tree.of(source)) is None:
        return None
    from tree_sitter import QueryCursor

    matches = [captures for _, captures in QueryCursor(_query(language)).matches(tree.root)]
    imports: defaultdict[str, set[Import]] = defaultdict(set)
    imported: set[Node] = set()
    for captures in matches:
        if "module" in captures or "use" in captures:
            imported.update(*(captures.get(kind, ()) for kind in ("name", "alias")))
            for local, target in _imports(captures, language):
                imports[local].add(target)
    calls = {
        Call(text_of(node), _chain(captures.get("owner")), _line(node))
        for node, captures in _first(matches, "call")
    }
    bases = {
        (_line(node), node.end_point[0] + 1, _STEP.findall(text_of(captures["base"][0]))[-1])
        for node, captures in _first(matches, "class")
    }
    constants = (
        (node, captures["declaration"][0])
        for node, captures in _first(matches, "constant")
        if node not in imported
    )
    definitions = [*definitions_of(tree, pieces_of(tree))]
    known = {item.parts for item in definitions if item.callable}
    packages, declared = (
        [text_of(node) for captures in matches for node in captures.get(kind, ())]
        for kind in ("package", "declares")
    )
    return FileNames(
        path=source.path,
        language=language,
        definitions=(*definitions, *_constants(constants, tree, known)),
        calls=tuple(sorted(calls, key=lambda call: (call.line, call.name, call.owner or ()))),
        imports=imports,
        variables=_variables(matches, imported, "self." if language == "python" else "this."),
        bases=frozenset(bases),
        package=".".join(packages).replace("\\", "."),
        declared=frozenset(declared),
    )


def _first(matches: Iterable[_Captures], kind: str) -> Iterator[tuple[Node, _Captures]]:
    """The matches that capture a kind, each with the first node of it."""
    return ((captures[kind][0], captures) for captures in matches if kind in captures)


def _variables(
    matches: Sequence[_Captures], imported: AbstractSet[Node], self_name: str
) -> dict[str, set[tuple[int, str]]]:
    """The variables and fields of a file, whose names begin with `self_name`; no imported names."""
    places: defaultdict[tuple[str, Node], set[str]] = defaultdict(set)
    for kind in ("binds", "variable", "field"):
        for node, captures in _first(matches, kind):
            classes = {_class(text_of(type_node)) for type_node in captures.get("type", ())}
            for bound in _bound(node) if kind == "binds" else (node,):
                name = self_name * (kind == "field") + text_of(bound).lstrip("$")
                places[name, bound] |= classes
    variables: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
    for (name, node), classes in places.items():
        if node not in imported:
            variables[name].add((_line(node), classes.pop() if len(classes) == 1 else ""))
    return variables


@functools.cache
def _query(language: str) -> Query:
    from tree_sitter import Query

    folder = Path(__file__).with_name("patterns")
    patterns = [(folder / f"{name}.scm").read_text("utf-8") for name in _PATTERNS[language]]
    return Query(cast("Language", parser(language).language), "\n".join(patterns))


def _chain(owners: list[Node] | None) -> tuple[str, ...] | None:
    """The names that a call's owner consists of; empty if it is anything else."""
    if owners is None:
        return None
    (owner,) = owners
    if owner.end_byte - owner.start_byte > _LONGEST:
        return ()
    text = text_of(owner)
    return tuple(_STEP.findall(text)) if _CHAIN.fullmatch(text) else ()


def _imports(captures: _Captures, language: str) -> Iterator[tuple[str, Import]]:
    """The names that an import gives to a file, and what they are."""
    if "use" in captures:
        yield from _uses(captures["use"][0])
        return
    text = {name: ".".join(map(text_of, nodes)) for name, nodes in captures.items()}
    module, name = text["module"].strip(_QUOTES).replace("\\", "."), text.get("name", "")
    if "all" in text:
        yield "*", Import(module, "*")
        return
    if "default" in text:
        name = "default"
    elif language in PACKAGED and not name:
        module, _, name = module.rpartition(".")
    local = text.get("alias") or name or module
    yield local.rpartition("/")[2] if language == "go" else local, Import(module, name)


def _uses(argument: Node) -> Iterator[tuple[str, Import]]:
    """The names that a `use` of Rust imports, out of lists in lists."""
    stack = [(argument, "")]
    while stack:
        node, prefix = stack.pop()
        path, alias = node.child_by_field_name("path"), node.child_by_field_name("alias")
        if node.type in ("scoped_use_list", "use_list"):
            inside = node.child_by_field_name("list") or node
            prefix += f"{text_of(path)}::" if path else ""
            stack += [(child, prefix) for child in inside.named_children]
            continue
        whole = node.type == "use_wildcard"
        text = text_of(path if node.type == "use_as_clause" and path else node).replace(" ", "")
        module, _, name = (prefix + text).rpartition("::")
        if name == "self":
            module, _, name = module.rpartition("::")
        yield "*" if whole else text_of(alias) if alias else name, Import(module, name)


def _bound(node: Node) -> Iterator[Node]:
    """The variables and fields in a pattern that gives them a value."""
    stack = [node]
    while stack:
        node = stack.pop()
        if _FIELDS.search(node.type) or node.type == "variable_name" or not node.named_child_count:
            yield node
        elif not _NO_NAMES.search(node.type):
            left = {child.id for child in map(node.child_by_field_name, _NOT_BOUND) if child}
            stack += [child for child in node.named_children if child.id not in left]


def _constants(
    captures: Iterable[tuple[Node, Node]], tree: Tree, known: AbstractSet[tuple[str, ...]]
) -> Iterator[Definition]:
    """Constants of a module as definitions: what they hold may be a function or a class.

    Args:
        captures: The name and the declaration of each.
        tree: The source.
        known: The names of what the source defines otherwise.
    """
    for name, declaration in captures:
        if (text_of(name),) not in known:
            yield Definition(
                key=declaration.start_byte,
                parts=(text_of(name),),
                start=tree.at(declaration.start_byte),
                end=tree.at(declaration.end_byte),
                first_line=_line(declaration),
                last_line=declaration.end_point[0] + 1,
                comment=(),
                container=False,
                owner="",
                local=False,
                function=False,
            )


def _line(node: Node) -> int:
    return node.start_point[0] + 1  # `.row` corrupts memory in tree-sitter 0.26.0


def _class(text: str) -> str:
    """The class in a type such as `Optional[module.Class]` or `&mut Class<T>`, or nothing."""
    match = _TYPE.fullmatch(text[:_LONGEST])
    return match[1] if match else ""
