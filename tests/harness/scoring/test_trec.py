"""TREC's files: whatever order and spelling, a right number or the line that is wrong."""

import itertools

import numpy as np
import pytest
import pytrec_eval
from commands import says

from chunkers.errors import InputError
from harness.reading.qrels import read_qrels
from harness.runs.record import encode_id
from harness.scoring.trec_runs import read_run
from harness.support.json_files import numbered_lines


def load_run(path, wanted, *, own_format=False):
    return read_run(path, numbered_lines(path), wanted, own_format=own_format)


def load_qrels(path, layout="trec"):
    return read_qrels(path, numbered_lines(path), layout)


RUN = "q1 Q0 a 1 3.5 t\nq1 Q0 b 2 2 t\nq2 Q0 b 1 1e-3 t\n"
QRELS = "q1 0 b 1\nq2 0 b 2\nq2 0 c 0\n"


def test_a_run_is_read_by_query_whatever_the_order_of_its_lines(put):
    lines = RUN.splitlines(keepends=True)
    for mixed in itertools.permutations(lines):
        run, unjudged = load_run(put("a.run", "".join(mixed)), {"q1", "q2"})
        assert (run["q1"], run["q2"]) == ({"a": 3.5, "b": 2.0}, {"b": 0.001})
        assert (sorted(run), len(run), unjudged) == (["q1", "q2"], 2, 0)


def test_queries_that_nobody_judged_are_counted_and_not_kept(put):
    run, unjudged = load_run(put("a.run", RUN + "q3 Q0 a 1 nan t\n"), {"q2"})
    assert (list(run), unjudged) == (["q2"], 2)


def test_a_run_of_no_wanted_query_is_empty(put):
    run, unjudged = load_run(put("a.run", RUN), {"other"})
    assert (dict(run), unjudged) == ({}, 2)


def test_a_mark_windows_line_ends_tabs_and_blank_lines_do_not_matter(put):
    text = "\ufeffq1\tQ0\ta 1 3 t\r\n\r\n  q1 Q0 b 2 2 t"
    run, _ = load_run(put("a.run", text), {"q1"})
    assert run["q1"] == {"a": 3.0, "b": 2.0}
    qrels = load_qrels(put("a.qrels", "\ufeffq1 0 a 1\r\n\r\n"))
    assert qrels.grades == {"q1": {"a": 1.0}}


@pytest.mark.parametrize("at", [0, 255, 256, 600])
def test_what_a_line_says_does_not_depend_on_the_lines_around_it(put, at):
    rows = [f"q{n % 3} Q0 d{n} 1 {n} t\n" for n in range(700)]
    odd = ["\n", "# a comment of six words\n", "q1 Q0 x\u2003y 1 -1 a tag\n"]
    run, unjudged = load_run(put("a.run", "".join([*rows[:at], *odd, *rows[at:]])), {"q1", "q2"})
    wanted = {f"d{n}": float(n) for n in range(1, 700, 3)} | {"x\u2003y": -1.0}
    assert (run["q1"], unjudged) == (wanted, 1)
    assert run["q2"] == {f"d{n}": float(n) for n in range(2, 700, 3)}
    for fault, words in (("q1 Q0 d 1 1_0 t\n", "score '1_0'"), ("q1 Q0 d\n", "3 fields")):
        with pytest.raises(InputError, match=f"line {at + 2}: .*{words}"):
            load_run(put("a.run", "".join([*rows[:at], "\n", fault, *rows[at:]])), None)


def test_equal_rows_are_merged_and_counted(put):
    run, _ = load_run(put("a.run", RUN + "q1 Q0 a 9 3.50 u\n"), {"q1"})
    assert (run["q1"], run.repeated) == ({"a": 3.5, "b": 2.0}, {"q1": 1})
    qrels = load_qrels(put("a.qrels", QRELS + "q1 1 b 1.0\n"))
    assert (qrels.grades["q1"], qrels.repeated) == ({"b": 1.0}, 1)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("q1 Q0 a 4 1 t", ["line 4", "query q1 has a already at line 1"]),
        ("q1 Q0 x 4 nan t", ["line 4", "nan"]),
        ("q1 Q0 x 4 -inf t", ["line 4", "inf"]),
        ("q1 Q0 x 4 1e999 t", ["line 4", "inf"]),
        ("q1 Q0 x 4 high t", ["line 4", "'high'", "not a number"]),
        ("q1 Q0 x 4 1_0 t", ["line 4", "'1_0'", "not a number"]),
        ("q1 Q0 x 4 1,5 t", ["line 4", "'1,5'", "not a number"]),
        ("q1 Q0 an id 4 1 t", ["line 4", "7 fields", "not a rank", "percent-encoded"]),
        ("q1 Q0 x 4 1", ["line 4", "5 fields"]),
        ("q1 Q0 \udcff 4 1 t", ["line 4", "UTF-8"]),
        ("\udcff Q0 x 4 1 t", ["line 4", "UTF-8"]),
    ],
)
def test_a_damaged_run_is_named_by_its_line(put, score, line, words):
    text = (RUN + line + "\n").encode("utf-8", "surrogateescape")
    says(score(put("a.run", text), put("a.qrels", QRELS)), 2, "a.run", *words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("q1 0 b 2", ["line 4", "grade 2, but 1"]),
        ("q1 0 x 0.5", ["line 4", "'0.5'", "whole number", "JSON"]),
        ("q1 0 x nan", ["line 4", "'nan'"]),
        ("q1 0 x relevant", ["line 4", "'relevant'"]),
        ("q1 0 an id 1", ["line 4", "5 fields"]),
        ("q1 x 1", ["line 4", "3 fields"]),
        ("q1 0 \udcff 1", ["line 4", "UTF-8"]),
    ],
)
def test_damaged_judgements_are_named_by_their_line(put, score, line, words):
    text = (QRELS + line + "\n").encode("utf-8", "surrogateescape")
    says(score(put("a.run", RUN), put("a.qrels", text)), 2, "a.qrels", *words)


def test_whole_grades_may_have_a_point_and_a_sign(put):
    text = "q1 0 a 1.0\nq1 0 b -1\nq1 0 c +2.00\n"
    qrels = load_qrels(put("a.qrels", text))
    assert qrels.grades == {"q1": {"a": 1.0, "b": -1.0, "c": 2.0}}


@pytest.mark.parametrize("header", ["", "query-id\tcorpus-id\tscore\n", "qid\tpid\trel\n"])
def test_judgements_in_a_table_may_have_a_header_and_ids_with_spaces(put, header):
    text = f"{header}q 1\tdoc one\t1\r\nq 1\tdoc two\t0\n"
    qrels = load_qrels(put("a.tsv", text), "columns")
    assert qrels.grades == {"q 1": {"doc one": 1.0, "doc two": 0.0}}


def test_a_table_of_judgements_is_told_from_a_qrels_file(put, means):
    run = put("a.run", RUN)
    table = put("a.tsv", "query-id\tcorpus-id\tscore\nq1\tb\t1\nq2\tb\t2\n")
    assert means(run, table, "MRR") == means(run, put("a.qrels", QRELS), "MRR") == {"MRR": 0.75}


NAMES = ["a file.py:1-2", "100%", "100%25", "tab\there", "caf\u00e9", "nul\0"]


def test_ids_of_our_own_runs_are_decoded_in_both_files(put, score):
    run = "".join(
        f"{encode_id('q 1')} Q0 {encode_id(name)} {n} {9 - n} chunkmark\n"
        for n, name in enumerate(NAMES)
    )
    qrels = f"{encode_id('q 1')} 0 {encode_id(NAMES[2])} 1\n"
    done = score(put("a.run", run), put("a.qrels", qrels), "-m", "MRR", "--per-query")
    assert done.json["per_query"] == {"MRR": {"q 1": 1 / 3}}
    read, _ = load_run(put("a.run", run), {"q 1"}, own_format=True)
    assert list(read["q 1"]) == NAMES
    # Judgements from elsewhere have the ids as they are.
    assert score(put("a.run", run), {"q 1": [NAMES[0]]}, "-m", "P@1").json["metrics"]["P@1"][
        "mean"
    ] == pytest.approx(1.0)


def test_ids_of_other_runs_stay_as_they_are(put, score):
    run = put("a.run", "q%201 Q0 100% 1 2 other\nq%201 Q0 100%25 2 1 other\n")
    qrels = put("a.qrels", "q%201 0 100%25 1\n")
    done = score(run, qrels, "-m", "MRR", "--per-query")
    assert done.json["per_query"] == {"MRR": {"q%201": 0.5}}


def test_our_judgements_fit_a_ranking_in_json(put, means):
    ranking = {"q 1": ["another", "a file.py:1-2"]}
    assert means(ranking, put("a.qrels", "q%201 0 a%20file.py:1-2 1\n"), "MRR") == {"MRR": 0.5}
    odd = put("a.qrels", "q%201 0 caf%C3%A9 1\n")  # not how our own encoding spells it
    assert means({"q%201": ["caf%C3%A9"]}, odd, "MRR") == {"MRR": 1.0}


@pytest.mark.parametrize("name", ["a%20b", "100%", "a%2520b", "x%2fy", "%", "a+b%20"])
def test_ids_that_hold_a_percent_sign_are_the_same_in_every_format(put, means, name):
    query = f"q {name}".replace(" ", "_")
    trec, table = f"{query} 0 {name} 1\n", f"{query}\t{name}\t1\n"
    records = [{"query_id": query, "retrieved_ids": ["z", name]}]
    run = put("a.run", f"{query} Q0 z 1 2 t\n{query} Q0 {name} 2 1 t\n")
    ours = "".join(
        f"{encode_id(query)} Q0 {encode_id(one)} 1 {score} chunkmark\n"
        for one, score in (("z", 2), (name, 1))
    )
    for ranking in ({query: ["z", name]}, records, run, put("b.run", ours)):
        for qrels in (put("a.qrels", trec), put("a.tsv", table), {query: [name]}):
            assert means(ranking, qrels, "MRR", "R@5") == {"MRR": 0.5, "R@5": 1.0}, qrels


def test_our_qrels_fit_records_whose_ids_are_not_encoded(put, means):
    records = [{"query_id": "q 1", "retrieved_ids": ["z", "a b"]}]
    qrels = put("a.qrels", "q%201 0 a%20b 1\nq%201 0 100%25 1\n")
    assert means(records, qrels, "MRR", "R@5") == {"MRR": 0.5, "R@5": 0.5}


def test_both_spellings_of_an_id_may_be_documents(put, means):
    qrels = put("a.tsv", "q\ta%20b\t1\nq\ta b\t0\n")
    assert means({"q": ["a b", "a%20b"]}, qrels, "MRR") == {"MRR": 0.5}
    assert means({"q": ["a b", "c"]}, qrels, "MRR") == {"MRR": 0.0}
    # Our own runs and qrels are encoded, so nothing is ambiguous there.
    run = "q Q0 a%2520b 1 2 chunkmark\nq Q0 a%20b 2 1 chunkmark\n"
    assert means(put("a.run", run), put("a.qrels", "q 0 a%20b 1\n"), "MRR") == {"MRR": 0.5}


@pytest.mark.parametrize("block", [1, 3, 1000])
def test_a_run_of_many_queries_scores_as_pytrec_eval(put, means, monkeypatch, block):
    monkeypatch.setattr("harness.scoring.score_file.BLOCK", block)
    draw = np.random.default_rng(block)
    queries, documents = [f"q{n}" for n in range(10)], [f"d{n}" for n in range(30)]
    run = {q: dict(zip(documents, draw.integers(0, 9, 30) / 7, strict=True)) for q in queries}
    grades = {q: draw.choice([0, 0, 1, 2], 30).tolist() for q in queries[:9]}
    qrels = {
        q: dict(zip([*documents[::2], "gone"], row, strict=False)) for q, row in grades.items()
    }
    lines = [f"{q} Q0 {d} 1 {s} x\n" for q, row in run.items() for d, s in row.items()]
    judged = [f"{q} 0 {d} {g}\n" for q, row in qrels.items() for d, g in row.items()]
    draw.shuffle(lines)
    draw.shuffle(judged)
    ours = means(
        put("a.run", "".join(lines)), put("a.qrels", "".join(judged)),
        "nDCG@10", "MAP", "R@5", "MRR", "P@7", options=("--profile", "trec"),
    )  # fmt: skip
    names = {"nDCG@10": "ndcg_cut_10", "MAP": "map", "R@5": "recall_5", "MRR": "recip_rank",
             "P@7": "P_7"}  # fmt: skip
    wanted = {"ndcg_cut", "map", "recall", "recip_rank", "P.7"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
    for name, theirs_name in names.items():
        mean = sum(row[theirs_name] for row in theirs.values()) / len(theirs)
        assert ours[name] == pytest.approx(mean, abs=1e-12)
