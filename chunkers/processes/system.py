"""Programs that are started, watched and ended."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CLOSING = 1.0  # seconds between the end of a program's output and its own
_POLL = 0.1  # seconds until it is looked whether a silent program still runs
_PART = 1 << 16
_MARK = "CHUNKMARK_PROCESS"


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


@dataclass(frozen=True)
class Program:
    """A program that leads a session of its own, with what it has started.

    What it starts inherits a mark in its environment, by which it is found (Linux) though it has
    left the session, and outlived the program.
    """

    process: subprocess.Popen[bytes]
    mark: str

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        errors: int | None = None,
    ) -> Program:
        """Start it.

        Raises:
            OSError: It cannot be started.
        """
        given = dict(os.environ if environment is None else environment)
        mark = secrets.token_hex(8)
        given[_MARK] = f"{given.get(_MARK, '')} {mark}".strip()
        process = subprocess.Popen(  # noqa: S603 - what the user named, and no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=given,
            start_new_session=True,
            bufsize=0,
        )
        for stream in (process.stdin, process.stdout):
            os.set_blocking(stream.fileno(), False)  # type: ignore[union-attr]
        return cls(process, mark)

    def write(self, data: bytes) -> int:
        """Write all of it.

        Raises:
            OSError: The program has ended, or reads no more.
        """
        descriptor = self._open(self.process.stdin)
        view = memoryview(data)
        while view:
            self._wait(descriptor, select.POLLOUT)
            with contextlib.suppress(BlockingIOError):
                view = view[os.write(descriptor, view[:_PART]) :]
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def read(self, size: int) -> bytes:
        """Bytes until there are so many, or the program has ended.

        What it has started may hold its output open; that counts for nothing.
        """
        found = bytearray()
        while len(found) < size and (part := self.read_some(size - len(found))):
            found += part
        return bytes(found)

    def read_some(self, most: int = _PART) -> bytes:
        """What there is, when there is something; nothing where the program has ended."""
        descriptor = self._open(self.process.stdout)
        while True:
            try:
                self._wait(descriptor, select.POLLIN)
                return os.read(descriptor, min(most, _PART))
            except BlockingIOError:
                continue
            except OSError:
                return b""

    def waits(self) -> bool:
        """Whether it has written something that nobody has read."""
        waiting = select.poll()
        waiting.register(self._open(self.process.stdout), select.POLLIN)
        return bool(waiting.poll(0))

    def close(self) -> None:
        """End it, and what it has started."""
        kill(self.process)
        self._end_marked()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]

    def ending(self) -> str:
        """How it ended, when its output has; what it has started ends too."""
        said = ending(self.process)
        self._end_marked()
        return said

    def _open(self, stream: IO[bytes] | None) -> int:
        if stream is None or stream.closed:
            raise OSError("the program's pipes are closed")
        return stream.fileno()

    def _wait(self, descriptor: int, event: int) -> None:
        waiting = select.poll()
        waiting.register(descriptor, event)
        while not waiting.poll(_POLL * 1000):
            if self.process.poll() is not None and not waiting.poll(0):
                raise OSError("the program has ended")

    def _end_marked(self) -> None:
        own = os.getpid()
        for file in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in file.read_bytes() and int(file.parent.name) != own:
                    os.kill(int(file.parent.name), signal.SIGKILL)


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
