"""The RepoEval evaluation of supermemoryai/code-chunk, as far as it differs from our own.

Behaviour of its commit c16dc6e^; the code is our own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.parity.javascript import to_fixed, total

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

_BASELINE = "fixed"


@dataclass(frozen=True)
class Metrics:
    """Precision, recall and nDCG at one cut-off, of a query or as a mean."""

    precision: float
    recall: float
    ndcg: float


def query_metrics(retrieved: Sequence[str], relevant: Collection[str], k: float) -> Metrics:
    """The metrics of one query.

    For a whole k above 0 they are P@k, R@k and nDCG@k under the profile `code-chunk`; this
    function is for every other k, which the reference computes with nonetheless.

    Args:
        retrieved: Ids in rank order; one that stands there again counts again.
        relevant: Ids; repeats are dropped.
        k: Whole part as in `slice(0, k)`, so below 0 it counts from the end; P@0 is NaN.
    """
    gold = set(relevant)
    first = retrieved[: math.trunc(k)]
    ranks = [at for at, name in enumerate(first) if name in gold]
    best = total(1 / math.log2(at + 2) for at in range(len(gold)) if at < k)
    return Metrics(
        precision=len(ranks) / k if k else math.nan,
        recall=len(ranks) / len(gold) if gold else 0.0,
        ndcg=total(1 / math.log2(at + 2) for at in ranks) / best if best else 0.0,
    )


def aggregate(metrics: Sequence[Metrics]) -> Metrics:
    """The mean, added left to right; zeros for nothing."""
    n = len(metrics) or 1
    return Metrics(
        precision=total(query.precision for query in metrics) / n,
        recall=total(query.recall for query in metrics) / n,
        ndcg=total(query.ndcg for query in metrics) / n,
    )


def macro(repositories: Iterable[Sequence[Metrics]]) -> Metrics:
    """The mean over repositories of the mean over the queries of each."""
    return aggregate([aggregate(queries) for queries in repositories])


def percentage(share: float) -> str:
    """A share as the reference prints it: one decimal place, ties away from zero."""
    return f"{to_fixed(share * 100, 1)}%"


def improvement(value: float, baseline: float) -> str:
    """By how much a value lies above the baseline, in per cent of it; `N/A` above nothing."""
    return "N/A" if baseline == 0 else f"{to_fixed((value - baseline) / baseline * 100, 1)}%"


def macro_table(means: Mapping[str, Metrics]) -> list[tuple[str, ...]]:
    """The summary as the reference prints it, one row a chunker.

    Args:
        means: The macro mean of each chunker at one cut-off. `fixed` is the baseline, where it
            is there.

    Returns:
        A heading; then chunker, precision, recall, nDCG, and the improvement of each over the
        baseline, empty for the baseline itself and where there is none.
    """
    names = ("precision", "recall", "ndcg")
    heading = ("chunker", *names, *(f"{metric} vs {_BASELINE}" for metric in names))
    rows = [heading]
    base = means.get(_BASELINE)
    for chunker, mean in means.items():
        values = [getattr(mean, metric) for metric in names]
        gains = [""] * len(names)
        if base is not None and chunker != _BASELINE:
            pairs = zip(values, [getattr(base, metric) for metric in names], strict=True)
            gains = [improvement(value, of) for value, of in pairs]
        rows.append((chunker, *map(percentage, values), *gains))
    return rows
