"""The messages between the main process and a worker process: JSON, never pickles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkers.errors import StoppedError, place_of, reason_of
from chunkers.plugins.loading import InvalidSpansError
from chunkers.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from multiprocessing.connection import Connection

    from chunkers.source import Services

OUT_OF_MEMORY: dict[str, Any] = {"failure": ["memory", "MemoryError"]}


def encode(message: dict[str, Any]) -> bytes:
    """A message as bytes. Lone surrogates survive: JSON has escapes for them."""
    return json.dumps(message).encode("ascii")


def receive(connection: Connection) -> dict[str, Any]:
    """Read one message; raises EOFError or OSError if the other process has ended."""
    message: dict[str, Any] = json.loads(connection.recv_bytes())
    return message


def pack_source(source: Source) -> list[str | None]:
    """A source as a JSON value."""
    return [source.text, source.path, source.language, source.encoding]


def unpack_source(packed: list[Any]) -> Source:
    """A source from what `pack_source` made."""
    return Source(*packed)


def pack_spans(spans: Iterable[Span]) -> list[list[Any]]:
    """Spans as JSON values."""
    return [[span.start, span.end, span.embed_text, span.ref_id, span.gaps] for span in spans]


def unpack_spans(packed: list[list[Any]]) -> list[Span]:
    """Spans from what `pack_spans` made."""
    return [
        Span(start, end, text, ref_id, tuple((first, last) for first, last in gaps))
        for start, end, text, ref_id, gaps in packed
    ]


def attempt(
    chunk: Callable[[Source, Services], list[Span]],
    source: Source,
    services: Services,
    through: tuple[type[BaseException], ...] = (),
) -> dict[str, Any]:
    """Cut a source, and catch what the chunker raises.

    Args:
        chunk: The chunker's function.
        source: Its source.
        services: Its services; the notes are read after the cut.
        through: Exceptions to pass on besides StoppedError.

    Returns:
        `spans` and `notes`, or `failure`: its kind and reason.
    """
    passing: tuple[type[BaseException], ...] = (StoppedError, *through)
    try:
        spans = pack_spans(chunk(source, services))
        return {"spans": spans, "notes": {str(k): int(n) for k, n in services.notes.items()}}
    except passing:
        raise
    except InvalidSpansError as error:
        return {"failure": [error.check, str(error)]}
    except MemoryError:
        return dict(OUT_OF_MEMORY)
    except BaseException as error:
        # The name of the file alone: a stored reason is the same in any folder.
        place = Path(place_of(error)).name
        reason = reason_of(error)
        # The first fault of a new chunker: `source.split()`, `len(source)`.
        as_text = isinstance(error, (AttributeError, TypeError)) and "'Source'" in reason
        hint = "; the text of a source is source.text" if as_text else ""
        return {"failure": ["raised", reason + (place and f" ({place})") + hint]}
