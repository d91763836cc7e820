"""What is relevant in a record: the first rule that it gives the labels for."""

import pytest

PARIS = "Paris is the capital and most populous city of France"
RULES = ("qrels", "span", "file", "text")


def item(path=None, first=None, last=None, text=None, name=None):
    made = {"id": name, "text": text, "path": path, "start_line": first, "end_line": last}
    return {key: value for key, value in made.items() if value is not None}


def record(query="q", retrieved=(), **gold):
    return {"query_id": query, "retrieved": list(retrieved), **gold}


def target(path, first=None, last=None, **more):
    return item(path, first, last) | more


FULL = record(
    retrieved=[item("a.py", 1, 9, PARIS, "one"), item("b.py", 5, 6, "else", "two")],
    relevant_ids=["two"],
    targets=[target("a.py", 9, 12)],
    expected="Paris is the capital of France.",
)


def without(*keys):
    return {key: value for key, value in FULL.items() if key not in keys}


@pytest.mark.parametrize(
    ("row", "rule", "mrr"),
    [
        (FULL, "qrels", 0.5),
        (without("relevant_ids"), "span", 1.0),
        (without("relevant_ids") | {"targets": [target("b.py")]}, "file", 0.5),
        (without("relevant_ids", "targets"), "text", 1.0),
        (FULL | {"relevant_ids": [], "targets": []}, "text", 1.0),
    ],
)
def test_the_first_rule_with_labels_decides(score, row, rule, mrr):
    done = score([row], None, "-m", "MRR")
    assert done.json["strategies"] == {one: int(one == rule) for one in RULES}
    assert done.json["metrics"]["MRR"]["mean"] == mrr


def test_rules_are_counted_by_query(score):
    rows = [FULL | {"query_id": "a"}, without("relevant_ids") | {"query_id": "b"}]
    rows += [without("relevant_ids", "targets") | {"query_id": one} for one in "cd"]
    done = score(rows, None, "-m", "MRR")
    assert done.json["strategies"] == {"qrels": 1, "span": 1, "file": 0, "text": 2}
    assert done.json["metrics"]["MRR"]["mean"] == (0.5 + 1 + 1 + 1) / 4


@pytest.mark.parametrize(
    ("lines", "found"),
    [((1, 9), 0.0), ((1, 10), 1.0), ((12, 20), 1.0), ((13, 20), 0.0), ((11, 11), 1.0)],
)
def test_one_shared_line_makes_relevant(means, lines, found):
    row = record(retrieved=[item("a.py", *lines)], targets=[target("a.py", 10, 12)])
    assert means([row], None, "MRR") == {"MRR": found}


def test_what_has_no_lines_is_its_whole_file(means):
    row = record(
        retrieved=[item("b.py", 1, 2), item("a.py")],
        targets=[target("a.py", 10, 12)],
    )
    assert means([row], None, "MRR") == {"MRR": 0.5}
    row = record(
        retrieved=[item("b.py", 1, 2), item("c.py", 3, 4)],
        targets=[target("a.py", 10, 12), target("c.py")],
    )
    assert means([row], None, "MRR") == {"MRR": 0.5}


def test_a_target_that_nothing_meets_is_something_not_found(means):
    row = record(
        retrieved=[item("a.py", 1, 2), item("a.py", 3, 4), item("x.py", 1, 2)],
        targets=[target("a.py", 1, 4), target("b.py", 1, 2), target("c.py", 1, 2)],
    )
    got = means([row], None, "R@5", "P@5", "nDCG@5")
    # Two chunks of the first target, none of the other two.
    assert got["R@5"] == 0.5
    assert got["P@5"] == 0.4
    ideal = 1 + 1 / 1.584962500721156 + 0.5 + 1 / 2.321928094887362
    assert got["nDCG@5"] == pytest.approx((1 + 1 / 1.584962500721156) / ideal)


def test_grades_of_targets_are_gains(means):
    row = record(
        retrieved=[item("a.py", 1, 2), item("b.py", 1, 2)],
        targets=[target("a.py", 1, 2), target("b.py", 1, 2, grade=3), target("b.py", 1, 1)],
    )
    want = (1 + 3 / 1.584962500721156) / (3 + 1 / 1.584962500721156)
    assert means([row], None, "nDCG@5")["nDCG@5"] == pytest.approx(want)


@pytest.mark.parametrize(("threshold", "found"), [("0.3", 1.0), ("0.7", 1.0), ("0.8", 0.0)])
def test_the_threshold_of_words_can_be_set(means, threshold, found):
    # Six distinct words are expected and shared, the text has ten: F1 is 0.75.
    row = record(retrieved=[item(text=PARIS)], expected="Paris is the capital of France.")
    options = ("--f1-threshold", threshold)
    assert means([row], None, "MRR", options=options) == {"MRR": found}


def test_what_has_no_label_is_left_out_and_the_reason_is_said(score):
    rows = [
        record("a", [item(name="x")]),
        record("b", [item(name="x")], targets=[target("a.py")]),
        record("c", [item(name="x")], expected="words"),
        record("d", [item(text="words")], expected="?!"),
        record("e", [item(text="words")], expected="words"),
    ]
    done = score(rows, None, "-m", "MRR")
    assert done.json["metrics"]["MRR"]["n"] == 1
    assert done.json["left_out"] == {"no judgements": 4}
    for why in ("has a path", "has a text", "no ids, no targets"):
        assert why in done.err
    assert len(done.json["warnings"]) == 3


def test_nothing_retrieved_scores_0_in_the_mean(means):
    rows = [
        record("a", targets=[target("a.py", 1, 2)]),
        record("b", targets=[target("a.py")]),
        record("c", expected="words"),
        record("d", relevant_ids=["x"]),
        record("e", [item(name="x")], relevant_ids=["x"]),
    ]
    assert means(rows, None, "MRR", "R@5") == {"MRR": 0.2, "R@5": 0.2}


def test_the_same_thing_retrieved_twice_counts_once(score):
    twice = [item("a.py", 1, 2, "text"), item("a.py", 1, 2, "text"), item("b.py", 1, 2)]
    row = record(retrieved=twice, targets=[target("b.py", 1, 2)])
    done = score([row], None, "-m", "MRR")
    assert done.json["metrics"]["MRR"]["mean"] == 0.5
    assert sum(done.json["merged"].values()) == 1
    options = ("-m", "MRR", "--profile", "memorybench")
    assert score([row], None, *options).json["metrics"]["MRR"]["mean"] == 1 / 3


def test_chunks_of_one_id_that_differ_are_different(means):
    row = record(
        retrieved=[item("a.py", 1, 2, name="a"), item("a.py", 3, 4, name="a")],
        targets=[target("a.py", 3, 4)],
    )
    assert means([row], None, "MRR") == {"MRR": 0.5}


@pytest.mark.parametrize("query", ["0", "1", "target 0", "nothing"])
def test_no_id_of_a_query_is_taken_for_a_document(means, query):
    row = record(query, [item("b.py", 1, 2), item("a.py", 1, 2)], targets=[target("a.py")])
    row["targets"].append(target("c.py"))
    for profile in ("default", "trec:variant=beir"):
        got = means([row], None, "MRR", "R@2", options=("--profile", profile))
        assert got == {"MRR": 0.5, "R@2": 0.5}


def test_a_cut_hides_what_was_found_but_not_that_it_is_relevant(means):
    row = record(
        retrieved=[item("a.py", 1, 2), item("b.py", 1, 2)],
        targets=[target("a.py", 1, 2), target("b.py", 1, 2)],
        k=1,
    )
    assert means([row], None, "R@5", "MRR") == {"R@5": 0.5, "MRR": 1.0}
