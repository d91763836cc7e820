"""The chunker of code-chunk, which cuts along syntax trees and says where a chunk is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from chunkers import distributions
from chunkers.errors import InputError
from chunkers.languages import grammar_version, parser
from chunkers.reference._chunks import ReferenceChunk, full_path, original_text, spans_of
from chunkers.reference._code_chunk.header import Context
from chunkers.reference._code_chunk.windows import windows
from chunkers.reference._utf16 import Utf16Text
from chunkers.sizes import check_limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

    from chunkers.source import Services, Source, Span

FAMILY = "syntax"

#: Language -> the grammar that the original reads it with.
_GRAMMARS: Mapping[str, str] = {
    "go": "go",
    "java": "java",
    "javascript": "javascript",
    "python": "python",
    "rust": "rust",
    "tsx": "tsx",
    "typescript": "tsx",
}
_SUFFIXES = {
    ".cjs": "javascript",
    ".cts": "typescript",
    ".go": "go",
    ".java": "java",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".mts": "typescript",
    ".py": "python",
    ".pyi": "python",
    ".rs": "rust",
    ".ts": "typescript",
    ".tsx": "tsx",
}


@dataclass(frozen=True)
class CodeChunkAst:
    """The chunker; see `make`."""

    max_size: int
    header: bool
    path_prefix: str
    version: str
    unit: str = "nws"
    languages: tuple[str, ...] = tuple(_GRAMMARS)
    exceptions: tuple[str, ...] = ("exactly-once", "size limit")

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Spans that leave gaps and may overlap; none, with a note, for another language.

        The language is the source's own, whatever the file is called.
        """
        language = source.language
        if language is None or language not in _GRAMMARS:
            services.note(f"not read: {language or 'unknown language'}")
            return []
        path = full_path(self.path_prefix, source.path, services.corpus)
        text = Utf16Text(original_text(source))
        root = _parse(text, language)
        if root.has_error:
            services.note("syntax error")
        context = Context(root, text, path, language) if self.header else None
        return spans_of(source, _chunks(root, text, path, self.max_size, context))


def make(*, max_size: int = 1500, header: bool = True, path_prefix: str = "") -> CodeChunkAst:
    """code-chunk, verified identical in 7 languages.

    Args:
        max_size: Limit of a window, in UTF-16 code units above 32; chunks may exceed it.
        header: Whether context and the last lines of the chunk before are embedded too.
        path_prefix: Comes before the path in the header and in the original's ids.

    Raises:
        InputError: `max_size` is below 1, or a grammar's wheel is missing.
    """
    check_limit(max_size)
    found = {"tree-sitter": distributions.version_of("tree-sitter")}
    found |= {grammar: grammar_version(grammar) for grammar in sorted({*_GRAMMARS.values()})}
    version = ", ".join(f"{name} {number}" for name, number in found.items())
    return CodeChunkAst(max_size, header, path_prefix, f"1 ({version})")


def reference_chunks(
    text: str, path: str, *, language: str | None = None, max_size: int = 1500
) -> list[ReferenceChunk]:
    """The chunks as the original counts them, lines from 0, in its order; none for a blank text.

    Args:
        text: The file as it is, byte order mark and all.
        path: Its path as the original is given it.
        language: Its language; None for what the original takes it for by its suffix.
        max_size: Limit of a window in UTF-16 code units above 32.

    Raises:
        InputError: The original does not read the language, or a grammar's wheel is missing.
    """
    chosen = language or _SUFFIXES.get(PurePosixPath(path).suffix, "")
    if chosen not in _GRAMMARS:
        raise InputError(
            f"{path}: code-chunk does not read this language; it reads {', '.join(_GRAMMARS)}"
        )
    whole = Utf16Text(text)
    root = _parse(whole, chosen)
    return list(_chunks(root, whole, path, max_size, Context(root, whole, path, chosen)))


def _parse(text: Utf16Text, language: str) -> Node:
    # The original parses UTF-16 too; error recovery counts bytes and depends on it.
    return parser(_GRAMMARS[language]).parse(text.octets, encoding="utf16le").root_node


def _chunks(
    root: Node, text: Utf16Text, path: str, max_size: int, context: Context | None
) -> Iterator[ReferenceChunk]:
    before = ""
    for window in windows(root, text, max_size):
        start, end, first, last = window.place(text)
        header = context.header(start, end, before) if context else ""
        before = text.slice(start, end)
        yield ReferenceChunk(f"{path}:{first}-{last}", first, last, start, end, before, header)
