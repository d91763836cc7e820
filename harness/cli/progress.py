"""Progress on standard error: a bar for what takes over a second, and only on a terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

_PATIENCE = 1.0


class Progress:
    """A bar that appears when a phase is slow."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._phase = ""
        self._since = 0.0

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
        if not sys.stderr.isatty():
            return
        now = time.monotonic()
        if phase != self._phase or done <= 1:
            self._stop()
            self._phase, self._since = phase, now
        if self._bar is None and now - self._since > _PATIENCE and done < total:
            self._start(total)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)

    def warn(self, text: str) -> None:
        """Write a line to standard error."""
        shown = "".join(mark if mark.isprintable() else "?" for mark in text)
        # A result is not lost because nobody can be warned.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(f"chunkmark: warning: {shown}\n")

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
