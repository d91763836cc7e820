"""Cuts the doc comments out of a source and finds the definitions that they document."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.building.docs.definitions import definitions_of
from harness.building.docs.edits import Edit, OffsetMap, apply, whole_lines
from harness.building.docs.nodes import Tree, docstrings_of, pieces_of
from harness.building.docs.styles import STYLES
from harness.building.docs.text import comment_text, is_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from chunkers.source import Source
    from harness.building.docs.nodes import Docstring, Piece
    from harness.building.docs.styles import Style

# What makes a comment a comment.
_OPENING = re.compile(
    r"/\*[*!]?|//[/!]?|=(?:begin|pod|head\d)|#!?\[\s*doc\s*=\s*r?#*\"|\(\*|\{-(?: *[|^])?"
    r"|--\[=*\[|#[=|]|--+(?: *[|^])?|[#;%!]|(?:@\w*doc\s*)?(?:~[sS])?(?:\"\"\"|'''|\")"
)
# The lines of a comment that has marks on each; some grammars join such lines to one comment.
_MARKED = re.compile(r"^([ \t]*(?:--+(?: *[|^])?|//[/!]?|[#;%!]+))(.*)$", re.MULTILINE)
_SEMICOLON = re.compile(r"[ \t\f]*;[ \t\f]*")
_CLOSING = re.compile(r"(?:\*/|=(?:end|cut)|\"#*\s*\]|\*\)|-\}|\]={0,9}\]|=#|\|#|\"\"\"|'''|\")\Z")


@dataclass(frozen=True, slots=True)
class DocumentedDefinition:
    """A function, method or class that had a doc comment.

    Attributes:
        name: Its name with those around it, as in `Class.method`.
        comment: The doc comments in order, as written; or the value of a docstring.
        start_line: Its first line without comments, that of its first attribute or decorator.
        end_line: Its last line without comments.
        number: Its number among the definitions of that name, from 1.
        empty: Whether its body was nothing but the docstring.
        function: Whether it is a function or a method.
    """

    name: str
    comment: tuple[str, ...]
    start_line: int
    end_line: int
    number: int = 1
    empty: bool = False
    function: bool = True


@dataclass(frozen=True, slots=True)
class StrippedSource:
    """A source without doc comments.

    Attributes:
        source: The source; the given one if it had no doc comments.
        documented: The documented functions, methods and classes, outermost first.
        others: Number of doc comments that document something else, or nothing. Line comments in
            a row are one.
    """

    source: Source
    documented: tuple[DocumentedDefinition, ...] = ()
    others: int = 0


def strip_doc_comments(source: Source, style: Style | None = None) -> StrippedSource:
    """Cut the doc comments of everything in a source, those of fields and files too.

    Lines that held nothing else go with them. What is no longer a body becomes `pass` in Python.
    A language that is not in `harness.building.docs.styles.STYLES` keeps its comments; `style`
    takes the place of what that says.

    Raises:
        InputError: The grammar's wheel is missing.
    """
    style = style or STYLES.get(source.language or "")
    tree = Tree.of(source) if style else None
    if style is None or tree is None:
        return StrippedSource(source)
    pieces = pieces_of(tree, style)
    docstrings = (
        {docstring.owner: docstring for docstring in docstrings_of(tree)} if style.strings else {}
    )
    stretches = _stretches(source.text, pieces)
    edits = sorted([*_without(source.text, stretches), *_without_strings(source.text, docstrings)])
    if not edits:
        return StrippedSource(source)
    left = replace(source, text=apply(source.text, edits))
    if _errors(left) > tree.errors():
        # A parser repairs broken code depending on its distances: keep those.
        blanks = _blanked(source.text, pieces, docstrings)
        if _errors(blanked := replace(source, text=apply(source.text, blanks))) < _errors(left):
            edits, left = blanks, blanked
    moved = OffsetMap(edits)
    numbers: Counter[str] = Counter()
    documented = []
    for definition in definitions_of(tree, pieces):
        if definition.container or definition.declared:
            continue
        numbers[definition.name] += 1
        comment = definition.comment
        string = docstrings.get(definition.key)
        if style.strings and (string or comment):
            above = inspect.cleandoc("\n".join(map(comment_text, comment)))
            comment = (string.value if string else above,)
        if comment:
            first, last = left.lines.lines_of(moved.at(definition.start), moved.at(definition.end))
            documented.append(
                DocumentedDefinition(
                    name=definition.name,
                    comment=comment,
                    start_line=first,
                    end_line=last,
                    number=numbers[definition.name],
                    empty=string is not None and string.emptied,
                    function=definition.function,
                )
            )
    others = len(docstrings) + len(stretches) - len(documented)
    return StrippedSource(left, tuple(documented), max(0, others))


def _stretches(text: str, pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Characters [start, end) of doc comments, joined where no blank line is between them."""
    stretches: list[tuple[int, int]] = []
    for piece in pieces:
        if piece.role not in ("doc", "trailing"):
            continue
        between = text[stretches[-1][1] : piece.start] if stretches else "."
        if not between.strip() and between.count("\n") <= 1:
            stretches[-1] = (stretches[-1][0], piece.end)
        else:
            stretches.append((piece.start, piece.end))
    return stretches


def _without(text: str, stretches: Iterable[tuple[int, int]]) -> list[Edit]:
    """The edits that remove comments and the white space around them."""
    edits = []
    for start, end in stretches:
        lines = whole_lines(text, start, end)
        if lines != (start, end):
            edits.append(Edit(*lines))
            continue
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", end) + 1 or len(text)
        before, after = text[line_start:start], text[end:line_end]
        if not after.strip():
            edits.append(Edit(line_start + len(before.rstrip()), end))
        elif not before.strip():
            edits.append(Edit(start, end + len(after) - len(after.lstrip())))
        else:
            # Keep words and statements apart.
            apart = before[-1:].isspace() or after[:1].isspace()
            new = "\n" if "\n" in text[start:end] else " " * (not apart)
            edits.append(Edit(start, end, new))
    return edits


def _without_strings(text: str, docstrings: Mapping[int, Docstring]) -> list[Edit]:
    """The edits that remove docstrings."""
    edits = []
    for docstring in docstrings.values():
        for number, (start, end) in enumerate(docstring.strings):
            if docstring.emptied and number == 0:
                edits.append(Edit(start, end, "pass"))
                continue
            semicolon = _SEMICOLON.match(text, end)
            edits.append(Edit(*whole_lines(text, start, semicolon.end() if semicolon else end)))
    return edits


def _blanked(text: str, pieces: Sequence[Piece], docstrings: Mapping[int, Docstring]) -> list[Edit]:
    """The edits that keep each comment and docstring at its length, without words."""
    edits = []
    for docstring in docstrings.values():
        for start, end in docstring.strings:
            quotes = '"""' if end - start >= 6 else '"'
            inside = _blank(text[start + len(quotes) : end - len(quotes)])
            edits.append(Edit(start, end, quotes + inside + quotes))
    for piece in pieces:
        if piece.role in ("doc", "trailing"):
            comment = text[piece.start : piece.end]
            if not is_block(comment):
                blank = _MARKED.sub(lambda line: line[1] + _blank(line[2]), comment)
                edits.append(Edit(piece.start, piece.end, blank))
                continue
            opened = _OPENING.match(comment)
            head, tail = opened[0] if opened else "", _CLOSING.search(comment)
            inside = comment[len(head) : tail.start() if tail else None]
            edits.append(
                Edit(piece.start, piece.end, head + _blank(inside) + (tail[0] if tail else ""))
            )
    return sorted(edits)


def _blank(text: str) -> str:
    """The text with a dot for every byte that is not white space."""
    return "".join(
        char if char.isspace() else "." * len(char.encode("utf-8", "surrogatepass"))
        for char in text
    )


def _errors(source: Source) -> int:
    tree = Tree.of(source)
    return tree.errors() if tree else 0
