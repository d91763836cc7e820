"""Blanks the lines of a query in their file, so that the rest keeps its lines and still parses.

Lines around a call are rarely whole statements: a function begins in them and ends after them, or
the other way round. Without them the rest is a syntax error, and chunkers that parse cut it in
another way. So where blank lines make an error, the least is put in their place that mends it:
brackets of what is partly in the lines, then its keywords and operators with `x` for every name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from chunkers.errors import InputError
from chunkers.grammars.loading import GRAMMARS
from chunkers.grammars.model import text_of
from harness.chunking.parsing import UnparsedError, parse, prepare
from harness.reading.stored_text import kept
from harness.support.word_runs import words_of
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from chunkers.source import Source
    from harness.model import Region

Parse = Literal["whole", "filled", "broken"]
"""Blank lines make no syntax error; they do, and a filler mends it; nothing does."""

_BRACKETS, _HEADS, _FIELDS = range(3)
_KEPT = (_BRACKETS, _HEADS, _FIELDS)
"""What stays of constructs that are partly in the lines: brackets; all of their syntax but whole
lines, such as statements; and whole lines too where the grammar names their part."""

_TOKEN = re.compile(r"([^\w\s]*)(.*?)([^\w\s]*)", re.DOTALL)
_NAMING = frozenset(
    ["atom", "constant", "field", "identifier", "label", "name", "property", "symbol", "variable",
     "word"]
)  # fmt: skip
"""Parts of the kinds of nodes whose text was chosen by a person."""
_QUOTES = frozenset("\"'`")
_DELIMITERS = _QUOTES | frozenset("()[]{}")
_SEPARATORS = frozenset(",;")


@dataclass(frozen=True)
class MaskedSource:
    """A source without the text of a query, and what that did to its parse."""

    source: Source
    parse: Parse


def blanked(source: Source, region: Region, query: str) -> Source:
    """A source with blank lines in place of a query's region.

    Raises:
        InputError: It does not have them.
    """
    if region.end_line > source.lines.count:
        raise InputError(
            f"query {query}: its region {region.path}:{region.start_line}-{region.end_line} "
            f"passes the file's {counted(source.lines.count, 'line')}"
        )
    return _filled(source, region, [_ending(line) for line in _lines(source, region)])


def mask_sources(places: Sequence[tuple[Source, Region, str]]) -> list[MaskedSource]:
    """Mask sources, each without the region of a query, whose id is given for messages.

    A filler is used only where the file has no more syntax errors with it than as it was.

    Raises:
        InputError: A source does not have a region.
    """
    masked = [kept(blanked(*place)) for place in places]
    prepare((*(source for source, _, _ in places), *masked))
    known = {source: _errors(source) for source in {source for source, _, _ in places}}
    states: list[Parse] = ["whole"] * len(places)
    broken = []
    for at, (source, _, _) in enumerate(places):
        if _errors(masked[at]) > known[source]:
            states[at] = "broken"
            broken.append(at)
    for parts in _KEPT:
        fillers = {at: kept(_with_filler(*places[at][:2], parts)) for at in broken}
        prepare(fillers.values())
        for at, filled in fillers.items():
            if _errors(filled) <= known[places[at][0]]:
                masked[at], states[at] = filled, "filled"
                broken.remove(at)
    return [MaskedSource(source, state) for source, state in zip(masked, states, strict=True)]


def _lines(source: Source, region: Region) -> list[str]:
    """The lines of a region, without LF."""
    text = source.lines.text_of(region.start_line, region.end_line)
    return text.split("\n")[: region.end_line - region.start_line + 1]


def _filled(source: Source, region: Region, lines: Sequence[str]) -> Source:
    """A source with as many other lines, without LF, in place of a region."""
    start, end = source.lines.offsets_of(region.start_line, region.end_line)
    last = "\n" if source.text[:end].endswith("\n") else ""
    return replace(source, text=source.text[:start] + "\n".join(lines) + last + source.text[end:])


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r")) :][-1:]


def _errors(source: Source) -> float:
    """Number of syntax errors; infinite if the parser does not return, 0 if there is none."""
    try:
        root = parse(source)
    except UnparsedError:
        return float("inf")
    count = 0
    nodes = [root] if root is not None else []
    while nodes:
        node = nodes.pop()
        count += node.is_error or node.is_missing
        nodes += [child for child in node.children if child.has_error or child.is_missing]
    return count


def _with_filler(source: Source, region: Region, kept: int) -> Source:
    root = parse(source)
    if root is None:
        raise ValueError(f"{source.path} has no syntax tree")
    tokens: dict[int, list[_Token]] = {}
    for token in _Construct(source, region, kept).tokens(root):
        tokens.setdefault(token.row, []).append(token)
    lines = [
        _line(tokens.get(row, []), line)
        for row, line in enumerate(_lines(source, region), region.start_line - 1)
    ]
    return _filled(source, region, lines)


class _Token(NamedTuple):
    """Text in place of a token; columns are bytes."""

    row: int
    column: int
    end: int
    text: str


def _line(tokens: Sequence[_Token], line: str) -> str:
    """Tokens in the indentation of a line, apart where they were apart."""
    text = line[: len(line) - len(line.lstrip(" \t"))] if tokens else ""
    end = None
    for token in sorted(tokens):
        text += " " * (end is not None and token.column != end) + token.text
        end = token.end
    return text + _ending(line)


class _Construct:
    """What stays of the constructs that are partly in a region.

    Names are replaced by `x`, or `X` if they begin with a capital letter, repeated until the region
    has no such word.
    """

    def __init__(self, source: Source, region: Region, kept: int) -> None:
        self._first, self._last = region.start_line - 1, region.end_line - 1
        self._kept = kept
        self._comments = GRAMMARS[source.language or ""].comments
        lines = _lines(source, region)
        words = set(words_of("\n".join(lines)))
        self._lines = [line.encode("utf-8", "surrogatepass") for line in lines]
        self._name = "x"
        while self._name in words:
            self._name += "x"

    def tokens(self, root: Node) -> Iterator[_Token]:
        """The tokens that stay, in order."""
        nodes = [(root, False)]
        while nodes:
            node, inside = nodes.pop()
            children = node.children
            if not children:
                token = self._token(node) if inside else self._delimiter(node)
                if token is not None:
                    yield token
            elif inside:
                nodes += [(c, True) for c in reversed(children) if not self._comment(c)]
            else:
                nodes += reversed([*self._parts(node, children)])

    def _parts(self, node: Node, children: Sequence[Node]) -> Iterator[tuple[Node, bool]]:
        """The children that stay of a node partly in the region, and whether they are inside."""
        dropped = False
        for at, child in enumerate(children):
            first, last = _rows(child)
            if last < self._first or first > self._last:
                continue
            inside = self._first <= first and last <= self._last
            if not inside:
                dropped = False
            elif child.type in _SEPARATORS:
                dropped = dropped or self._kept == _BRACKETS
            else:
                dropped = self._drops(child, node.field_name_for_child(at))
            if not dropped:
                yield child, inside

    def _drops(self, child: Node, field: str | None) -> bool:
        """Whether a child inside the region goes."""
        if self._comment(child):
            return True
        text = "" if child.children else text_of(child)
        if text and not re.search(r"\w", text) and (child.is_named or {*text} <= _DELIMITERS):
            return False  # the end of a string may be a node with a name
        if self._kept == _BRACKETS:
            return True
        if not child.is_named or (self._kept == _FIELDS and field):
            return False
        (row, column), (_, end) = child.start_point, child.end_point
        before = self._lines[row - self._first][:column]
        after = self._lines[_rows(child)[1] - self._first][end:] if end else b""
        return not before.strip() and not after.strip(b" \t\r,;")

    def _token(self, node: Node) -> _Token | None:
        """A token inside the region, without its name."""
        text = text_of(node)
        lead, name, trail = _parted(text)
        # The kind of a keyword names it, where keywords are nodes with names. Names may do so too.
        kind = {*node.type.split("_")}
        keyword = name in kind and not kind & _NAMING
        if node.is_named and name and not keyword:
            other = self._name.upper() if name[0].isupper() else self._name
            other = "0" if name[0].isdigit() else other
            text = lead + ("" if _QUOTES & {*lead, *trail} else other) + trail
        row, column = node.start_point
        return _Token(row, column, node.end_point[1], text) if text.strip() else None

    def _delimiter(self, node: Node) -> _Token | None:
        """The delimiter in the region of a comment or string that is partly in it."""
        lead, _, trail = _parted(text_of(node))
        first, last = _rows(node)
        (row, column), (end_row, end) = node.start_point, node.end_point
        if not self._comment(node) and not _QUOTES & {*lead}:
            return None
        if first >= self._first:
            return _Token(row, column, column + len(lead), lead) if lead else None
        if last <= self._last and trail:
            return _Token(end_row, end - len(trail), end, trail)
        return None

    def _comment(self, node: Node) -> bool:
        return node.is_extra or node.type in self._comments


def _rows(node: Node) -> tuple[int, int]:
    """First and last row of a node; what ends with a line feed ends before the next row."""
    row, (end, column) = node.start_point[0], node.end_point
    return row, end - (end > row and column == 0)


def _parted(text: str) -> tuple[str, str, str]:
    """Punctuation at the beginning, the rest, and punctuation at the end."""
    match = _TOKEN.fullmatch(text)
    return ("", text, "") if match is None else (match[1], match[2], match[3])
