"""Where chunkers cut: in processes of their own, so that a file can cost no more than itself."""

from __future__ import annotations

import contextlib
import itertools
import sys
from typing import TYPE_CHECKING, Any, Protocol

from chunkers.errors import InputError, reason_of
from chunkers.isolation import Failure, Limits, Outcome, Target, Worker
from chunkers.loading import CHUNKERS, InvalidSpansError
from chunkers.pool import Pool
from chunkers.source import Services
from chunkers.spec import expand_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from chunkers.loading import LoadedChunker
    from chunkers.pool import Task

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

    Other processes load it by its name. One whose module has no file to be loaded from (it was
    typed into an interpreter or a notebook, or is the program itself) cuts in this process: then
    what it raises costs one file, but nothing ends it where it hangs or crashes.

    Args:
        chunker: The chunker.
        services: What it is given; what they raise goes to whoever reads the outcomes.
        limits: What a file may take.

    Raises:
        InputError: It cannot be loaded in another process, or is another one there.
    """
    target = target_of(chunker)
    if target is None:
        yield _Here(chunker, services)
        return
    with Pool(target, limits, services) as pool:
        found = pool.load().version
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


def target_of(chunker: LoadedChunker) -> Target | None:
    """What other processes load; None for what they cannot."""
    name = chunker.made_by.partition(":")[0]
    file = getattr(sys.modules.get(name), "__file__", None)
    if name == "__main__" or file is None:
        return None
    own = chunker.made_by.startswith(_OWN)
    return Target(chunker.name, None if own else (name, file), keeps_nothing=own)


class _FaultError(BaseException):
    """What services raised on its way through a chunker, which is not to catch it."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class _Here:
    """Cuts in this process."""

    def __init__(self, chunker: LoadedChunker, services: Services) -> None:
        self._chunker = chunker
        self._embed = _through(services.embed)
        self._count = _through(services.count_tokens)

    def cut(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """One outcome for each, in their order."""
        for task in tasks:
            yield self._cut(task)

    def _cut(self, task: Task) -> Outcome:
        services = Services(self._embed, self._count, task.corpus)
        path = task.source.path
        try:
            spans = self._chunker.chunk(task.source, services)
        except _FaultError as fault:
            raise fault.error from None
        except InvalidSpansError as error:
            return Outcome(path, None, Failure(error.check, str(error)))
        # Other people's code may raise anything; the file is named in the result.
        except (Exception, SystemExit) as error:
            return Outcome(path, None, Failure("raised", reason_of(error)))
        return Outcome(path, spans, notes=services.notes)

    def texts(self, tasks: Sequence[Task]) -> Iterator[list[str] | None]:
        """What the chunker will ask vectors for; None for a source of which it cannot say so."""
        for task in tasks:
            yield self._texts(task)

    def _texts(self, task: Task) -> list[str] | None:
        if self._chunker.texts is None:
            return None
        services = Services(self._embed, self._count, task.corpus)
        try:
            return list(self._chunker.texts(task.source, services))
        except _FaultError as fault:
            raise fault.error from None
        # It fails on this file again when the file is cut, and is counted there.
        except (Exception, SystemExit):
            return None


def _through(call: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    if call is None:
        return None
    ask = call

    def answer(of: Any) -> Any:
        try:
            return ask(of)
        except Exception as error:
            raise _FaultError(error) from error

    return answer
