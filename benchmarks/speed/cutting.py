"""Cutting the standard library: against parsing alone, and on two cores against one."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchmarks.adapters import sources
from benchmarks.chunking import cutting, parsing
from benchmarks.speed.pairs import Pair
from chunkers import Services, load_chunker
from chunkers.processes.pool import Task
from harness.chunking.cutters import cutter, limits_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.speed.pairs import Side

# The aims are shares of the parser's speed.
AIMS = {"ast": 1 / 0.85, "ast:header=on": 1 / 0.6}
TWO_CORES = 1 / 1.8


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """`ast` with and without headers in this process, and in other processes."""
    files = sources()
    bare = parsing(files).run
    tasks = [Task(source) for source in files]
    yield [
        *(
            Pair(f"`{spec}`", cutting(files, spec, "").run, "parsing alone", bare, aim, rounds=3)
            for spec, aim in AIMS.items()
        ),
        Pair(
            "`ast` in two processes, wall time",
            _in_processes(tasks, 2),
            "in one",
            _in_processes(tasks, 1),
            TWO_CORES,
            rounds=3,
        ),
    ]


def _in_processes(tasks: Sequence[Task], count: int) -> Side:
    def seconds() -> float:
        started = time.perf_counter()
        with cutter(load_chunker("ast"), Services(), limits_of(), count) as cut:
            failed = [outcome.path for outcome in cut.cut(tasks) if outcome.failure]
        if failed:
            raise RuntimeError(f"not cut: {failed}")
        return time.perf_counter() - started

    return seconds
