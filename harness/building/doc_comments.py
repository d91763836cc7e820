"""Cuts every doc comment out of a source and says where what they document then lies."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.building.doc_nodes import Tree, definitions_of, docstrings_of, pieces_of
from harness.building.doc_styles import STYLES
from harness.edits import Edit, Moved, apply, whole_lines
from harness.loaders.docstrings import SEMICOLON

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from chunkers.source import Source
    from harness.building.doc_nodes import Definition, Docstring, Piece

# What a comment must keep to stay one.
_OPENING = re.compile(r"/\*[*!]?|//[/!]?|=begin|#!?\[\s*doc\s*=\s*r?#*\"|#")
_CLOSING = re.compile(r"\*/\Z|=end\Z|\"#*\s*\]\Z")


@dataclass(frozen=True, slots=True)
class Documented:
    """A function, method or class that had a doc comment.

    Attributes:
        name: Its name with those of the definitions around it, such as `Class.method`.
        comment: The comments as they stood, one after the other; the value of a docstring.
        start_line: First line after the cut, that of its first attribute or decorator.
        end_line: Last line after the cut.
        number: Which of the definitions of that name it is, from 1 on.
        empty: Whether nothing is left of its body.
    """

    name: str
    comment: tuple[str, ...]
    start_line: int
    end_line: int
    number: int = 1
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """A source without doc comments.

    Attributes:
        source: What is left; the same where there were none.
        documented: The functions, methods and classes that had one, outer before inner.
        others: How many doc comments documented something else, or nothing. Comments of a line
            that stand together are one.
    """

    source: Source
    documented: tuple[Documented, ...] = ()
    others: int = 0


def cut_doc_comments(source: Source) -> Cut:
    """Cut the doc comments of everything in a source, those of fields and files too.

    Lines that held nothing else go with them. What is no longer a body becomes `pass` in Python.
    A language that is not in `harness.building.doc_styles.STYLES` keeps its comments.

    Raises:
        InputError: The grammar's wheel is missing.
    """
    style = STYLES.get(source.language or "")
    tree = Tree.of(source) if style else None
    if style is None or tree is None:
        return Cut(source)
    pieces = pieces_of(tree, style)
    docstrings = {one.owner: one for one in docstrings_of(tree)} if style.strings else {}
    stretches = _stretches(source.text, pieces)
    edits = sorted([*_without(source.text, stretches), *_without_strings(source.text, docstrings)])
    if not edits:
        return Cut(source)
    left = replace(source, text=apply(source.text, edits))
    if (errors := tree.errors()) and _errors(left) > errors:
        # How a parser mends broken code rests on how much lies between: keep that as it was.
        blanks = _blanked(source.text, pieces, docstrings)
        if _errors(blanked := replace(source, text=apply(source.text, blanks))) < _errors(left):
            edits, left = blanks, blanked
    # To some grammars a comment behind an attribute is the end of it: then that counts.
    moved, ends = Moved(edits), {piece.end: piece for piece in reversed(pieces)}
    numbers: Counter[str] = Counter()
    documented = []
    for one in definitions_of(tree, style):
        numbers[one.name] += 1
        start, comment = _above(source.text, one, ends)
        string = docstrings.get(one.key)
        if style.strings:
            comment = (string.value,) if string else ()
        if comment:
            first = left.lines.line_of(moved.at(start))
            last = left.lines.line_of(max(moved.at(one.end) - 1, moved.at(start)))
            emptied = string is not None and string.emptied
            documented.append(
                Documented(one.name, comment, first, last, numbers[one.name], emptied)
            )
    others = len(docstrings) + len(stretches) - len(documented)
    return Cut(left, tuple(documented), max(0, others))


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
            semicolon = SEMICOLON.match(text, end)
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


def _above(text: str, one: Definition, ends: Mapping[int, Piece]) -> tuple[int, tuple[str, ...]]:
    """Where a definition begins with its attributes, and the doc comments right above it.

    Attributes may stand between the two, and so may other comments, on lines of their own or
    behind an attribute. Of comments of several lines the last counts; those of a line count as far
    as they stand together.
    """
    first = at = one.start
    comments: list[str] = []
    near = True
    while piece := ends.get(_visible(text, at)):
        apart = text.count("\n", piece.end, at)
        if piece.role == "attribute":
            first = piece.start
        elif piece.role == "behind" or not (
            not apart or _alone(text, piece) or _behind_attribute(text, piece, ends)
        ):
            break
        elif apart > 1:
            near = False  # for doc comments; attributes may be any distance away
        elif piece.role == "doc" and near:
            comments = _joined(text, piece, ends)
            near = False
        at = piece.start
    return first, tuple(comments)


def _joined(text: str, piece: Piece, ends: Mapping[int, Piece]) -> list[str]:
    """A doc comment, with those before it where it is one of a line and they stand together."""
    comments = [text[piece.start : piece.end]]
    while not comments[0].startswith("/*"):
        end = _visible(text, piece.start)
        before = ends.get(end)
        joined = before and before.role == "doc" and text.count("\n", end, piece.start) == 1
        if before is None or not joined or text.startswith("/*", before.start):
            break
        piece = before
        comments.insert(0, text[piece.start : piece.end])
    return comments


def _alone(text: str, piece: Piece) -> bool:
    """Whether nothing stands before a comment on its line."""
    return not text[text.rfind("\n", 0, piece.start) + 1 : piece.start].strip()


def _behind_attribute(text: str, piece: Piece, ends: Mapping[int, Piece]) -> bool:
    """Whether a comment stands on the line of an attribute, behind it or behind more comments."""
    before = ends.get(_visible(text, piece.start))
    while before and "\n" not in text[before.end : piece.start]:
        if before.role == "attribute":
            return True
        piece, before = before, ends.get(_visible(text, before.start))
    return False


def _visible(text: str, end: int) -> int:
    """Behind the last character before `end` that is no white space."""
    while end and text[end - 1].isspace():
        end -= 1
    return end
