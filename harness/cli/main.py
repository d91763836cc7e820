"""Where the program `chunkmark` begins and ends, whatever signal comes at whatever moment.

Little is imported here, so that soon after the start of the interpreter a signal ends the program
in one line.
"""

from __future__ import annotations

import contextlib
import functools
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


def main(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its exit code.

    Args:
        arguments: Those of a call from within another program, whose signals are left alone; None
            for those of the command line.
    """
    if arguments is not None:
        from harness.cli.program import guarded

        sys.exit(guarded(arguments))
    _on_signals(_leave)
    sys.exit(_stoppable())


def _stoppable() -> int:
    """Run the program; its exit code."""
    from chunkers.errors import StoppedError
    from harness.cli.program import guarded, say

    def stop(number: int, _: object) -> NoReturn:
        # What was started ends with the exception; whoever does not wait for that asks again.
        _on_signals(_leave)
        raise StoppedError(number)

    def unraisable(ignored: sys.UnraisableHookArgs) -> None:
        # Raised in a callback of the interpreter, where nothing takes it further: once more.
        if not isinstance(ignored.exc_value, StoppedError):
            sys.__unraisablehook__(ignored)
            return
        import threading

        _on_signals(stop)
        again = (os.getpid(), ignored.exc_value.number)
        threading.Timer(0.01, os.kill, again).start()

    sys.unraisablehook = unraisable
    try:
        _on_signals(stop)
        code = guarded(sys.argv[1:])
        _on_signals(functools.partial(_end, code))
    except StoppedError as stopped:
        return say(STOPPED[signal.Signals(stopped.number)], 128 + stopped.number)
    return code


def _end(code: int, *_: object) -> NoReturn:
    """End at once, where the result stands and what is left is to end."""
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    os._exit(code)


def _leave(number: int, _: object) -> NoReturn:
    """End at once, where nothing was started yet or nobody waits any more."""
    with contextlib.suppress(OSError):
        os.write(2, f"chunkmark: {STOPPED[signal.Signals(number)]}\n".encode())
    os._exit(128 + number)


def _on_signals(handler: Callable[[int, Any], NoReturn] | signal.Handlers) -> None:
    """What is done at a signal, unless whoever started the program wants it ignored."""
    for number in STOPPED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
