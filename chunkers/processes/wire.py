"""What a process that cuts and the one that asks it say to each other: JSON behind its length."""

from __future__ import annotations

import json
import struct
from typing import IO, TYPE_CHECKING, Any

from chunkers.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chunkers.processes.system import Program

_LENGTH = struct.Struct(">Q")


def send(stream: IO[bytes] | Program, message: dict[str, Any]) -> None:
    """Write one message. Halves of surrogate pairs survive: JSON has escapes for them."""
    payload = json.dumps(message, ensure_ascii=True).encode("ascii")
    stream.write(_LENGTH.pack(len(payload)))
    stream.write(payload)
    stream.flush()


def receive(stream: IO[bytes] | Program) -> dict[str, Any] | None:
    """Read one message; None where the other side has gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    payload = stream.read(length)
    if len(payload) < length:
        return None
    message: dict[str, Any] = json.loads(payload)
    return message


def pack_source(source: Source) -> list[str | None]:
    """A source as JSON holds it."""
    return [source.text, source.path, source.language, source.encoding]


def unpack_source(packed: list[Any]) -> Source:
    """A source from what `pack_source` made."""
    return Source(*packed)


def pack_spans(spans: Iterable[Span]) -> list[list[Any]]:
    """Spans as JSON holds them."""
    return [[span.start, span.end, span.embed_text, span.ref_id, span.gaps] for span in spans]


def unpack_spans(packed: list[list[Any]]) -> list[Span]:
    """Spans from what `pack_spans` made."""
    return [
        Span(start, end, text, ref_id, tuple((first, last) for first, last in gaps))
        for start, end, text, ref_id, gaps in packed
    ]
