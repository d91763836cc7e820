"""Measures of the files that the ranking leads to, and of how well one chunk fits a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkers.lazy import np
from harness.measures.family import Family, ratio

if TYPE_CHECKING:
    from harness.measures.gold_ranks import GoldRanks
    from harness.measures.gold_tables import GoldTables
    from harness.support.arrays import Floats


def _file_recall(ranks: GoldRanks, k: int) -> Floats:
    rows = ranks.gold.file
    return ratio(rows.count(ranks.file <= k), rows.count())


def _file_reciprocal_rank(ranks: GoldRanks, k: int) -> Floats:
    best = np.zeros(ranks.gold.n_queries)
    within = ranks.file <= k
    np.maximum.at(best, ranks.gold.file.query[within], 1.0 / ranks.file[within])
    return best


def _iou(ranks: GoldRanks, k: int) -> Floats:
    best = np.zeros(ranks.gold.n_queries)
    within = ranks.overlapping <= k
    np.maximum.at(best, ranks.gold.overlapping.query[within], ranks.gold.iou[within])
    return best


def _chance_iou(gold: GoldTables, k: int) -> Floats:
    # With the values in descending order, the largest drawn is the i-th where the first i-1 are
    # not among the k drawn of n, and the i-th is.
    rows = gold.overlapping
    order = np.lexsort((-gold.iou, rows.query))
    expected = np.zeros(gold.n_queries)
    for query in np.unique(rows.query).tolist():
        values = gold.iou[order[rows.part(query)]]
        n = int(gold.n_units[query])
        drawn = min(k, n)
        step = np.arange(len(values))
        missed = np.cumprod(np.maximum(n - drawn - step, 0) / (n - step))
        here = np.concatenate(([1.0], missed[:-1])) - missed
        expected[query] = np.cumsum(values * here)[-1]
    return expected


FAMILIES = (
    Family(
        name="IoU",
        description="largest line intersection over union of a target with one of the first k",
        source="chunkmark: Jaccard index of line sets",
        cut="rank",
        evaluate=_iou,
        lines=True,
        chance=_chance_iou,
    ),
    Family(
        name="FileR",
        description="files of targets among the first k distinct files ÷ all files of targets",
        source="chunkmark: recall over distinct files",
        cut="rank",
        evaluate=_file_recall,
        aliases=("file_recall",),
        lines=True,
    ),
    Family(
        name="FileMRR",
        description="1 ÷ rank of the first file of a target among the distinct files",
        source="chunkmark: reciprocal rank over distinct files",
        evaluate=_file_reciprocal_rank,
        aliases=("file_mean_reciprocal_rank", "file_rr"),
        lines=True,
    ),
)
