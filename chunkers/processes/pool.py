"""Many sources cut in several processes at once, in the order of the sources.

To start a process takes about as long as to cut half a million characters, so that only larger
corpora get several. Chunkers that keep nothing (`Target.keeps_nothing`: the built-in ones) leave
their processes to the next one, until this process ends; everybody else's have fresh ones, which
end with the pool.

What chunkers ask for is answered in the thread that reads the outcomes, so services need not be
safe for threads, and what they raise goes to whoever reads.
"""

from __future__ import annotations

import atexit
import functools
import os
import queue
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from chunkers.processes.isolation import Worker
from chunkers.source import Services

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chunkers.processes.isolation import Declared, Limits, Outcome, Target
    from chunkers.source import Source

    T = TypeVar("T")

_WORTH = 1 << 19  # characters of sources for which one process more is started
_SEED = 0  # of hashes: a chunker that iterates over a set does the same in every process
_STEP = 0.05  # seconds

_idle: list[Worker] = []


@dataclass(frozen=True)
class Task:
    """A source, and the id of the corpus that it belongs to."""

    source: Source
    corpus: str = ""


@dataclass(frozen=True)
class _Question:
    """What a chunker asks for, on its way to the thread that answers."""

    answer: Callable[[], Any]
    reply: queue.SimpleQueue[Any] = field(default_factory=queue.SimpleQueue)


@dataclass(frozen=True)
class _Done:
    """What became of one task."""

    number: int
    result: Any = None
    error: BaseException | None = None


class _StoppedError(Exception):
    """Nobody reads any further."""


class Pool:
    """Processes for one chunker.

    Args:
        target: Which chunker.
        limits: What a file may take.
        services: Answers what the chunker asks for.
        processes: How many at most; None for one each core.
    """

    def __init__(
        self,
        target: Target,
        limits: Limits,
        services: Services | None = None,
        processes: int | None = None,
    ) -> None:
        self._target, self._limits = target, limits
        self._services = services or Services()
        self._most = processes or _cores()
        self._workers: list[Worker] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes, or leave them to the next chunker."""
        workers, self._workers = self._workers, []
        if self._target.keeps_nothing:
            _keep(workers)
            return
        for worker in workers:
            worker.close()

    def load(self) -> Declared:
        """Load the chunker; what it says of itself.

        Raises:
            InputError: It cannot be loaded.
        """
        self._grow(1)
        return self._workers[0].load()

    def cut(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Cut sources; yields one outcome for each, in their order.

        Raises:
            InputError: The chunker cannot be loaded.
        """
        return self._each(tasks, lambda worker, one: worker.cut(one.source, one.corpus))

    def texts(self, tasks: Sequence[Task]) -> Iterator[list[str] | None]:
        """What the chunker will ask vectors for; None for a source of which it cannot say so.

        Raises:
            InputError: The chunker cannot be loaded.
        """
        return self._each(tasks, lambda worker, one: worker.texts(one.source, one.corpus))

    def _grow(self, count: int) -> None:
        while len(self._workers) < count:
            idle = self._target.keeps_nothing and _idle
            worker = _idle.pop() if idle else self._fresh()
            worker.turn_to(self._target, self._limits, self._services, _refused)
            self._workers.append(worker)

    def _fresh(self) -> Worker:
        return Worker(self._target, self._limits, hash_seed=_SEED, quiet=False)

    def _each(self, tasks: Sequence[Task], work: Callable[[Worker, Task], T]) -> Iterator[T]:
        if not tasks:
            return
        size = sum(len(task.source.text) for task in tasks)
        self._grow(min(self._most, len(tasks), 1 + size // _WORTH))
        inbox: queue.SimpleQueue[_Question | _Done] = queue.SimpleQueue()

        def relay(answer: Callable[[], Any]) -> Any:
            question = _Question(answer)
            inbox.put(question)
            found = question.reply.get()
            if isinstance(found, _StoppedError):
                raise found
            return found

        for worker in self._workers:
            worker.turn_to(self._target, self._limits, self._services, relay)
        self._workers[0].load()
        waiting = deque(range(len(tasks)))
        threads = [
            threading.Thread(target=_serve, args=(worker, waiting, tasks, work, inbox), daemon=True)
            for worker in self._workers
        ]
        results: dict[int, T] = {}
        try:
            for thread in threads:
                thread.start()
            for number in range(len(tasks)):
                while number not in results:
                    _receive(inbox.get(), results)
                yield results.pop(number)
        except BaseException:
            # Whoever reads no further waits for no file: what is being cut ends with its process.
            waiting.clear()
            workers, self._workers = self._workers, []
            for worker in workers:
                worker.abandon()
            raise
        finally:
            _join(threads, inbox)


def _refused(answer: Callable[[], Any]) -> Any:
    raise RuntimeError("a chunker asks for something while it is loaded")


def _serve(
    worker: Worker,
    waiting: deque[int],
    tasks: Sequence[Task],
    work: Callable[[Worker, Task], Any],
    inbox: queue.SimpleQueue[Any],
) -> None:
    """Work off what is waiting, in a thread for each process."""
    while True:
        try:
            number = waiting.popleft()
        except IndexError:
            return
        try:
            done = _Done(number, work(worker, tasks[number]))
        except BaseException as error:  # it goes to whoever reads
            inbox.put(_Done(number, error=error))
            return
        inbox.put(done)


def _receive(item: _Question | _Done, results: dict[int, Any]) -> None:
    if isinstance(item, _Question):
        try:
            answer = item.answer()
        except BaseException:
            item.reply.put(_StoppedError())
            raise
        item.reply.put(answer)
    elif item.error is not None:
        raise item.error
    else:
        results[item.number] = item.result


def _join(threads: Sequence[threading.Thread], inbox: queue.SimpleQueue[Any]) -> None:
    """Wait until all threads have ended; to what they still ask for there is no answer."""
    for thread in threads:
        while thread.is_alive():
            while not inbox.empty():
                item = inbox.get()
                if isinstance(item, _Question):
                    item.reply.put(_StoppedError())
            thread.join(_STEP)


def _keep(workers: Sequence[Worker]) -> None:
    """Let processes wait for the next chunker, until this one ends."""
    _prepare_end()
    _idle.extend(workers)
    while len(_idle) > _cores():
        _idle.pop().close()


@functools.cache
def _prepare_end() -> None:
    atexit.register(_end_idle)
    if hasattr(os, "register_at_fork"):
        # A copy of this process must not speak to processes that are not its own.
        os.register_at_fork(after_in_child=_idle.clear)


def _end_idle() -> None:
    while _idle:
        _idle.pop().close()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
