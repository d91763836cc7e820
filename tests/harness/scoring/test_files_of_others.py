"""Comments, compression, headings, tags with spaces and trec_eval's names in files of others."""

import gzip

import pytest

from harness.measures.grammar import parse_measure
from harness.measures.profiles import load_profile
from harness.scoring.score_file import ScoreOptions, score_file

RUN = "h1 Q0 d3 1 2.0 BM25 (k1=0.9 b=0.4)\nh2 Q0 d4 1 1.0 BM25 (k1=0.9 b=0.4)\n"
QRELS = "h1 0 d3 1\nh2 0 d4 1\n"


def mean(tmp_path, run, qrels, measure="MRR", profile="trec"):
    """The mean and its number of queries."""
    (tmp_path / "run").write_bytes(run if isinstance(run, bytes) else run.encode())
    (tmp_path / "qrels").write_bytes(qrels if isinstance(qrels, bytes) else qrels.encode())
    options = ScoreOptions((parse_measure(measure),), load_profile(profile), 0.3)
    scored = score_file(tmp_path / "run", tmp_path / "qrels", options)
    return scored.columns[measure].values.mean(), scored.n_queries


@pytest.mark.parametrize("words", [1, 3, 4, 5, 6])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_comment_is_never_a_judgement_nor_a_row(tmp_path, words, at):
    comment = "# " + " ".join(["pool"] * (words - 1)) + "\n"
    lines = QRELS.splitlines(keepends=True)
    lines.insert(at, comment)
    rows = RUN.splitlines(keepends=True)
    rows.insert(at, comment)
    assert mean(tmp_path, "".join(rows), "".join(lines)) == (1, 2)


def test_gzip_is_read_by_its_first_bytes(tmp_path):
    run, qrels = gzip.compress(RUN.encode()), gzip.compress(QRELS.encode())
    assert mean(tmp_path, run, qrels) == (1, 2)


def test_damaged_gzip_is_one_line(tmp_path):
    from chunkers.errors import InputError

    with pytest.raises(InputError, match="cannot be decompressed"):
        mean(tmp_path, gzip.compress(RUN.encode())[:-9], QRELS)


def test_only_ascii_white_space_separates(tmp_path):
    run = "h1 Q0 d\u00a03 1 2.0 t\nh1 Q0 d\u3000 2 1.0 t\n"
    assert mean(tmp_path, run, "h1 0 d\u00a03 1\n") == (1, 1)
    assert mean(tmp_path, run, "h1 0 d\u3000 1\n") == (0.5, 1)


@pytest.mark.parametrize(
    "table",
    [
        "query-id\tcorpus-id\tscore\nh1\td3\t1\nh2\td4\t1\n",
        "score\tcorpus-id\tquery-id\n1\td3\th1\n1\td4\th2\n",
        "query-id\titeration\tcorpus-id\tscore\nh1\t0\td3\t1\nh2\t0\td4\t1\n",
    ],
)
def test_columns_go_by_the_names_of_a_heading(tmp_path, table):
    assert mean(tmp_path, RUN, table) == (1, 2)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("ndcg_cut_10", "nDCG@10"), ("ndcg_cut.10", "nDCG@10"), ("P_10", "P@10"), ("P.5", "P@5"),
        ("recall_10", "R@10"), ("map_cut_10", "MAP@10"), ("success_1", "Hit@1"),
        ("recip_rank", "MRR"),
    ],
)  # fmt: skip
def test_names_of_trec_eval_are_understood(name, canonical):
    assert str(parse_measure(name)) == canonical


def test_hits_is_a_count_elsewhere_and_no_alias():
    from chunkers.errors import InputError

    with pytest.raises(InputError, match="unknown measure"):
        parse_measure("hits@10")


def test_carriage_returns_alone_end_no_line(tmp_path):
    from chunkers.errors import InputError

    run = "q1 Q0 d2 1 3 t\rq2 Q0 x 1 3 t\rq2 Q0 y 2 2 t\r"
    with pytest.raises(InputError, match="carriage return"):
        mean(tmp_path, run, "q1 0 d2 1\nq2 0 y 1\n")
    assert mean(tmp_path, RUN.replace("\n", "\r\n"), QRELS.replace("\n", "\r\n")) == (1, 2)


@pytest.mark.parametrize("other", ["q1\ta b\t0\n", "q%31\td2\t1\n"])
def test_an_id_in_two_spellings_is_an_error(tmp_path, other):
    from chunkers.errors import InputError

    with pytest.raises(InputError, match="query q1 have an id in two spellings"):
        mean(tmp_path, "q1 Q0 a%20b 1 3 chunkmark\n", f"q1\ta%20b\t1\n{other}")


def test_beside_an_id_query_is_the_text(tmp_path):
    table = "query\tqid\tdocid\tscore\nhello\th1\td3\t1\nworld\th2\td4\t1\n"
    assert mean(tmp_path, RUN, table) == (1, 2)


def test_a_bad_grade_is_no_heading(tmp_path):
    from chunkers.errors import InputError

    with pytest.raises(InputError, match=r"grade '1\.5' is not a whole number"):
        mean(tmp_path, RUN, "qid\td2\t1.5\n")
    with pytest.raises(InputError, match="holds no judgements"):
        mean(tmp_path, RUN, "qid\tdocid\tscore\n")


def test_trec_files_between_tabs_may_hold_any_id(tmp_path):
    run = "h1\tQ0\tquery\t1\t3\tt\n"
    assert mean(tmp_path, run, "h1\t0\tquery\t1\n") == (1, 1)
    assert mean(tmp_path, run.replace("h1", "qid"), "qid\t0\tquery\t1\n") == (1, 1)
