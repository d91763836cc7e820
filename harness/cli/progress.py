"""Progress on standard error: a bar on a terminal, else a line every 30 seconds.

Of long work a line says how long the rest will take, by the time of its first seconds.
"""

from __future__ import annotations

import contextlib
import math
import sys
import time
from typing import TYPE_CHECKING, Any

from harness.support.progress import RESULTS

if TYPE_CHECKING:
    from types import TracebackType

_PATIENCE = 1.0  # seconds before a bar appears
_BETWEEN = 30.0  # seconds between lines
_MANY = 2_400  # texts from which a time estimate is printed
_A_SECOND = 30  # texts of code that the default model embeds per second on two cores
_FIRST = 2.5  # seconds of work by which the rest is estimated
_LONG = 10.0  # seconds left from which an estimate is printed


class Progress:
    """A bar that appears when a phase is slow.

    Args:
        passes: Most times that texts are embedded: for each data set, chunker and embedder.
    """

    def __init__(self, passes: int = 1) -> None:
        self._passes = passes
        self._announced = False
        self._bar: Any = None
        self._task: Any = None
        self._phase = ""
        self._since = 0.0
        self._printed = 0.0
        self._sample: tuple[float, int] | None = None  # time and steps at the first line of a phase
        self._starts: dict[str, tuple[float, int]] = {}  # time and steps at which a phase began
        self._forecasts: set[str] = set()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()

    def tell(self, phase: str, done: int, total: int) -> None:
        """Show the progress of a phase."""
        if phase == "embedding" and done == 0:
            self._announce(total)
        now = time.monotonic()
        if phase == RESULTS:
            self._forecast(phase, now, done, total)
            return
        if phase != self._phase or done <= 1:
            self._stop()
            self._phase, self._since, self._sample = phase, now, None
            self._starts[phase] = (now, done)
        if phase != "embedding":
            self._forecast(phase, now, done, total)
        if not sys.stderr.isatty():
            self._print_line(now, done, total)
            return
        if self._bar is None and now - self._since > _PATIENCE and done < total:
            self._start(total)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)

    def _announce(self, texts: int) -> None:
        """Print a time estimate for all passes, before the first of them."""
        others = max(0, self._passes - 1)
        self._passes = others
        # Other chunkers are assumed to give as many texts.
        expected = texts * (1 + others)
        if self._announced or expected <= _MANY:
            return
        self._announced = True
        from harness.support.wording import counted

        minutes = counted(math.ceil(expected / _A_SECOND / 60), "minute")
        more = f", then about as many {others} more times" if others > 1 else ""
        more = ", then about as many once more" if others == 1 else more
        self._print(
            f"embedding {texts:,} texts{more}: about {minutes} "
            f"at {_A_SECOND} texts per second (minilm on two cores); "
            "-r bm25 needs no embedding"
        )

    def _forecast(self, phase: str, now: float, done: int, total: int) -> None:
        """Print once for a phase how long the rest of it takes, until the whole run is known."""
        since, steps = self._starts.setdefault(phase, (now, done))
        spent = now - since
        if not {phase, RESULTS}.isdisjoint(self._forecasts) or spent < _FIRST or done <= steps:
            return
        self._forecasts.add(phase)
        left = spent * (total - done) / (done - steps)
        if left >= _LONG:
            self._stop()
            self._print(
                f"{phase}: {done:,} of {total:,} after {spent:.0f} seconds, about "
                f"{_duration(left)} left"
            )

    def _print_line(self, now: float, done: int, total: int) -> None:
        """Print the progress of a phase, unless a line was printed recently."""
        self._printed = self._printed or now
        if now - self._printed < _BETWEEN or done >= total:
            return
        self._printed = now
        left = ""
        if self._sample is None:
            # The first steps are no guide: a model is loaded, or stored results are read.
            self._sample = (now, done)
        elif done > self._sample[1]:
            before, steps = self._sample
            minutes = math.ceil((now - before) * (total - done) / (done - steps) / 60)
            left = f", about {minutes} minutes left" if minutes > 1 else ""
        self._print(f"{self._phase}: {done:,} of {total:,}{left}")

    def warn(self, text: str) -> None:
        """Write a warning to standard error."""
        self._print(f"warning: {text}")

    def note(self, text: str) -> None:
        """Write a remark to standard error."""
        self._print(f"note: {text}")

    @staticmethod
    def _print(text: str) -> None:
        shown = "".join(mark if mark.isprintable() else "?" for mark in text)
        # A closed standard error loses no result.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(f"chunkmark: {shown}\n")

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            "{task.description}",
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self._phase, total=total)

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _duration(seconds: float) -> str:
    """Seconds, or minutes from two on."""
    if seconds < 120:
        return f"{math.ceil(seconds)} seconds"
    return f"{math.ceil(seconds / 60)} minutes"
