"""Entry point of the program `chunkmark`: a signal at any moment ends it in one line.

Little is imported here, so that the handlers are set soon after the interpreter starts.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from typing import NoReturn

from harness.cli.signals import STOPPED, end, leave, on_signals


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit with its code.

    Args:
        arguments: For a call from another program, whose signal handlers are left alone; None for
            the command line.
    """
    if arguments is not None:
        from harness.cli.program import guarded

        sys.exit(guarded(arguments))
    on_signals(leave)
    sys.exit(_run())


def _run() -> int:
    from chunkers.errors import StoppedError
    from harness.cli.program import guarded, say

    def stop(number: int, _: object) -> NoReturn:
        # The exception cleans up; a second signal ends at once.
        on_signals(leave)
        raise StoppedError(number)

    def unraisable(ignored: sys.UnraisableHookArgs) -> None:
        # Raised in a callback of the interpreter, which drops exceptions: send it again.
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
