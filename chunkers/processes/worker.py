"""The process in which other people's code cuts; `isolation` starts it and speaks to it.

It answers `load`, `texts` and `cut` until its standard input ends. While it cuts it may ask back
for vectors and token counts.
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

from chunkers.errors import InputError, reason_of
from chunkers.plugins.loading import load_chunker
from chunkers.processes.attempts import attempt
from chunkers.processes.scripts import LOADING, import_program
from chunkers.processes.wire import receive, send, unpack_source
from chunkers.source import Services

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from chunkers.plugins.loading import LoadedChunker
    from chunkers.source import Source, Span

_GRACE = 10.0  # seconds behind the time limit after which nobody seems to wait any more
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
        own: Services that are made here; None where they are asked for.
        rest: Resident bytes before the first cut.
        held: Bytes that count for the memory limit, at the same time.
        waited: Seconds for which answers were waited for.
    """

    source: IO[bytes]
    sink: IO[bytes]
    chunker: LoadedChunker | None = None
    seconds: float = 0.0
    memory: int = 0
    own: Services | None = None
    rest: int = 0
    held: int = 0
    waited: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """What a message asks for."""
        if message["do"] == "load":
            return self._load(message)
        if self.chunker is None:
            raise RuntimeError("nothing is loaded")
        if message["memory"] != self.memory:
            self.memory = message["memory"]
            _limit_memory(self.held + self.memory)
        self.seconds = message["seconds"]
        return self._texts(message) if message["do"] == "texts" else self._cut(message)

    def _load(self, message: dict[str, Any]) -> dict[str, Any]:
        _limit_memory(None)
        os.environ[LOADING] = "1"
        try:
            if message["file"]:
                _import_file(*message["file"])
            chunker = load_chunker(message["spec"])
            self.own = None
            if message["services"]:
                module, _, function = message["services"].partition(":")
                self.own = getattr(importlib.import_module(module), function)()
        # Whatever other people's code raises, the process goes on.
        except BaseException as error:
            return {"error": str(error) if isinstance(error, InputError) else reason_of(error)}
        finally:
            os.environ.pop(LOADING, None)
        self.chunker, self.memory = chunker, 0
        self.rest, self.held = _status("VmRSS"), _status("VmData")
        return {
            "name": chunker.name,
            "version": chunker.version,
            "max_size": chunker.max_size,
            "unit": chunker.unit,
            "windows": chunker.windows,
            "languages": chunker.languages,
            "exceptions": chunker.exceptions,
        }

    def _services(self, message: dict[str, Any], source: Source) -> Services:
        if self.own is not None:
            return Services(self.own.embed, self.own.count_tokens, message["corpus"])
        count = None
        if message["counts"]:
            count = self._counter(source)
        return Services(self._embed if message["embeds"] else None, count, message["corpus"])

    def _counter(self, source: Source) -> Callable[[str], int]:
        """Counts tokens. Sizes in tokens are those of lines: all of them are asked for at once."""
        known: dict[str, int] = {}

        def count(text: str) -> int:
            if text not in known:
                by_lines = not known and self.chunker is not None and self.chunker.unit == "tokens"
                lines = source.text.split("\n") if by_lines else ()
                texts = list(dict.fromkeys([text, *filter(str.strip, lines)]))
                known.update(zip(texts, self._ask("count_tokens", texts), strict=True))
            return known[text]

        return count

    def _texts(self, message: dict[str, Any]) -> dict[str, Any]:
        source, chunker = unpack_source(message["source"]), self.chunker
        if chunker is None or chunker.texts is None:
            return {"texts": None}
        self._arm()
        try:
            # Copied, so that what is no list of strings fails here.
            texts = [str(text) for text in chunker.texts(source, self._services(message, source))]
        # It fails again when the source is cut, and is named there.
        except BaseException:
            return {"texts": None}
        finally:
            _arm(0)
        return {"texts": texts}

    def _cut(self, message: dict[str, Any]) -> dict[str, Any]:
        source = unpack_source(message["source"])
        services = self._services(message, source)
        _forget_peak()
        self._arm()
        if message["threads"] == 1:
            answers = [self._once(source, services)]
        else:
            answers = self._at_once(source, services, message["threads"])
        _arm(0)
        return {"answers": answers, "peak": max(0, _status("VmHWM") - self.rest)}

    def _once(self, source: Source, given: Services) -> dict[str, Any]:
        services = Services(given.embed, given.count_tokens, given.corpus)
        full = {"failure": ["memory", f"needed over {self.memory >> 20} MiB"]}
        waited, started = self.waited, time.perf_counter()
        answer = attempt(self._chunk, source, services, full)
        answer["seconds"] = max(0.0, time.perf_counter() - started - (self.waited - waited))
        return answer

    def _chunk(self, source: Source, services: Services) -> list[Span]:
        if self.chunker is None:
            raise RuntimeError("nothing is loaded")
        return self.chunker.chunk(source, services)

    def _at_once(self, source: Source, services: Services, threads: int) -> list[dict[str, Any]]:
        """The answers of several threads that cut the same source at once."""
        answers: list[dict[str, Any]] = [{"failure": ["raised", "the thread ended"]}] * threads
        start = threading.Barrier(threads)

        def run(number: int) -> None:
            start.wait()
            answers[number] = self._once(source, services)

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


def serve() -> NoReturn:
    """Answer what comes in on standard input, on standard output."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a chunker prints or reads is no message.
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)
    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
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


def _import_file(name: str, path: str) -> None:
    """Import a module from its file, unless its name leads there anyhow."""
    if name == "__main__":
        import_program(path)
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


def _limit_memory(most: int | None) -> None:
    """Let the process hold so many bytes; None for any number.

    What counts is memory that it can write to (Linux), so that address space which a library
    reserves and never touches does not.
    """
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard if most is None else most, hard))


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
