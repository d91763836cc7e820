"""Cuts a line that exceeds the limit at tokens of the syntax tree, as minified code needs it."""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from chunkers.grammars.parsing import parse
from chunkers.sizes import span_size
from chunkers.source import Span

if TYPE_CHECKING:
    from tree_sitter import Node

    from chunkers.sizes import Unit
    from chunkers.source import Services, Source


def cut_long_line(
    source: Source, services: Services, span: Span, limit: int, unit: Unit
) -> list[Span]:
    """The span of one line as spans within the limit, each of which begins with a token.

    Each is at least half full where tokens allow it, and ends where the fewest constructs are
    open. A token that exceeds the limit by itself stays whole.

    Args:
        source: The source of the line.
        services: Counts tokens, where they are the unit.
        span: The line.
        limit: The size that no span exceeds.
        unit: What the limit counts.
    """
    tokens = _tokens(source, span)
    places = [place for place, _ in tokens]
    spans: list[Span] = []
    start = span.start
    while start < span.end:
        low = bisect_right(places, start)

        def size(at: int, start: int = start) -> int:
            return span_size(source, Span(start, places[at]), unit, services)

        if span_size(source, Span(start, span.end), unit, services) <= limit or low == len(places):
            spans.append(Span(start, span.end))
            break
        window = range(low, len(places))
        high = low + max(1, bisect_right(window, limit, key=size))  # what fits, or one token
        half = low + bisect_left(window, limit // 2, hi=high - low - 1, key=size)
        best = min(range(half, high), key=lambda at: (tokens[at][1], -at))
        spans.append(Span(start, places[best]))
        start = places[best]
    return spans


@functools.lru_cache(maxsize=1)
def _root(source: Source) -> Node | None:
    return parse(source)  # once for all long lines of a file


def _tokens(source: Source, span: Span) -> list[tuple[int, int]]:
    """Where the tokens of a line begin, each with the number of nodes that begin before it."""
    root = _root(source)
    if root is None:
        return []
    line = source.text[span.start : span.end]
    row = source.text.count("\n", 0, span.start)
    octets = line.encode("utf-8", "surrogatepass")
    # Columns are bytes; a character begins at each byte that continues none.
    characters = [0] * (len(octets) + 1)
    count = 0
    for at, octet in enumerate(octets):
        count += octet & 0xC0 != 0x80
        characters[at] = count - 1
    depths: dict[int, int] = {}
    pending = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        if node.end_point[0] < row or node.start_point[0] > row:
            continue
        if node.start_point[0] == row:
            place = span.start + characters[node.start_point[1]]
            depths[place] = min(depth, depths.get(place, depth))
        pending += [(child, depth + 1) for child in node.children]
    return sorted((place, depth) for place, depth in depths.items() if place > span.start)
