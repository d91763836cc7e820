"""Chunks in the terms of the system that is reproduced, and the same chunks as spans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.reference._utf16 import Utf16Text
from chunkers.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chunkers.source import Source

_MARK = "\ufeff"
_MARKED = "utf-8-sig"


@dataclass(frozen=True, slots=True)
class ReferenceChunk:
    """One chunk as the original counts it.

    Attributes:
        id: The original's id.
        start_line: First line, counted from 0 or 1 as the original does.
        end_line: Last line, included.
        start: First UTF-16 code unit of the text, a byte order mark counted.
        end: Behind the last unit.
        text: The units [start, end); it may begin or end with half of a surrogate pair.
        header: What is put before the text when it is embedded.
    """

    id: str
    start_line: int
    end_line: int
    start: int
    end: int
    text: str
    header: str = ""


def full_path(prefix: str, path: str, corpus: str) -> str:
    """A path inside a corpus as the original is given it.

    Args:
        prefix: Where the corpus lies, `<corpus>` standing for its id; empty for nowhere.
        path: The path.
        corpus: The corpus's id.
    """
    return f"{prefix.replace('<corpus>', corpus).rstrip('/')}/{path}" if prefix else path


def original_text(source: Source) -> str:
    """The text with the byte order mark that the reader dropped and the original keeps."""
    return _MARK + source.text if source.encoding == _MARKED else source.text


def spans_of(source: Source, chunks: Iterable[ReferenceChunk]) -> list[Span]:
    """Chunks of `original_text(source)` as spans, in order of start, then end.

    What is embedded is header and text. A character that is cut in half is in both spans; in what
    is embedded U+FFFD stands for the half, for no UTF-8 can hold it.
    """
    text = Utf16Text(original_text(source))
    marks = len(text.text) - len(source.text)
    spans = []
    for chunk in chunks:
        start, end = (max(0, offset - marks) for offset in text.chars(chunk.start, chunk.end))
        embedded = chunk.header + chunk.text
        same = embedded == source.text[start:end]
        spans.append(Span(start, end, None if same else _whole(embedded), chunk.id))
    return sorted(spans, key=lambda span: (span.start, span.end))


def _whole(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
