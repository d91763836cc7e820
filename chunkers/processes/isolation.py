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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chunkers.errors import InputError
from chunkers.plugins.loading import InvalidSpansError, checked
from chunkers.processes.scripts import refuse_while_loading
from chunkers.processes.system import Program, Watch
from chunkers.processes.wire import pack_source, receive, send, unpack_spans
from chunkers.source import Services

if TYPE_CHECKING:
    from collections.abc import Callable

    from chunkers.source import Source, Span

    Relay = Callable[[Callable[[], Any]], Any]

Kind = Literal["raised", "verbatim spans", "order", "timeout", "memory", "crash"]

ENDED: frozenset[str] = frozenset({"timeout", "memory", "crash"})
"""Kinds of failure that cost a process."""

_START = "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
_START += "from chunkers.processes.worker import serve; serve()"
_RUBBISH = (
    AttributeError, IndexError, InvalidSpansError, KeyError, MemoryError, OverflowError,
    RecursionError, TypeError, ValueError,
)  # fmt: skip
_LOADING = 120.0  # seconds for imports: those of large libraries, on a busy machine


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may take.

    Attributes:
        seconds: Time, without what the chunker waits for vectors and token counts.
        memory: Bytes beyond those that the process has when the chunker is loaded.
        more_seconds: Further time for every character of the file.
        more_memory: Further bytes for every character.
    """

    seconds: float = 30.0
    memory: int = 2 << 30
    more_seconds: float = 0.0
    more_memory: int = 0

    def of(self, source: Source) -> tuple[float, int]:
        """Seconds and bytes for a source."""
        size = len(source.text)
        return self.seconds + size * self.more_seconds, self.memory + size * self.more_memory


@dataclass(frozen=True, slots=True)
class Target:
    """What is loaded in the process.

    Attributes:
        spec: Names the chunker.
        file: Name and path of a module that is imported first, where its name alone may not do.
        services: `module:function` of what makes services in the process itself, so that none are
            asked for over its pipe; empty for those that are given.
        keeps_nothing: Whether the chunker leaves nothing behind that another one could meet, so
            that both may have the same process.
    """

    spec: str
    file: tuple[str, str] | None = None
    services: str = ""
    keeps_nothing: bool = False


@dataclass(frozen=True, slots=True)
class Declared:
    """What a loaded chunker says of itself, as `chunkers.plugins.loading.LoadedChunker` has it."""

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
        services: Answers what the chunker asks for.
        hash_seed: PYTHONHASHSEED of the process; that of this one where it is None.
        quiet: Whether what the chunker prints is dropped; else it goes to standard error.
    """

    def __init__(
        self,
        target: Target,
        limits: Limits,
        services: Services | None = None,
        hash_seed: int | None = None,
        *,
        quiet: bool = True,
    ) -> None:
        self._quiet = quiet
        self._target, self._limits = target, limits
        self._services = services or Services()
        self._hash_seed = hash_seed
        self._process: Program | None = None
        self._declared: Declared | None = None
        self._used = False  # whether the process has cut a file
        self._relay: Relay = _directly
        self._abandoned = threading.Event()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def turn_to(self, target: Target, limits: Limits, services: Services, relay: Relay) -> None:
        """Serve another chunker, in the same process where neither keeps anything.

        Args:
            target: Which chunker.
            limits: What a file may take.
            services: Answers what it asks for.
            relay: Calls what answers, perhaps in another thread.
        """
        if not (target == self._target or (target.keeps_nothing and self._target.keeps_nothing)):
            self.close()
        if target != self._target:
            self._declared = None
        self._target, self._limits = target, limits
        self._services, self._relay = services, relay

    def load(self) -> Declared:
        """Start the process, if there is none, and load the chunker.

        Raises:
            InputError: It cannot be loaded.
        """
        if self._process is None:
            self._start()
        elif self._declared is not None:
            return self._declared
        target = self._target
        message = {
            "do": "load",
            "spec": target.spec,
            "file": target.file,
            "services": target.services,
        }
        try:
            reply = self._exchange(message, _LOADING)
        except _EndedError as ended:
            raise InputError(
                f"chunker {target.spec} cannot be loaded: {ended.failure.reason}"
            ) from None
        if "error" in reply:
            self.close()
            raise InputError(reply["error"])
        for key in ("languages", "exceptions"):
            reply[key] = tuple(reply[key])
        self._declared = Declared(**reply)
        return self._declared

    def _start(self) -> None:
        refuse_while_loading(self._target.spec)
        environment = dict(os.environ)
        if self._hash_seed is not None:
            environment["PYTHONHASHSEED"] = str(self._hash_seed)
        command = [sys.executable, "-c", _START, json.dumps(sys.path)]
        self._process = Program.start(
            command, environment, subprocess.DEVNULL if self._quiet else None
        )
        if self._abandoned.is_set():  # by another thread, which saw no process to end
            self.close()
            raise InputError("nobody waits for this process any more")

    def cut(self, source: Source, corpus: str = "") -> Outcome:
        """Cut one source of a corpus, in a fresh process too where a used one was too little."""
        used = self._used
        outcome = self.cut_at_once(source, 1, corpus)[0]
        failed = outcome.failure is not None and outcome.failure.kind in ("memory", "crash")
        # What the files before it left there must not fail this one.
        return self.cut_at_once(source, 1, corpus)[0] if failed and used else outcome

    def cut_at_once(self, source: Source, threads: int, corpus: str = "") -> list[Outcome]:
        """Cut one source in several threads at once; one outcome where the process ended."""
        try:
            reply = self._do("cut", source, corpus, threads)
        except InputError as error:
            return [Outcome(source.path, None, Failure("crash", str(error)))]
        except _EndedError as ended:
            return [Outcome(source.path, None, ended.failure)]
        self._used = True
        try:
            outcomes = [outcome_of(source, one, int(reply["peak"])) for one in reply["answers"]]
            if len(outcomes) not in (1, threads):
                raise ValueError("another number of answers")
        except _RUBBISH:  # the chunker has meddled with what speaks for it
            self.close()
            return [Outcome(source.path, None, Failure("crash", "answered what is no answer"))]
        if any(one.failure is not None and one.failure.kind in ENDED for one in outcomes):
            self.close()
        return outcomes

    def texts(self, source: Source, corpus: str = "") -> list[str] | None:
        """What the chunker will ask vectors for; None where it cannot say so."""
        try:
            found: list[str] | None = self._do("texts", source, corpus, 1)["texts"]
        except (InputError, _EndedError):
            return None
        return found

    def _do(self, what: str, source: Source, corpus: str, threads: int) -> dict[str, Any]:
        seconds, memory = self._limits.of(source)
        message = {
            "do": what,
            "source": pack_source(source),
            "corpus": corpus,
            "threads": threads,
            "seconds": seconds,
            "memory": memory,
            "embeds": self._services.embed is not None,
            "counts": self._services.count_tokens is not None,
        }
        self.load()
        return self._exchange(message, seconds)

    def abandon(self) -> None:
        """End the process for good, from another thread than the one that waits for it."""
        self._abandoned.set()
        self.close()

    def close(self) -> None:
        """End the process, and those that it has started."""
        process, self._process = self._process, None
        self._declared, self._used = None, False
        if process is not None:
            process.close()

    def _exchange(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        process = self._process
        if process is None:
            raise RuntimeError("no process is running")
        watch = Watch(process.process, seconds)
        try:
            reply = _turn(process, message)
            while reply is not None and "ask" in reply:
                watch.pause()
                answer = self._answered(reply["ask"], reply.get("of"))
                watch.resume()
                reply = _turn(process, answer)
        except BaseException:
            self.close()
            raise
        finally:
            watch.stop()
        if watch.fired:
            failure = Failure("timeout", f"took over {seconds:.3g} s")
        elif reply is None:
            failure = Failure("crash", process.ending())
        else:
            return reply
        self.close()
        raise _EndedError(failure)

    def _answered(self, what: object, of: Any) -> dict[str, Any]:
        """An answer; what the services raise says nothing about the chunker, and goes up."""
        if not isinstance(of, list) or not all(isinstance(one, str) for one in of):
            return {"error": "what is asked for is no list of strings"}
        count, embed = self._services.count_tokens, self._services.embed
        if what == "count_tokens":
            if count is None:
                return {"error": "no tokenizer is at hand"}
            return {"answer": self._relay(lambda: [int(count(text)) for text in of])}
        if embed is None:
            return {"error": "no embedder is at hand"}
        vectors = np.ascontiguousarray(self._relay(lambda: embed(of)), dtype=np.float32)
        data = base64.b64encode(vectors.tobytes()).decode("ascii")
        return {"answer": {"data": data, "shape": list(vectors.shape)}}


def _directly(answer: Callable[[], Any]) -> Any:
    return answer()


def _turn(process: Program, message: dict[str, Any]) -> dict[str, Any] | None:
    """Send a message and wait for the next; None where none comes."""
    with contextlib.suppress(OSError, *_RUBBISH):
        send(process, message)
        reply = receive(process)
        return reply if isinstance(reply, dict) else None
    return None


def outcome_of(source: Source, answer: dict[str, Any], peak: int = 0) -> Outcome:
    """What an answer of `chunkers.processes.attempts` says, with the bytes that it took.

    Raises:
        InvalidSpansError: It holds no spans of the source; rubbish may raise other errors.
    """
    path = source.path
    if "failure" in answer:
        kind, reason = answer["failure"]
        return Outcome(path, None, Failure(kind, str(reason)), peak=peak)
    # Checked there too: what comes from other people's code is not believed.
    spans = checked("", unpack_spans(answer["spans"]), source)
    notes = Counter({str(note): int(count) for note, count in answer["notes"].items()})
    return Outcome(path, spans, None, notes, float(answer.get("seconds", 0)), peak)
