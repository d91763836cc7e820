"""How a signal ends the program: one line, and an exit code of 128 plus its number."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

STOPPED = {
    signal.SIGINT: "interrupted; rerun the command to resume",
    signal.SIGTERM: "terminated; rerun the command to resume",
}
"""The message of each signal that ends the program."""


def end(code: int, *_: object) -> NoReturn:
    """End at once, after the result is written."""
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    os._exit(code)


def leave(number: int, _: object) -> NoReturn:
    """End at once with the message, before any work or at a second signal."""
    with contextlib.suppress(OSError):
        os.write(2, f"chunkmark: {STOPPED[signal.Signals(number)]}\n".encode())
    os._exit(128 + number)


def on_signals(handler: Callable[[int, Any], NoReturn] | signal.Handlers) -> None:
    """Set the handler of the signals, except for those that the caller set to be ignored."""
    for number in STOPPED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
