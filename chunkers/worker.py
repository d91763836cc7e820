"""The process in which other people's code cuts; `chunkers.isolation` starts it and speaks to it.

It answers `load` and `cut` until its standard input ends. While it cuts it may ask back for
vectors and token counts.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import importlib.util
import os
import re
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np

from chunkers.errors import InputError
from chunkers.loading import InvalidSpansError, load_chunker
from chunkers.source import Services
from chunkers.wire import pack_spans, receive, send, unpack_source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from chunkers.loading import LoadedChunker
    from chunkers.source import Source, Span

    Chunk = Callable[[Source, Services], list[Span]]

_GRACE = 10.0  # seconds behind the time limit after which nobody seems to wait any more
_LONGEST = 200  # characters of a reason
_STATUS = Path("/proc/self/status")


@dataclass
class _Worker:
    """The state of the process.

    Attributes:
        source: Where messages come from.
        sink: Where they go.
        chunker: What was loaded last.
        seconds: Time limit of a cut; 0 for none.
        memory: Bytes that it may take beyond those at rest.
        services: What chunkers are given, but for notes.
        rest: Resident bytes before the first cut.
        waited: Seconds for which answers were waited for.
    """

    source: IO[bytes]
    sink: IO[bytes]
    chunker: LoadedChunker | None = None
    seconds: float = 0.0
    memory: int = 0
    services: Services = field(default_factory=Services)
    rest: int = 0
    waited: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """What a message asks for."""
        return self._load(message) if message["do"] == "load" else self._cut(message)

    def _load(self, message: dict[str, Any]) -> dict[str, Any]:
        _limit_memory(None)
        try:
            if message["file"]:
                _import_file(*message["file"])
            chunker = load_chunker(message["spec"])
        # Whatever other people's code raises, the process goes on.
        except BaseException as error:
            return {"error": str(error) if isinstance(error, InputError) else _reason(error)}
        self.chunker, self.seconds, self.memory = chunker, message["seconds"], message["memory"]
        self.services = self._services(message)
        self.rest = _status("VmRSS")
        _limit_memory(self.memory)
        return {
            "name": chunker.name,
            "version": chunker.version,
            "max_size": chunker.max_size,
            "unit": chunker.unit,
            "windows": chunker.windows,
            "languages": chunker.languages,
            "exceptions": chunker.exceptions,
        }

    def _services(self, message: dict[str, Any]) -> Services:
        if message["services"]:
            module, _, function = message["services"].partition(":")
            made: Services = getattr(importlib.import_module(module), function)()
            return made
        return Services(
            embed=self._embed if message["embeds"] else None,
            count_tokens=self._count if message["counts"] else None,
            corpus=message["corpus"],
        )

    def _cut(self, message: dict[str, Any]) -> dict[str, Any]:
        if self.chunker is None:
            raise RuntimeError("nothing is loaded")
        source, chunk = unpack_source(message["source"]), self.chunker.chunk
        _forget_peak()
        self._arm()
        if message["threads"] == 1:
            answers = [self._once(chunk, source)]
        else:
            answers = self._at_once(chunk, source, message["threads"])
        _arm(0)
        return {"answers": answers, "peak": max(0, _status("VmHWM") - self.rest)}

    def _once(self, chunk: Chunk, source: Source) -> dict[str, Any]:
        given = self.services
        services = Services(given.embed, given.count_tokens, given.corpus)
        full = {"failure": ["memory", f"needed over {self.memory >> 20} MiB"]}
        waited, started = self.waited, time.perf_counter()
        try:
            packed = pack_spans(chunk(source, services))
        except InvalidSpansError as error:
            return {"failure": [error.check, str(error)]}
        except MemoryError:
            return full  # made beforehand: there may be no room for it now
        except BaseException as error:
            return {"failure": ["raised", _reason(error)]}
        taken = time.perf_counter() - started - (self.waited - waited)
        return {"spans": packed, "notes": services.notes, "seconds": max(0.0, taken)}

    def _at_once(self, chunk: Chunk, source: Source, threads: int) -> list[dict[str, Any]]:
        """The answers of several threads that cut the same source at once."""
        answers: list[dict[str, Any]] = [{"failure": ["raised", "the thread ended"]}] * threads
        start = threading.Barrier(threads)

        def run(number: int) -> None:
            start.wait()
            answers[number] = self._once(chunk, source)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            running = [threading.Thread(target=run, args=(one,)) for one in range(threads)]
            for thread in running:
                thread.start()
            for thread in running:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
        return answers

    def _arm(self) -> None:
        _arm(self.seconds + _GRACE if self.seconds else 0)

    def _ask(self, what: str, of: object) -> Any:
        with self.lock:
            _arm(0)
            started = time.perf_counter()
            send(self.sink, {"ask": what, "of": of})
            reply = receive(self.source)
            if reply is None:
                _leave()
            self.waited += time.perf_counter() - started
            self._arm()
        if "error" in reply:
            raise InputError(reply["error"])
        return reply["answer"]

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        answer = self._ask("embed", list(texts))
        vectors = np.frombuffer(base64.b64decode(answer["data"]), dtype=np.float32)
        return vectors.reshape(answer["shape"]).copy()

    def _count(self, text: str) -> int:
        return int(self._ask("count_tokens", text))


def serve() -> NoReturn:
    """Answer what comes in on standard input, on standard output."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        # What a chunker prints or reads is no message.
        os.dup2(nothing, descriptor)
    worker = _Worker(source, sink)
    with contextlib.suppress(BrokenPipeError):
        while (message := receive(source)) is not None:
            answer = worker.answer(message)
            try:
                send(sink, answer)
            except MemoryError:
                reason = f"needed over {worker.memory >> 20} MiB"
                send(sink, {"answers": [{"failure": ["memory", reason]}], "peak": 0})
    _leave()


def _leave() -> NoReturn:
    # Threads and exit handlers of other people's code may hang.
    os._exit(0)


def _reason(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]


def _import_file(name: str, path: str) -> None:
    """Import a module from its file, unless its name leads there anyhow."""
    if name in sys.modules:
        return
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin == path:
            return
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} cannot be imported as {name}")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def _arm(seconds: float) -> None:
    """End this process if it hangs and whoever would end it has died; 0 calls that off."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(more: int | None) -> None:
    """Let the process take so many bytes beyond those it has; None for any number.

    What counts is memory that it can write to (Linux), so that address space which a library
    reserves and never touches does not.
    """
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    held = _status("VmData")
    resource.setrlimit(resource.RLIMIT_DATA, (hard if more is None else held + more, hard))


def _status(key: str) -> int:
    """A number of bytes that the kernel knows of this process; 0 where there is none."""
    try:
        status = _STATUS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(rf"^{key}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
