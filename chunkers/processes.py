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
    """Kills a program when its time is up; time while it pauses does not count.

    Attributes:
        fired: Whether it has; final when it is stopped.
    """

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._process = process
        self._left = 0.0
        self._until: float | None = time.monotonic() + seconds
        self._over = False
        self._changed = threading.Condition()
        self.fired = False
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Let no time pass."""
        with self._changed:
            self._left = 0.0 if self._until is None else self._until - time.monotonic()
            self._until = None

    def resume(self) -> None:
        """Go on after a pause."""
        with self._changed:
            self._until = time.monotonic() + self._left
            self._changed.notify()

    def stop(self) -> None:
        """Stop for good."""
        with self._changed:
            self._over = True
            self._changed.notify()
        self._thread.join()

    def _wait(self) -> None:
        with self._changed:
            while not self._over:
                left = None if self._until is None else self._until - time.monotonic()
                if left is not None and left <= 0:
                    self.fired = True
                    break
                self._changed.wait(left)
        if self.fired:
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
