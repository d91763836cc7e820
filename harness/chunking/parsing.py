"""Where all of the harness parses: a parser that does not come back ends in a file and a reason.

Grammars are C code, which nothing can stop from within its process, and some of them never return
on broken code, take all memory, or crash. So another process parses each text first, under limits,
and this one only what came back there: a parser does the same on the same text.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.grammars import outline as outlines
from chunkers.grammars import parsing
from chunkers.grammars.loading import grammar_of
from chunkers.processes.isolation import Job, Limits
from chunkers.processes.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

    from chunkers.grammars.outline import Scope
    from chunkers.source import Source

LIMITS = Limits(20.0, 2 << 30, more_seconds=20 / 1e6, more_memory=128)
"""What a parser may take: many times what one needs that comes back."""

_KNOWN = 1 << 16  # texts of which the verdict is kept
_BATCH = 1 << 18  # characters that are parsed in one job

_lock = threading.Lock()
_verdicts: OrderedDict[bytes, str] = OrderedDict()


class UnparsedError(InputError):
    """A parser did not return from a source; `reason` says why in a few words, without the path."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


def parse(source: Source) -> Node | None:
    """The root of the syntax tree of a source; None where there is no grammar that bears it.

    Raises:
        UnparsedError: Its parser does not come back.
        InputError: The grammar's wheel is missing.
    """
    _try(source)
    return parsing.parse(source)


def outline(source: Source) -> tuple[Scope, ...]:
    """The named definitions of a source, as `chunkers.grammars.outline` has them.

    Raises:
        UnparsedError: Its parser does not come back.
        InputError: The grammar's wheel is missing.
    """
    _try(source)
    return outlines.outline(source)


def prepare(sources: Iterable[Source]) -> None:
    """Try the parsers on many sources at once, which takes a tenth of the time of one by one."""
    with _lock, Pool(None, LIMITS) as pool:
        unknown = {key: source for source in sources if (key := _key(source)) not in _verdicts}
        unknown.pop(b"", None)
        for batch in _batches(unknown):
            if pool.run(Job("parse", [unknown[key] for key in batch])) is None:
                _verdicts.update(dict.fromkeys(batch, ""))
                continue
            for key in batch:
                failure = pool.run(Job("parse", [unknown[key]]))
                _verdicts[key] = failure.reason if failure else ""
        while len(_verdicts) > _KNOWN:
            _verdicts.popitem(last=False)


def _try(source: Source) -> None:
    key = _key(source)
    if key and key not in _verdicts:
        prepare((source,))
    verdict = _verdicts.get(key)
    if verdict:
        raise UnparsedError(source.path, f"the parser of {source.language} {verdict}")


def _key(source: Source) -> bytes:
    """What the verdict depends on; empty where nothing is parsed."""
    if grammar_of(source.language) is None or not source.length:
        return b""
    return f"{source.language}\0{source.digest}".encode()


def _batches(unknown: dict[bytes, Source]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for key, source in unknown.items():
        batch.append(key)
        size += source.length
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
