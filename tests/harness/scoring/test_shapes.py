"""Formats are found by content and suffix; what is none of them is named."""

import os

import pytest
from commands import call, says

from harness.scoring.files import open_file

RECORD = '{"query_id": "q", "retrieved_ids": ["a"]}'


@pytest.mark.parametrize(
    ("name", "text", "shape"),
    [
        ("a.txt", "q Q0 a 1 1 t\n", "run"),
        ("a.tsv", "q\tQ0\ta\t1\t1\tt\n", "run"),
        ("a.txt", "\n\n  q 0 a 1\n", "qrels"),
        ("a.txt", "q\t0\ta\t1\n", "qrels"),
        ("a.txt", "query-id\tcorpus-id\tscore\nq\ta\t1\n", "judgements"),
        ("a.txt", "q\tan id\t1\n", "judgements"),
        ("a.txt", "query_id\tretrieved_ids\trelevant_ids\nq\ta b\ta\n", "table"),
        ("a.txt", "Query_ID\tk\tretrieved_ids\n", "table"),
        ("a.txt", '{"q": {"a": 1}}', "json"),
        ("a.txt", '\ufeff\n {"q":\n {"a": 1}}', "json"),
        ("a.json", f"[{RECORD}]", "json"),
        ("a.json", RECORD, "json"),
        ("a.json", f"{RECORD}\n{RECORD}\n", "jsonl"),
        ("a.jsonl", RECORD, "jsonl"),
        ("a.NDJSON", "{damaged", "jsonl"),
        ("a.jsonl.gz", RECORD, "jsonl"),
        ("a.JSONL.GZ", RECORD, "jsonl"),
        ("a.json.gz", RECORD, "json"),
    ],
)
def test_format_is_found(put, name, text, shape):
    assert open_file(put(name, text)).shape == shape


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty"]),
        (b" \r\n\t\n", ["empty"]),
        (b"\xef\xbb\xbf", ["empty"]),
        ("q Q0 a 1 1 t\n".encode("utf-16"), ["UTF-16"]),
        (b"one word\n", ["2 fields", "--help"]),
        (b"query_id,retrieved_ids,relevant_ids\nq,a,a\n", ["has commas between its columns"]),
    ],
)
def test_what_is_no_format_is_named(put, score, content, words):
    says(score(put("a.run", content), {"q": {"a": 1}}), 2, "a.run", *words)
    says(score({"q": ["a"]}, put("a.qrels", content)), 2, "a.qrels", *words)


def test_files_that_are_not_there_are_named(tmp_path, capsys, put):
    run, qrels = put("a.run", "q Q0 a 1 1 t\n"), put("a.qrels", "q 0 a 1\n")
    for one, other in ((run, tmp_path / "no"), (tmp_path / "no", qrels), (tmp_path, qrels)):
        done = call(capsys, "score", "--run", one, "--qrels", other)
        says(done, 2, tmp_path, "is a folder" if one == tmp_path else "does not exist")


def test_a_pipe_is_not_half_read(tmp_path, capsys, put):
    os.mkfifo(tmp_path / "pipe")
    done = call(capsys, "score", "--run", tmp_path / "pipe", "--qrels", put("a.qrels", "q 0 a 1\n"))
    says(done, 2, "pipe", "regular file")


def test_files_that_were_mixed_up_are_named(put, score):
    run, qrels = put("a.run", "q Q0 a 1 1 t\n"), put("a.qrels", "q 0 a 1\n")
    says(score(qrels, run), 2, "a ranking, not judgements")
    says(score(qrels, put("b.qrels", "q 0 a 1\n")), 2, "looks like judgements")
    says(score(run), 2, "a.run", "--qrels")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"q": {"a": NaN}}', ["NaN"]),
        ('{"q": {"a": -Infinity}}', ["-Infinity"]),
        ('{"q": {"a": 1e999}}', ["a.json", "1e999", "finite"]),
        ('{"q": {"a": ' + "9" * 400 + "}}", ["score of a", "finite"]),
        ('{"q": {"a": ' + "9" * 5000 + "}}", ["a.json"]),
        ('{"q": {"a": "0.5"}}', ["score of a is '0.5'"]),
        ('{"q": {"a": true}}', ["score of a is True"]),
        ('{"q": {"a": null}}', ["score of a is None"]),
        ('{"q": {"a": [1]}}', ["score of a"]),
        ('{"q": {"a": 1, "a": 2}}', ["'a'", "duplicate key"]),
        ('{"q": {"a": 1}, "q": {"a": 2}}', ["'q'", "duplicate key"]),
        ('{"q": ["a", 1.5]}', ["document id is 1.5"]),
        ('{"q": ["a", ""]}', ["document id is ''"]),
        ('{"q": ["a", null]}', ["document id is None"]),
        ('{"q": "a"}', ["query q: 'a' is neither an object nor a list"]),
        ('{"q": 3}', ["query q: 3 is neither"]),
        ("[]x", ["invalid JSON"]),
        ("[1, 2]", ["record 1", "object"]),
        ('{"q": {"a": 1},\n\n "r": }', ["line 3", "invalid JSON"]),
        ('{"q": ' + "[" * 100_000, ["a.json"]),
    ],
)
def test_damaged_json_is_named(put, score, text, words):
    says(score(put("a.json", text), {"q": {"a": 1}}), 2, "a.json", *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"q": {"a": NaN}}', ["NaN"]),
        ('{"q": {"a": "1"}}', ["grade of a is '1'"]),
        ('{"q": {"a": 1, "a": 0}}', ["'a'", "duplicate key"]),
        ('{"q": 1}', ["query q: 1 is neither"]),
        ('"q"', ["1 field in"]),
    ],
)
def test_damaged_judgements_in_json_are_named(put, score, text, words):
    says(score({"q": ["a"]}, put("a.json", text)), 2, "a.json", *words)


def test_an_id_that_stands_twice_in_a_list_is_refused_or_counts_each_time(score, means):
    ranking = {"q": ["a", "b", "a"]}
    says(score(ranking, {"q": ["a"]}), 2, "query q", "duplicate a in the ranking")
    options = ("--profile", "code-chunk")
    assert means(ranking, {"q": ["a"]}, "R@3", options=options) == {"R@3": 2.0}


def test_equal_keys_with_equal_values_are_one(put, means):
    assert means(put("a.json", '{"q": {"a": 1, "a": 1}}'), {"q": ["a"]}, "P@1") == {"P@1": 1.0}


def test_whole_numbers_are_ids(means):
    assert means({"7": [3, "4"]}, {"7": {"4": 1}}, "MRR") == {"MRR": 0.5}


def test_grades_in_json_may_be_fractions_negative_or_a_list(means):
    qrels = {"q": {"a": 0.5, "b": 1, "c": -3}}
    got = means({"q": {"c": 9, "a": 8, "b": 7.5}}, qrels, "P@1", "R@3", "nDCG@3")
    assert (got["P@1"], got["R@3"]) == (0.0, 1.0)
    assert got["nDCG@3"] == pytest.approx((0.5 / 1.584962500721156 + 0.5) / 1.3154648767857287)
    assert means({"q": ["b", "a"]}, {"q": ["a"]}, "MRR") == {"MRR": 0.5}


def test_equal_scores_go_by_the_profile(means):
    tied = {"q": {"b": 1, "a": 1, "c": 1}}
    for profile, rank in (("default", 2), ("trec", 2), ("code-chunk", 1), ("memorybench", 1)):
        options = ("--profile", profile)
        assert means(tied, {"q": ["b"]}, "MRR", options=options) == {"MRR": 1 / rank}, profile
