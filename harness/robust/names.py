"""Other names for the local variables of Python functions."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from chunkers.grammars.model import words

if TYPE_CHECKING:
    from collections.abc import Iterator

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Comprehension = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_WORD = re.compile(r"\w+")
_REFLECTIVE = words("locals vars dir eval exec compile f_locals _getframe currentframe")
"""A function that names one of these may read its variables by their names."""


def renamed_locals(text: str) -> list[tuple[int, int, str]]:
    """Edits that give local variables the names `v1`, `v2`, ..., counted in each function.

    A variable keeps its name if it is a parameter, is declared `global` or `nonlocal`, is bound by
    anything but an assignment, a loop or `with`, occurs in a nested function or class, or is a word
    of a string in the function.

    Args:
        text: A Python file.

    Returns:
        Start, end and new name of each occurrence; none if this Python cannot parse the file.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its literals, which are not ours
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    # Python ends lines at a form feed too, but counts columns of a line in bytes.
    lines = _line_starts(text)
    taken = set(_WORD.findall(text))
    edits = []
    for function in ast.walk(tree):
        if isinstance(function, _Function):
            for old, new, line, column in _renamed(function, taken):
                start, content = lines[line - 1]
                at = start + len(content.encode()[:column].decode())
                edits.append((at, at + len(old), new))
    if any(text[start:end].isidentifier() is False for start, end, _ in edits):
        return []
    return edits


def _line_starts(text: str) -> list[tuple[int, str]]:
    """Start and text of each line as Python counts them: it ends at LF, CR or both."""
    starts = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]
    ends = [*starts[1:], len(text)]
    return [(start, text[start:end]) for start, end in zip(starts, ends, strict=True)]


def _renamed(function: _Function, taken: set[str]) -> Iterator[tuple[str, str, int, int]]:
    """Old and new name, line and column (in bytes) of every name to replace."""
    body = [node for statement in function.body for node in ast.walk(statement)]
    names = [node for node in body if isinstance(node, ast.Name)]
    attributes = {node.attr for node in body if isinstance(node, ast.Attribute)}
    if _REFLECTIVE & ({node.id for node in names} | attributes):
        return
    own = {
        node.id
        for node in _own(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    arguments = function.args
    kept = {node.arg for node in ast.walk(arguments) if isinstance(node, ast.arg)}
    for node in body:
        kept |= _kept(node)
    chosen: dict[str, str] = {}
    number = 0
    for name in sorted(names, key=lambda name: (name.lineno, name.col_offset)):
        if name.id not in own - kept or name.id.startswith("__"):
            continue
        while name.id not in chosen:
            number += 1
            if f"v{number}" not in taken:
                chosen[name.id] = f"v{number}"
        yield name.id, chosen[name.id], name.lineno, name.col_offset


def _own(function: _Function) -> Iterator[ast.AST]:
    """The nodes of a function's own scope."""
    nodes: list[ast.AST] = list(function.body)
    while nodes:
        node = nodes.pop()
        yield node
        if not isinstance(node, (*_Named, ast.Lambda, *_Comprehension)):
            nodes += ast.iter_child_nodes(node)


def _kept(node: ast.AST) -> set[str]:
    """The names that a node of a function keeps from being replaced."""
    if isinstance(node, (*_Named, ast.JoinedStr)):
        return set(_WORD.findall(ast.unparse(node)))
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return set(_WORD.findall(str(node.value)))
    if isinstance(node, ast.comprehension | ast.NamedExpr):
        return {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
    if isinstance(node, ast.alias):
        return {(node.asname or node.name).partition(".")[0]}
    if isinstance(node, ast.keyword):
        return set()
    # `global` and `nonlocal`, parameters of a lambda, and what `except` and patterns bind.
    fields = (getattr(node, field, None) for field in ("name", "rest", "arg"))
    return {*getattr(node, "names", ()), *(name for name in fields if isinstance(name, str))}
