"""Headers of chunks: text embedded before a chunk that gives its context.

A header has up to three lines: the path; the scopes in which the chunk begins, outermost first; the
signature of the innermost scope:

    readings/store.py
    Store > report
    def report(self, names: list[str] | None = None) -> str:

A scope is a named definition that begins before the chunk and reaches into it. Without a scope or a
grammar the header is the path alone. Spans do not change: a header is embedded, searched and
counted, but only delivered if a profile delivers the embedded text. If a chunk is embedded by
windows, the header is in the first.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from chunkers.grammars.outline import LONGEST, outline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chunkers.grammars.outline import Scope
    from chunkers.source import Source, Span

_VISIBLE = re.compile(r"\S")


def with_headers(source: Source, spans: Sequence[Span]) -> list[Span]:
    """The spans (in order of `start`) with a header and their text as `embed_text`.

    Raises:
        InputError: The grammar's wheel is missing.
    """
    if not spans:
        return []
    return [
        replace(span, embed_text=f"{header}\n{source.text[span.start : span.end]}")
        for span, header in zip(spans, _headers(source, spans), strict=True)
    ]


def _headers(source: Source, spans: Sequence[Span]) -> Iterator[str]:
    begins = [_begin(source, span.start) for span in spans]
    scopes = outline(source, [line for line, _ in begins])
    at = 0
    open_: list[Scope] = []
    for line, inside in begins:
        while at < len(scopes) and scopes[at].start_line < line + inside:
            open_.append(scopes[at])
            at += 1
        open_ = [scope for scope in open_ if scope.end_line >= line]
        yield "\n".join([source.path, *_lines(open_)])


def _begin(source: Source, start: int) -> tuple[int, bool]:
    """The line on which a chunk begins, and whether code stands before it on that line.

    It may begin in the middle of a line, after the beginning of a definition.
    """
    match = _VISIBLE.search(source.text, start)
    begin = match.start() if match else start
    line = source.lines.line_of(begin)
    return line, bool(source.text[source.lines.start_of(line) : begin].strip())


def _lines(scopes: Sequence[Scope]) -> list[str]:
    """The chain of names and the innermost signature; no lines without a scope."""
    if not scopes:
        return []
    chain = scopes[-1].name
    for scope in reversed(scopes[:-1]):
        longer = f"{scope.name} > {chain}"
        if len(longer) > LONGEST:
            chain = f"… > {chain}"
            break
        chain = longer
    return [chain, scopes[-1].signature]
