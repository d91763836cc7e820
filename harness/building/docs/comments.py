"""Cuts every doc comment out of a source and says where what they document then lies."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.building.docs.definitions import definitions_of
from harness.building.docs.nodes import Tree, docstrings_of, pieces_of
from harness.building.docs.styles import STYLES
from harness.support.edits import Edit, OffsetMap, apply, whole_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from chunkers.source import Source
    from harness.building.docs.nodes import Docstring, Piece

# What a comment must keep to stay one.
_OPENING = re.compile(r"/\*[*!]?|//[/!]?|=begin|#!?\[\s*doc\s*=\s*r?#*\"|#")
_SEMICOLON = re.compile(r"[ \t\f]*;[ \t\f]*")
_CLOSING = re.compile(r"\*/\Z|=end\Z|\"#*\s*\]\Z")


@dataclass(frozen=True, slots=True)
class DocumentedDefinition:
    """A function, method or class that had a doc comment.

    Attributes:
        name: Its name with those of the definitions around it, such as `Class.method`.
        comment: The comments as they stood, one after the other; the value of a docstring.
        start_line: First line after the cut, that of its first attribute or decorator.
        end_line: Last line after the cut.
        number: Which of the definitions of that name it is, from 1 on.
        empty: Whether nothing is left of its body.
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
        source: What is left; the same where there were none.
        documented: The functions, methods and classes that had one, outer before inner.
        others: How many doc comments documented something else, or nothing. Comments of a line
            that stand together are one.
    """

    source: Source
    documented: tuple[DocumentedDefinition, ...] = ()
    others: int = 0


def cut_doc_comments(source: Source) -> StrippedSource:
    """StrippedSource the doc comments of everything in a source, those of fields and files too.

    Lines that held nothing else go with them. What is no longer a body becomes `pass` in Python.
    A language that is not in `harness.building.docs.styles.STYLES` keeps its comments.

    Raises:
        InputError: The grammar's wheel is missing.
    """
    style = STYLES.get(source.language or "")
    tree = Tree.of(source) if style else None
    if style is None or tree is None:
        return StrippedSource(source)
    pieces = pieces_of(tree)
    docstrings = {one.owner: one for one in docstrings_of(tree)} if style.strings else {}
    stretches = _stretches(source.text, pieces)
    edits = sorted([*_without(source.text, stretches), *_without_strings(source.text, docstrings)])
    if not edits:
        return StrippedSource(source)
    left = replace(source, text=apply(source.text, edits))
    if (errors := tree.errors()) and _errors(left) > errors:
        # How a parser mends broken code rests on how much lies between: keep that as it was.
        blanks = _blanked(source.text, pieces, docstrings)
        if _errors(blanked := replace(source, text=apply(source.text, blanks))) < _errors(left):
            edits, left = blanks, blanked
    moved = OffsetMap(edits)
    numbers: Counter[str] = Counter()
    documented = []
    for definition in definitions_of(tree, pieces):
        if definition.container:
            continue
        numbers[definition.name] += 1
        comment = definition.comment
        string = docstrings.get(definition.key)
        if style.strings:
            comment = (string.value,) if string else ()
        if comment:
            start = moved.at(definition.start)
            documented.append(
                DocumentedDefinition(
                    name=definition.name,
                    comment=comment,
                    start_line=left.lines.line_of(start),
                    end_line=left.lines.line_of(max(moved.at(definition.end) - 1, start)),
                    number=numbers[definition.name],
                    empty=string is not None and string.emptied,
                    function=definition.function,
                )
            )
    others = len(docstrings) + len(stretches) - len(documented)
    return StrippedSource(left, tuple(documented), max(0, others))


def _stretches(text: str, pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Characters [start, end) of doc comments; those with no blank line between them are one."""
    found: list[tuple[int, int]] = []
    for piece in pieces:
        if piece.role not in ("doc", "behind"):
            continue
        between = text[found[-1][1] : piece.start] if found else "."
        if not between.strip() and between.count("\n") <= 1:
            found[-1] = (found[-1][0], piece.end)
        else:
            found.append((piece.start, piece.end))
    return found


def _without(text: str, stretches: Iterable[tuple[int, int]]) -> list[Edit]:
    """What takes comments out of a text, and the white space that then is too much."""
    edits = []
    for start, end in stretches:
        lines = whole_lines(text, start, end)
        if lines != (start, end):
            edits.append(Edit(*lines))
            continue
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", end) + 1 or len(text)
        before, behind = text[line_start:start], text[end:line_end]
        if not behind.strip():
            edits.append(Edit(line_start + len(before.rstrip()), end))
        elif not before.strip():
            edits.append(Edit(start, end + len(behind) - len(behind.lstrip())))
        else:
            # Words must not grow together, nor statements that a line's end keeps apart.
            apart = before[-1:].isspace() or behind[:1].isspace()
            new = "\n" if "\n" in text[start:end] else " " * (not apart)
            edits.append(Edit(start, end, new))
    return edits


def _without_strings(text: str, docstrings: Mapping[int, Docstring]) -> list[Edit]:
    edits = []
    for one in docstrings.values():
        for number, (start, end) in enumerate(one.strings):
            if one.emptied and number == 0:
                edits.append(Edit(start, end, "pass"))
                continue
            semicolon = _SEMICOLON.match(text, end)
            edits.append(Edit(*whole_lines(text, start, semicolon.end() if semicolon else end)))
    return edits


def _blanked(text: str, pieces: Sequence[Piece], docstrings: Mapping[int, Docstring]) -> list[Edit]:
    """What puts a comment or a string without words, as long as each, in its place."""
    edits = []
    for one in docstrings.values():
        for start, end in one.strings:
            quotes = '"""' if end - start >= 6 else '"'
            inside = _blank(text[start + len(quotes) : end - len(quotes)])
            edits.append(Edit(start, end, quotes + inside + quotes))
    for piece in pieces:
        if piece.role in ("doc", "behind"):
            comment = text[piece.start : piece.end]
            opened = _OPENING.match(comment)
            head, tail = opened[0] if opened else "", _CLOSING.search(comment)
            inside = comment[len(head) : tail.start() if tail else None]
            edits.append(
                Edit(piece.start, piece.end, head + _blank(inside) + (tail[0] if tail else ""))
            )
    return sorted(edits)


def _blank(text: str) -> str:
    """As many bytes, without words: a dot for every one that is no white space."""
    return "".join(
        one if one.isspace() else "." * len(one.encode("utf-8", "surrogatepass")) for one in text
    )


def _errors(source: Source) -> int:
    tree = Tree.of(source)
    return tree.errors() if tree else 0
