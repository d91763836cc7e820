"""How long work reports how far it is."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str, int, int], None]
"""Takes a phase, and the numbers of its finished steps and of all."""


RESULTS = "results"
"""The phase of a whole run, whose steps are its results; it goes on while others come and go."""


def silent(phase: str, done: int, total: int) -> None:
    """Report nothing."""
