"""Two sides of a measurement, which take turns."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Side = Callable[[], float]


@dataclass(frozen=True)
class Pair:
    """What is compared.

    Attributes:
        name: What chunkmark does.
        side: Does it, and returns the processor seconds.
        other_name: What it is compared with; empty where only its own seconds count.
        other: The same for that; None without it.
        aim: The largest ratio, or the most seconds without another side; None for none.
        rounds: How often each side is run, after one that does not count.
    """

    name: str
    side: Side
    other_name: str
    other: Side | None
    aim: float | None
    rounds: int = 7


@dataclass(frozen=True)
class Result:
    """Medians over the rounds; `aim` says what was wanted, and whether it was reached."""

    name: str
    seconds: float
    other: str
    other_seconds: float | None
    ratio: float | None
    aim: str


def measure(pair: Pair) -> Result:
    """Run both sides in turns."""
    sides = [pair.side] if pair.other is None else [pair.side, pair.other]
    turns = [[side() for side in sides] for _ in range(pair.rounds + 1)][1:]
    seconds, *others = (statistics.median(column) for column in zip(*turns, strict=True))
    ratio = statistics.median(turn[0] / turn[1] for turn in turns) if others else None
    aim = ""
    if pair.aim is not None:
        reached = (seconds if ratio is None else ratio) <= pair.aim
        aim = f"at most {pair.aim:.3g}{' s' if ratio is None else ''}: {'yes' if reached else 'no'}"
    return Result(pair.name, seconds, pair.other_name, others[0] if others else None, ratio, aim)


def calling(function: Callable[[], object]) -> Side:
    """A call in this process."""

    def seconds() -> float:
        start = time.process_time()
        function()
        return time.process_time() - start

    return seconds


def running(*arguments: str, cwd: str | None = None) -> Side:
    """A Python process with its children."""

    def seconds() -> float:
        environment = {**os.environ}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        before = os.times()
        command = [sys.executable, *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=cwd, env=environment)
        after = os.times()
        return (
            after.children_user
            - before.children_user
            + after.children_system
            - before.children_system
        )

    return seconds


def chunkmark(arguments: Sequence[str], cwd: str | None = None) -> Side:
    """The program."""
    return running("-m", "harness.cli", *arguments, cwd=cwd)
