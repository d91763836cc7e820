"""Measures of the ranks of relevant units."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from chunkers.lazy import np
from harness.measures.family import Family, ratio
from harness.measures.gold_ranks import UNCUT, log_discount
from harness.measures.gold_tables import sum_by

if TYPE_CHECKING:
    from harness.measures.gold_ranks import GoldRanks
    from harness.measures.gold_tables import GoldTables
    from harness.support.arrays import Floats, Ints


def _first(gold: GoldTables, k: int, retrieved: Ints) -> Ints:
    """The denominator of P: k, or the number retrieved."""
    of_retrieved = gold.profile.precision == "retrieved" or k == UNCUT
    return np.minimum(retrieved, k) if of_retrieved else np.full(len(retrieved), k)


def _precision(ranks: GoldRanks, k: int) -> Floats:
    return ratio(ranks.count(k), _first(ranks.gold, k, ranks.retrieved))


def _recall(ranks: GoldRanks, k: int) -> Floats:
    if ranks.gold.profile.recall == "any-hit":
        return _hit(ranks, k)
    return ratio(ranks.count(k), ranks.gold.n_relevant)


def _f1(ranks: GoldRanks, k: int) -> Floats:
    if ranks.gold.profile.recall == "any-hit":
        precision, recall = _precision(ranks, k), _recall(ranks, k)
        return ratio(2 * precision * recall, precision + recall)
    # 2PR/(P+R) with P = h/k and R = h/g; one division loses no digit.
    first = _first(ranks.gold, k, ranks.retrieved)
    return ratio(2 * ranks.count(k), first + ranks.gold.n_relevant)


def _hit(ranks: GoldRanks, k: int) -> Floats:
    return (ranks.count(k) > 0).astype(np.float64)


def _rprec(ranks: GoldRanks, k: int) -> Floats:
    hits, n_relevant = ranks.hits, ranks.gold.n_relevant
    within = hits.rank <= n_relevant[hits.query]
    return ratio(ranks.sum(np.ones(len(hits.rank)), within), n_relevant)


def _reciprocal_rank(ranks: GoldRanks, k: int) -> Floats:
    hits = ranks.hits
    return ranks.sum(1.0 / hits.rank, (hits.nth == 1) & (hits.rank <= k))


def _average_precision(ranks: GoldRanks, k: int) -> Floats:
    hits = ranks.hits
    return ratio(ranks.sum(hits.nth / hits.rank, hits.rank <= k), ranks.gold.n_relevant)


def _bpref(ranks: GoldRanks, _: int) -> Floats:
    gold, hits, graded = ranks.gold, ranks.hits, ranks.graded
    above = ranks.judged_rank[graded.gain >= gold.profile.least_grade] - hits.nth
    n_others = np.where(
        gold.all_judged,
        gold.n_units - gold.n_reachable,
        gold.judged.count(gold.pooled) + gold.relevant.count(~gold.counts),
    )
    n_relevant = gold.n_relevant[hits.query]
    lost = ratio(np.minimum(above, n_relevant), np.minimum(n_others[hits.query], n_relevant))
    return ratio(ranks.sum(1 - lost, np.ones(len(lost), dtype=np.bool_)), gold.n_relevant)


def ndcg(
    ranks: GoldRanks, k: int, *, exponential: bool = False, judged_only: bool = False
) -> Floats:
    """The values of nDCG@k, shape (q,)."""
    gold, hits = ranks.gold, ranks.graded
    rank = ranks.judged_rank if judged_only else hits.rank
    within = rank <= k
    query, rank = hits.query[within], rank[within]
    gain = _gain(gold, hits.gain[within], query, exponential=exponential)
    ideal = _ideal(gold, k, exponential=exponential)
    if gold.profile.ideal == "found-unless-named":
        # The best order of the hits in the first k.
        order = np.lexsort((-gain, query))
        best = np.arange(len(order)) - np.searchsorted(query, query, side="left") + 1
        retrieved = sum_by(query, gain[order] / log_discount(best), gold.n_queries)
        ideal = np.where(gold.named, ideal, retrieved)
    value = ratio(sum_by(query, gain / log_discount(rank), gold.n_queries), ideal)
    if gold.profile.repeats == "each-counts":
        return value
    # Two nearly equal grades in the wrong order can round to just above the ideal.
    return np.minimum(value, 1.0)


def _gain(gold: GoldTables, grade: Floats, query: Ints, *, exponential: bool) -> Floats:
    """Grades, or 2**grade - 1, divided by 2**(best grade of the query) lest it overflows."""
    if not exponential:
        return grade
    best = np.zeros(gold.n_queries)
    np.maximum.at(best, gold.relevant.query, gold.grade)
    return np.exp2(grade - best[query]) * -np.expm1(-math.log(2) * grade)


def _ideal(gold: GoldTables, k: int, *, exponential: bool = False) -> Floats:
    within = gold.ideal_rank <= k
    query, rank = gold.relevant.query[within], gold.ideal_rank[within]
    gain = _gain(gold, gold.ideal_grade[within], query, exponential=exponential)
    return sum_by(query, gain / log_discount(rank), gold.n_queries)


def _judged(ranks: GoldRanks, k: int) -> Floats:
    gold = ranks.gold
    seen = gold.relevant.count(ranks.relevant <= k) + gold.again.count(ranks.again <= k)
    seen = seen + gold.judged.count(ranks.judged <= k)
    first = np.minimum(ranks.retrieved, k)
    return ratio(np.where(gold.all_judged, first, np.minimum(seen, first)), first)


# Expectations over a random order of n units of which e are relevant. Every rank is relevant
# with probability e/n, and ranks are drawn without replacement.


def _expected_hits(gold: GoldTables, k: Ints | int) -> Floats:
    return ratio(np.minimum(k, gold.n_units) * gold.n_reachable, gold.n_units)


def _chance_precision(gold: GoldTables, k: int) -> Floats:
    return ratio(_expected_hits(gold, k), _first(gold, k, gold.n_units))


def _chance_recall(gold: GoldTables, k: int) -> Floats:
    if gold.profile.recall == "any-hit":
        return _chance_hit(gold, k)
    return ratio(_expected_hits(gold, k), gold.n_relevant)


def _chance_f1(gold: GoldTables, k: int) -> Floats | None:
    if gold.profile.recall == "any-hit":
        return None
    return ratio(2 * _expected_hits(gold, k), _first(gold, k, gold.n_units) + gold.n_relevant)


def _chance_rprec(gold: GoldTables, k: int) -> Floats:
    return ratio(_expected_hits(gold, gold.n_relevant), gold.n_relevant)


def _chance_hit(gold: GoldTables, k: int, *, reciprocal: bool = False) -> Floats:
    """Sum of the probabilities that the first hit is at a rank, or of each ÷ rank, shape (q,)."""
    sizes, query = np.unique(
        np.stack((gold.n_units, gold.n_reachable)), axis=1, return_inverse=True
    )
    sums = np.zeros(sizes.shape[1])
    for number, (n, e) in enumerate(sizes.T.tolist()):
        if e:
            rank = np.arange(1, min(k, n - e + 1) + 1)
            none_yet = np.cumprod((n - e - rank + 1) / (n - rank + 1))
            first = np.concatenate(([1.0], none_yet[:-1])) * e / (n - rank + 1)
            sums[number] = np.cumsum(first / rank if reciprocal else first)[-1]
    return sums[query.reshape(-1)]


def _chance_average_precision(gold: GoldTables, k: int) -> Floats:
    # At a relevant rank r, the expected precision is (1 + (r-1)(e-1)/(n-1)) / r.
    n, e = gold.n_units, gold.n_reachable
    depth = np.minimum(k, n)
    reciprocal = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, depth.max(initial=0) + 1))))
    others = ratio(e - 1, n - 1)
    total = reciprocal[depth] + others * (depth - reciprocal[depth])
    return ratio(ratio(e, n) * total, gold.n_relevant)


def _chance_ndcg(gold: GoldTables, k: int, *, exponential: bool = False) -> Floats | None:
    if gold.profile.ideal != "all-gold" and not gold.named.all():
        return None
    rows = gold.in_corpus
    query = gold.relevant.query[rows]
    gain = _gain(gold, gold.grade[rows], query, exponential=exponential)
    gains = sum_by(query, gain, gold.n_queries)
    depth = np.minimum(k, gold.n_units)
    ranks = np.arange(1, depth.max(initial=0) + 1)
    discounts = np.concatenate(([0.0], np.cumsum(1.0 / log_discount(ranks))))
    ideal = _ideal(gold, k, exponential=exponential)
    return ratio(ratio(gains, gold.n_units) * discounts[depth], ideal)


def _chance_judged(gold: GoldTables, k: int) -> Floats:
    judged = gold.judged.count(gold.judged.item != gold.missing_unit)
    judged = judged + gold.relevant.count(gold.in_corpus)
    return ratio(np.where(gold.all_judged, gold.n_units, judged), gold.n_units)


FAMILIES = (
    Family(
        name="nDCG",
        description="gain of the first k, discounted by 1/log2(rank+1), ÷ that of the best order",
        source="Järvelin and Kekäläinen 2002, linear gain; ndcg and ndcg_cut of trec_eval",
        evaluate=ndcg,
        chance=_chance_ndcg,
    ),
    Family(
        name="nDCG(exp)",
        description="nDCG with the gain 2^grade - 1",
        source="Burges et al. 2005; ndcg_burges of ranx; nDCG over all files of CodeSearchNet",
        evaluate=partial(ndcg, exponential=True),
        aliases=("ndcg_exp", "ndcg_burges", "nDCG(dcg='exp-log2')"),
        chance=partial(_chance_ndcg, exponential=True),
    ),
    Family(
        name="nDCG(judged)",
        description="nDCG of the ranking without units that are not judged",
        source="ndcg of trec_eval -J",
        evaluate=partial(ndcg, judged_only=True),
        aliases=("ndcg_judged", "nDCG(judged_only=True)"),
    ),
    Family(
        name="nDCG(exp,judged)",
        description="nDCG of the judged units alone, with the gain 2^grade - 1",
        source="nDCG within the judged files of CodeSearchNet",
        evaluate=partial(ndcg, exponential=True, judged_only=True),
        aliases=("nDCG(judged,exp)", "nDCG(dcg='exp-log2',judged_only=True)"),
    ),
    Family(
        name="P",
        description="relevant units in the first k ÷ k; without k, in the ranking ÷ its length",
        source="P and set_P of trec_eval",
        evaluate=_precision,
        aliases=("precision", "prec"),
        chance=_chance_precision,
    ),
    Family(
        name="R",
        description="relevant units in the first k ÷ all relevant units",
        source="recall and set_recall of trec_eval",
        evaluate=_recall,
        aliases=("recall",),
        chance=_chance_recall,
    ),
    Family(
        name="F1",
        description="harmonic mean of P@k and R@k of each query",
        source="van Rijsbergen 1979, beta 1, per query; set_F of trec_eval",
        evaluate=_f1,
        aliases=("f1_score", "f_measure"),
        chance=_chance_f1,
    ),
    Family(
        name="MRR",
        description="1 ÷ rank of the first relevant unit, 0 where there is none in the first k",
        source="Voorhees 1999; recip_rank of trec_eval",
        evaluate=_reciprocal_rank,
        aliases=("mean_reciprocal_rank", "reciprocal_rank", "recip_rank", "RR"),
        chance=partial(_chance_hit, reciprocal=True),
    ),
    Family(
        name="MAP",
        description="sum of the precision at each relevant rank up to k ÷ all relevant units",
        source="map and map_cut of trec_eval",
        evaluate=_average_precision,
        aliases=("mean_average_precision", "average_precision", "AP"),
        chance=_chance_average_precision,
    ),
    Family(
        name="Hit",
        description="1 if a relevant unit is in the first k",
        source="success of trec_eval; Accuracy of BEIR",
        cut="rank",
        evaluate=_hit,
        aliases=("Success", "hit_rate", "Accuracy", "top_k_accuracy"),
        chance=_chance_hit,
    ),
    Family(
        name="Rprec",
        description="precision in the first g, where g is the number of relevant units",
        source="Rprec of trec_eval",
        cut="none",
        evaluate=_rprec,
        aliases=("r_precision",),
        chance=_chance_rprec,
    ),
    Family(
        name="Bpref",
        description="mean over relevant units of 1 - share of units judged not relevant above them",
        source="Buckley and Voorhees 2004; bpref of trec_eval",
        cut="none",
        evaluate=_bpref,
    ),
    Family(
        name="Judged",
        description="judged units in the first k ÷ retrieved units in the first k",
        source="Judged of ir_measures",
        cut="rank",
        evaluate=_judged,
        chance=_chance_judged,
    ),
)
