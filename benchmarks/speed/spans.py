"""The measures of spans and their oracle: 1,000 queries, 1,000 chunks, 5 budgets."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.speed.pairs import Pair, calling
from harness.measures.cell import Cell, Gold, Pieces, Units
from harness.measures.evaluate import evaluate
from harness.measures.gold_tables import gold_tables
from harness.measures.grammar import parse_measure
from harness.measures.oracle import oracle
from harness.measures.profiles import load_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

QUERIES, CHUNKS, FILES = 1000, 1000, 50
BUDGETS = (2500, 5000, 10_000, 20_000, 40_000)
FAMILIES = ("SpanR", "SpanP", "SpanF1", "SpanIoU", "Complete")


def span_cell() -> Cell:
    """Chunks of 200 to 1,000 characters; the gold of a query begins in one and ends in the next."""
    rng = np.random.default_rng(0)
    size = rng.integers(200, 1001, CHUNKS)
    per_file = CHUNKS // FILES
    file = np.arange(CHUNKS) // per_file
    low = np.concatenate([np.cumsum(part) - part for part in np.split(size, FILES)])
    gold = []
    for _ in range(QUERIES):
        unit = int(rng.integers(CHUNKS - 1))
        unit -= unit % per_file == per_file - 1  # both are in one file
        head, tail = (int(rng.integers(50, size[at])) for at in (unit, unit + 1))
        pieces = Pieces(
            unit=np.array([unit, unit + 1]),
            offset=np.array([size[unit] - head, 0]),
            length=np.array([head, tail]),
            gold=np.array([0, head]),
        )
        gold.append(
            Gold(
                corpus=0,
                unit=np.array([unit, unit + 1]),
                grade=np.ones(2),
                target_files=file[[unit]],
                pieces=pieces,
                gold_size=head + tail,
                targets=(((0, head + tail),),),
            )
        )
    return Cell(
        queries=tuple(f"q{query}" for query in range(QUERIES)),
        corpora=(Units(size=size, file=file, low=low),),
        gold=tuple(gold),
        ranking=tuple(rng.permutation(CHUNKS) for _ in range(QUERIES)),
    )


@contextmanager
def pairs() -> Iterator[list[Pair]]:
    """All measures and the best values of each."""
    cell, profile = span_cell(), load_profile("default")
    measures = [parse_measure(f"{name}@{budget}c") for name in FAMILIES for budget in BUDGETS]

    def values() -> None:
        gold_tables.cache_clear()
        evaluate(cell, measures, profile)
        oracle(cell, measures, profile)

    yield [
        Pair("span measures and oracle, 25 measures", calling(values), "", None, aim=2, rounds=3)
    ]
