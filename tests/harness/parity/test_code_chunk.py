import json
import math
from pathlib import Path

import pytest

from harness.measures.score import score
from harness.parity.code_chunk import (
    Metrics,
    aggregate,
    improvement,
    macro,
    macro_table,
    percentage,
    query_metrics,
)


@pytest.fixture(scope="module")
def reference(data: Path) -> list[dict]:
    text = (data / "golden" / "metrics_reference.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def equal(got: float, want: float | None) -> bool:
    return math.isnan(got) if want is None else got == want


def test_every_case_is_equal_bit_for_bit(reference):
    for case in reference:
        if case["kind"] == "query":
            got = query_metrics(case["retrieved_ids"], case["relevant_ids"], case["k"])
        else:
            got = aggregate([Metrics(**one) for one in case["metrics"]])
        for name, want in case["expected"].items():
            assert equal(getattr(got, name), want), (case["case"], name)
    assert len(reference) == 609


def test_every_case_with_a_usual_k_is_equal_through_the_measures(reference):
    checked = 0
    for case in reference:
        if case["kind"] == "aggregate" or case["tag"] == "odd_k":
            continue
        names = {name: f"{short}@{case['k']}" for name, short in
                 {"precision": "P", "recall": "R", "ndcg": "nDCG"}.items()}  # fmt: skip
        run, qrels = {"q": case["retrieved_ids"]}, {"q": dict.fromkeys(case["relevant_ids"], 1)}
        got = score(run, qrels, list(names.values()), "code-chunk")
        assert got.n == 1
        for name, want in case["expected"].items():
            assert got.mean[names[name]] == want, (case["case"], name)
        checked += 1
    assert checked == 566


def test_odd_cut_offs_give_what_the_reference_gives():
    retrieved, relevant = [*"abcd"], ["a", "c"]
    none = query_metrics(retrieved, relevant, 0)
    assert math.isnan(none.precision)
    assert (none.recall, none.ndcg) == (0.0, 0.0)
    assert query_metrics(retrieved, relevant, -1) == Metrics(-2.0, 1.0, 0.0)
    half = query_metrics(retrieved, relevant, 2.5)
    assert half == Metrics(0.4, 0.5, 1 / (1 + 1 / math.log2(3)))


def test_mean_of_nothing_is_0_and_macro_weighs_repositories_alike():
    assert aggregate([]) == Metrics(0.0, 0.0, 0.0)
    one, zero = Metrics(1.0, 1.0, 1.0), Metrics(0.0, 0.0, 0.0)
    assert macro([[one], [zero] * 9]) == Metrics(0.5, 0.5, 0.5)


def test_printing_rounds_ties_away_from_zero():
    assert percentage(0.1225) == "12.3%"  # 0.1225 * 100 is the tie 12.25
    assert percentage(1 / 3) == "33.3%"
    assert improvement(0.5, 0.4) == "25.0%"
    assert improvement(0.3, 0.4) == "-25.0%"
    assert improvement(0.3, 0.0) == "N/A"


def test_macro_table_sets_every_chunker_beside_the_baseline():
    means = {"ast": Metrics(0.25, 0.9, 0.5), "fixed": Metrics(0.2, 0.0, 0.4)}
    assert macro_table(means) == [
        ("chunker", "precision", "recall", "ndcg",
         "precision vs fixed", "recall vs fixed", "ndcg vs fixed"),
        ("ast", "25.0%", "90.0%", "50.0%", "25.0%", "N/A", "25.0%"),
        ("fixed", "20.0%", "0.0%", "40.0%", "", "", ""),
    ]  # fmt: skip
    assert macro_table({"ast": means["ast"]})[1][4:] == ("", "", "")
