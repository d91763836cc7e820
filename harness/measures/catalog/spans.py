"""Measures of the gold characters that a budget of delivered characters holds.

The ranked chunks are laid one after the other, and delivery stops exactly at the budget. What is
delivered again is charged again and credited once. Unit: non-white-space characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.measures.family import Family, ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.measures.best_spans import BestSpans
    from harness.measures.ranked import Ranked

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_SOURCE = "chunkmark: delivered against gold characters under a budget"


def _recall(ranked: Ranked, budget: int) -> Floats:
    return ratio(ranked.deliver(budget).credited, ranked.gold.gold_size)


def _precision(ranked: Ranked, budget: int) -> Floats:
    got = ranked.deliver(budget)
    return ratio(got.credited, got.delivered)


def _f1(ranked: Ranked, budget: int) -> Floats:
    # 2PR/(P+R) with P = c/d and R = c/g; one division loses no digit.
    got = ranked.deliver(budget)
    return ratio(2 * got.credited, got.delivered + ranked.gold.gold_size)


def _iou(ranked: Ranked, budget: int) -> Floats:
    got = ranked.deliver(budget)
    return ratio(got.credited, got.delivered + ranked.gold.gold_size - got.credited)


def _complete(ranked: Ranked, budget: int) -> Floats:
    return ranked.deliver(budget).complete.astype(np.float64)


def _best_recall(best: BestSpans) -> tuple[Floats, Bools]:
    return best.recall, best.exact


def _best_precision(best: BestSpans) -> tuple[Floats, Bools]:
    return best.precision, best.precision_exact


def _best_f1(best: BestSpans) -> tuple[Floats, Bools]:
    return best.f1, best.f1_exact


def _best_iou(best: BestSpans) -> tuple[Floats, Bools]:
    return best.iou, best.f1_exact


def _best_complete(best: BestSpans) -> tuple[Floats, Bools]:
    return best.complete, best.complete_exact


FAMILIES = (
    Family(
        name="SpanR",
        description="distinct gold characters delivered ÷ all gold characters",
        source=_SOURCE,
        cut="budget",
        evaluate=_recall,
        aliases=("span_recall",),
        lines=True,
        oracle=_best_recall,
    ),
    Family(
        name="SpanP",
        description="distinct gold characters delivered ÷ characters delivered",
        source=_SOURCE,
        cut="budget",
        evaluate=_precision,
        aliases=("span_precision",),
        lines=True,
        oracle=_best_precision,
    ),
    Family(
        name="SpanF1",
        description="harmonic mean of SpanP and SpanR of each query",
        source=_SOURCE,
        cut="budget",
        evaluate=_f1,
        lines=True,
        oracle=_best_f1,
    ),
    Family(
        name="SpanIoU",
        description="gold characters delivered ÷ (delivered + gold - gold delivered)",
        source=_SOURCE,
        cut="budget",
        evaluate=_iou,
        lines=True,
        oracle=_best_iou,
    ),
    Family(
        name="Complete",
        description="1 if every character of some target was delivered",
        source=_SOURCE,
        cut="budget",
        evaluate=_complete,
        aliases=("completeness",),
        lines=True,
        oracle=_best_complete,
    ),
)
