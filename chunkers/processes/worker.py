"""The worker process in which chunkers run; `isolation` starts it and sends it messages.

It answers `load`, `cut`, `texts` and `parse` until the main process closes the connection. While it
cuts it may request vectors and token counts.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import re
import signal
import sys
import threading
import time
import types
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from chunkers.errors import InputError, reason_of
from chunkers.grammars.parsing import parse
from chunkers.plugins.loading import LoadedChunker, load_chunker
from chunkers.processes.messages import OUT_OF_MEMORY, attempt, encode, receive, unpack_source
from chunkers.source import Services

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from chunkers.source import Source

LOADING = "CHUNKMARK_LOADING"
"""Set in the environment of a process while it imports a chunker."""

DECLARED = ("name", "version", "max_size", "unit", "windows", "languages", "exceptions")
"""The attributes of a loaded chunker that are sent to the main process."""

_GRACE = 10.0  # seconds after the time limit, when a parent that lives would have killed this
_STACK = 16 << 20  # bytes that a thread may need beside what it cuts
_OUT_OF_MEMORY = encode({"answers": [OUT_OF_MEMORY], "peak": 0})
_STATUS = Path("/proc/self/status")


class _Worker:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._chunker: LoadedChunker | None = None
        self._seconds = 0.0  # limit of a cut
        self._memory = 0  # bytes that a cut may take beyond the idle process
        self._held = 0  # bytes of the idle process that count for the memory limit
        self._rest = 0  # resident bytes of the idle process
        self._started = self._waited = 0.0  # start of the cut; seconds of it spent on answers
        self._lock = threading.Lock()

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a message."""
        if message["do"] == "load":
            return self._load(message)
        if not self._held:
            self._rest, self._held = _status("VmRSS"), _status("VmData")
        self._seconds = message["seconds"]
        memory = message["memory"] + (message["threads"] - 1) * _STACK
        if memory != self._memory:
            self._memory = memory
            _limit_memory(self._held + self._memory)
        self._started, self._waited = time.perf_counter(), 0.0
        self._arm()
        try:
            return getattr(self, f"_{message['do']}")(message)  # type: ignore[no-any-return]
        finally:
            _alarm(0)

    def _load(self, message: dict[str, Any]) -> dict[str, Any]:
        _limit_memory(None)
        self._memory = self._held = 0
        os.environ[LOADING] = "1"
        try:
            if message["file"]:
                _import_file(*message["file"])
            self._chunker = load_chunker(message["spec"])
        # A plug-in may raise anything; the process continues.
        except BaseException as error:
            return {"error": str(error) if isinstance(error, InputError) else reason_of(error)}
        finally:
            del os.environ[LOADING]
        return {name: getattr(self._chunker, name) for name in DECLARED}

    def _parse(self, message: dict[str, Any]) -> dict[str, Any]:
        for packed in message["sources"]:
            with contextlib.suppress(Exception):  # it raises the same again when the source is cut
                parse(unpack_source(packed))
        return {}

    def _texts(self, message: dict[str, Any]) -> dict[str, Any]:
        source = unpack_source(message["sources"][0])
        chunker = self._loaded()
        if chunker.texts is None:
            return {"texts": None}
        try:
            texts = [str(text) for text in chunker.texts(source, self._services(message, source))]
        # It fails again when the source is cut, and is reported there.
        except BaseException:
            return {"texts": None}
        return {"texts": texts}

    def _cut(self, message: dict[str, Any]) -> dict[str, Any]:
        source = unpack_source(message["sources"][0])
        if message["measure"]:
            _forget_peak()
        if message["threads"] == 1:
            answers = [self._cut_once(message, source)]
        else:
            answers = self._cut_at_once(message, source)
        peak = max(0, _status("VmHWM") - self._rest) if message["measure"] else 0
        return {"answers": answers, "peak": peak}

    def _cut_once(self, message: dict[str, Any], source: Source) -> dict[str, Any]:
        services = self._services(message, source)
        waited, started = self._waited, time.perf_counter()
        answer = attempt(self._loaded().chunk, source, services)
        answer["seconds"] = max(0.0, time.perf_counter() - started - (self._waited - waited))
        return answer

    def _cut_at_once(self, message: dict[str, Any], source: Source) -> list[dict[str, Any]]:
        """The answers of several threads that cut the same source at the same time."""
        threads = message["threads"]
        answers: list[dict[str, Any]] = [{"failure": ["raised", "the thread ended"]}] * threads
        start = threading.Barrier(threads)

        def run(number: int) -> None:
            start.wait()
            answers[number] = self._cut_once(message, source)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            running = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
            for thread in running:
                thread.start()
            for thread in running:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
        return answers

    def _loaded(self) -> LoadedChunker:
        if self._chunker is None:
            raise RuntimeError("no chunker is loaded")
        return self._chunker

    def _services(self, message: dict[str, Any], source: Source) -> Services:
        embed = self._embed if message["embeds"] else None
        count = self._counter(source) if message["counts"] else None
        return Services(embed, count, message["corpus"])

    def _counter(self, source: Source) -> Callable[[str], int]:
        """A token counter. If sizes are in tokens, it requests those of all lines at once."""
        known: dict[str, int] = {}

        def count(text: str) -> int:
            if text not in known:
                by_lines = not known and self._loaded().unit == "tokens"
                lines = source.text.split("\n") if by_lines else ()
                texts = list(dict.fromkeys([text, *filter(str.strip, lines)]))
                with self._lock:
                    known.update(
                        zip(texts, self._ask("count_tokens", texts)["counts"], strict=True)
                    )
            return known[text]

        return count

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._lock:
            shape = self._ask("embed", list(texts))["shape"]
            data = self._connection.recv_bytes()
        return np.frombuffer(data, dtype=np.float32).reshape(shape).copy()

    def _ask(self, question: str, texts: list[str]) -> dict[str, Any]:
        """Request an answer from the main process; the waiting time does not count."""
        if not all(isinstance(text, str) for text in texts):
            raise InputError(f"services.{question}: only strings can be sent")
        _alarm(0)
        started = time.perf_counter()
        spent = started - self._started - self._waited
        self._connection.send_bytes(encode({"ask": question, "texts": texts, "spent": spent}))
        try:
            return receive(self._connection)
        except (EOFError, OSError):
            _leave()
        finally:
            self._waited += time.perf_counter() - started
            self._arm()

    def _arm(self) -> None:
        """End this process if it hangs after its parent, which would kill it, has died."""
        spent = time.perf_counter() - self._started - self._waited
        _alarm(max(0.0, self._seconds - spent) + _GRACE)


def serve(descriptor: int) -> NoReturn:
    """Answer messages on a socket."""
    os.set_inheritable(descriptor, False)
    connection = Connection(descriptor)
    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    worker = _Worker(connection)
    with contextlib.suppress(EOFError, OSError):
        while True:
            message = receive(connection)
            try:
                answer = encode(worker.answer(message))
            except MemoryError:
                answer = _OUT_OF_MEMORY
            connection.send_bytes(answer)
    _leave()


def _leave() -> NoReturn:
    # Threads and exit handlers of plug-ins may hang.
    os._exit(0)


def _import_file(name: str, path: str) -> None:
    """Import a module from its file, unless its name finds that file anyway."""
    alias = name
    if name == "__main__":
        # As in `multiprocessing`: code under `if __name__ == "__main__":` does not run.
        alias, sys.dont_write_bytecode = "__mp_main__", True
    elif name in sys.modules:
        return
    else:
        with contextlib.suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.origin == path:
                return
    loader = importlib.machinery.SourceFileLoader(alias, path)
    module = types.ModuleType(alias)
    module.__file__ = path
    sys.modules[name] = sys.modules[alias] = module
    loader.exec_module(module)


def _alarm(seconds: float) -> None:
    """Let SIGALRM end this process after `seconds`; 0 cancels it."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(limit: int | None) -> None:
    """Limit the bytes of the process; None for no limit.

    Only writable memory counts (Linux), not address space that a library reserves without use.
    """
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard if limit is None else limit, hard))


def _status(key: str) -> int:
    """A number of bytes in the kernel's status of this process; 0 if absent."""
    try:
        status = _STATUS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    match = re.search(rf"^{key}:\s+(\d+) kB", status, re.MULTILINE)
    return int(match[1]) << 10 if match else 0


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
