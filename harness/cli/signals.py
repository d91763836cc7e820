"""How a signal ends the program: in one line, with its own exit code."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

STOPPED = {
    signal.SIGINT: "interrupted; the same command goes on where it stopped",
    signal.SIGTERM: "terminated; the same command goes on where it stopped",
}
"""The signals that end the program, and what it says then; its exit code is 128 and the number."""


def end(code: int, *_: object) -> NoReturn:
    """End at once, where the result stands and what is left is to end."""
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    os._exit(code)


def leave(number: int, _: object) -> NoReturn:
    """End at once, where nothing was started yet or nobody waits any more."""
    with contextlib.suppress(OSError):
        os.write(2, f"chunkmark: {STOPPED[signal.Signals(number)]}\n".encode())
    os._exit(128 + number)


def on_signals(handler: Callable[[int, Any], NoReturn] | signal.Handlers) -> None:
    """What is done at a signal, unless whoever started the program wants it ignored."""
    for number in STOPPED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
