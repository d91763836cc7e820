import math

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.errors import InputError
from harness.measures.grammar import parse_measure
from harness.measures.id_ranks import rank_order
from harness.measures.profiles import load_profile
from harness.measures.score import score

RNGS = st.randoms(use_true_random=True)
CUTS = (1, 2, 3, 5, 10, 100)
TREC_NAMES = {"nDCG": "ndcg_cut", "P": "P", "R": "recall", "MAP": "map_cut", "Hit": "success"}
UNCUT_NAMES = {
    "MRR": "recip_rank", "MAP": "map", "Rprec": "Rprec", "Bpref": "bpref", "nDCG": "ndcg",
    "P": "set_P", "R": "set_recall", "F1": "set_F",
}  # fmt: skip


def value(result, name, query="q"):
    return result.per_query[name][query]


def draw_run(rng):
    """Graded qrels and a run with ties, near ties, and queries that only one of them has."""
    docs = [f"d{i}" for i in range(rng.randint(1, 25))]
    queries = [f"q{i}" for i in range(rng.randint(1, 5))]
    qrels, run = {}, {}
    for query in queries:
        if rng.random() < 0.9:
            judged = rng.sample(docs, rng.randint(1, len(docs)))
            qrels[query] = {doc: rng.choice([-1, 0, 0, 1, 2, 3]) for doc in judged}
        if rng.random() < 0.9:
            kinds = [rng.random(), 0.5, 0.5 + 1e-10 * rng.random(), rng.randint(0, 3), -0.25, 1e300]
            found = rng.sample(docs, rng.randint(1, len(docs)))
            run[query] = {doc: float(rng.choice(kinds)) for doc in found}
    return run, qrels


def equals_pytrec_eval(run, qrels, profile, *, rel=1, ranked_as=None):
    """Every value is that of pytrec_eval, which ranks by the scores of another run if given."""
    names = {
        f"{family}@{cut}": f"{other}_{cut}" for family, other in TREC_NAMES.items() for cut in CUTS
    }
    names |= UNCUT_NAMES
    if any(max(row.values()) < 0 for row in qrels.values()):
        del names["nDCG"]  # it reads memory that was never set, and may not end
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(names.values()), relevance_level=rel)
    theirs = evaluator.evaluate(ranked_as or run)
    ours = score(run, qrels, list(names), profile)
    assert list(ours.queries) == sorted(theirs)
    for query, row in theirs.items():
        for name, other in names.items():
            assert value(ours, name, query) == pytest.approx(row[other], abs=1e-12), name


@given(RNGS)
@settings(max_examples=200, deadline=None)
def test_trec_profile_equals_pytrec_eval(rng):
    equals_pytrec_eval(*draw_run(rng), "trec")


@pytest.mark.parametrize("rel", [1, 2, 3, 4])
@given(rng=RNGS)
@settings(max_examples=50, deadline=None)
def test_rel_is_the_level_of_relevance_of_trec_eval(rel, rng):
    equals_pytrec_eval(*draw_run(rng), f"trec:rel={rel}", rel=rel)


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_trec10_variant_compares_doubles(rng):
    run, qrels = draw_run(rng)
    places = {query: sorted(set(row.values())) for query, row in run.items()}
    whole = {
        query: {doc: float(places[query].index(one)) for doc, one in row.items()}
        for query, row in run.items()
    }
    equals_pytrec_eval(run, qrels, "trec:variant=trec10", ranked_as=whole)


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_exponential_gain_and_judged_units_equal_pytrec_eval(rng):
    run, qrels = draw_run(rng)
    qrels = {query: row | {"zero": 0} for query, row in qrels.items()}  # see above
    powers = {
        query: {doc: 2**grade - 1 if grade > 0 else grade for doc, grade in row.items()}
        for query, row in qrels.items()
    }
    cuts = ("", *(f"@{cut}" for cut in CUTS))
    for grades, judged_only, name in (
        (powers, False, "nDCG(exp)"),
        (qrels, True, "nDCG(judged)"),
        (powers, True, "nDCG(exp,judged)"),
    ):
        wanted = {"ndcg", *(f"ndcg_cut_{cut}" for cut in CUTS)}
        theirs = pytrec_eval.RelevanceEvaluator(
            grades, wanted, judged_docs_only_flag=judged_only
        ).evaluate(run)
        ours = score(run, qrels, [name + cut for cut in cuts], "trec")
        for query, row in theirs.items():
            for cut in cuts:
                other = row[f"ndcg_cut_{cut[1:]}" if cut else "ndcg"]
                assert value(ours, name + cut, query) == pytest.approx(other, abs=1e-12), name


def test_exponential_gain_never_overflows_nor_loses_small_grades():
    run = {"q": ["b", "a"]}
    for a, b in ((2000, 1999), (1e300, 1), (1e-20, 5e-21)):
        got = score(run, {"q": {"a": a, "b": b}}, ["nDCG(exp)@2"]).mean["nDCG(exp)@2"]
        share = 0.0 if a == 1e300 else 0.5
        want = (share + 1 / math.log2(3)) / (1 + share / math.log2(3))
        assert got == pytest.approx(want, abs=1e-12), a


def codesearchnet(predictions, relevance, *, within):
    """The nDCG of the CodeSearchNet challenge, by its words."""
    values = []
    for query, grades in relevance.items():
        gain, rank = 0.0, 1
        for url in predictions[query]:
            if url in grades:
                gain += (2 ** grades[url] - 1) / math.log2(rank + 1)
            rank += url in grades or not within
        best = sorted(grades.values(), reverse=True)
        ideal = sum((2**one - 1) / math.log2(rank + 1) for rank, one in enumerate(best, 1))
        values += [gain / ideal] if ideal else []
    return sum(values) / len(values)


def test_ndcg_of_codesearchnet():
    predictions = {"q": ["x", "b", "y", "c", "a"], "r": ["a", "z"], "s": ["a"]}
    relevance = {"q": {"a": 3, "b": 1, "c": 0, "d": 2}, "r": {"a": 2, "b": 3}, "s": {"a": 0}}
    got = score(predictions, relevance, ["nDCG(exp)", "nDCG(exp,judged)"])
    assert got.n == 2
    for name, within in (("nDCG(exp)", False), ("nDCG(exp,judged)", True)):
        want = codesearchnet(predictions, relevance, within=within)
        assert got.mean[name] == pytest.approx(want, abs=1e-12)


def test_rel_leaves_out_queries_without_such_a_grade_where_the_profile_does():
    run, qrels = {"a": ["x"], "b": ["x"]}, {"a": {"x": 2}, "b": {"x": 1}}
    default = score(run, qrels, ["P@1", "nDCG@1"], "default:rel=2")
    assert (default.mean, default.n) == ({"P@1": 1.0, "nDCG@1": 1.0}, 1)
    assert default.left_out == {"only grades below 2": 1}
    trec = score(run, qrels, ["P@1", "nDCG@1"], "trec:rel=2")
    assert (trec.mean, trec.n) == ({"P@1": 0.5, "nDCG@1": 1.0}, 2)


def test_rel_may_be_a_fraction_and_grade_1_is_then_as_before():
    run, qrels = {"q": ["a", "b"]}, {"q": {"a": 0.25, "b": 0.5}}
    assert score(run, qrels, ["MRR"]).mean["MRR"] == 1.0
    assert score(run, qrels, ["MRR"], "default:rel=0.5").mean["MRR"] == 0.5
    assert score(run, qrels, ["MRR"], "default:rel=1").n == 0


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_default_profile_equals_ir_measures(rng):
    run, qrels = draw_run(rng)
    # Scores made from ranks, so that the other side can neither round nor break a tie.
    order = {query: rng.sample(sorted(row), len(row)) for query, row in run.items()}
    ranked = {
        query: {doc: float(len(row) - i) for i, doc in enumerate(row)}
        for query, row in order.items()
    }
    names = ["Judged@1", "Judged@5", "Judged@50", "MAP", "MAP@5"]
    measures = [
        ir_measures.parse_measure(one.replace("MAP", "AP") if "MAP" in one else one)
        for one in names
    ]
    theirs = {
        (one.query_id, names[measures.index(one.measure)]): one.value
        for one in ir_measures.iter_calc(measures, qrels, ranked)
    }
    for rankings in (order, ranked):
        ours = score(rankings, qrels, names)
        for query in set(ours.queries) & set(rankings):
            for name in names:
                assert value(ours, name, query) == pytest.approx(theirs[query, name], abs=1e-12)


def test_same_id_twice_in_a_ranking_is_an_error_that_names_it():
    with pytest.raises(InputError, match=r"query q: duplicate A in the ranking"):
        score({"q": ["A", "A", "X"]}, {"q": {"A": 1}}, ["R@3"])


def test_ideal_is_built_from_the_gold_and_not_from_what_was_retrieved():
    got = score({"q": ["A"]}, {"q": {"A": 1, "B": 1}}, ["nDCG@10", "R@10", "P@10", "MRR"])
    assert value(got, "nDCG@10") == pytest.approx(0.6131, abs=5e-5)
    assert value(got, "R@10") == 0.5
    assert value(got, "P@10") == 0.1
    assert value(got, "MRR") == 1.0


def test_queries_without_results_stay_in_the_mean():
    # nDCG 1.0, and 0.5 for the one relevant document at rank 3.
    rankings = {"a": ["x"], "b": ["y", "z", "x"], "c": []}
    qrels = {query: {"x": 1} for query in "abcd"}
    got = score(rankings, qrels, ["nDCG@10"])
    assert got.per_query["nDCG@10"] == {"a": 1.0, "b": 0.5, "c": 0.0, "d": 0.0}
    assert (got.mean["nDCG@10"], got.n) == (0.375, 4)
    assert got.as_zero == {"absent from the rankings": 1}


def test_precision_divides_by_k_when_fewer_are_retrieved():
    got = score({"q": ["a", "b", "c"]}, {"q": {"a": 1, "b": 1}}, ["P@10"])
    assert value(got, "P@10") == 0.2


def test_first_hit_behind_the_cut_counts_only_uncut():
    ranking = [f"x{i}" for i in range(11)] + ["a"]
    got = score({"q": ranking}, {"q": {"a": 1}}, ["MRR@10", "MRR"])
    assert value(got, "MRR@10") == 0.0
    assert value(got, "MRR") == pytest.approx(1 / 12)


def test_mean_is_over_queries():
    rankings = {"a": ["x"], **{f"b{i}": ["y"] for i in range(9)}}
    got = score(rankings, {query: {"x": 1} for query in rankings}, ["P@1"])
    assert got.mean["P@1"] == pytest.approx(0.1)
    assert load_profile(got.profile).mean == "queries"


def test_gain_is_linear_in_the_grade():
    got = score({"q": ["b", "a"]}, {"q": {"a": 2, "b": 1}}, ["nDCG@10"])
    assert value(got, "nDCG@10") == pytest.approx(0.8597, abs=5e-5)


def test_default_keeps_the_digits_of_scores_and_trec_does_not():
    run, qrels = {"q": {"a": 0.912345678901, "z": 0.912345678900}}, {"q": {"a": 1}}
    assert value(score(run, qrels, ["nDCG@10"]), "nDCG@10") == 1.0
    trec = value(score(run, qrels, ["nDCG@10"], "trec"), "nDCG@10")
    assert trec == pytest.approx(0.6309, abs=5e-5)


def test_finer_gold_lowers_recall_but_not_precision():
    coarse = score({"q": ["1-40"]}, {"q": {"1-40": 1}}, ["R@1", "P@1"])
    quarters = {f"{i}1-{i + 1}0": 1 for i in range(4)}
    fine = score({"q": ["01-10"]}, {"q": quarters}, ["R@1", "P@1"])
    assert (coarse.mean["R@1"], fine.mean["R@1"]) == (1.0, 0.25)
    assert coarse.mean["P@1"] == fine.mean["P@1"] == 1.0


def test_ties_go_by_id():
    run, qrels = {"q": {"b": 1.0, "a": 1.0, "c": 1.0}}, {"q": {"a": 1}}
    assert value(score(run, qrels, ["MRR"]), "MRR") == 1.0
    assert value(score(run, qrels, ["MRR"], "trec"), "MRR") == pytest.approx(1 / 3)


def test_list_keeps_its_order_under_every_profile():
    for profile in ("default", "trec"):
        got = score({"q": ["b", "c", "a"]}, {"q": {"b": 1}}, ["MRR"], profile)
        assert value(got, "MRR") == 1.0


def test_order_of_equal_scores_does_not_depend_on_the_order_given():
    ids = ["c", "a", "d", "b"]
    for name, want in (("default", ["a", "b", "c", "d"]), ("trec", ["d", "c", "b", "a"])):
        order = rank_order(np.full(4, 0.5), ids, load_profile(name).id_ties)
        assert [ids[at] for at in order] == want


def test_query_without_judgements_is_left_out_and_counted():
    got = score({"a": ["x"], "b": ["x"]}, {"a": {"x": 1}, "c": {}}, ["P@1"])
    assert (got.queries, got.mean["P@1"]) == (("a",), 1.0)
    assert got.left_out == {"no judgements": 2}


def test_query_with_only_grades_of_0_or_less_goes_by_the_profile():
    run, qrels = {"a": ["x"], "b": ["x"]}, {"a": {"x": 1}, "b": {"x": 0, "y": -2}}
    default, trec = (score(run, qrels, ["P@1"], profile) for profile in ("default", "trec"))
    assert (default.n, default.mean["P@1"]) == (1, 1.0)
    assert default.left_out == {"only grades of 0 or less": 1}
    assert (trec.n, trec.mean["P@1"], trec.left_out) == (2, 0.5, {})


def test_query_absent_from_the_rankings_goes_by_the_profile():
    run, qrels = {"a": ["x"]}, {"a": {"x": 1}, "b": {"x": 1}}
    trec = score(run, qrels, ["P@1"], "trec")
    assert (trec.n, trec.mean["P@1"]) == (1, 1.0)
    assert trec.left_out == {"absent from the rankings": 1}
    for profile in ("default", "trec:complete=true"):
        got = score(run, qrels, ["P@1"], profile)
        assert (got.n, got.mean["P@1"], got.left_out) == (2, 0.5, {})
        assert got.as_zero == {"absent from the rankings": 1}


def test_negative_grade_counts_as_0():
    got = score({"q": ["bad", "a"]}, {"q": {"a": 2, "bad": -2}}, ["nDCG@2", "P@2", "MRR"])
    assert value(got, "nDCG@2") == pytest.approx(1 / math.log2(3))
    assert (value(got, "P@2"), value(got, "MRR")) == (0.5, 0.5)


def test_measures_of_lines_are_skipped_and_not_0():
    got = score({"q": ["a"]}, {"q": {"a": 1}}, ["span_recall@100c", "IoU@5", "FileMRR", "P@1"])
    assert got.mean == {"SpanR@100c": None, "IoU@5": None, "FileMRR": None, "P@1": 1.0}
    assert got.per_query["SpanR@100c"] is None


def test_measures_may_be_values_and_profiles_too():
    got = score({"q": ["a"]}, {"q": {"a": 1}}, [parse_measure("P@1")], load_profile("trec"))
    assert (got.mean, got.profile) == ({"P@1": 1.0}, "trec")


def test_no_query_to_score_has_no_mean():
    got = score({"a": ["x"]}, {}, ["P@1"])
    assert (got.n, got.mean, got.left_out) == (0, {"P@1": None}, {"no judgements": 1})


@pytest.mark.parametrize(
    ("rankings", "qrels", "says"),
    [
        ({"q": {"a": math.nan}}, {"q": {"a": 1}}, "query q: the score of a is nan"),
        ({"q": {"a": math.inf}}, {"q": {"a": 1}}, "score of a is inf"),
        ({"q": {"a": "0.5"}}, {"q": {"a": 1}}, "score of a is '0.5'"),
        ({"q": {"a": None}}, {"q": {"a": 1}}, "score of a is None"),
        ({"q": {"a": 1.0}}, {"q": {"a": math.nan}}, "grade of a is nan"),
        ({"q": {"a": 10**400}}, {"q": {"a": 1}}, "score of a is 1000"),
        ({"q": {"a": 1.0}}, {"q": {"a": "1"}}, "grade of a is '1'"),
        ({"q": "abc"}, {"q": {"a": 1}}, "ranking is the text 'abc'"),
        ({"q": ["a", 3]}, {"q": {"a": 1}}, "document id 3 is not a text; give"),
        ({"q": ["7"]}, {"q": {7: 1}}, "judged document id 7 is not a text"),
        ({1: ["7"]}, {"1": {}}, "query id 1 is not a text"),
        ({"q": ["a", "b", "b", "a"]}, {"q": {"a": 1}}, "duplicate a, b in the ranking"),
        ({"q": ["a"]}, {"q": ["a"]}, "query q: the judgements are a list; give"),
        ({"q": ["a"]}, {"q": "a"}, "query q: the judgements are a str; give"),
        ("run.trec", {"q": {"a": 1}}, "rankings is a str; .* use `chunkmark score`"),
        ({"q": ["a"]}, [("q", "a")], "qrels is a list; give"),
    ],
)
def test_bad_input_is_named(rankings, qrels, says):
    with pytest.raises(InputError, match=says):
        score(rankings, qrels, ["P@1"])


def test_rankings_of_other_queries_give_a_warning():
    with pytest.warns(UserWarning, match="in both: rankings has 'q', qrels has 'r'"):
        assert score({"q": ["a"]}, {"r": {"a": 1}}, ["P@1"]).mean == {"P@1": 0.0}


def test_measures_are_a_list():
    with pytest.raises(InputError, match=r"the text 'MRR'; give a list, as in \['MRR'\]"):
        score({"q": ["a"]}, {"q": {"a": 1}}, "MRR")


def test_unknown_measure_and_profile_fail_before_scoring():
    with pytest.raises(InputError, match="did you mean nDCG@10"):
        score({"q": ["a"]}, {"q": {"a": 1}}, ["nDGC@10"])
    with pytest.raises(InputError, match="unknown profile"):
        score({"q": ["a"]}, {"q": {"a": 1}}, ["P@1"], "trek")


def in_order(values):
    """The sum from left to right; that of Python may be more exact."""
    total = 0.0
    for one in values:
        total += one
    return total


def beir_evaluation(qrels, results, cuts):
    """What BEIR's evaluation prints, by its words: pytrec_eval, and an MRR of its own."""
    results = {
        query: {doc: score for doc, score in row.items() if doc != query}
        for query, row in results.items()
    }
    names = {"nDCG": "ndcg_cut", "MAP": "map_cut", "R": "recall", "P": "P"}
    wanted = {f"{name}.{','.join(map(str, cuts))}" for name in names.values()}
    scores = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(results)
    printed = {}
    for cut in cuts:
        for ours, theirs in names.items():
            values = [row[f"{theirs}_{cut}"] for row in scores.values()]
            printed[f"{ours}@{cut}"] = round(in_order(values) / len(values), 5) if values else None
        total, found = 0.0, 0
        for query, row in results.items():
            first = sorted(row.items(), key=lambda item: item[1], reverse=True)[:cut]
            hits = [rank for rank, (doc, _) in enumerate(first, 1) if qrels[query].get(doc, 0) > 0]
            total += 1 / hits[0] if hits else 0.0
            found += bool(hits)
        printed[f"MRR@{cut}"] = round(total / len(qrels), 5)
        printed[f"Hit@{cut}"] = round(found / len(qrels), 5)
    return printed


@given(RNGS)
@settings(max_examples=150, deadline=None)
def test_beir_variant_equals_the_evaluation_of_beir(rng):
    run, qrels = draw_run(rng)
    for query in qrels.keys() & run.keys():
        if rng.random() < 0.3:  # the query itself is a document, found and sometimes judged
            run[query][query] = float(rng.choice([2.0, 0.5, -1.0]))
            qrels[query] |= {query: 1} if rng.random() < 0.5 else {}
    run = {query: row for query, row in run.items() if query in qrels}
    if not qrels:
        return
    want = beir_evaluation(qrels, run, (1, 3, 5, 10))
    got = score(run, qrels, list(want), "trec:variant=beir")
    assert got.mean == want


@given(RNGS)
@settings(max_examples=100, deadline=None)
def test_mteb_variant_equals_the_evaluation_of_mteb(rng):
    run, qrels = draw_run(rng)
    run = {query: row for query, row in run.items() if query in qrels}
    if not run:
        return
    names = {
        "nDCG@5": "ndcg_cut_5",
        "MAP@5": "map_cut_5",
        "R@5": "recall_5",
        "P@5": "P_5",
        "Hit@5": "success_5",
    }
    scores = pytrec_eval.RelevanceEvaluator(qrels, set(names.values())).evaluate(run)
    want = {
        name: round(in_order(row[other] for row in scores.values()) / len(scores), 5)
        for name, other in names.items()
    }
    total = 0.0
    for query, row in run.items():
        first = sorted(row.items(), key=lambda item: (item[1], item[0]), reverse=True)[:5]
        hits = [rank for rank, (doc, _) in enumerate(first, 1) if qrels[query].get(doc, 0) > 0]
        total += 1 / hits[0] if hits else 0.0
    got = score(run, qrels, [*names, "MRR@5"], "trec:variant=mteb")
    assert got.mean == want | {"MRR@5": total / len(run)}


def test_means_are_added_in_the_order_of_the_run_where_theirs_are():
    run = {query: {"a": 1.0} for query in ("q2", "q3", "q1")}
    qrels = {query: {"a": 1} for query in ("q0", "q1", "q2", "q3")}
    for variant in ("beir", "mteb"):
        got = score(run, qrels, ["R@2"], f"trec:variant={variant}")
        assert list(got.per_query["R@2"]) == ["q2", "q3", "q1"] == list(got.queries)
    assert score(run, qrels, ["R@2"], "trec").queries == ("q1", "q2", "q3")


def test_beir_variant_drops_the_document_that_is_the_query():
    run, qrels = {"q": {"q": 3.0, "a": 2.0}}, {"q": {"a": 1}}
    names = ["MRR", "nDCG@1", "P@1"]
    assert score(run, qrels, names, "trec:variant=beir").mean == dict.fromkeys(names, 1.0)
    assert score(run, qrels, ["P@1"], "trec").mean == {"P@1": 0.0}
    alone = score({"q": {"q": 3.0}}, qrels, names, "trec:variant=beir")
    assert (alone.n, alone.mean) == (1, dict.fromkeys(names, 0.0))


def test_beir_variant_takes_mrr_and_accuracy_as_given_and_all_else_by_id_descending():
    run, qrels = {"q": {"b": 1.0, "c": 1.0, "a": 1.0}}, {"q": {"b": 1}}
    got = score(run, qrels, ["MRR@10", "Accuracy@1", "nDCG@10", "P@1"], "trec:variant=beir")
    assert got.mean == {"MRR@10": 1.0, "Hit@1": 1.0, "nDCG@10": 0.63093, "P@1": 0.0}
    again = {"q": dict(reversed(run["q"].items()))}
    assert score(again, qrels, ["MRR@10"], "trec:variant=beir").mean["MRR@10"] == 0.33333


def test_variants_see_the_64_bits_of_a_score_where_theirs_does():
    run, qrels = {"q": {"z": 0.912345678900, "a": 0.912345678901}}, {"q": {"a": 1}}
    got = {
        variant: [
            *score(run, qrels, ["MRR@10", "Hit@1", "P@1"], f"trec:variant={variant}").mean.values()
        ]
        for variant in ("trec_eval", "trec10", "beir", "mteb")
    }
    assert got == {
        "trec_eval": [0.5, 0.0, 0.0],
        "trec10": [1.0, 1.0, 1.0],
        "beir": [1.0, 1.0, 0.0],
        "mteb": [1.0, 0.0, 0.0],
    }


def test_beir_variant_divides_mrr_by_all_queries_and_all_else_by_those_of_the_run():
    run = {"a": {"x": 1.0}, "b": {"y": 1.0}}
    qrels = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}}
    got = score(run, qrels, ["MRR@10", "P@1"], "trec:variant=beir")
    assert got.mean == {"MRR@10": 0.33333, "P@1": 0.5}
    assert got.per_query["MRR@10"] == {"a": 1.0, "b": 0.0, "c": 0.0}
    assert got.per_query["P@1"] == {"a": 1.0, "b": 0.0}
    assert (got.queries, got.left_out) == (("a", "b"), {"absent from the rankings": 1})


def test_beir_variant_rounds_means_to_5_places():
    run = {query: {"x": 1.0} for query in "abc"}
    qrels = {"a": {"x": 1}, "b": {"y": 1}, "c": {"y": 1}}
    got = score(run, qrels, ["P@1", "MRR"], "trec:variant=beir")
    assert got.mean == {"P@1": 0.33333, "MRR": 0.33333}
    assert score(run, qrels, ["P@1"], "trec").mean == {"P@1": 1 / 3}


@pytest.mark.parametrize("profile", ["code-chunk", "memorybench"])
def test_id_that_stands_there_again_counts_again_where_the_profile_says_so(profile):
    got = score({"q": ["A", "A", "X"]}, {"q": {"A": 1}}, ["P@3", "R@3", "nDCG@3"], profile)
    assert value(got, "P@3") == 2 / 3
    assert value(got, "R@3") == (2.0 if profile == "code-chunk" else 1.0)
    assert value(got, "nDCG@3") == 1 + 1 / math.log2(3)


def test_repeated_document_that_was_judged_counts_as_judged_each_time():
    got = score(
        {"q": ["a", "z", "z", "a", "?"]}, {"q": {"a": 1, "z": 0}}, ["Judged@5"], "code-chunk"
    )
    assert value(got, "Judged@5") == 4 / 5


@pytest.mark.parametrize("profile", ["code-chunk", "memorybench"])
def test_query_without_judgements_can_be_0_in_the_mean(profile):
    got = score({"a": ["x"], "b": ["x"]}, {"a": {"x": 1}}, ["P@1"], profile)
    assert (got.queries, got.mean, got.left_out) == (("a", "b"), {"P@1": 0.5}, {})
    assert got.as_zero == {"no judgements": 1}


def test_absent_query_is_0_under_code_chunk_and_left_out_under_memorybench():
    run, qrels = {"a": ["x"]}, {"a": {"x": 1}, "b": {"x": 1}, "c": {}}
    chunk = score(run, qrels, ["P@1"], "code-chunk")
    assert (chunk.queries, chunk.as_zero) == (("a", "b", "c"), {"absent from the rankings": 2})
    memory = score(run, qrels, ["P@1"], "memorybench")
    assert (memory.queries, memory.left_out) == (("a",), {"absent from the rankings": 2})


def test_equal_scores_stay_in_the_order_given_where_the_profile_says_so():
    run, qrels = {"q": {"b": 1.0, "c": 1.0, "a": 2.0}}, {"q": {"c": 1}}
    for profile in ("code-chunk", "memorybench"):
        assert value(score(run, qrels, ["MRR"], profile), "MRR") == 1 / 3
    run["q"] = {"c": 1.0, "b": 1.0, "a": 2.0}
    for profile in ("code-chunk", "memorybench"):
        assert value(score(run, qrels, ["MRR"], profile), "MRR") == 1 / 2


def test_gold_that_was_found_has_the_ideal_of_what_was_found_under_memorybench():
    run, qrels = {"q": ["x", "a"], "r": ["x", "a"]}, {one: {"a": 1, "b": 1} for one in "qr"}
    got = score(run, qrels, ["nDCG@5"], "memorybench", inferred_gold={"r"})
    of_both = 1 / math.log2(3) / (1 + 1 / math.log2(3))
    assert got.per_query["nDCG@5"] == {"q": pytest.approx(of_both), "r": 1 / math.log2(3)}
    default = score(run, qrels, ["nDCG@5"], inferred_gold={"r"})
    assert default.per_query["nDCG@5"]["r"] == pytest.approx(of_both)


# Worked examples of retrieval scores.


def test_two_of_three_gold_items_in_five_are_a_recall_of_two_thirds():
    got = score({"q": ["a", "x", "b", "y", "z"]}, {"q": dict.fromkeys("abc", 1)}, ["R@5"])
    assert value(got, "R@5") == 2 / 3


def test_reciprocal_ranks_of_1_3_2_and_of_1_3_none_have_their_means():
    run = {"a": ["x"], "b": ["y", "z", "x"], "c": ["y", "x"]}
    qrels = {query: {"x": 1} for query in run}
    assert score(run, qrels, ["MRR"]).mean["MRR"] == pytest.approx(0.6111, abs=5e-5)
    run["c"] = ["y", "z"]
    assert score(run, qrels, ["MRR"]).mean["MRR"] == pytest.approx(0.4444, abs=5e-5)


def test_ideal_of_three_gold_items_in_five_is_2_1309():
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert ideal == pytest.approx(2.1309, abs=5e-5)
    qrels = {"q": dict.fromkeys("abc", 1)}
    got = score({"q": ["a", "x", "y", "z", "b"]}, qrels, ["nDCG@5"])
    assert value(got, "nDCG@5") == pytest.approx((1 + 1 / math.log2(6)) / ideal)
    assert value(score({"q": [*"abcxy"]}, qrels, ["nDCG@5"]), "nDCG@5") == 1.0


def test_both_gold_items_in_five_are_a_recall_of_1_and_a_precision_of_0_4():
    got = score({"q": ["a", "x", "b", "y", "z"]}, {"q": {"a": 1, "b": 1}}, ["R@5", "P@5"])
    assert (value(got, "R@5"), value(got, "P@5")) == (1.0, 0.4)
