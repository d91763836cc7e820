"""Where chunkers cut: in processes of their own, so that a file can cost no more than itself."""

from __future__ import annotations

import contextlib
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from chunkers.errors import InputError, StoppedError
from chunkers.processes.isolation import (
    Limits,
    LoadTarget,
    Outcome,
    program_file,
    refuse_while_loading,
)
from chunkers.processes.messages import attempt
from chunkers.processes.pool import Pool, Task
from chunkers.source import Services
from harness.chunking.limits import SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chunkers.plugins.loading import LoadedChunker
    from chunkers.source import Source, Span
    from harness.model import Corpus

    MakeCutter = Callable[
        [LoadedChunker, Services, Limits], contextlib.AbstractContextManager["Cutter"]
    ]

HERE = "cut in the main process: no limits, and no fixed hash seed"
"""The note on files that were not cut in a separate process."""

_OWN = ("chunkers.builtin.", "chunkers.reference.")
_WITHOUT_CORPUS = ("chunkers.adapters.", "chunkers.builtin.")  # these never read `services.corpus`


def limits_of(seconds: float = SECONDS) -> Limits:
    """The limits of a chunker on one file: `seconds`, and 2 GiB of memory.

    Each million characters add the same time again, and each 16 million the same memory, so that no
    file fails only because it is large.
    """
    return Limits(seconds, 2 << 30, more_seconds=seconds / 1e6, more_memory=128)


def tasks_of(corpus: Corpus, chunker: LoadedChunker) -> list[Task]:
    """What is cut of a corpus, in order; equal tasks of several corpora give equal spans."""
    name = "" if chunker.made_by.startswith(_WITHOUT_CORPUS) else corpus.name
    return [Task(source, name) for source in corpus.sources]


class Cutter(Protocol):
    """Cuts sources by one chunker."""

    def cut(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """One outcome for each, in their order."""
        ...

    def texts(self, tasks: Sequence[Task]) -> Iterator[list[str] | None]:
        """What the chunker will ask vectors for; None for a source of which it cannot say so."""
        ...


@contextlib.contextmanager
def cutter(
    chunker: LoadedChunker, services: Services, limits: Limits, processes: int | None = None
) -> Iterator[Cutter]:
    """What cuts by a chunker.

    Other processes load it by its name, and the program's own file where that may be imported
    (`chunkers.processes.isolation.program_file`). What they cannot load (it was typed into an
    interpreter or a notebook, or the program would run once more) cuts in this process: then what
    it raises or returns costs one file, but nothing limits its time and memory or fixes its hash
    seed. Every file that it cuts says so in a note, and a warning says why. `processes` is how many
    may cut at once, by default one for each core.

    Raises:
        InputError: It cannot be loaded in another process, or is another one there.
    """
    refuse_while_loading(chunker.name)
    with contextlib.ExitStack() as stack:
        try:
            pool = stack.enter_context(Pool(target_of(chunker), limits, services, processes))
            version = pool.load().version
        except InputError as error:
            module = _module_of(chunker)
            if module != "__main__" and _file_of(module):
                raise
            warnings.warn(
                f"chunker {chunker.name} runs in this process, without limits: {error}",
                stacklevel=3,
            )
            yield _Here(chunker, services)
            return
        if version != chunker.version:
            raise InputError(
                f"chunker {chunker.name} is {chunker.version} here and {version} in another "
                "process; do not edit its code during a run"
            )
        yield pool


def target_of(chunker: LoadedChunker) -> LoadTarget:
    """What other processes load.

    Raises:
        InputError: They cannot; the message says why.
    """
    module = _module_of(chunker)
    if module == "__main__":
        return LoadTarget(chunker.name, (module, program_file()))
    file = _file_of(module)
    if file is None:
        raise InputError("it has no file that another process could import")
    own = chunker.made_by.startswith(_OWN)
    return LoadTarget(chunker.name, None if own else (module, file), keeps_nothing=own)


def _module_of(chunker: LoadedChunker) -> str:
    return chunker.made_by.partition(":")[0]


def _file_of(module: str) -> str | None:
    file = getattr(sys.modules.get(module), "__file__", None)
    return file if file is not None and Path(file).is_file() else None


class _ServiceError(BaseException):
    """Services raised something: no fault of the chunker."""

    def __init__(self, cause: BaseException) -> None:
        self.cause = cause


class _Here:
    """Cuts in this process."""

    def __init__(self, chunker: LoadedChunker, services: Services) -> None:
        self._chunker = chunker
        self._embed = _marked(services.embed)
        self._count = _marked(services.count_tokens)

    def cut(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """One outcome for each, in their order."""
        for task in tasks:
            outcome = Outcome.of(task.source.path, self._attempt(self._chunker.chunk, task))
            if outcome.failure is None:
                outcome.notes[HERE] += 1
            yield outcome

    def texts(self, tasks: Sequence[Task]) -> Iterator[list[str] | None]:
        """What the chunker will ask vectors for; None for a source of which it cannot say so."""
        asks = self._chunker.texts
        for task in tasks:
            wanted: list[str] = []

            def ask(source: Source, services: Services, wanted: list[str] = wanted) -> list[Span]:
                wanted += [str(text) for text in asks(source, services)] if asks else ()
                return []

            # What fails here fails again when the file is cut, and is counted there.
            failed = "failure" in self._attempt(ask, task)
            yield None if failed or asks is None else wanted

    def _attempt(
        self, call: Callable[[Source, Services], list[Span]], task: Task
    ) -> dict[str, Any]:
        services = Services(self._embed, self._count, task.corpus)
        try:
            return attempt(call, task.source, services, (KeyboardInterrupt, _ServiceError))
        except _ServiceError as error:
            raise error.cause from None


def _marked(call: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    """A service whose errors pass through `attempt`."""
    if call is None:
        return None

    def answer(argument: Any) -> Any:
        try:
            return call(argument)
        except (KeyboardInterrupt, StoppedError):
            raise
        except BaseException as error:
            raise _ServiceError(error) from error

    return answer
