"""Programs that are started, watched and ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

_CLOSING = 1.0  # seconds between the end of a program's output and its own


class Watch:
    """Kills a program when its time is up; time while it is stopped does not count.

    Attributes:
        fired: Whether it has; final when it is stopped.
    """

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._process, self._left = process, seconds
        self.fired = False
        self.start()

    def start(self) -> None:
        """Go on."""
        self._since = time.monotonic()
        self._timer = threading.Timer(max(0.0, self._left), self._fire)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Stop; to be called once for each start."""
        self._timer.cancel()
        self._timer.join()
        self._left -= time.monotonic() - self._since

    def _fire(self) -> None:
        self.fired = True
        kill(self._process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a program that leads a session, and all that it has started."""
    if process.returncode is not None:
        return  # its number may be another program's by now
    others = _started(process.pid)
    _kill_group(process)
    for other in others:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(other, signal.SIGKILL)
    process.wait()


def ending(process: subprocess.Popen[bytes]) -> str:
    """How a program ended whose output has; what it has started ends too."""
    try:
        code = process.wait(_CLOSING)
    except subprocess.TimeoutExpired:
        kill(process)
        return "closed its output"
    _kill_group(process)
    if code >= 0:
        return f"left with exit code {code}"
    try:
        return f"died of {signal.Signals(-code).name}"
    except ValueError:
        return f"died of signal {-code}"


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _started(process: int) -> list[int]:
    """The programs that a running one has started and that run, of whatever session (Linux)."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError, ValueError):
            for one in map(int, file.read_text(encoding="ascii").split()):
                found += [one, *_started(one)]
    return found
