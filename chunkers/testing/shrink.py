"""Finds a small input that still fails, by removing lines, then characters."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def shrink(text: str, fails: Callable[[str], bool], tries: int, seconds: float) -> str:
    """A small text that fails as `text` does.

    Args:
        text: A text that fails.
        fails: Whether a text fails.
        tries: Maximum number of calls of `fails`.
        seconds: Maximum time, apart from the last call.
    """
    budget = _Budget(fails, tries, time.monotonic() + seconds)
    if budget.fails(""):
        return ""
    text = "".join(_reduced(text.splitlines(keepends=True), budget))
    return "".join(_reduced(list(text), budget))


class _Budget:
    def __init__(self, fails: Callable[[str], bool], tries: int, until: float) -> None:
        self._fails, self._tries, self._until = fails, tries, until

    @property
    def spent(self) -> bool:
        return self._tries <= 0 or time.monotonic() > self._until

    def fails(self, text: str) -> bool:
        if self.spent:
            return False
        self._tries -= 1
        return self._fails(text)


def _reduced(parts: list[str], budget: _Budget) -> list[str]:
    """The parts without unneeded runs: long runs are removed first, then shorter ones."""
    size = max(1, len(parts) // 2)
    while not budget.spent:
        at, before = 0, len(parts)
        while at < len(parts) and not budget.spent:
            fewer = parts[:at] + parts[at + size :]
            if len(fewer) < len(parts) and budget.fails("".join(fewer)):
                parts = fewer
            else:
                at += size
        if size > 1:
            size //= 2
        elif len(parts) == before:
            break
    return parts
