"""Files of several languages: the script blocks of components, parsed at their own lines."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from chunkers.grammars.loading import grammar_of
from chunkers.sizes import Lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from chunkers.source import Services, Source

    Cut = Callable[[Lines, Services, int], list[tuple[int, int]]]

_SUFFIXES = (".astro", ".svelte", ".vue")
_SCRIPTS = ("javascript", "tsx", "typescript")
_BLOCK = re.compile(
    r"<!--.*?-->"
    r"|<script\b(?P<tag>(?:[^>\"']|\"[^\"]*\"|'[^']*')*)>(?P<script>.*?)</script\s*>",
    re.DOTALL | re.IGNORECASE,
)
_FRONT = re.compile(r"\s*---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)  # of Astro
_KIND = re.compile(r"\b(?:lang|type)\s*=\s*[\"']?([^\"'\s>]*)", re.IGNORECASE)
_READ = re.compile(r"(?:(?:text|application)/)?(?:ts|js|typescript|javascript|module|tsx|jsx)?")
_OTHER = re.compile(rb"[^\n]")


def script_blocks(source: Source) -> list[tuple[int, int, int, int]]:
    """The blocks of a component that hold a script: block and script, as [start, end) each.

    Empty for other files, and where the file is not read as a script.
    """
    if not source.path.lower().endswith(_SUFFIXES) or source.language not in _SCRIPTS:
        return []
    text, blocks, at = source.text, [], 0
    front = _FRONT.match(text) if source.path.lower().endswith(".astro") else None
    if front:
        blocks.append((*front.span(), *front.span(1)))
        at = front.end()
    for block in _BLOCK.finditer(text, at):
        kind = _KIND.search(block["tag"] or "")
        if block["tag"] is not None and _READ.fullmatch(kind[1].lower() if kind else ""):
            blocks.append((*block.span(), *block.span("script")))
    return blocks


def parsed_text(source: Source) -> bytes:
    """The text that is parsed, in UTF-8: in a component all but its scripts is blank."""
    if not source.path.lower().endswith(_SUFFIXES) or source.language not in _SCRIPTS:
        return source.text.encode("utf-8", "surrogatepass")
    borders = [0, *(at for block in script_blocks(source) for at in block[2:]), len(source.text)]
    parts = []
    for number, (start, end) in enumerate(pairwise(borders)):
        octets = source.text[start:end].encode("utf-8", "surrogatepass")
        parts.append(octets if number % 2 else _OTHER.sub(b" ", octets))
    return b"".join(parts)


def by_block(cut: Cut) -> Cut:
    """Let a function that cuts along a syntax tree cut each block of a component by itself.

    A script is cut by its own tree, its tags included; what lies between is cut as HTML.
    """

    @functools.wraps(cut)
    def cut_blocks(lines: Lines, services: Services, limit: int) -> list[tuple[int, int]]:
        last = lines.count - 1
        source = lines.source
        blocks = script_blocks(source)
        if not blocks or lines.size(0, last) <= limit:
            return cut(lines, services, limit)
        index, rows = source.lines, lines.rows
        edges = {0, lines.count}
        scripts = set()
        for start, end, _, _ in blocks:
            first, final = index.lines_of(start, end)
            begin = int(rows.searchsorted(first - 1))
            scripts.add(begin)
            edges |= {begin, int(rows.searchsorted(final))}
        runs: list[tuple[int, int]] = []
        markup = "html" if grammar_of("html") else None
        for begin, end in pairwise(sorted(edges)):
            language = source.language if begin in scripts else markup
            part = _part(lines, begin, end, language)
            runs += [(begin + first, begin + final) for first, final in cut(part, services, limit)]
        return runs

    return cut_blocks


def _part(lines: Lines, begin: int, end: int, language: str | None) -> Lines:
    """The lines `begin` to `end`, the last one not included, as those of a source of their own."""
    source = lines.source
    first, final = int(lines.rows[begin]), int(lines.rows[end - 1])
    start, stop = source.lines.offsets_of(first + 1, final + 1)
    part = replace(source, text=source.text[start:stop], language=language)
    rows = lines.rows[begin:end] - first
    return Lines(part, rows, lines.before[begin:end], lines.through[begin:end])
