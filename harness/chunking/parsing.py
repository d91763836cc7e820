"""Where all of the harness parses: a parser that does not come back ends in a file and a reason.

Grammars are C code, which nothing can stop from within its process, and some of them never return
on broken code, take all memory, or crash. So another process parses each text first, under limits,
and this one only what came back there: a parser does the same on the same text.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.grammars import outline as outlines
from chunkers.grammars import parsing
from chunkers.grammars.loading import grammar_of
from chunkers.processes.isolation import ENDED, Limits, Target, Worker

if TYPE_CHECKING:
    from tree_sitter import Node

    from chunkers.grammars.outline import Scope
    from chunkers.source import Source

LIMITS = Limits(20.0, 2 << 30, more_seconds=20 / 1e6, more_memory=128)
"""What a parser may take: many times what one needs that comes back."""

_TRIAL = Target("chunkers.grammars.trial:tried", keeps_nothing=True)
_KNOWN = 1 << 16  # texts of which the verdict is kept

_lock = threading.Lock()
_verdicts: OrderedDict[bytes, str] = OrderedDict()


class UnparsedError(InputError):
    """A parser did not come back from a source.

    Attributes:
        path: The source.
        reason: What became of the parser, without the path, in a few words.
    """

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


def _try(source: Source) -> None:
    if grammar_of(source.language) is None or not source.text:
        return
    text = source.text.encode("utf-8", "surrogatepass")
    key = hashlib.sha256(f"{source.language}\0".encode() + text).digest()
    with _lock:
        if key not in _verdicts:
            _verdicts[key] = _verdict(source)
            if len(_verdicts) > _KNOWN:
                _verdicts.popitem(last=False)
        verdict = _verdicts[key]
    if verdict:
        raise UnparsedError(source.path, f"the parser of {source.language} {verdict}")


def _verdict(source: Source) -> str:
    """What became of the parser; empty where it came back."""
    failure = _worker().cut(source).failure
    # What it raises is raised here too.
    return "" if failure is None or failure.kind not in ENDED else failure.reason


@functools.cache
def _worker() -> Worker:
    worker = Worker(_TRIAL, LIMITS, hash_seed=0)
    atexit.register(worker.close)
    if hasattr(os, "register_at_fork"):
        # A copy of this process must not speak to a process that is not its own.
        os.register_at_fork(after_in_child=_worker.cache_clear)
    return worker
