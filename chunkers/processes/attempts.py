"""One attempt to cut a source: nothing that other people's code raises or returns goes further."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chunkers.errors import StoppedError, reason_of
from chunkers.plugins.loading import InvalidSpansError
from chunkers.processes.wire import pack_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from chunkers.source import Services, Source, Span

    Failed = Mapping[str, list[str]]


def attempt(
    chunk: Callable[[Source, Services], list[Span]],
    source: Source,
    services: Services,
    full: Failed,
    through: tuple[type[BaseException], ...] = (),
) -> dict[str, Any]:
    """Cut a source.

    Args:
        chunk: Other people's code.
        source: What it cuts.
        services: What it is given; its notes are read when it has cut.
        full: The answer where memory is wanting: made beforehand, for there may be no room then.
        through: What goes through, besides the end of the program.

    Returns:
        `spans` and `notes`, or `failure`: its kind and reason.
    """
    passing: tuple[type[BaseException], ...] = (StoppedError, *through)
    try:
        packed = pack_spans(chunk(source, services))
        notes = {str(note): int(count) for note, count in services.notes.items()}
    except passing:
        raise
    except InvalidSpansError as error:
        return {"failure": [error.check, str(error)]}
    except MemoryError:
        return dict(full)
    except BaseException as error:
        return {"failure": ["raised", reason_of(error)]}
    return {"spans": packed, "notes": notes}
