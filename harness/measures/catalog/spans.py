"""Measures of the gold characters that a budget of delivered characters holds.

The ranked chunks are concatenated, and delivery stops exactly at the budget. Repeated text is
charged again and credited once. Unit: non-white-space characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.measures.family import Family, ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.measures.gold_ranks import GoldRanks

    Floats = NDArray[np.float64]

_SOURCE = "chunkmark: delivered against gold characters under a budget"


def _recall(ranks: GoldRanks, budget: int) -> Floats:
    return ratio(ranks.deliver(budget).credited, ranks.gold.gold_size)


def _precision(ranks: GoldRanks, budget: int) -> Floats:
    got = ranks.deliver(budget)
    return ratio(got.credited, got.delivered)


def _f1(ranks: GoldRanks, budget: int) -> Floats:
    # 2PR/(P+R) with P = c/d and R = c/g; one division loses no digit.
    got = ranks.deliver(budget)
    return ratio(2 * got.credited, got.delivered + ranks.gold.gold_size)


def _iou(ranks: GoldRanks, budget: int) -> Floats:
    got = ranks.deliver(budget)
    return ratio(got.credited, got.delivered + ranks.gold.gold_size - got.credited)


def _complete(ranks: GoldRanks, budget: int) -> Floats:
    return ranks.deliver(budget).complete.astype(np.float64)


FAMILIES = (
    Family(
        name="SpanR",
        description="distinct gold characters delivered ÷ all gold characters",
        source=_SOURCE,
        cut="budget",
        evaluate=_recall,
        aliases=("span_recall",),
        lines=True,
    ),
    Family(
        name="SpanP",
        description="distinct gold characters delivered ÷ characters delivered",
        source=_SOURCE,
        cut="budget",
        evaluate=_precision,
        aliases=("span_precision",),
        lines=True,
    ),
    Family(
        name="SpanF1",
        description="harmonic mean of SpanP and SpanR of each query",
        source=_SOURCE,
        cut="budget",
        evaluate=_f1,
        lines=True,
    ),
    Family(
        name="SpanIoU",
        description="gold characters delivered ÷ (delivered + gold - gold delivered)",
        source=_SOURCE,
        cut="budget",
        evaluate=_iou,
        lines=True,
    ),
    Family(
        name="Complete",
        description="1 if every character of some target was delivered",
        source=_SOURCE,
        cut="budget",
        evaluate=_complete,
        aliases=("completeness",),
        lines=True,
    ),
)
