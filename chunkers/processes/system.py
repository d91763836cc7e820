"""Programs that run in their own session, so that they end together with their children."""

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

_CLOSING = 1.0  # seconds that a program has to exit after it closed its output


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program in its own session; options and errors are those of `subprocess.Popen`."""
    return subprocess.Popen(command, start_new_session=True, bufsize=0, **options)  # noqa: S603


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and its children."""
    if process.returncode is not None:
        return  # its id may already belong to another program
    children = _children(process.pid)
    _kill_group(process)
    for child in children:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(child, signal.SIGKILL)
    process.wait()


def ending(process: subprocess.Popen[bytes]) -> str:
    """How a program that closed its output ended; its children are killed."""
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
    """Kill the program if the block takes longer than `seconds`; the event is then set."""
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
    """The running descendants of a process, in any session (Linux)."""
    children: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError, ValueError):
            for child in map(int, file.read_text(encoding="ascii").split()):
                children += [child, *_children(child)]
    return children
