"""Cuts in processes of their own, so that no chunker ends, stops or fills the one that asks.

A chunker that hangs, takes all memory, crashes in native code, or leaves the process costs its file
alone: the failure is recorded, and a fresh process cuts the next. Memory is limited where the
system can (Linux).
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chunkers.errors import InputError
from chunkers.processes import Watch, ending, kill
from chunkers.source import Services
from chunkers.wire import pack_source, receive, send, unpack_spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chunkers.source import Source, Span

Kind = Literal["raised", "verbatim spans", "order", "timeout", "memory", "crash"]

ENDED: frozenset[str] = frozenset({"timeout", "memory", "crash"})
"""Kinds of failure that cost a process."""

_START = "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
_START += "from chunkers.worker import serve; serve()"
_LOADING = 120.0  # seconds for imports: those of large libraries, on a busy machine


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may take.

    Attributes:
        seconds: Time, without what the chunker waits for vectors and token counts.
        memory: Bytes beyond those that the process has when the chunker is loaded.
    """

    seconds: float = 30.0
    memory: int = 2 << 30


@dataclass(frozen=True, slots=True)
class Target:
    """What is loaded in the process.

    Attributes:
        spec: Names the chunker.
        file: Name and path of a module that is imported first, where its name alone may not do.
        services: `module:function` of what makes services in the process itself, so that none are
            asked for over its pipe; empty for those that are given.
    """

    spec: str
    file: tuple[str, str] | None = None
    services: str = ""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a loaded chunker says of itself, as `chunkers.loading.LoadedChunker` has it."""

    name: str
    version: str
    max_size: int | None
    unit: Literal["nws", "chars", "tokens"]
    windows: str | None
    languages: tuple[str, ...]
    exceptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a file was not cut: the kind, and a line that says more."""

    kind: Kind
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file.

    Attributes:
        path: Its path.
        spans: Its spans; None where it was not cut.
        failure: Why not.
        notes: What the chunker reported.
        seconds: Time that the chunker took; 0 where it failed.
        peak: Bytes beyond those at rest that the process had at most; 0 where unknown.
    """

    path: str
    spans: list[Span] | None
    failure: Failure | None = None
    notes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    peak: int = 0


class _EndedError(Exception):
    """The process had to be ended, or has ended."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class Worker:
    """One process that cuts; a fresh one takes its place when it has ended.

    Args:
        target: Which chunker.
        limits: What a file may take.
        services: Answers what the chunker asks for; `corpus` is handed on.
        hash_seed: PYTHONHASHSEED of the process; that of this one where it is None.
        lock: Held while `services` answers, where several workers share it.
    """

    def __init__(
        self,
        target: Target,
        limits: Limits,
        services: Services | None = None,
        hash_seed: int | None = None,
        lock: threading.Lock | None = None,
    ) -> None:
        self._target, self._limits = target, limits
        self._services = services or Services()
        self._hash_seed = hash_seed
        self._lock = lock or threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._declared: Declared | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load(self) -> Declared:
        """Start the process, if there is none, and load the chunker.

        Raises:
            InputError: It cannot be loaded.
        """
        if self._process is not None and self._declared is not None:
            return self._declared
        environment = dict(os.environ)
        if self._hash_seed is not None:
            environment["PYTHONHASHSEED"] = str(self._hash_seed)
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, this code
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        message = {
            "do": "load",
            "spec": self._target.spec,
            "file": self._target.file,
            "services": self._target.services,
            "seconds": self._limits.seconds,
            "memory": self._limits.memory,
            "embeds": self._services.embed is not None,
            "counts": self._services.count_tokens is not None,
            "corpus": self._services.corpus,
        }
        try:
            reply = self._exchange(message, _LOADING)
        except _EndedError as ended:
            raise InputError(
                f"chunker {self._target.spec} cannot be loaded: {ended.failure.reason}"
            ) from None
        if "error" in reply:
            self.close()
            raise InputError(reply["error"])
        for key in ("languages", "exceptions"):
            reply[key] = tuple(reply[key])
        self._declared = Declared(**reply)
        return self._declared

    def cut(self, source: Source) -> Outcome:
        """Cut one source."""
        return self.cut_at_once(source, 1)[0]

    def cut_at_once(self, source: Source, threads: int) -> list[Outcome]:
        """Cut one source in several threads at once; one outcome where the process ended."""
        message = {"do": "cut", "source": pack_source(source), "threads": threads}
        try:
            self.load()
            reply = self._exchange(message, self._limits.seconds)
        except InputError as error:
            return [Outcome(source.path, None, Failure("crash", str(error)))]
        except _EndedError as ended:
            return [Outcome(source.path, None, ended.failure)]
        outcomes = [_outcome(source.path, one, reply["peak"]) for one in reply["answers"]]
        if any(one.failure is not None and one.failure.kind in ENDED for one in outcomes):
            self.close()
        return outcomes

    def close(self) -> None:
        """End the process, and those that it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        kill(process)
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]

    def _exchange(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        process = self._process
        if process is None:
            raise RuntimeError("no process is running")
        watch = Watch(process, seconds)
        try:
            reply = _turn(process, message)
            while reply is not None and "ask" in reply:
                watch.stop()
                answer = self._answered(reply["ask"], reply["of"])
                watch.start()
                reply = _turn(process, answer)
        except BaseException:
            self.close()
            raise
        finally:
            watch.stop()
        if watch.fired:
            failure = Failure("timeout", f"took over {seconds:g} s")
        elif reply is None:
            failure = Failure("crash", ending(process))
        else:
            return reply
        self.close()
        raise _EndedError(failure)

    def _answered(self, what: str, of: Any) -> dict[str, Any]:
        try:
            with self._lock:
                if what == "count_tokens":
                    return {"answer": self._services.need_tokens()(of)}
                if self._services.embed is None:
                    raise InputError("no embedder is at hand")
                vectors = np.ascontiguousarray(self._services.embed(of), dtype=np.float32)
        except InputError as error:
            return {"error": str(error)}
        data = base64.b64encode(vectors.tobytes()).decode("ascii")
        return {"answer": {"data": data, "shape": list(vectors.shape)}}


def cut_all(
    target: Target,
    sources: Sequence[Source],
    limits: Limits,
    services: Services | None = None,
    processes: int | None = None,
) -> Iterator[Outcome]:
    """Cut many sources in several processes at once.

    Args:
        target: Which chunker.
        sources: What to cut.
        limits: What a file may take.
        services: As for `Worker`; one process at a time is answered.
        processes: How many; None for one each core.

    Yields:
        One outcome for each source, in their order.

    Raises:
        InputError: The chunker cannot be loaded.
    """
    count = min(processes or _cores(), len(sources))
    lock = threading.Lock()
    workers = [Worker(target, limits, services, lock=lock) for _ in range(count)]
    idle = list(workers)
    stopped = threading.Event()

    def cut(source: Source) -> Outcome | None:
        worker = idle.pop()
        try:
            return None if stopped.is_set() else worker.cut(source)
        finally:
            idle.append(worker)

    pool = ThreadPoolExecutor(max(1, count))
    try:
        for worker in workers[:1]:
            worker.load()
        yield from (one for one in pool.map(cut, sources) if one is not None)
    finally:
        # Whoever reads no further waits for no file: what is being cut ends with its process.
        stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.close()
        pool.shutdown()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _turn(process: subprocess.Popen[bytes], message: dict[str, Any]) -> dict[str, Any] | None:
    """Send a message and wait for the next; None where the process ends before."""
    if process.stdin is None or process.stdout is None:
        return None
    # It leaves a broken pipe, a closed one, or half a message.
    with contextlib.suppress(OSError, ValueError):
        send(process.stdin, message)
        return receive(process.stdout)
    return None


def _outcome(path: str, answer: dict[str, Any], peak: int) -> Outcome:
    if "failure" in answer:
        return Outcome(path, None, Failure(*answer["failure"]), peak=peak)
    spans = unpack_spans(answer["spans"])
    return Outcome(path, spans, None, Counter(answer["notes"]), answer["seconds"], peak)
