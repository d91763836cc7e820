"""Where the program `chunkmark` begins and ends, whatever signal comes at whatever moment.

Little is imported here, so that soon after the start of the interpreter a signal ends the program
in one line.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from typing import NoReturn

from harness.cli.signals import STOPPED, end, leave, on_signals


def main(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its exit code.

    Args:
        arguments: Those of a call from within another program, whose signals are left alone; None
            for those of the command line.
    """
    if arguments is not None:
        from harness.cli.program import guarded

        sys.exit(guarded(arguments))
    on_signals(leave)
    sys.exit(_stoppable())


def _stoppable() -> int:
    """Run the program; its exit code."""
    from chunkers.errors import StoppedError
    from harness.cli.program import guarded, say

    def stop(number: int, _: object) -> NoReturn:
        # What was started ends with the exception; whoever does not wait for that asks again.
        on_signals(leave)
        raise StoppedError(number)

    def unraisable(ignored: sys.UnraisableHookArgs) -> None:
        # Raised in a callback of the interpreter, where nothing takes it further: once more.
        if not isinstance(ignored.exc_value, StoppedError):
            sys.__unraisablehook__(ignored)
            return
        import threading

        on_signals(stop)
        again = (os.getpid(), ignored.exc_value.number)
        threading.Timer(0.01, os.kill, again).start()

    sys.unraisablehook = unraisable
    try:
        on_signals(stop)
        code = guarded(sys.argv[1:])
        on_signals(functools.partial(end, code))
    except StoppedError as stopped:
        return say(STOPPED[signal.Signals(stopped.number)], 128 + stopped.number)
    return code
