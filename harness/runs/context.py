"""What the cells of a run are made with, and the watch that times them."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chunkers.plugins.loading import LoadedChunker
    from harness.embedding.embed import Embedder
    from harness.measures.profiles import Profile
    from harness.retrieval.retriever import Order
    from harness.runs.components import LoadedRetriever


@dataclass
class Watch:
    """Wall time of phases, in seconds, and where progress is told."""

    tell: Callable[[str, int, int], None]
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def phase(self, name: str) -> Iterator[Callable[[int, int], None]]:
        """Time a phase; yields what is to be told how many of how many are done."""
        started = time.perf_counter()
        try:
            yield lambda done, total: self.tell(name, done, total)
        finally:
            self.seconds[name] += time.perf_counter() - started


@dataclass(frozen=True)
class Parts:
    """What a cell is made with; `embedder` is None for a lexical retriever.

    Of the profile the fields count that speak of a run.
    """

    chunker: LoadedChunker
    embedder: Embedder | None
    retriever: LoadedRetriever
    order: Order
    profile: Profile
