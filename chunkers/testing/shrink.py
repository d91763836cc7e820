"""Finds a small input that still fails: whole lines are taken away, then characters."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def shrink(text: str, fails: Callable[[str], bool], tries: int, seconds: float) -> str:
    """The smallest text found, in so many tries or seconds, that fails as `text` does.

    Args:
        text: It fails.
        fails: Whether another text does.
        tries: How often it is asked at most.
        seconds: How long it is asked at most; the last answer may take longer.
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
    """The parts without runs that are not needed: long runs first, then ever shorter ones."""
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
