import json
import math
from pathlib import Path

import pytest

from chunkers.errors import InputError
from harness.measures.text_measures import lcs_length, token_f1
from harness.parity.memorybench.metrics import METRICS
from harness.parity.memorybench.places import (
    LineRange,
    cross_file_coverage,
    file_matches,
    is_location_relevant,
    line_iou,
    lines_overlap,
    normalize_path,
    path_matches,
)
from harness.parity.memorybench.results import EvalResult, judge
from harness.parity.memorybench.statistics import cohens_d, interpret_effect_size, paired_t_test
from harness.parity.memorybench.text import is_jaccard_match, jaccard, tokenize
from harness.support.rows import validated


def lines(place: dict) -> LineRange | None:
    start, end = place.get("startLine"), place.get("endLine")
    return None if start is None or end is None else LineRange(start, end)


def read(record: dict) -> EvalResult:
    return validated(EvalResult, record, "line 1")


def shown(number: float) -> float | str:
    return number if math.isfinite(number) else {math.inf: "Infinity"}.get(number, "-Infinity")


def f1(text: list[str], expected: list[str]) -> dict:
    got = token_f1(text, expected)
    return {"f1": got.f1, "precision": got.precision, "recall": got.recall}


def location(chunk: dict, path: str, target: dict | None, options: dict | None) -> bool:
    threshold = (options or {}).get("iouThreshold")
    return is_location_relevant(
        chunk["filepath"], lines(chunk), path, lines(target or {}), threshold
    )


def t_test(one: list[float], other: list[float]) -> dict:
    got = paired_t_test(one, other)
    return {"tStatistic": shown(got.t), "pValue": pytest.approx(got.p, abs=1e-12), "df": got.df}


FUNCTIONS = {
    "tokenize": (60, tokenize),
    "computeTokenF1": (30, f1),
    "lcsLength": (15, lcs_length),
    "jaccardSimilarity": (60, jaccard),
    "isJaccardMatch": (60, is_jaccard_match),
    "lineRangeIoU": (60, lambda one, other: line_iou(lines(one), lines(other))),
    "lineRangeOverlaps": (60, lambda one, other: lines_overlap(lines(one), lines(other))),
    "normalizePath": (21, normalize_path),
    "pathMatches": (160, path_matches),
    "fileMatches": (40, file_matches),
    "crossFileCoverage": (40, cross_file_coverage),
    "isLocationRelevant": (40, location),
    "pairedTTest": (30, t_test),
    "cohensD": (30, lambda one, other: shown(cohens_d(one, other))),
    "interpretEffectSize": (25, interpret_effect_size),
}


@pytest.fixture(scope="module")
def reference(data: Path) -> list[dict]:
    text = (data / "golden" / "memorybench_reference.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_equal_in_every_case(name, reference):
    count, function = FUNCTIONS[name]
    cases = [case for case in reference if case["fn"] == name]
    assert len(cases) == count
    for case in cases:
        assert function(*case["args"]) == case["expected"], case["case"]


@pytest.mark.parametrize("name", METRICS)
def test_metric_is_equal_in_every_case_value_and_details(name, reference):
    cases = [case for case in reference if case["fn"] == "metrics"]
    assert len(cases) == 150
    for case in cases:
        results = [read(one) for one in case["results"]]
        given = () if case["threshold"] is None else (case["threshold"],)
        got = METRICS[name](results, case["k"], *given)
        want = case["expected"][name]
        assert (got.value, got.details) == (want["value"], want["details"]), case["case"]


def record(*contexts: dict, benchmark: str = "none", expected: str = "a b", **metadata) -> dict:
    return {
        "itemId": "i1",
        "benchmark": benchmark,
        "expected": expected,
        "correct": True,
        "metadata": metadata,
        "retrievedContext": [
            {"id": f"c{number}", "content": "", "score": 1.0, **one}
            for number, one in enumerate(contexts)
        ],
    }


def measured(name: str, *records: dict, k: int = 5):
    return METRICS[name]([read(one) for one in records], k)


def test_words_of_other_scripts_have_no_tokens():
    assert tokenize("naïve Größe 漢字 x_1-Y") == ["na", "ve", "gr", "e", "x_1", "y"]
    assert jaccard("漢字", "КОД") == 1.0


def test_paths_of_other_repositories_and_other_case_match():
    assert path_matches("Repo\\src\\Auth.py", "src/auth.py")
    assert path_matches("setup.py", "/other/repo/SETUP.py")
    assert not path_matches("oauth.py", "auth.py")


def test_explicit_ids_are_trimmed_and_retrieved_ones_are_not():
    results = [read(record({"id": "c1"}, {"id": " c1 "}, relevantIds=[" c1 ", "", "c1"]))]
    (got,) = judge(results, 0.3)
    assert (got.strategy, got.gold, got.hits(2)) == ("qrels", {"c1"}, 1)


def test_first_list_of_explicit_ids_that_holds_a_text_counts():
    lists = {"relevantChunkIds": ["c1"], "groundTruthIds": ["c2"], "qrels": ["c3"]}
    for first, gold in (([], "c1"), ([7], "c1"), (["c0", 1], "c0")):
        (got,) = judge([read(record(**lists, relevantIds=first))], 0.3)
        assert got.gold == {gold}


def test_context_without_a_first_or_last_line_is_judged_by_its_path():
    target = {"file": "a.py", "startLine": 3, "endLine": 5}
    for lines in ({"startLine": 9}, {"endLine": 1}, {}):
        one = {"metadata": {"filepath": "a.py", **lines}}
        (got,) = judge([read(record(one, benchmark="repoeval", groundTruth=target))], 0.3)
        assert (got.strategy, got.hits(1)) == ("pack", 1)


@pytest.mark.parametrize("ids", [{"a": 1}, "a", [1.5], 3])
def test_explicit_ids_that_are_no_list_of_texts_are_passed_over(ids):
    (got,) = judge([read(record({"content": "a b"}, relevantIds=ids))], 0.3)
    assert got.strategy == "token-fallback"


def test_blank_explicit_ids_leave_the_judging_to_what_comes_next():
    context = {"content": "a b"}
    (got,) = judge([read(record(context, relevantIds=[" "], qrels=["c0"]))], 0.3)
    assert got.strategy == "qrels"
    (got,) = judge([read(record(context, relevantIds=[" "]))], 0.3)
    assert (got.strategy, got.hits(1)) == ("token-fallback", 1)


def test_list_is_judged_by_the_pack_of_its_first_benchmark():
    target = {"file": "a.py", "startLine": 3, "endLine": 5}
    place = {"filepath": "pkg/a.py", "startLine": 5, "endLine": 9}
    first = record(benchmark="repoeval", groundTruth=target)
    second = record({"metadata": place}, benchmark="swebench-lite", groundTruth=target)
    got = measured("precision", first, second)
    assert got.value == 0.5
    assert got.details["strategyCounts"] == {"qrels": 0, "pack": 1, "token-fallback": 0}


def test_id_that_was_retrieved_again_counts_again():
    twice = record({"id": "x"}, {"id": "x"}, {"id": "y"}, relevantIds=["x"])
    assert measured("precision", twice).value == 2 / 3
    assert measured("ndcg", twice).value == 1 + 1 / math.log2(3)


def test_end_of_a_name_is_enough_for_iou():
    place = {"filepath": "lib/xc.py", "startLine": 1, "endLine": 4}
    target = {"file": "c.py", "startLine": 1, "endLine": 2}
    assert measured("iou", record({"metadata": place}, groundTruth=target)).value == 0.5


def test_iou_is_printed_with_ties_away_from_zero():
    place = {"filepath": "a.py", "startLine": 1, "endLine": 16}
    target = {"file": "a.py", "startLine": 1, "endLine": 1}
    got = measured("iou", record({"metadata": place}, groundTruth=target))
    assert (got.value, got.details["avgBestIoU"]) == (0.0625, "0.063")


def test_target_without_lines_lies_on_line_1():
    place = {"filepath": "a.py", "startLine": 1, "endLine": 2}
    for target in ({"file": "a.py"}, {"file": "a.py", "startLine": None, "endLine": None}):
        one = record({"metadata": place}, benchmark="repoeval", groundTruth=target)
        assert (measured("iou", one).value, measured("mrr", one).value) == (0.5, 1.0)


def test_no_results_have_no_details():
    for metric in METRICS.values():
        got = metric([], 5)
        assert (got.value, got.details) == (0.0, None)


@pytest.mark.parametrize(
    ("n", "t", "p"),
    [
        (2, 12.706, 0.05),  # the table itself
        (8, 2.4338, 0.05),  # between its rows
        (3, 1e3, 0.001),  # never below
        (3, 0.0, 0.5),  # never above
    ],
)
def test_p_value_has_a_floor_a_ceiling_and_a_table(n, t, p):
    spread = [1.0, -1.0] * (n // 2) + [0.0] * (n % 2)
    mean = t * math.sqrt(sum(one**2 for one in spread) / (n - 1) / n)
    got = paired_t_test([one + mean for one in spread], [0.0] * n)
    assert got.t == pytest.approx(t, rel=1e-6)
    assert got.p == pytest.approx(p, rel=1e-4)


def test_large_samples_go_by_the_normal_distribution():
    spread = [1.0, -1.0] * 30
    mean = 1.959964 * math.sqrt(60 / 59 / 60)
    got = paired_t_test([one + mean for one in spread], [0.0] * 60)
    assert got.p == pytest.approx(0.05, abs=1e-6)


def test_differences_that_are_alike_have_an_infinite_effect():
    assert paired_t_test([0.5, 1.0], [1.0, 1.5]).t == -math.inf
    assert cohens_d([0.5, 1.0], [1.0, 1.5]) == -math.inf
    assert (paired_t_test([1.0, 2.0], [1.0, 2.0]).p, cohens_d([1.0, 2.0], [1.0, 2.0])) == (1.0, 0)
    assert interpret_effect_size(-math.inf) == "large"


@pytest.mark.parametrize(("d", "name"), [(0.2, "small"), (-0.5, "medium"), (0.8, "large")])
def test_effect_at_a_limit_has_the_larger_name(d, name):
    assert interpret_effect_size(d) == name


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"expected": 3}, "line 1: expected must be text, not a number"),
        ({"correct": None}, "line 1: correct must be true or false, not null"),
        ({"retrievedContext": None}, "retrievedContext must be a list, not null"),
        ({"retrievedContext": ["x"]}, "retrievedContext: item 1 must be an object .*, not text"),
        ({"retrievedContext": [{"id": "c"}]}, "item 1: the key 'content' is missing"),
        ({"retrievedContext": [{"id": 3, "content": ""}]}, "item 1: id must be text, not a number"),
        ({"metadata": []}, "metadata must be an object, not a list"),
        ({"metadata": {"groundTruth": "a.py"}}, "groundTruth must be an object .*, not text"),
        (
            {"metadata": {"groundTruth": {"startLine": "3"}}},
            "metadata, groundTruth: startLine must be a whole number, not text",
        ),
        ({"metadata": {"modifiedFiles": [3]}}, "modifiedFiles: item 1 must be text, not a number"),
        ({"metadata": {"goldSnippets": [3]}}, "goldSnippets: item 1 must be text, not a number"),
        (
            {"retrievedContext": [{"id": "c", "content": "", "metadata": {"filepath": 3}}]},
            "item 1, metadata: filepath must be text, not a number",
        ),
    ],
)
def test_record_of_another_shape_is_refused(change, says):
    with pytest.raises(InputError, match=says):
        read(record() | change)
