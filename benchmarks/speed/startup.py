"""The commands that must answer at once."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchmarks.speed.pairs import Pair, chunkmark, running

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """Help and the list of parts."""
    name = "importing typer with rich"
    baseline = running("-c", "import typer, typer.rich_utils")
    yield [
        Pair("`chunkmark --help`", chunkmark(["--help"]), name, baseline, aim=1.3, rounds=11),
        Pair("`chunkmark list`", chunkmark(["list"]), name, baseline, aim=2, rounds=11),
    ]
