"""What a file consists of, by which an edit is proved to change no more than it says."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chunkers.grammars.blocks import parsed_text
from chunkers.grammars.loading import grammar_of
from harness.chunking.parsing import UnparsedError, parse
from harness.robust.names import parse_python

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tree_sitter import Node

    from chunkers.grammars.model import Grammar
    from chunkers.source import Source
    from harness.robust.positions import Interval

_LITERALS = re.compile(
    "(?<!concatenated_)string|heredoc|nowdoc|sigil|quoted|regex|char|shell|raw_text"
    "|scalar|command_literal"
)
"""Kinds of nodes whose white space may have a meaning."""

Shape = list[tuple[int, str, str]]
"""Depth, kind and, without children, text of each node in order, comments aside."""


@dataclass(frozen=True)
class File:
    """A file that was parsed without an error.

    Attributes:
        source: The file.
        grammar: Its grammar.
        root: Its tree, whose positions are bytes.
        chars: The character at each byte and at the end.
        tokens: Start and end of each leaf, literal and comment in order, in characters, and whether
            it is a comment.
        shape: What must stay the same.
        places: The characters of targets and masked regions.
        seed: The random seed.
    """

    source: Source
    grammar: Grammar
    root: Node
    chars: NDArray[np.int64]
    tokens: tuple[tuple[int, int, bool], ...]
    shape: Shape
    places: Sequence[Interval]
    seed: int

    def inside(self, offset: int) -> tuple[int, int, bool] | None:
        """The token that begins before a character and ends after it."""
        at = bisect_left(self.tokens, (offset,)) - 1
        token = self.tokens[at] if at >= 0 else None
        return token if token and offset < token[1] else None

    def span(self, node: Node) -> Interval:
        """The characters of a node, without white space at its end."""
        start, end = int(self.chars[node.start_byte]), int(self.chars[node.end_byte])
        return start, start + len(self.source.text[start:end].rstrip())


def read_syntax(source: Source, places: Sequence[Interval] = (), seed: int = 0) -> File | None:
    """Parse a file.

    Returns:
        None if there is no grammar, its parser does not return, the file has a syntax error, or
        only parts of it are in its language.
    """
    grammar, octets = grammar_of(source.language), source.text.encode("utf-8", "surrogatepass")
    if grammar is None or parsed_text(source) != octets:
        return None
    try:
        root = parse(source)
    except UnparsedError:
        return None
    if root is None or root.has_error:
        return None
    if source.language == "python" and parse_python(source.text) is None:
        return None  # tree-sitter does not mind tabs and spaces in one block
    begins = (np.frombuffer(octets, dtype=np.uint8) & 0xC0) != 0x80  # not in mid-character
    chars = np.concatenate((np.cumsum(begins) - 1, [len(source.text)]))
    tokens, shape = _walk(root, grammar, octets)
    places_of = tuple((int(chars[start]), int(chars[end]), mark) for start, end, mark in tokens)
    return File(source, grammar, root, chars, places_of, shape, places, seed)


def _walk(root: Node, grammar: Grammar, octets: bytes) -> tuple[list[tuple[int, int, bool]], Shape]:
    """Tokens, in bytes, and shape of a tree; text that is in no leaf is a token too."""
    tokens: list[tuple[int, int, bool]] = []
    shape: Shape = []

    def add(start: int, end: int, depth: int, kind: str, *, comment: bool = False) -> None:
        raw = octets[start:end]
        # White space at the ends of a literal is its own.
        own = bool(raw.strip()) and (kind == "text" or _LITERALS.search(kind))
        if comment or not own:
            start, end = end - len(raw.lstrip()), start + len(raw.rstrip())
        if start < end:
            tokens.append((start, end, comment))
            if not comment:
                shape.append((depth, kind, octets[start:end].decode("utf-8", "surrogatepass")))

    at, stack = 0, [(root, 0)]
    while stack:
        node, depth = stack.pop()
        comment = node.type in grammar.comments
        if node.child_count and not comment and not _LITERALS.search(node.type):
            shape.append((depth, node.type, ""))
            stack += [(child, depth + 1) for child in reversed(node.children)]
            continue
        add(at, node.start_byte, depth, "")
        add(node.start_byte, node.end_byte, depth, node.type, comment=comment)
        at = max(at, node.end_byte)
    add(at, len(octets), 0, "")
    return tokens, shape
