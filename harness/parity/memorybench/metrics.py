"""memorybench's metrics over a list of EvalResults: a value, and the details it prints.

Precision, nDCG and MRR are our own measures under the profile `memorybench`, over the rankings
that its rules of relevance give. Everything is added left to right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.measures.score import score
from harness.measures.text_measures import ANSWERED, RELEVANT, relevant_by_text, token_f1
from harness.parity.javascript import to_fixed, total
from harness.parity.memorybench.places import covered, file_matches, line_iou, normalize_path
from harness.parity.memorybench.results import STRATEGIES, judge, pack_of, target_of
from harness.parity.memorybench.text import tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.parity.memorybench.results import EvalResult, Judged, RetrievedContext


@dataclass(frozen=True)
class Metric:
    """A value, and the details in the reference's own names; None for no results."""

    value: float
    details: dict[str, Any] | None


_NOTHING = Metric(0.0, None)


def precision(results: Sequence[EvalResult], k: int, threshold: float = RELEVANT) -> Metric:
    """Relevant in the first k ÷ retrieved there; a query without contexts adds 0."""
    if not results:
        return _NOTHING
    judged = judge(results, threshold)
    n = len(results)
    return Metric(
        _mean(judged, f"P@{k}"),
        {
            "avgRelevantPerQuery": sum(query.hits(k) for query in judged) / n,
            "avgRetrievedPerQuery": sum(len(query.ids[:k]) for query in judged) / n,
            "total": n,
            "k": k,
            "f1Threshold": threshold,
            **_strategies([query for query in judged if query.ids]),
        },
    )


def ndcg(results: Sequence[EvalResult], k: int, threshold: float = RELEVANT) -> Metric:
    """Binary nDCG@k; without explicit ids the ideal knows only what was found in the first k."""
    if not results:
        return _NOTHING
    judged = judge(results, threshold)
    value = _mean(judged, f"nDCG@{k}")
    relevant = [len(query.gold) if query.strategy == "qrels" else query.hits(k) for query in judged]
    return Metric(
        value,
        {
            "avgNDCG": value,
            "queriesWithRelevant": sum(count > 0 for count in relevant),
            "total": len(results),
            "k": k,
            "f1Threshold": threshold,
            **_strategies(judged),
        },
    )


def mrr(results: Sequence[EvalResult], k: int, threshold: float = RELEVANT) -> Metric:
    """1 ÷ rank of the first relevant context of all that were retrieved, whatever k is."""
    del k
    if not results:
        return _NOTHING
    judged = judge(results, threshold)
    return Metric(
        _mean(judged, "MRR"),
        {
            "foundCount": sum(query.hits(len(query.ids)) > 0 for query in judged),
            "total": len(results),
            "f1Threshold": threshold,
            **_strategies(judged),
        },
    )


def _mean(judged: Sequence[Judged], measure: str) -> float:
    names = [f"{number:012d}" for number in range(len(judged))]  # in order of text, too
    scored = score(
        {name: query.ids for name, query in zip(names, judged, strict=True)},
        {name: dict.fromkeys(query.gold, 1) for name, query in zip(names, judged, strict=True)},
        [measure],
        "memorybench",
        inferred_gold={
            name for name, query in zip(names, judged, strict=True) if query.strategy != "qrels"
        },
    )
    return scored.mean[measure] or 0.0


def _strategies(judged: Sequence[Judged]) -> dict[str, Any]:
    counts = {name: sum(query.strategy == name for query in judged) for name in STRATEGIES}
    used = [name for name, n in counts.items() if n]
    return {"strategyUsed": used[0] if len(used) == 1 else "mixed", "strategyCounts": counts}


def recall(results: Sequence[EvalResult], k: int, threshold: float = RELEVANT) -> Metric:
    """Share of queries with any relevant context in the first k; explicit ids play no part.

    Without a pack a context is relevant if it holds the expected text, or the threshold's share
    of its tokens; where nothing is expected, the first context is.
    """
    if not results:
        return _NOTHING
    pack = pack_of(results)
    if pack is not None:
        exact = [False] * len(results)
        hits = [
            any(pack(result, context) for context in result.retrieved_context[:k])
            for result in results
        ]
    else:
        exact, hits = [], []
        for result in results:
            first = _first_hit(result, k, threshold)
            hits.append(first is not None)
            exact.append(first is not None and _holds(first, result))
    return Metric(
        sum(hits) / len(results),
        {
            "relevantFound": sum(hits),
            "exactMatchFound": sum(exact),
            **({} if pack is None else {"packRelevantFound": sum(hits)}),
            "total": len(results),
            "k": k,
            "f1Threshold": threshold,
            "usesPackRelevance": pack is not None,
        },
    )


def _first_hit(result: EvalResult, k: int, threshold: float) -> RetrievedContext | None:
    expected = tokenize(result.expected)
    for context in result.retrieved_context[:k]:
        if _holds(context, result) or not expected:
            return context
        if token_f1(tokenize(context.content), expected).recall >= threshold:
            return context
    return None


def _holds(context: RetrievedContext, result: EvalResult) -> bool:
    return result.expected.lower() in context.content.lower()


def success(results: Sequence[EvalResult], k: int, threshold: float = ANSWERED) -> Metric:
    """Share of queries answered correctly with a context in the first k to ground the answer."""
    if not results:
        return _NOTHING
    grounded = [_grounded(result, k, threshold) for result in results]
    pairs = [(result.correct, here) for result, here in zip(results, grounded, strict=True)]
    return Metric(
        pairs.count((True, True)) / len(results),
        {
            "successes": pairs.count((True, True)),
            "total": len(results),
            "correctButNoRelevant": pairs.count((True, False)),
            "incorrectWithRelevant": pairs.count((False, True)),
            "k": k,
            "f1Threshold": threshold,
        },
    )


def _grounded(result: EvalResult, k: int, threshold: float) -> bool:
    expected = tokenize(result.expected)
    texts = (tokenize(context.content) for context in result.retrieved_context[:k])
    return any(relevant_by_text(text, expected, threshold) for text in texts)


def file_recall(results: Sequence[EvalResult], k: int, threshold: float | None = None) -> Metric:
    """Mean share of the modified files that a path in the first k matches."""
    del threshold
    if not results:
        return _NOTHING
    counts = []
    for result in results:
        gold = result.metadata.modified_files
        if gold:
            hits = [context.path for context in result.retrieved_context[:k] if context.path]
            counts.append((covered(hits, gold), len(gold)))
    if not counts:
        return Metric(0.0, {"error": "No items with modifiedFiles metadata"})
    value = total(hits / gold for hits, gold in counts) / len(counts)
    return Metric(
        value,
        {
            "avgFileRecall": value,
            "totalModifiedFiles": sum(gold for _, gold in counts),
            "totalCoveredFiles": sum(hits for hits, _ in counts),
            "itemsWithGroundTruth": len(counts),
            "total": len(results),
            "k": k,
        },
    )


def file_mrr(results: Sequence[EvalResult], k: int, threshold: float | None = None) -> Metric:
    """1 ÷ rank of the first gold file among the distinct files of all contexts."""
    del k, threshold
    if not results:
        return _NOTHING
    values = []
    for result in results:
        gold = result.metadata.modified_files or result.metadata.ground_truth_files
        if gold:
            files = dict.fromkeys(normalize_path(path) for path in _files(result))
            ranks = [rank for rank, path in enumerate(files, 1) if file_matches(path, gold)]
            values.append(1 / ranks[0] if ranks else 0.0)
    if not values:
        return Metric(0.0, {"error": "No items with modifiedFiles or groundTruthFiles metadata"})
    return Metric(
        total(values) / len(values),
        {
            "foundCount": sum(value > 0 for value in values),
            "itemsWithGroundTruth": len(values),
            "total": len(results),
        },
    )


def _files(result: EvalResult) -> list[str]:
    """The path of every context, or what stands before the colon of its id."""
    paths = []
    for context in result.retrieved_context:
        before, colon, _ = context.id.partition(":")
        paths.append(context.path or (before if colon else ""))
    return [path for path in paths if path]


def iou(results: Sequence[EvalResult], k: int, threshold: float | None = None) -> Metric:
    """Mean over queries with a target of the best line IoU in the first k, with three places."""
    del threshold
    if not results:
        return _NOTHING
    best = [_best_iou(result, k) for result in results if target_of(result) is not None]
    value = total(best) / len(best) if best else 0.0
    ordered = sorted(best)
    at = {f"p{q}": ordered[len(ordered) * q // 100] if ordered else 0.0 for q in (25, 50, 75)}
    return Metric(
        value,
        {
            "validQueries": len(best),
            "totalQueries": len(results),
            "k": k,
            "avgBestIoU": to_fixed(value, 3),
            "distribution": {name: to_fixed(value, 3) for name, value in at.items()},
            "interpretation": _interpret(value),
        },
    )


def _best_iou(result: EvalResult, k: int) -> float:
    target = target_of(result)
    if target is None:
        return 0.0
    path = normalize_path(target[0])
    best = 0.0
    for context in result.retrieved_context[:k]:
        context_path = normalize_path(context.path or context.id.split(":")[0])
        # The end of a name is enough here, without a slash before it: xc.py matches c.py.
        if context.lines is not None and (
            context_path.endswith(path) or path.endswith(context_path)
        ):
            best = max(best, line_iou(context.lines, target[1]))
    return best


def _interpret(value: float) -> str:
    for limit, name in ((0.7, "Excellent"), (0.5, "Good"), (0.3, "Moderate")):
        if value >= limit:
            return f"{name} chunk alignment"
    return "Poor chunk alignment (chunks too large or misaligned)"


METRICS: dict[str, Callable[..., Metric]] = {
    "ndcg": ndcg,
    "precision": precision,
    "recall": recall,
    "mrr": mrr,
    "iou": iou,
    "file_recall": file_recall,
    "file_mrr": file_mrr,
    "success": success,
}
"""By the reference's names: called with the results, k and, where it is given, the threshold."""
