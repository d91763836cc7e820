"""Where chunkers cut: in processes of their own, so that a file can cost no more than itself."""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from chunkers.errors import InputError
from chunkers.plugins.loading import CHUNKERS, checked
from chunkers.plugins.spec import expand_spec
from chunkers.processes.attempts import attempt
from chunkers.processes.isolation import Limits, Target, Worker, outcome_of
from chunkers.processes.pool import Pool
from chunkers.processes.scripts import program_file, refuse_while_loading
from chunkers.processes.wire import pack_source, pack_spans, unpack_source, unpack_spans
from chunkers.source import Services

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from chunkers.plugins.loading import LoadedChunker
    from chunkers.processes.isolation import Outcome
    from chunkers.processes.pool import Task
    from chunkers.source import Source, Span

HERE = "cut in the program's own process: no limits, and no hash seed of ours"
"""The note on files that no process of their own cut."""

SECONDS = 60.0
"""What a file may take: many times what the slowest chunker here needs for one of a usual size."""

_OWN = ("chunkers.builtin.", "chunkers.reference.")


def limits_of(seconds: float = SECONDS) -> Limits:
    """What one file may take: so many seconds, and 2 GiB.

    As much again for each million characters, and for each 16 million: no file that is large
    fails for its size alone.
    """
    return Limits(seconds, 2 << 30, more_seconds=seconds / 1e6, more_memory=128)


class Cutter(Protocol):
    """Cuts sources by one chunker."""

    def cut(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """One outcome for each, in their order."""
        ...

    def texts(self, tasks: Sequence[Task]) -> Iterator[list[str] | None]:
        """What the chunker will ask vectors for; None for a source of which it cannot say so."""
        ...


@contextlib.contextmanager
def cutter(chunker: LoadedChunker, services: Services, limits: Limits) -> Iterator[Cutter]:
    """What cuts by a chunker.

    Other processes load it by its name, and the program's own file where that may be imported
    (`chunkers.processes.scripts`). What they cannot load (it was typed into an interpreter or a
    notebook, or the program would run once more) cuts in this process: then what it raises or
    returns costs one file, but nothing limits its time and memory or fixes its hash seed. Every
    file that it cuts says so in a note, and a warning says why.

    Args:
        chunker: The chunker.
        services: What it is given; what they raise goes to whoever reads the outcomes.
        limits: What a file may take.

    Raises:
        InputError: It cannot be loaded in another process, or is another one there.
    """
    refuse_while_loading(chunker.name)
    with contextlib.ExitStack() as stack:
        try:
            target = target_of(chunker)
            pool = stack.enter_context(Pool(target, limits, services))
            found = pool.load().version
        except InputError as error:
            if not _is_bound_to_this(chunker):
                raise
            stack.close()
            warnings.warn(f"chunker {chunker.name} cuts in this process: {error}", stacklevel=3)
            yield _Here(chunker, services)
            return
        if found != chunker.version:
            raise InputError(
                f"chunker {chunker.name} is {chunker.version} here and {found} in another process; "
                "leave its code alone while it runs"
            )
        yield pool


def probe(specs: Iterable[str]) -> None:
    """Load other people's chunkers in processes of their own, before this one imports them.

    Code that hangs, crashes or leaves while it is imported is named so, and ends nothing else.

    Args:
        specs: Chunkers; sweeps are allowed.

    Raises:
        InputError: One cannot be loaded.
    """
    for spec in itertools.chain.from_iterable(map(expand_spec, specs)):
        entry, _ = CHUNKERS.find(spec)
        if not entry.target.startswith("chunkers."):
            with Worker(Target(str(spec)), limits_of()) as worker:
                worker.load()


def target_of(chunker: LoadedChunker) -> Target:
    """What other processes load.

    Raises:
        InputError: They cannot; the message says why.
    """
    name = chunker.made_by.partition(":")[0]
    if name == "__main__":
        return Target(chunker.name, (name, program_file()))
    file = _file_of(name)
    if file is None:
        raise InputError("no file holds it that another process could import")
    own = chunker.made_by.startswith(_OWN)
    return Target(chunker.name, None if own else (name, file), keeps_nothing=own)


def _is_bound_to_this(chunker: LoadedChunker) -> bool:
    """Whether a chunker may well be in no other process: that is no mistake."""
    name = chunker.made_by.partition(":")[0]
    return name == "__main__" or _file_of(name) is None


def _file_of(module: str) -> str | None:
    file = getattr(sys.modules.get(module), "__file__", None)
    return file if file is not None and Path(file).is_file() else None


class _Here:
    """Cuts in this process."""

    def __init__(self, chunker: LoadedChunker, services: Services) -> None:
        self._chunker = chunker
        self._faults: list[Exception] = []
        self._embed = self._through(services.embed)
        self._count = self._through(services.count_tokens)

    def cut(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """One outcome for each, in their order."""
        for task in tasks:
            yield self._cut(task)

    def _cut(self, task: Task) -> Outcome:
        outcome = outcome_of(task.source, self._attempt(self._checked, task))
        if outcome.failure is None:
            outcome.notes[HERE] += 1
        return outcome

    def _checked(self, source: Source, services: Services) -> list[Span]:
        # As JSON, so that nothing with a will of its own is left of them.
        packed = json.dumps(pack_spans(self._chunker.chunk(source, services)))
        return checked(self._chunker.name, unpack_spans(json.loads(packed)), source)

    def texts(self, tasks: Sequence[Task]) -> Iterator[list[str] | None]:
        """What the chunker will ask vectors for; None for a source of which it cannot say so."""
        for task in tasks:
            yield self._texts(task)

    def _texts(self, task: Task) -> list[str] | None:
        asks = self._chunker.texts
        if asks is None:
            return None
        found: list[str] = []

        def ask(source: Source, services: Services) -> list[Span]:
            found.extend(json.loads(json.dumps([str(text) for text in asks(source, services)])))
            return []

        # What fails here fails again when the file is cut, and is counted there.
        return None if "failure" in self._attempt(ask, task) else found

    def _attempt(
        self, call: Callable[[Source, Services], list[Span]], task: Task
    ) -> dict[str, Any]:
        """What became of a call; what services raised goes up, whatever was made of it there."""
        services = Services(self._embed, self._count, task.corpus)
        full = {"failure": ["memory", "MemoryError"]}
        self._faults.clear()
        with _interrupts() as (through, came):
            # A copy, so that nothing done to it reaches the corpus.
            source = unpack_source(pack_source(task.source))
            answer = attempt(call, source, services, full, through)
        if came:
            raise KeyboardInterrupt
        if self._faults:
            raise self._faults[0]
        return answer

    def _through(self, call: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        if call is None:
            return None
        ask = call

        def answer(of: Any) -> Any:
            try:
                return ask(of)
            except Exception as error:
                self._faults.append(error)
                raise

        return answer


@contextlib.contextmanager
def _interrupts() -> Iterator[tuple[tuple[type[BaseException], ...], list[int]]]:
    """Tell the user's interrupts from what a chunker raises or swallows.

    Gives what must go through, and a list that is filled when the user interrupts. Where signals
    are somebody else's affair, every KeyboardInterrupt is taken for the user's.
    """
    came: list[int] = []
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield (KeyboardInterrupt,), came
        return

    def interrupt(number: int, _: object) -> NoReturn:
        came.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield (), came
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
