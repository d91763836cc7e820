"""Cuts every docstring out of Python source and says where its functions then lie."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.source import LineIndex
from harness.edits import Edit, apply, whole_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef
# What ends a line for Python's parser; a source's own lines end with LF alone.
_PARSER_LINE_END = re.compile(r"\r\n|\r|\n")
SEMICOLON = re.compile(r"[ \t\f]*;[ \t\f]*")


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method in source without docstrings.

    Attributes:
        name: Its name with those of the definitions around it, such as `Class.method`.
        docstring: What was cut, without indentation; None where there was none.
        only_docstring: Whether nothing but `pass` is left of its body.
        start_line: First line, that of its first decorator.
        end_line: Last line.
    """

    name: str
    docstring: str | None
    only_docstring: bool
    start_line: int
    end_line: int


def cut_docstrings(text: str) -> tuple[str, tuple[Function, ...]]:
    """Cut the docstrings of module, classes and functions, nested ones too.

    Lines that held nothing else go with them. A string that a cut would turn into a docstring is
    cut as well, and a body that was nothing else becomes `pass`.

    Returns:
        The text, which parses to the same tree but for the docstrings, and its functions in order.

    Raises:
        SyntaxError: `text` is no Python.
    """
    tree = ast.parse(text)
    cut = apply(text, _edits(text, tree))
    places, lines = _Offsets(cut), LineIndex(cut)
    functions = []
    for (name, before), (_, after) in zip(
        _definitions(tree), _definitions(ast.parse(cut)), strict=True
    ):
        if isinstance(before, ast.ClassDef) or isinstance(after, ast.ClassDef):
            continue
        first = min([after.lineno, *(decorator.lineno for decorator in after.decorator_list)])
        functions.append(
            Function(
                name=name,
                docstring=ast.get_docstring(before),
                only_docstring=len(_leading_strings(before)) == len(before.body),
                start_line=lines.line_of(places.at(first, 0)),
                end_line=lines.line_of(places.at(after.end_lineno or first, 0)),
            )
        )
    return cut, tuple(functions)


class _Offsets:
    """Turns the parser's positions, 1-based lines and UTF-8 byte columns, into offsets."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _PARSER_LINE_END.finditer(text))]

    def at(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        # A character has at least one byte, so `column` characters hold `column` bytes.
        before = self._text[start : start + column].encode()[:column]
        return start + len(before.decode())


def _definitions(node: ast.AST, scope: str = "") -> Iterator[tuple[str, _Definition]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Definition):
            yield scope + child.name, child
            yield from _definitions(child, f"{scope}{child.name}.")
        elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _definitions(child, scope)


def _leading_strings(node: ast.Module | _Definition) -> list[ast.stmt]:
    strings: list[ast.stmt] = []
    for statement in node.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
            break
        strings.append(statement)
    return strings


def _edits(text: str, tree: ast.Module) -> list[Edit]:
    """What to put in place of which characters; the stretches are apart from each other."""
    places = _Offsets(text)
    edits = []
    for node in (tree, *(definition for _, definition in _definitions(tree))):
        strings = _leading_strings(node)
        emptied = not isinstance(node, ast.Module) and len(strings) == len(node.body)
        for number, string in enumerate(strings):
            start = places.at(string.lineno, string.col_offset)
            end = places.at(string.end_lineno or 0, string.end_col_offset or 0)
            if emptied and number == 0:
                edits.append(Edit(start, end, "pass"))
            else:
                semicolon = SEMICOLON.match(text, end)
                end = semicolon.end() if semicolon else end
                edits.append(Edit(*whole_lines(text, start, end)))
    return sorted(edits)
