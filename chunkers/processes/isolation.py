"""Runs chunkers in worker processes, so that a bad chunker cannot harm the main process.

If a chunker hangs, takes all memory, crashes in native code or exits, only its current file fails:
the failure is recorded, and a new process cuts the next file. Memory is limited on Linux only.

Process pools of the standard library, pebble and loky send pickles, cannot answer requests of a
worker, and count the time that it waits; hence the code here.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chunkers.errors import InputError
from chunkers.processes import system
from chunkers.processes.messages import encode, pack_source, receive, unpack_spans
from chunkers.processes.worker import LOADING
from chunkers.source import Services

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

    from chunkers.source import Source, Span

Kind = Literal["raised", "verbatim spans", "order", "timeout", "memory", "crash"]

ENDED: frozenset[str] = frozenset({"timeout", "memory", "crash"})
"""Kinds of failure that end the process."""

GUARD = 'if __name__ == "__main__":'

_GUARDED = re.compile(r"^if\b.*\b__name__\b.*\b__main__\b", re.MULTILINE)
# This package comes first until it is imported: the path may hold another of the name.
_START = (
    "import json, sys; home, path = json.loads(sys.argv.pop()); descriptor = int(sys.argv.pop()); "
    "sys.path[:] = [home, *path]; from chunkers.processes.worker import serve; "
    "sys.path[:] = path; serve(descriptor)"
)
_HOME = str(Path(__file__).resolve().parents[2])
_LOADING = 120.0  # seconds for imports: those of large libraries, on a busy machine


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of time and memory for one file.

    Attributes:
        seconds: Time, without waiting for vectors and token counts.
        memory: Bytes beyond those of the process when the chunker is loaded.
        more_seconds: Further time for each character of the file.
        more_memory: Further bytes for each character.
    """

    seconds: float = 30.0
    memory: int = 2 << 30
    more_seconds: float = 0.0
    more_memory: int = 0


@dataclass(frozen=True, slots=True)
class LoadTarget:
    """The chunker to load in the process.

    Attributes:
        spec: Its spec.
        file: Name and path of a module to import first, if the name alone may not find it.
        keeps_nothing: Whether the chunker leaves no state behind, so that another may share its
            process.
    """

    spec: str
    file: tuple[str, str] | None = None
    keeps_nothing: bool = False


@dataclass(frozen=True, slots=True)
class Declared:
    """The attributes of a loaded chunker, as in `chunkers.plugins.loading.LoadedChunker`."""

    name: str
    version: str
    max_size: int | None
    unit: Literal["nws", "chars", "tokens"]
    windows: str | None
    languages: tuple[str, ...]
    exceptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """A task for a process.

    Attributes:
        do: The task and its result. `cut`: an outcome for each thread, or a single one if the
            process ended; `texts`: the texts that the chunker will embed, or None if unknown;
            `parse`: the failure if the process ended, else None.
        sources: One source; `parse` takes any number, with the limits of one source of their size.
        corpus: The id of their corpus.
        threads: Number of threads that cut the source at the same time.
        measure: Whether to measure the memory.
    """

    do: Literal["cut", "texts", "parse"]
    sources: Sequence[Source]
    corpus: str = ""
    threads: int = 1
    measure: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a file was not cut: the kind of failure, and a line of explanation."""

    kind: Kind
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of cutting one file.

    Attributes:
        path: The file's path.
        spans: The spans; None if it was not cut.
        failure: Why it was not cut.
        notes: The chunker's notes.
        seconds: The chunker's time; 0 if it failed.
        peak: Peak memory in bytes beyond the idle process; 0 if not measured.
    """

    path: str
    spans: list[Span] | None
    failure: Failure | None = None
    notes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    peak: int = 0

    @classmethod
    def of(cls, path: str, answer: dict[str, Any], peak: int = 0) -> Outcome:
        """The outcome of an answer of `messages.attempt`."""
        if "failure" in answer:
            return cls(path, None, Failure(*answer["failure"]), peak=peak)
        notes, seconds = Counter(answer["notes"]), answer.get("seconds", 0.0)
        return cls(path, unpack_spans(answer["spans"]), None, notes, seconds, peak)


class _EndedError(Exception):
    """The process has ended or was killed."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class Worker:
    """One process that cuts; it is replaced by a new one when it has ended.

    Args:
        target: The chunker; None for a process that only parses.
        limits: The limits for each file.
        services: Answers the chunker's requests; its exceptions reach the caller.
        hash_seed: PYTHONHASHSEED of the process; None for that of this process.
        quiet: Whether to drop what the chunker prints; else it goes to standard error.

    Attributes:
        connection: The socket that the process writes to; None without a process.
        result: The result of the last job, as in `Job.do`.
    """

    def __init__(
        self,
        target: LoadTarget | None,
        limits: Limits,
        services: Services | None = None,
        hash_seed: int | None = None,
        *,
        quiet: bool = True,
    ) -> None:
        self.connection: Connection | None = None
        self.result: Any = None
        self._process: subprocess.Popen[bytes] | None = None
        self._hash_seed, self._quiet = hash_seed, quiet
        self._target, self._limits, self._services = target, limits, services or Services()
        self._declared: Declared | None = None
        self._job = Job("parse", ())
        self._sent = self._fresh = False  # whether the process has the job, and had none before
        self._seconds = self._deadline = 0.0
        self._memory = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def turn_to(self, target: LoadTarget | None, limits: Limits, services: Services) -> None:
        """Serve another chunker in the same process: only if neither keeps state."""
        if target != self._target:
            self._declared = None
        self._target, self._limits, self._services = target, limits, services

    def load(self) -> Declared:
        """Start the process if necessary, and load the chunker.

        Raises:
            InputError: It cannot be loaded.
        """
        while self._declared is None:
            self._send_load()
            try:
                while (reply := self._next(self.left)) is None:
                    continue
            except _EndedError as ended:
                spec = self._target and self._target.spec
                reason = ended.failure.reason
                raise InputError(f"chunker {spec} cannot be loaded: {reason}") from None
            self._declare(reply)
        return self._declared

    def cut(self, source: Source, corpus: str = "", *, measure: bool = False) -> Outcome:
        """Cut one source of a corpus."""
        outcome: Outcome = self.run(Job("cut", (source,), corpus, measure=measure))[0]
        return outcome

    def run(self, job: Job) -> Any:
        """The result of a job, as in `Job.do`."""
        self.begin(job)
        while not self.poll(self.left):
            continue
        return self.result

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self._deadline - time.monotonic())

    def begin(self, job: Job) -> None:
        """Start a job; `poll` continues it."""
        self._job, self._sent, self._fresh = job, False, self._process is None or self._fresh
        self._advance()

    def poll(self, timeout: float) -> bool:
        """Read a message if one arrives before the timeout; True when the job is done.

        Only this method ends a process that takes too long: call it at the deadline at the latest.
        """
        try:
            reply = self._next(timeout)
        except _EndedError as ended:
            return self._fail(ended.failure)
        if reply is None:
            return False
        if not self._sent:
            try:
                self._declare(reply)
            except InputError as error:  # it was loaded before, in another process
                return self._fail(Failure("crash", str(error)))
            self._advance()
            return False
        if "ask" in reply:
            self._answer(reply)
            return False
        return self._finish(reply)

    def close(self) -> None:
        """End the process and its children."""
        process, self._process, self._declared = self._process, None, None
        if process is not None:
            system.kill(process)
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _advance(self) -> None:
        """Send the chunker to load if it is not loaded, else the job."""
        if self._target is not None and self._declared is None:
            self._send_load()
            return
        job, limits = self._job, self._limits
        size = sum(source.length for source in job.sources)
        seconds = limits.seconds + size * limits.more_seconds
        self._memory = limits.memory + size * limits.more_memory
        message = {
            "do": job.do,
            "sources": [pack_source(source) for source in job.sources],
            "corpus": job.corpus,
            "threads": job.threads,
            "measure": job.measure,
            "seconds": seconds,
            "memory": self._memory,
            "embeds": self._services.embed is not None,
            "counts": self._services.count_tokens is not None,
        }
        self._sent = True
        self._send(message, seconds)

    def _send_load(self) -> None:
        if self._target is None:
            raise RuntimeError("this process only parses")
        message = {"do": "load", "spec": self._target.spec, "file": self._target.file}
        self._send(message, _LOADING)

    def _send(self, message: dict[str, Any], seconds: float) -> None:
        connection = self.connection or self._start()
        self._seconds, self._deadline = seconds, time.monotonic() + seconds
        with contextlib.suppress(OSError):  # it has died, as the next read says
            connection.send_bytes(encode(message))

    def _start(self) -> Connection:
        refuse_while_loading(self._target.spec if self._target else "that only parses")
        environment = dict(os.environ)
        if self._hash_seed is not None:
            environment["PYTHONHASHSEED"] = str(self._hash_seed)
        self.connection, end = multiprocessing.Pipe()
        with end:
            # -P: a module of the current folder shadows no other, as in the main process.
            arguments = str(end.fileno()), json.dumps((_HOME, sys.path))
            command = [sys.executable, "-P", "-c", _START, *arguments]
            self._process = system.start(
                command,
                env=environment,
                pass_fds=(end.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL if self._quiet else 2,
                stderr=subprocess.DEVNULL if self._quiet else None,
            )
        self._fresh = True
        return self.connection

    def _next(self, timeout: float) -> dict[str, Any] | None:
        """The next message, or None if there is none yet.

        Raises:
            _EndedError: The process has ended or taken too long.
        """
        if self.connection is None or self._process is None:
            raise RuntimeError("no process is running")
        try:
            if self.connection.poll(timeout):
                return receive(self.connection)
        except (EOFError, OSError):
            failure = Failure("crash", system.ending(self._process))
        else:
            if time.monotonic() < self._deadline:
                return None
            failure = Failure("timeout", f"took over {self._seconds:.3g} s")
        self.close()
        raise _EndedError(failure)

    def _declare(self, reply: dict[str, Any]) -> None:
        if "error" in reply:
            self.close()
            raise InputError(reply["error"])
        lists = {key: tuple(reply[key]) for key in ("languages", "exceptions")}
        self._declared = Declared(**reply | lists)

    def _answer(self, reply: dict[str, Any]) -> None:
        """Answer a request of the chunker, and restart its clock."""
        if self.connection is None:
            raise RuntimeError("no process is running")
        count, embed = self._services.count_tokens, self._services.embed
        data = None
        if reply["ask"] == "count_tokens" and count is not None:
            answer: dict[str, Any] = {"counts": [int(count(text)) for text in reply["texts"]]}
        elif embed is not None:
            vectors = np.ascontiguousarray(embed(reply["texts"]), dtype=np.float32)
            answer, data = {"shape": vectors.shape}, vectors.tobytes()
        self._deadline = time.monotonic() + self._seconds - reply["spent"]
        with contextlib.suppress(OSError):
            self.connection.send_bytes(encode(answer))
            if data is not None:
                self.connection.send_bytes(data)

    def _finish(self, reply: dict[str, Any]) -> bool:
        answers = reply.get("answers", ())
        if any("failure" in answer and answer["failure"][0] == "memory" for answer in answers):
            self.close()
            return self._fail(Failure("memory", f"needed over {self._memory >> 20} MiB"))
        self._fresh = False
        path = self._job.sources[0].path
        outcomes = [Outcome.of(path, answer, reply["peak"]) for answer in answers]
        self.result = outcomes if self._job.do == "cut" else reply.get("texts")
        return True

    def _fail(self, failure: Failure) -> bool:
        """End a job whose process has ended, or rerun it if an earlier file may be the cause."""
        if failure.kind != "timeout" and not self._fresh:
            # State that earlier files left in the process must not fail this one.
            self.begin(self._job)
            return False
        job = self._job
        outcome = Outcome(job.sources[0].path, None, failure)
        self.result = {"cut": [outcome], "texts": None, "parse": failure}[job.do]
        return True


def program_file() -> str:
    """The file of the running program, `__main__`, if another process may import it.

    As with `multiprocessing`, a worker imports it under another name, so code under
    `if __name__ == "__main__":` does not run there. A program without that line would run again.

    Raises:
        InputError: There is no such file, or it may not be imported; the message says why.
    """
    program = sys.modules["__main__"]
    file = getattr(program, "__file__", None)
    if not isinstance(file, str) or not Path(file).is_file():
        raise InputError("it has no file that another process could import")
    if getattr(program, "__spec__", None) is not None:
        raise InputError(
            "the program was started with python -m; put the chunker into its own module"
        )
    if not _GUARDED.search(Path(file).read_text("utf-8", "replace")):
        raise InputError(
            f"importing {file} would run it again; put the code that it runs under `{GUARD}`"
        )
    return file


def refuse_while_loading(spec: str) -> None:
    """Raise InputError while this process imports a chunker: workers would start without end."""
    if LOADING in os.environ:
        raise InputError(
            f"chunker {spec} would run while a chunker is imported; put that code under `{GUARD}`"
        )
