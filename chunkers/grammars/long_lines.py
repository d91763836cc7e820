"""Cuts lines that exceed the limit, as in minified code and in prose without line breaks.

A piece ends where a token of the syntax tree begins: of the tokens that leave it a fifth full, at
the last of those in the fewest constructs. A token that exceeds the limit by itself, as any text
without a tree, is cut between words, and a word that exceeds it between characters.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from chunkers.grammars.loading import GRAMMARS
from chunkers.grammars.parsing import parse
from chunkers.lazy import np
from chunkers.sizes import span_size
from chunkers.source import Span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chunkers.sizes import Unit
    from chunkers.source import Services, Source

# What begins with these belongs to the piece before.
_CLOSERS = frozenset({",", ";", ")", "]", "}", "jsx_closing_element"})
# Round the beginning of a token that begins no piece: what comes after an opening bracket, and such
# a bracket after a name or a head.
_INSIDE = re.compile(r"[(\[{]|[\w$)\]][(\[{]")
# Kinds of nodes that are one token, though they have parts.
_TOKEN = re.compile("string|char|quote|regex|symbol|comment|AttValue|^inline$")


@dataclass(frozen=True, slots=True)
class LineCutter:
    """Cuts single lines of a source between words, and at tokens if it has any.

    Attributes:
        source: The source.
        limit: The size that no piece exceeds, unless one character does.
        unit: The unit of the limit.
        services: Counts tokens, if they are the unit.
        tokens: Offset of each token that may begin a piece -> the number of nodes that it is in.
        places: These offsets, ascending.
    """

    source: Source
    limit: int
    unit: Unit
    services: Services
    tokens: Mapping[int, int] = field(default_factory=dict)
    places: Sequence[int] = ()

    def cut(self, span: Span, sizes: Sequence[int] = ()) -> list[Span]:
        """A line as spans within the limit, none of them blank.

        Args:
            span: The line with its line feed.
            sizes: The sizes of the first spans, as nearly as tokens allow; the others are full.
        """
        text = self.source.text
        start, end = span.start, span.start + len(text[span.start : span.end].rstrip())
        pieces: list[Span] = []
        room = 0
        for size in itertools.chain(sizes, itertools.repeat(self.limit)):
            room = min(self.limit, room + size)
            stop = self._reach(start, end, room)
            if 0 < end - stop < (stop - start) // 5:
                stop = self._reach(start, end, room - room // 5)  # so that the last is not small
            piece = Span(start, self._border(start, stop, end) if stop < end else span.end)
            # The line end may be too much, and fewer characters may be more tokens.
            if (filled := self.size(piece)) > room:
                piece, filled = Span(start, stop), room
            if not text[start : piece.end].isspace():
                pieces.append(piece)
            if piece.end >= end:
                break
            start, room = piece.end, room - filled
        return pieces

    def _border(self, start: int, stop: int, end: int) -> int:
        """Where a piece ends that may go from `start` to `stop`."""
        places, tokens = self.places, self.tokens
        low = bisect_left(places, start + 1 + (stop - start) // 5)
        high = bisect_right(places, stop)
        if low < high:
            return min(places[low:high], key=lambda place: (tokens[place], -place))
        last = places[high - 1] if high else start
        after = min(end, places[high]) if high < len(places) else end
        if last > start and self._reach(last, end, self.limit) >= after:
            return last  # so that the next token stays whole
        text = self.source.text
        if text[stop - 1].isspace() or text[stop].isspace():
            return stop
        *before, word = text[start:stop].split()
        return stop - len(word) if before and len(word) < (stop - start) * 4 // 5 else stop

    def size(self, span: Span) -> int:
        """The size of a span."""
        return span_size(self.source, span, self.unit, self.services)

    def _reach(self, start: int, end: int, limit: int) -> int:
        """The end, at most `end`, of the longest piece from `start` of this size or one character.

        For tokens its length is doubled and halved, since they are counted by the tokenizer alone.
        """
        if self.unit == "chars":
            return min(end, start + limit)
        if self.unit == "nws":
            nws = self.source.lines.nws
            return min(end, int(np.searchsorted(nws, nws[start] + limit, "right")) - 1)
        text, count = self.source.text, self.services.need_tokens()
        low, step = start + 1, 4 * limit
        while (high := min(start + step, end)) > low and count(text[start:high]) <= limit:
            low, step = high, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            if count(text[start:middle]) <= limit:
                low = middle
            else:
                high = middle
        return low

    def at_tokens(self, spans: Sequence[Span]) -> LineCutter:
        """The same for lines of which the tokens are known; without a syntax tree, `self`.

        A literal or a comment is one token, unless it exceeds the limit.

        Args:
            spans: The lines, in order.

        Raises:
            InputError: The grammar's wheel is missing.
        """
        root = parse(self.source)
        if root is None:
            return self
        grammar = GRAMMARS[self.source.language or ""]
        closers, binders = _CLOSERS | grammar.closers, grammar.comments | grammar.attributes
        text = self.source.text
        rows = [self.source.lines.line_of(span.start) - 1 for span in spans]
        firsts = {span.end - len(text[span.start : span.end].lstrip()) for span in spans}
        octets = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        offsets = np.append(0, np.cumsum(octets & 0xC0 != 0x80)).tolist()  # of bytes
        tokens: dict[int, int] = {}
        pending = [(root, 0, False)]
        while pending:
            node, depth, bound = pending.pop()
            row = node.start_point[0]
            at = bisect_left(rows, row)
            if at == len(rows) or rows[at] > node.end_point[0]:
                continue
            start, end = offsets[node.start_byte], offsets[node.end_byte]
            if row == rows[at] and start not in firsts:
                barred = bound or node.type in closers or _INSIDE.match(text, start - 1)
                tokens.setdefault(start, -1 if barred else depth)
            children = node.children
            if children and _TOKEN.search(node.type):
                whole = self.size(Span(start, end)) <= self.limit
                children = [] if whole else [child for child in children if child.child_count]
            bound = False
            inner = []
            for child in children:
                # The last child is no deeper, so that the arms of `else if` chains are alike.
                inner.append((child, depth + (child is not children[-1]), bound))
                kind = child.type
                bound = kind in binders or (kind.isalpha() and not child.is_named)
            pending += reversed(inner)
        tokens = {start: depth for start, depth in tokens.items() if depth >= 0}
        return replace(self, tokens=tokens, places=sorted(tokens))
