"""Progress on standard error: a bar for what takes over a second; a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

_PATIENCE = 1.0
_BETWEEN = 30.0  # seconds from one line to the next where there is no terminal
_MANY = 2_400  # texts; of more the expected time is told before they are embedded
_A_SECOND = 30  # texts of code, by the default model on two cores


class Progress:
    """A bar that appears when a phase is slow.

    Args:
        passes: How often texts are embedded, at most: once for each data set, chunker and embedder.
    """

    def __init__(self, passes: int = 1) -> None:
        self._passes = passes
        self._announced = False
        self._bar: Any = None
        self._task: Any = None
        self._phase = ""
        self._since = 0.0
        self._said = 0.0

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
        """Show how many of how many are done in a phase."""
        if phase == "embedding" and done == 0:
            self._announce(total)
        now = time.monotonic()
        if phase != self._phase or done <= 1:
            self._stop()
            self._phase, self._since = phase, now
        if not sys.stderr.isatty():
            self._tell_line(now, done, total)
            return
        if self._bar is None and now - self._since > _PATIENCE and done < total:
            self._start(total)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)

    def _announce(self, texts: int) -> None:
        """Say how long embedding takes, this pass and the others, before the first of them."""
        others = max(0, self._passes - 1)
        self._passes = others
        # What other chunkers make of the files is not known yet; most make about as many texts.
        expected = texts * (1 + others)
        if self._announced or expected <= _MANY:
            return
        self._announced = True
        more = f" now, and about as many {others} times more" if others > 1 else ""
        more = " now, and about as many once more" if others == 1 else more
        self._say(
            f"embedding {texts:,} texts{more}: about {math.ceil(expected / _A_SECOND / 60)} "
            f"minutes, if {_A_SECOND} a second are done, as minilm does on two cores; "
            "-r bm25 embeds none"
        )

    def _tell_line(self, now: float, done: int, total: int) -> None:
        """Say how far a phase is, if nothing was said for long; of many short phases some."""
        self._said = self._said or now
        if now - self._said < _BETWEEN or done >= total:
            return
        self._said = now
        left = ""
        if done and now > self._since:
            minutes = math.ceil((now - self._since) * (total - done) / done / 60)
            left = f", about {minutes} minutes left" if minutes > 1 else ""
        self._say(f"{self._phase}: {done:,} of {total:,}{left}")

    def warn(self, text: str) -> None:
        """Write a warning to standard error."""
        self._say(f"warning: {text}")

    @staticmethod
    def _say(text: str) -> None:
        shown = "".join(mark if mark.isprintable() else "?" for mark in text)
        # A result is not lost because nobody can be warned.
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
