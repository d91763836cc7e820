"""The names that an import statement brings, language by language."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from chunkers.reference._utf16 import Utf16Text


def imported_names(node: Node, text: Utf16Text, language: str) -> list[str]:
    """The names in the order of the statement, or its source where it gives no name.

    It is empty where there is neither.
    """
    names, source = _READERS[language](node, text)
    return names or ([source] if source else [])


def _field(node: Node, name: str, text: Utf16Text) -> str:
    """The text of a field; empty where it is missing."""
    child = node.child_by_field_name(name)
    return "" if child is None else text.node(child)


def _either(node: Node, first: str, second: str, text: Utf16Text) -> str:
    """The text of the first field, else of the second."""
    return _field(node, first if node.child_by_field_name(first) else second, text)


def _children(node: Node, *types: str) -> Iterable[Node]:
    return (child for child in node.named_children if child.type in types)


def _python(node: Node, text: Utf16Text) -> tuple[list[str], str]:
    # The module of `from module import name` is one of the names.
    names = [
        _field(child, "alias", text) if child.type == "aliased_import" else text.node(child)
        for child in _children(node, "dotted_name", "aliased_import", "identifier")
    ]
    return names, _field(node, "module_name", text)


def _script(node: Node, text: Utf16Text) -> tuple[list[str], str]:
    names = []
    for clause in _children(node, "import_clause"):
        for child in clause.named_children:
            if child.type == "identifier":
                names.append(text.node(child))
            elif child.type == "namespace_import":
                names += [text.node(name) for name in _children(child, "identifier")]
            elif child.type == "named_imports":
                names += [
                    _either(specifier, "alias", "name", text)
                    for specifier in _children(child, "import_specifier")
                ]
    return names, _field(node, "source", text).strip("\"'")


def _rust(node: Node, text: Utf16Text) -> tuple[list[str], str]:
    argument = node.child_by_field_name("argument")
    if argument is None:
        return [], ""
    names: list[str] = []
    pending = [argument]
    while pending:
        node = pending.pop()
        if node.type == "identifier":
            names.append(text.node(node))
        elif node.type == "scoped_identifier":
            names.append(_field(node, "name", text))
        elif node.type == "use_as_clause":
            names.append(_field(node, "alias", text))
        elif node.type == "use_wildcard":
            names.append("*")
        elif node.type == "use_list":
            pending += reversed(node.named_children)
        elif node.type == "scoped_use_list":
            pending += [child for child in [node.child_by_field_name("list")] if child]
    return names, "" if argument.type == "use_list" else text.node(argument)


def _go(node: Node, text: Utf16Text) -> tuple[list[str], str]:
    names = []
    specs = [*_children(node, "import_spec")]
    for group in _children(node, "import_spec_list"):
        specs += _children(group, "import_spec")
    for spec in specs:
        path = _field(spec, "path", text).rpartition("/")[2]
        names.append(_field(spec, "name", text) or path.replace('"', "").replace("'", ""))
    return names, ""


def _java(node: Node, text: Utf16Text) -> tuple[list[str], str]:
    dotted = _children(node, "scoped_identifier")
    return [text.node(name).rpartition(".")[2] for name in dotted], ""


_READERS = {
    "python": _python,
    "javascript": _script,
    "typescript": _script,
    "tsx": _script,
    "rust": _rust,
    "go": _go,
    "java": _java,
}
