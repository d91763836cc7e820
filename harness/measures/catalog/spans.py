"""Measures of the gold characters that a budget of delivered characters holds.

The ranked chunks are concatenated, and delivery stops exactly at the budget. Repeated text is
charged again and credited once. Unit: non-white-space characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkers.lazy import np
from harness.measures.family import Family, ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.measures.gold_ranks import GoldRanks
    from harness.support.arrays import Floats


def _recall(ranks: GoldRanks, budget: int) -> Floats:
    return ratio(ranks.deliver(budget).credited, ranks.gold.gold_size)


def _precision(ranks: GoldRanks, budget: int) -> Floats:
    delivery = ranks.deliver(budget)
    return ratio(delivery.credited, delivery.delivered)


def _f1(ranks: GoldRanks, budget: int) -> Floats:
    # 2PR/(P+R) with P = c/d and R = c/g; one division loses no digit.
    delivery = ranks.deliver(budget)
    return ratio(2 * delivery.credited, delivery.delivered + ranks.gold.gold_size)


def _iou(ranks: GoldRanks, budget: int) -> Floats:
    delivery = ranks.deliver(budget)
    return ratio(delivery.credited, delivery.delivered + ranks.gold.gold_size - delivery.credited)


def _complete(ranks: GoldRanks, budget: int) -> Floats:
    return ranks.deliver(budget).complete.astype(np.float64)


def _family(
    name: str, description: str, evaluate: Callable[[GoldRanks, int], Floats], *aliases: str
) -> Family:
    source = "chunkmark: delivered against gold characters under a budget"
    return Family(name, description, source, evaluate, "budget", aliases, lines=True)


FAMILIES = (
    _family(
        "SpanR", "distinct gold characters delivered ÷ all gold characters", _recall, "span_recall"
    ),
    _family(
        "SpanP",
        "distinct gold characters delivered ÷ characters delivered",
        _precision,
        "span_precision",
    ),
    _family("SpanF1", "harmonic mean of SpanP and SpanR of each query", _f1),
    _family("SpanIoU", "gold characters delivered ÷ (delivered + gold - gold delivered)", _iou),
    _family(
        "Complete", "1 if every character of some target was delivered", _complete, "completeness"
    ),
)
