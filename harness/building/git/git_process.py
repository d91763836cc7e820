"""Runs git so that no repository can start a program, keep it for ever or fill memory with it.

No variable of the environment that git reads is passed on, no configuration but the repository's
own is read, and of that nothing may start a program: hooks, pagers, file system monitors, external
diffs, signatures and the fetching of missing objects are off. Objects are as they were committed:
replacements and grafts do not count.

Whatever git prints is read as it comes, and held only as far as it was asked for. It is ended when
it says nothing for a minute, when a whole task takes ten, and when this process ends, however that
comes about; its memory is limited (both on Linux alone).
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING

from chunkers.processes.system import kill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chunkers.errors import InputError
    from harness.building.git.repository import Repository

SILENT = 60.0
"""Seconds that git may say nothing while something is expected of it."""
LONGEST = 600.0
"""Seconds that a task may take which is not a conversation, in one run of git or several."""
_MEMORY = 1 << 30  # bytes; packs, which are mapped, do not count
_WRITTEN = 1 << 26  # bytes of a file, for git writes nothing but what goes wrong
_PART = 1 << 16
_FIELD = 1 << 20  # bytes of a line or a path
_SMALL = 1 << 20  # bytes of an answer that is read whole
_PR_SET_PDEATHSIG = 1

_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.attributesFile={os.devnull}",
    "-c",
    "core.warnAmbiguousRefs=false",
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    # Before 2.45 git fetches what a partial clone lacks. A list of protocols that holds none
    # goes before the repository's own configuration, as `-c protocol.allow=never` does not.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_SSH_COMMAND": "false",
    "GIT_ASKPASS": "false",
    "GIT_ADVICE": "0",
    "LC_ALL": "C",
}


class Git:
    """A git process. What it says is read within limits; see `running`."""

    def __init__(
        self,
        repository: Repository,
        command: str,
        process: subprocess.Popen[bytes],
        errors: IO[bytes],
        until: float,
    ) -> None:
        self._repository, self._command, self._until = repository, command, until
        self._process, self._errors = process, errors
        self._held = bytearray()
        self._out = process.stdout.fileno()  # type: ignore[union-attr]

    def send(self, data: bytes) -> None:
        """Say something to it.

        Raises:
            OSError: It has ended.
            InputError: It does not listen.
        """
        into = self._process.stdin.fileno()  # type: ignore[union-attr]
        view = memoryview(data)
        while view:
            self._wait(into, select.POLLOUT)
            with contextlib.suppress(BlockingIOError):
                view = view[os.write(into, view) :]

    def read(self, size: int) -> bytes:
        """So many bytes; fewer where it has ended.

        Raises:
            InputError: It says nothing, or takes too long; so with all others.
        """
        while len(self._held) < size and self._more():
            pass
        return self._taken(min(size, len(self._held)), 0)

    def until(self, end: bytes) -> bytes | None:
        """What comes before a byte, which is dropped; None where that does not come any more."""
        looked = 0
        while (at := self._held.find(end, looked)) < 0:
            looked = len(self._held)
            if looked > _FIELD:
                raise self._fault(f"names something in over {_FIELD:,} bytes")
            if not self._more():
                return None
        return self._taken(at, 1)

    def rest(self) -> bytes:
        """What was said behind the last byte that `until` found, once it has ended."""
        return self._taken(len(self._held), 0)

    def said(self) -> str:
        """What it says of itself; see `because`."""
        self._errors.seek(0)
        return because(self._errors.read(10_000))

    def code(self) -> int:
        """How it ended, once its output has."""
        left = max(0.0, min(SILENT, self._until - time.monotonic()))
        try:
            return self._process.wait(left)
        except subprocess.TimeoutExpired:
            raise self._fault("does not end") from None

    def finish(self) -> None:
        """Wait for its end.

        Raises:
            InputError: It failed.
        """
        if self.code():
            raise self._repository.fault(f"git {self._command} failed{self.said()}")

    def _taken(self, size: int, dropped: int) -> bytes:
        found = bytes(self._held[:size])
        del self._held[: size + dropped]
        return found

    def _more(self) -> bool:
        """Wait until it has said more; False where it has ended."""
        self._wait(self._out, select.POLLIN)
        part = os.read(self._out, _PART)
        self._held += part
        return bool(part)

    def _wait(self, descriptor: int, event: int) -> None:
        waiting = select.poll()
        waiting.register(descriptor, event)
        left = self._until - time.monotonic()
        if left <= 0:
            raise self._fault(f"takes longer than {LONGEST:.0f} seconds")
        if not waiting.poll(min(SILENT, left) * 1000):
            slow = left > SILENT
            seconds = SILENT if slow else LONGEST
            raise self._fault(
                f"{'says nothing for' if slow else 'takes longer than'} {seconds:.0f} seconds"
            )

    def _fault(self, what: str) -> InputError:
        return self._repository.fault(
            f"git {self._command} {what}, and was ended\n"
            "something in the repository is damaged or huge: try git fsck, or clone it anew"
        )


@contextmanager
def running(
    repository: Repository,
    arguments: Sequence[str],
    data: bytes | None = None,
    until: float = math.inf,
) -> Iterator[Git]:
    """Run git on a repository; it and what it has started end with the context.

    Args:
        repository: The repository.
        arguments: Behind the options that keep it from starting a program.
        data: All that it is told; None where it is talked to.
        until: When the whole task must be done, by `time.monotonic()`.

    Raises:
        InputError: It cannot be started.
    """
    with ExitStack() as opened:
        errors = opened.enter_context(tempfile.TemporaryFile())
        given: IO[bytes] | int = subprocess.PIPE
        if data is not None:
            given = opened.enter_context(tempfile.TemporaryFile())
            given.write(data)
            given.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - git, with arguments of our own
                [
                    repository.program,
                    f"--git-dir={repository.git_dir}",
                    *_OPTIONS,
                    *arguments,
                ],
                env=_environment(),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                start_new_session=True,
                preexec_fn=_bounds(),  # noqa: PLW1509 - two system calls, and no lock
            )
        except (OSError, subprocess.SubprocessError) as error:
            why = getattr(error, "strerror", None) or error
            raise repository.fault(f"{repository.program} cannot be started: {why}") from None
        try:
            if process.stdin is not None:
                os.set_blocking(process.stdin.fileno(), False)
            yield Git(repository, arguments[0], process, errors, until)
        finally:
            kill(process)
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()


def asked(repository: Repository, arguments: Sequence[str]) -> tuple[int, bytes, str]:
    """A short answer of git: its exit code, what it says, and what goes wrong (`because`).

    Raises:
        InputError: It cannot be started, takes too long, or says more than a MiB.
    """
    with running(repository, arguments, b"", time.monotonic() + LONGEST) as git:
        found = git.read(_SMALL + 1)
        if len(found) > _SMALL:
            raise repository.fault(f"git {arguments[0]} says more than {_SMALL:,} bytes")
        return git.code(), found, git.said()


def because(errors: bytes) -> str:
    """What git said, on one line, behind a colon; empty where it said nothing."""
    lines = [line for line in errors.decode("utf-8", "replace").split("\n") if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    said = " ".join(fatal[-1].split()) if fatal else ""
    return f": {said.removeprefix('fatal: ').removeprefix('error: ')[:300]}" if said else ""


def _environment() -> dict[str, str]:
    rest = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return rest | _ENVIRONMENT


def _bounds() -> Callable[[], None] | None:
    """What git does before it begins: see to it that it ends with us, and limit itself."""
    if sys.platform != "linux":
        return None
    import resource

    # Looked up here, for after the fork nothing may wait for another thread.
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()
    limits = []
    for kind, most in ((resource.RLIMIT_DATA, _MEMORY), (resource.RLIMIT_FSIZE, _WRITTEN)):
        _, hard = resource.getrlimit(kind)
        limits.append((kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)))

    def bound() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        for kind, pair in limits:
            resource.setrlimit(kind, pair)

    return bound
