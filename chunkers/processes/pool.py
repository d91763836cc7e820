"""Cuts many sources in several processes, in the order of the sources.

Starting a process takes as long as cutting about half a million characters, so only larger corpora
use several. Built-in chunkers (`LoadTarget.keeps_nothing`) leave their processes to the next
chunker; the processes of other chunkers end with the pool.

Everything runs in the thread that reads the results: services need not be thread-safe, and their
exceptions reach the reader.
"""

from __future__ import annotations

import atexit
import os
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from chunkers.processes.isolation import Job, Worker
from chunkers.source import Services

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from chunkers.processes.isolation import Declared, Limits, LoadTarget, Outcome
    from chunkers.source import Source

_WORTH = 1 << 19  # characters of sources for each further process
_SEED = 0  # of hashes, so that iteration over sets is the same in every process

_idle: list[Worker] = []


@dataclass(frozen=True)
class Task:
    """A source, and the id of its corpus."""

    source: Source
    corpus: str = ""


class Pool:
    """Processes for one chunker.

    Args:
        target: The chunker; None to parse only.
        limits: The limits for each file.
        services: Answers the chunker's requests.
        processes: Maximum number of processes; None for the number of cores.
    """

    def __init__(
        self,
        target: LoadTarget | None,
        limits: Limits,
        services: Services | None = None,
        processes: int | None = None,
    ) -> None:
        self._target, self._limits = target, limits
        self._services = services or Services()
        self._most = processes or _cores()
        self._workers: list[Worker] = []
        self._shared = target is None or target.keeps_nothing

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes, or keep them for the next chunker."""
        workers, self._workers = self._workers, []
        if self._shared:
            _idle.extend(workers)
            workers = _idle[_cores() :]
            del _idle[_cores() :]
        for worker in workers:
            worker.close()

    def load(self) -> Declared:
        """Load the chunker; raises InputError if it cannot be loaded."""
        self._grow(1)
        return self._workers[0].load()

    def cut(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Yield the outcome of each source, in order; InputError if the chunker does not load."""
        for outcomes in self._each([Job("cut", (task.source,), task.corpus) for task in tasks]):
            yield outcomes[0]

    def texts(self, tasks: Sequence[Task]) -> Iterator[list[str] | None]:
        """Yield the texts that the chunker will embed for each source; None if unknown."""
        return self._each([Job("texts", (task.source,), task.corpus) for task in tasks])

    def run(self, job: Job) -> Any:
        """The result of one job, as in `Job.do`."""
        (result,) = self._each([job])
        return result

    def _grow(self, count: int) -> None:
        while len(self._workers) < count:
            if self._shared and _idle:
                worker = _idle.pop()
                worker.turn_to(self._target, self._limits, self._services)
            else:
                worker = Worker(
                    self._target, self._limits, self._services, hash_seed=_SEED, quiet=False
                )
            self._workers.append(worker)

    def _each(self, jobs: Sequence[Job]) -> Iterator[Any]:
        if not jobs:
            return
        size = sum(source.length for job in jobs for source in job.sources)
        self._grow(min(self._most, len(jobs), 1 + size // _WORTH))
        if self._target is not None:
            self._workers[0].load()
        try:
            yield from self._results(jobs)
        except BaseException:
            # A reader that stops early does not wait for the current files.
            workers, self._workers = self._workers, []
            for worker in workers:
                worker.close()
            raise

    def _results(self, jobs: Sequence[Job]) -> Iterator[Any]:
        waiting = iter(enumerate(jobs))
        running: dict[Worker, int] = {}
        results: dict[int, Any] = {}

        def feed(worker: Worker) -> None:
            number, job = next(waiting, (-1, None))
            if job is not None:
                running[worker] = number
                worker.begin(job)

        for worker in self._workers:
            feed(worker)
        for number in range(len(jobs)):
            while True:
                timeout = 0.0 if number in results else min(worker.left for worker in running)
                for worker in _ready(running, timeout):
                    if worker.poll(0):
                        results[running.pop(worker)] = worker.result
                        feed(worker)
                if number in results:
                    break
            yield results.pop(number)


def _ready(workers: Iterable[Worker], timeout: float) -> list[Worker]:
    """Wait for workers that have written something or have taken too long."""
    by_connection = {worker.connection: worker for worker in workers if worker.connection}
    written = wait([*by_connection], timeout)
    return [worker for key, worker in by_connection.items() if key in written or worker.left <= 0]


@atexit.register
def _end_idle() -> None:
    while _idle:
        _idle.pop().close()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
