"""A chunker that is any program: it reads sources and writes chunks, as lines of JSON.

In: `{"path", "text", "options"}`. Out: `{"chunks": [...]}`, each `{"start", "end"}` in characters,
`{"start_line", "end_line"}` from 1 and inclusive, or `{"text"}`; or else `{"error": "..."}`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import select
import shlex
import shutil
import subprocess
import threading
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from chunkers.locate import spans_of
from chunkers.processes import system
from chunkers.sizes import Unit, check_limit
from chunkers.source import Services, Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FAMILY = "process"

_FORMS = (("start", "end"), ("start_line", "end_line"), ("text",))
_ANSWER = 4 << 20  # maximum bytes of an answer,
_EACH = 64  # and further bytes for each character of the source
_KEPT = 2_000  # bytes of standard error
_SHOWN = 100
_READ = 1 << 16


class _Program:
    """A running program, and the end of what it wrote to standard error.

    Args:
        command: The program and its arguments.
        owner: The program ends with this object, even if it hangs.
    """

    def __init__(self, command: tuple[str, ...], owner: object) -> None:
        pipe = subprocess.PIPE
        try:
            self.process = system.start(command, stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise InputError(f"{command[0]} cannot be started: {error.strerror}") from None
        self._errors = b""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._end = weakref.finalize(owner, _close, self.process)

    def ask(self, request: bytes, most: int) -> bytes:
        """Send a line, and read the reply, or its beginning if it is longer than `most` bytes.

        Raises:
            ValueError: The program wrote something before the request.
            OSError: The program ended while it was written to.
        """
        if self._readable() and (early := self._read()):
            raise ValueError(
                f"it wrote {_shown(early.decode('utf-8', 'replace'))} without a request"
            )
        view = memoryview(request)
        while view:
            view = view[self.process.stdin.write(view) :]  # type: ignore[union-attr]
        parts: list[bytes] = []
        size = 0
        while size <= most and not (parts and b"\n" in parts[-1]):
            part = self._read()
            if not part:
                break
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def _readable(self) -> bool:
        return bool(select.select([self.process.stdout], [], [], 0)[0])  # type: ignore[type-var]

    def _read(self) -> bytes:
        return os.read(self.process.stdout.fileno(), _READ)  # type: ignore[union-attr]

    def end(self) -> str:
        """End the program; returns the last line of its standard error, for a message."""
        self._end()
        self._listener.join(1.0)
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        return f"; its standard error ends with {_shown(lines[-1])}" if lines else ""

    def _listen(self) -> None:
        """Read standard error, so that it never blocks the program, and keep its end."""
        with self.process.stderr as stream:  # type: ignore[union-attr]
            while text := stream.read(_READ):
                self._errors = (self._errors + text)[-_KEPT:]


def _close(process: subprocess.Popen[bytes]) -> None:
    system.kill(process)
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            stream.close()  # type: ignore[union-attr]


@dataclass(eq=False)
class ProcessChunker:
    """The chunker; see `make`. Calls from several threads wait for each other."""

    command: tuple[str, ...]
    version: str
    max_size: int | None
    unit: Unit
    overlap: int
    timeout: float
    options: Mapping[str, Any]
    _program: _Program | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """The spans of the program's reply.

        Raises:
            InputError: It timed out, ended, or sent an invalid reply. The next source goes to a new
                process.
        """
        options = dict(self.options) | {"language": source.language}
        request = {"path": source.path, "text": source.text, "options": options}
        with self._lock:
            answer = self._answer(json.dumps(request).encode("ascii") + b"\n", len(source.text))
        if isinstance(answer, dict) and isinstance(answer.get("error"), str):
            raise InputError(f"{self.command[0]} reports {_shown(answer['error'])}")
        try:
            return _spans(answer, source, services, self.overlap)
        except ValueError as error:
            raise InputError(f"{self.command[0]}: {error}") from None

    def _answer(self, request: bytes, length: int) -> Any:
        """The program's reply to a request."""
        program, self._program = self._program or _Program(self.command, self), None
        most = _ANSWER + _EACH * length
        data, problem = b"", ""
        with system.time_limit(program.process, self.timeout) as late:
            try:
                data = program.ask(request, most)
            except OSError:
                pass  # reported as an empty reply
            except ValueError as error:
                problem = str(error)
        line, feed, more = data.partition(b"\n")
        if late.is_set():
            problem = f"it took over {self.timeout:g} s"
        elif not problem and len(data) > most:
            problem = f"its reply is longer than {most} bytes"
        elif not problem and not feed:
            problem = f"it {system.ending(program.process)}" + (
                " in the middle of a line" if line else ""
            )
        elif not problem and more:
            problem = f"it sent more than one line, {_shown(more.decode('utf-8', 'replace'))}"
        if not problem:
            with contextlib.suppress(ValueError, RecursionError):
                answer = json.loads(line)
                self._program = program
                return answer
            problem = f"it sent invalid JSON, {_shown(line.decode('utf-8', 'replace'))}"
        raise InputError(f"{self.command[0]}: {problem}{program.end()}")


def make(
    *,
    command: str,
    max_size: int | None = None,
    unit: Unit = "chars",
    overlap: int = 0,
    timeout: float = 10.0,
    version: str = "",
    options: str = "{}",
) -> ProcessChunker:
    """A program of your own: docs/process-chunkers.md.

    Args:
        command: Program and arguments, split as by a shell; no shell runs.
        max_size: The program's size limit, passed on as an option.
        unit: The unit of `max_size`, passed on as an option.
        overlap: Characters that a chunk `{"text"}` may repeat of the chunk before, passed on as an
            option.
        timeout: Time limit for one source, in seconds.
        version: Part of the chunker's version, for parts of the program that are not files named in
            the command.
        options: A JSON object with further options of the program.

    Raises:
        InputError: There is no such program, or a value is wrong.
    """
    if max_size is not None:
        check_limit(max_size)
    if overlap < 0 or timeout <= 0:
        raise InputError(
            f"overlap={overlap}, timeout={timeout:g}: overlap must be at least 0, timeout above 0"
        )
    try:
        words = shlex.split(command)
        more = json.loads(options)
    except ValueError as error:
        raise InputError(f"command={command!r}, options={options!r}: {error}") from None
    if not isinstance(more, dict):
        raise InputError(f"options={options!r}: must be a JSON object")
    if not words or shutil.which(words[0]) is None:
        raise InputError(f"command={command!r}: there is no such program; give its path")
    passed = {"max_size": max_size, "unit": unit, "overlap": overlap} | more
    return ProcessChunker(
        tuple(words), _version(command, words, version), max_size, unit, overlap, timeout, passed
    )


def _version(command: str, words: list[str], version: str) -> str:
    """A version that changes with the command, its program, and the files that it names."""
    digest = hashlib.sha256(command.encode("utf-8", "surrogatepass"))
    for file in (Path(shutil.which(words[0]) or words[0]), *map(Path, words[1:])):
        if file.is_file():
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return " ".join(filter(None, (version, f"command {digest.hexdigest()[:12]}")))


def _spans(answer: Any, source: Source, services: Services, overlap: int) -> list[Span]:
    """The spans of a reply.

    Raises:
        ValueError: The reply is not a list of chunks.
    """
    chunks = answer.get("chunks") if isinstance(answer, dict) else None
    if not isinstance(chunks, list):
        raise ValueError(f'it sent {_shown(json.dumps(answer))}, not {{"chunks": [...]}}')
    if not chunks:
        return []
    first = chunks[0]
    form = next((keys for keys in _FORMS if isinstance(first, dict) and keys[0] in first), None)
    if form is None:
        raise ValueError(
            f"chunk 1 is {_shown(json.dumps(first))}; start, start_line or text is missing"
        )
    rows = list(_rows(chunks, form))
    if form == ("text",):
        return spans_of(source, [row[0] for row in rows], services, overlap)
    if form == ("start", "end"):
        return [Span(start, end) for start, end in rows]
    for number, (start, end) in enumerate(rows, start=1):
        if not 1 <= start <= end <= source.lines.count:
            raise ValueError(
                f"chunk {number} is of lines {start} to {end}; the text has 1 to "
                f"{source.lines.count}"
            )
    return [Span(*source.lines.offsets_of(start, end)) for start, end in rows]


def _rows(chunks: list[Any], form: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """The values of every chunk; all chunks have the same form."""
    kind = str if form == ("text",) else int
    for number, chunk in enumerate(chunks, start=1):
        row = tuple(chunk.get(key) for key in form) if isinstance(chunk, dict) else ()
        if not row or any(type(value) is not kind for value in row):
            raise ValueError(
                f"chunk {number} is {_shown(json.dumps(chunk))}; like chunk 1 it needs "
                f"{' and '.join(form)}, {'a string' if kind is str else 'integers'}"
            )
        yield row


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
