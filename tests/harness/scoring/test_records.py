"""Records and tables: read as they are meant, or named by their line."""

import json

import pytest
from commands import call, says

RECORD = {"query_id": "q", "retrieved_ids": ["a", "b"], "relevant_ids": ["b"]}
TABLE = "query_id\tretrieved_ids\trelevant_ids\tk\n"


def eval_result(**changes):
    return {
        "runId": "r",
        "benchmark": "none",
        "provider": "p",
        "itemId": "q",
        "question": "where?",
        "expected": "the answer",
        "actual": "",
        "score": 0,
        "correct": True,
        "retrievedContext": [
            {"id": "x", "content": "nothing", "score": 1, "metadata": {}},
            {"id": "b", "content": "the answer", "score": 0.5},
        ],
        "metadata": {"relevantIds": ["b"]},
    } | changes


@pytest.mark.parametrize(
    "content",
    [
        [RECORD],
        json.dumps([RECORD]),
        json.dumps(RECORD),
        json.dumps(RECORD, indent=2),
        [RECORD | {"retrieved_ids": None, "retrieved": [{"id": "a"}, {"id": "b", "score": 2}]}],
        [RECORD | {"question": "other keys", "targets": None, "expected": None, "k": 2}],
        [eval_result()],
        json.dumps({"run": {"id": 1}, "results": [eval_result()], "aggregates": []}),
        TABLE + "q\ta b\tb\t2\n",
        "\ufeff" + TABLE.replace("\n", "\r\n") + "\r\nq\ta b\tb c b\t\r\n".replace(" c b", ""),
        "qid\trelevant_ids\tother\tretrieved_ids\nq\tb\tx\ta b\n",
    ],
)  # fmt: skip
def test_every_shape_of_a_record_scores_alike(score, content):
    done = score(content, None, "-m", "MRR", "-m", "R@1", "--per-query")
    assert done.code == 0, done.err
    assert done.json["per_query"] == {"MRR": {"q": 0.5}, "R@1": {"q": 0.0}}
    assert done.json["strategies"] == {"qrels": 1, "span": 0, "file": 0, "text": 0}


def test_the_option_run_takes_records_too(capsys, put):
    for option in ("--run", "--records"):
        done = call(capsys, "score", option, put("a.jsonl", [RECORD]), "--format", "json")
        assert done.json["metrics"]["MRR"]["mean"] == 0.5


def test_judgements_go_before_a_records_own_ids(means):
    other = RECORD | {"query_id": "r"}
    assert means([RECORD, other], {"q": ["a"]}, "MRR") == {"MRR": 0.75}


def test_records_can_be_judgements(put, means):
    gold = put("gold.jsonl", [RECORD, {"query_id": "none", "retrieved_ids": []}])
    assert means({"q": ["b"]}, gold, "MRR") == {"MRR": 1.0}
    table = put("gold.tsv", "query_id\trelevant_ids\nq\ta b\n")
    assert means({"q": ["b", "c"]}, table, "R@2") == {"R@2": 0.5}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("{", ["invalid JSON"]),
        ("[]", ["object"]),
        ("3", ["object"]),
        ('{"query_id": "r"}', ["neither", "retrieved_ids"]),
        ('{"query_id": "r", "retrieved_ids": [], "retrieved": []}', ["both"]),
        ('{"retrieved_ids": []}', ["query_id"]),
        ('{"query_id": "", "retrieved_ids": []}', ["query_id"]),
        ('{"query_id": 1.5, "retrieved_ids": []}', ["query_id"]),
        ('{"query_id": true, "retrieved_ids": []}', ["query_id"]),
        ('{"query_id": "r", "retrieved_ids": "a b"}', ["retrieved_ids", "list"]),
        ('{"query_id": "r", "retrieved_ids": [null]}', ["retrieved_ids: item 1"]),
        ('{"query_id": "r", "retrieved_ids": [], "k": 0}', ["k must be"]),
        ('{"query_id": "r", "retrieved_ids": [], "k": "5"}', ["k must be"]),
        ('{"query_id": "r", "retrieved_ids": [], "correct": "yes"}', ["correct"]),
        ('{"query_id": "r", "retrieved_ids": [], "expected": 3}', ["expected"]),
        ('{"query_id": "r", "retrieved": [{"score": NaN}]}', ["NaN"]),
        ('{"query_id": "r", "retrieved": [{"score": "high"}]}',
         ["retrieved, item 1: score must be a number"]),
        ('{"query_id": "r", "retrieved": [{"path": "a", "start_line": 1}]}', ["both"]),
        ('{"query_id": "r", "retrieved": [{"path": "a", "start_line": 0, "end_line": 2}]}',
         ["retrieved, item 1: start_line must be at least 1"]),
        ('{"query_id": "r", "retrieved": [{"path": "a", "start_line": 3, "end_line": 2}]}',
         ["3-2"]),
        ('{"query_id": "r", "retrieved": [{"path": "../a"}]}', ["'../a'", "leads out"]),
        ('{"query_id": "r", "retrieved_ids": [], "targets": [{"path": ""}]}', ["not name a file"]),
        ('{"query_id": "r", "retrieved_ids": [], "targets": [{"path": "a", "grade": 0}]}',
         ["targets, item 1: grade must be"]),
        ('{"query_id": "r", "retrieved_ids": ["a"], "targets": ["a.py"]}',
         ["targets: item 1 must be an object with path, start_line, end_line, grade, not text"]),
        ('{"query_id": "r", "query_id": "s", "retrieved_ids": []}', ["duplicate key"]),
        ('{"query_id": "q", "retrieved_ids": []}', ["query q", "already", "line 1"]),
        ('{"query_id": "r", "retrieved": [{"text": "x"}], "relevant_ids": ["a"]}',
         ["relevant_ids is given, so each retrieved item needs an id"]),
        ('{"itemId": "r"}', ["retrievedContext"]),
        ('{"itemId": "r", "retrievedContext": [{"content": 3}]}',
         ["retrievedContext, item 1: content must be"]),
        ('{"query_id": "\udcff"}', ["UTF-8"]),
    ],
)  # fmt: skip
def test_a_damaged_record_is_named_by_its_line(put, score, row, words):
    text = f"{json.dumps(RECORD)}\n\n{row}\n".encode("utf-8", "surrogateescape")
    says(score(put("a.jsonl", text)), 2, "a.jsonl", "line 3", *words)


def test_what_only_memorybench_needs_of_a_record_is_named_by_its_line(score):
    rows = [eval_result(), eval_result(itemId="r", correct=None)]
    assert score(rows, None, "-m", "MRR").code == 0
    done = score(rows, None, "-m", "MRR", "--profile", "memorybench")
    says(done, 2, "run.json, line 2: correct must be true or false, not null")


def test_a_damaged_record_of_an_array_is_named_by_its_number(score):
    says(score(json.dumps([RECORD, {"query_id": "r"}])), 2, "record 2", "neither")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("r\ta", ["2 cells", "4"]),
        ("r\ta\tb\t1\t2", ["5 cells"]),
        ("\ta\tb\t1", ["no query id"]),
        ("r\ta\tb\t0", ["k is '0'"]),
        ("r\ta\tb\t-1", ["k is '-1'"]),
        ("r\ta\tb\tmany", ["k is 'many'"]),
        ("r\ta\tb\t²", ["k is"]),
        ("q\ta\tb\t1", ["query q", "already"]),
        ("\udcff\ta\tb\t1", ["UTF-8"]),
    ],
)
def test_a_damaged_row_of_a_table_is_named_by_its_line(put, score, row, words):
    text = f"{TABLE}q\ta\tb\t1\n{row}\n".encode("utf-8", "surrogateescape")
    says(score(put("a.tsv", text)), 2, "a.tsv", "line 3", *words)


def test_a_records_own_k_cuts_its_ranking(means):
    rows = [
        {"query_id": f"q{k}", "retrieved_ids": ["x", "b", "c"], "relevant_ids": ["b", "c"], "k": k}
        for k in (1, 2, 3, 99)
    ]
    got = means(rows, None, "R@5", "P@5", "MRR")
    assert got["R@5"] == pytest.approx((0 + 0.5 + 1 + 1) / 4)
    assert got["P@5"] == pytest.approx((0 + 1 + 2 + 2) / 5 / 4)
    assert got["MRR"] == pytest.approx(1.5 / 4)


UUID = "<urn:uuid:6fa459ea-ee8a-3ca4-894e-db77e160355e>"
OTHER = "<urn:uuid:16fd2706-8baf-433b-82eb-8c7fada847da>"


def test_chunks_count_as_their_document_once_at_the_first_place(score):
    ids = [
        f"doc-{OTHER}::chunk-0",
        f"doc-{OTHER}::chunk-7",
        f"doc-{UUID}::chunk-12",
        f"doc-{UUID}::chunk-0",
    ]
    row = f"q\t{' '.join(ids)}\t{UUID}\t\n"
    done = score(TABLE + row, None, "-m", "MRR", "-m", "R@5", "-m", "P@5", "-m", "ContextP")
    values = {name: one["mean"] for name, one in done.json["metrics"].items()}
    assert values == {"MRR": 0.5, "R@5": 1.0, "P@5": 0.2, "ContextP": 0.5}
    assert sum(done.json["merged"].values()) == 2
    records = [{"query_id": "q", "retrieved_ids": ids, "relevant_ids": [UUID]}]
    assert score(records, None, "-m", "MRR").json["metrics"]["MRR"]["mean"] == 0.5


@pytest.mark.parametrize(
    ("retrieved", "gold", "rank"),
    [
        ("doc-7::chunk-1", "7", 1),
        ("doc-7::chunk-1", "doc-7", 1),
        ("x::chunk-1", "x", 1),
        ("doc-7", "7", None),
        (f"doc-{UUID}", UUID, 1),
        ("x::chunk-0 x::chunk-1", "x::chunk-1", 2),
        ("x::chunk-0 x::chunk-1 y", "y", 2),
        ("x::chunk-a x::chunk-b y", "y", 3),
    ],
)
def test_an_id_is_changed_only_where_the_gold_asks_for_it(means, retrieved, gold, rank):
    got = means(f"{TABLE}q\t{retrieved}\t{gold}\t\n", None, "MRR")
    assert got == {"MRR": 0.0 if rank is None else 1 / rank}


def test_repeats_in_a_record_count_once_or_each_time(means):
    rows = [{"query_id": "q", "retrieved_ids": ["b", "b", "c"], "relevant_ids": ["b", "c"]}]
    assert means(rows, None, "R@2") == {"R@2": 1.0}
    assert means(rows, None, "P@3", options=("--profile", "code-chunk")) == {"P@3": 1.0}


def test_paths_of_every_spelling_are_one(means):
    def record(path):
        return [{"query_id": "q", "retrieved": [{"path": path}], "targets": [{"path": "pkg/a.py"}]}]

    for path in ("./pkg/a.py", "pkg//a.py", "pkg\\a.py", "pkg/./b/../a.py"):
        assert means(record(path), None, "MRR") == {"MRR": 1.0}, path
    assert means(record("PKG/a.py"), None, "MRR") == {"MRR": 0.0}


def test_a_path_below_the_source_folder_is_relative_to_it(tmp_path, means):
    rows = [
        {
            "query_id": "q",
            "retrieved": [{"path": f"{tmp_path}/a.py"}],
            "targets": [{"path": "a.py"}],
        }
    ]
    assert means(rows, None, "MRR") == {"MRR": 0.0}
    assert means(rows, None, "MRR", options=("--source", str(tmp_path))) == {"MRR": 1.0}
