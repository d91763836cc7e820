"""Programs that lead a session of their own, and end with everything that they started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CLOSING = 1.0  # seconds between the end of a program's output and its own


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own; the options are those of `subprocess.Popen`.

    Raises:
        OSError: It cannot be started.
    """
    return subprocess.Popen(command, start_new_session=True, bufsize=0, **options)  # noqa: S603


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a program that leads a session, and all that it has started."""
    if process.returncode is not None:
        return  # its number may be another program's by now
    children = _children(process.pid)
    _kill_group(process)
    for child in children:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(child, signal.SIGKILL)
    process.wait()


def ending(process: subprocess.Popen[bytes]) -> str:
    """How a program ended that closed its output; what it has started ends too."""
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


@contextlib.contextmanager
def time_limit(process: subprocess.Popen[bytes], seconds: float) -> Iterator[threading.Event]:
    """Kill a program that is still needed after so many seconds; then the event is set."""
    late = threading.Event()

    def end() -> None:
        late.set()
        kill(process)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
        timer.join()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _children(process: int) -> list[int]:
    """The running programs below a running one, in whatever session (Linux)."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError, ValueError):
            for child in map(int, file.read_text(encoding="ascii").split()):
                found += [child, *_children(child)]
    return found
