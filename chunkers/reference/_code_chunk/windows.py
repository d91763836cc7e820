"""Windows over a syntax tree: neighbours packed greedily, large nodes opened, leaves cut by lines.

The faults are the original's: indentation before a window and text between windows are in no
chunk, and a piece of a leaf that is merged with whole nodes becomes the whole leaf again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.lazy import np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from chunkers.reference._utf16 import Utf16Text


@dataclass(frozen=True, slots=True)
class Window:
    """Nodes that follow each other, or a piece of a leaf; offsets are UTF-16 code units.

    Attributes:
        start: Start of the first node.
        end: End of the last node.
        size: Sizes of the nodes added up; the text between them counts for nothing.
        lines: First and last row of the pieces of leaves, where it holds nothing else.
    """

    start: int
    end: int
    size: int
    lines: tuple[int, int] | None = None

    def followed_by(self, other: Window) -> Window:
        """Both as one window."""
        lines = self.lines and other.lines and (self.lines[0], other.lines[1])
        return Window(self.start, other.end, self.size + other.size, lines)

    def place(self, text: Utf16Text) -> tuple[int, int, int, int]:
        """Start and end of its text, and first and last row; pieces of leaves go by whole lines."""
        if self.lines is None:
            return self.start, self.end, text.row_of(self.start), text.row_of(self.end)
        first, last = self.lines
        return text.line_start(first), text.line_start(last + 1), first, last


def windows(root: Node, text: Utf16Text, limit: int) -> list[Window]:
    """The windows of a tree, neighbours merged where their sizes together are within the limit.

    Args:
        root: Root of the tree of `text`, parsed as UTF-16.
        text: The text.
        limit: Size that a window does not exceed, unless it is one line of a leaf.
    """
    merged: list[Window] = []
    for window in _split(root, text, limit):
        if merged and merged[-1].size + window.size <= limit:
            merged[-1] = merged[-1].followed_by(window)
        else:
            merged.append(window)
    return merged


def _split(root: Node, text: Utf16Text, limit: int) -> Iterator[Window]:
    current: Window | None = None
    levels = [iter(root.children)]
    while levels:
        node = next(levels[-1], None)
        if node is None:
            levels.pop()
        else:
            window = _window(node, text)
            if current is not None and current.size + window.size <= limit:
                current = current.followed_by(window)
                continue
            if window.size <= limit:
                if current is not None:
                    yield current
                current = window
                continue
        # A level ends, or a node is opened: what was gathered so far stands alone.
        if current is not None:
            yield current
            current = None
        if node is not None and node.child_count:
            levels.append(iter(node.children))
        elif node is not None:
            yield from _pieces(window, text, limit)


def _window(node: Node, text: Utf16Text) -> Window:
    start, end = node.start_byte // 2, node.end_byte // 2
    size = int(text.above_space[end] - text.above_space[start])
    return Window(start, end, size)


def _pieces(leaf: Window, text: Utf16Text, limit: int) -> Iterator[Window]:
    r"""A leaf cut by lines; their sizes count what is no `\s`, unlike those of nodes."""
    first, last = np.searchsorted(text.line_starts, (leaf.start + 1, leaf.end))
    starts = [leaf.start, *text.line_starts[first:last].tolist()]
    at, size = leaf.start, 0
    for start, end in zip(starts, [*starts[1:], leaf.end], strict=True):
        line = int(text.visible[end] - text.visible[start])
        if size + line > limit:
            if start > at:
                yield _piece(leaf, text, at, start, size)
            at, size = start, 0
        size += line
    if leaf.end > at:
        yield _piece(leaf, text, at, leaf.end, size)


def _piece(leaf: Window, text: Utf16Text, start: int, end: int, size: int) -> Window:
    # A piece that ends in LF counts the line behind it as its own.
    return Window(leaf.start, leaf.end, size, (text.row_of(start), text.row_of(end)))
