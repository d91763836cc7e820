"""Other names for the local variables of Python functions."""

from __future__ import annotations

import ast
import itertools
import re
import symtable
import warnings
from typing import TYPE_CHECKING

from chunkers.grammars.model import words

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(r"\w+")
_REFLECTIVE = words("locals vars dir eval exec compile f_locals _getframe currentframe")
"""A function that names one of these may read its variables by their names."""


def renamed_locals(text: str) -> list[tuple[int, int, str]]:
    """Edits that give local variables the names `v1`, `v2`, ..., counted in each function.

    A variable keeps its name if it is a parameter, is imported, global, nonlocal or a definition,
    occurs in a function, class, lambda or comprehension inside, is bound by `except` or a pattern,
    or is a word of a string of the function.

    Args:
        text: A Python file.

    Returns:
        Start, end and new name of each occurrence; none if this Python cannot parse the file.
    """
    parsed = parse_python(text)
    if parsed is None:
        return []
    tree, top = parsed
    starts = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]
    scopes = {(scope.get_name(), scope.get_lineno()): scope for scope in _inside(top)}
    taken = set(_WORD.findall(text))
    edits = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for name, new in _renamed(node, scopes[node.name, node.lineno], taken):
                start = starts[name.lineno - 1]
                before = text[start : start + name.col_offset].encode()[: name.col_offset]
                start += len(before.decode())
                edits.append((start, start + len(name.id), new))
                if text[start : start + len(name.id)] != name.id:
                    return []  # Python reads some letters as others
    return edits


def parse_python(text: str) -> tuple[ast.Module, symtable.SymbolTable] | None:
    """A file as this Python reads it; None if it does not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its literals
            return ast.parse(text), symtable.symtable(text, "file", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _inside(scope: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in scope.get_children():
        yield child
        yield from _inside(child)


def _renamed(
    function: ast.FunctionDef | ast.AsyncFunctionDef, scope: symtable.SymbolTable, taken: set[str]
) -> Iterator[tuple[ast.Name, str]]:
    """Each name to replace with its new one."""
    body = [node for statement in function.body for node in ast.walk(statement)]
    names = [node for node in body if isinstance(node, ast.Name)]
    attributes = {node.attr for node in body if isinstance(node, ast.Attribute)}
    own = {
        symbol.get_name()
        for symbol in scope.get_symbols()
        if symbol.is_local() and symbol.is_assigned()
        if not (symbol.is_parameter() or symbol.is_imported() or symbol.is_namespace())
    }
    own -= {name for inner in _inside(scope) for name in inner.get_identifiers()}
    for node in body:
        if isinstance(node, ast.Constant | ast.JoinedStr):
            own -= set(_WORD.findall(ast.unparse(node)))
        own -= {getattr(node, "name", None), getattr(node, "rest", None)}  # of what is no `Name`
    if _REFLECTIVE & ({name.id for name in names} | attributes):
        return
    new: dict[str, str] = {}
    free = (word for number in itertools.count(1) if (word := f"v{number}") not in taken)
    for name in sorted(names, key=lambda name: (name.lineno, name.col_offset)):
        if name.id in own and not name.id.startswith("__"):
            new[name.id] = new.get(name.id) or next(free)
            yield name, new[name.id]
