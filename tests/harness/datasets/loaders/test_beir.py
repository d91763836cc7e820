import json
import os
from collections import Counter
from pathlib import Path

import pytest

from chunkers.errors import InputError
from harness.datasets.loading import load_dataset
from harness.model import Dataset

DOCUMENTS = [
    {"_id": "d2", "title": "Two", "text": "two words"},
    {"_id": "d1", "title": "", "text": " one "},
    {"_id": "d3", "text": "three"},
]
QUERIES = [{"_id": "q2", "text": "two?"}, {"_id": "q1", "text": "one?", "metadata": {}}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n"


def jsonl(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "set"
    (folder / "qrels").mkdir(parents=True)
    write(folder, corpus=jsonl(DOCUMENTS), queries=jsonl(QUERIES), qrels=QRELS)
    return folder


def write(folder: Path, **files: str | bytes) -> None:
    names = {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "qrels/test.tsv"}
    for name, text in files.items():
        data = text.encode() if isinstance(text, str) else text
        (folder / names[name]).write_bytes(data)


def load(folder: Path, options: str = "") -> Dataset:
    return load_dataset(f"beir:{folder}{options}")


def grades(dataset: Dataset) -> dict[str, dict[str, float]]:
    return {query.id: dict(query.qrels or {}) for query in dataset.queries}


def fails(folder: Path, *says: str) -> None:
    with pytest.raises(InputError) as error:
        load(folder)
    for part in says:
        assert part in str(error.value)
    assert len(str(error.value).splitlines()) <= 2


class TestWhole:
    def test_documents_queries_and_grades_are_read_in_order_of_id(self, folder: Path) -> None:
        dataset = load(folder)
        assert dataset.gold == "document"
        (corpus,) = dataset.corpora
        assert [(one.path, one.text, one.language) for one in corpus.sources] == [
            ("d1", " one ", None),
            ("d2", "Two two words", None),
            ("d3", "three", None),
        ]
        assert [(one.id, one.text, one.cluster) for one in dataset.queries] == [
            ("q1", "one?", "q1"),
            ("q2", "two?", "q2"),
        ]
        assert grades(dataset) == {"q1": {"d1": 1.0}, "q2": {"d2": 2.0}}
        assert set(dataset.left_out.values()) == {0}
        assert dataset.information == {
            "split": "test",
            "title": "join",
            "documents": "3",
            "documents without text": "0",
            "queries": "2",
            "queries without text": "0",
        }

    def test_the_title_can_be_dropped_which_is_recorded(self, folder: Path) -> None:
        dataset = load(folder, ",title=drop")
        assert dataset.corpora[0].sources[1].text == "two words"
        assert dataset.information["title"] == "drop"
        assert dataset.fingerprint != load(folder).fingerprint

    @pytest.mark.parametrize("pooling", ["max", "first", "sum"])
    def test_pooling_is_part_of_the_data_set(self, folder: Path, pooling: str) -> None:
        assert load(folder, f",pooling={pooling}").pooling == pooling

    def test_max_is_the_default_pooling(self, folder: Path) -> None:
        assert load(folder).pooling == "max"

    def test_empty_texts_stay_and_are_counted(self, folder: Path) -> None:
        empty = [{"_id": "d4", "text": ""}, {"_id": "d5", "title": "Title", "text": ""}]
        write(folder, corpus=jsonl([*DOCUMENTS, *empty]))
        write(
            folder, queries=jsonl([*QUERIES, {"_id": "q3", "text": " "}]), qrels=QRELS + "q3\td4\t1"
        )
        dataset = load(folder)
        assert [one.text for one in dataset.corpora[0].sources[3:]] == ["", "Title"]
        assert dataset.information["documents without text"] == "1"
        assert dataset.information["queries without text"] == "1"
        assert len(dataset.queries) == 3
        assert load(folder, ",title=drop").information["documents without text"] == "2"

    def test_numeric_ids_are_those_of_the_qrels(self, folder: Path) -> None:
        write(folder, corpus='{"_id": 7, "text": "x"}', queries='{"_id": 8, "text": "y"}')
        write(folder, qrels="8\t7\t1")
        assert grades(load(folder)) == {"8": {"7": 1.0}}

    def test_ids_may_be_any_text(self, folder: Path) -> None:
        write(folder, corpus=jsonl([{"_id": "a b/c#2:1-2 é", "text": "x"}]))
        write(folder, qrels="q1\ta b/c#2:1-2 é\t1\n")
        assert grades(load(folder)) == {"q1": {"a b/c#2:1-2 é": 1.0}}

    def test_crlf_blank_lines_and_a_byte_order_mark_do_no_harm(self, folder: Path) -> None:
        expected = load(folder)
        for name, text in [
            ("corpus", jsonl(DOCUMENTS)),
            ("queries", jsonl(QUERIES)),
            ("qrels", QRELS),
        ]:
            write(folder, **{name: b"\xef\xbb\xbf" + text.replace("\n", "\r\n\r\n").encode()})
        assert load(folder) == expected

    def test_line_separators_inside_a_text_end_no_line(self, folder: Path) -> None:
        text = "a\u2028b\x85c\x0cd"
        row = json.dumps({"_id": "d1", "text": text}, ensure_ascii=False)
        write(folder, corpus=row + "\n" + jsonl(DOCUMENTS[:1]))
        assert load(folder).corpora[0].sources[0].text == text


class TestQrels:
    @pytest.mark.parametrize(
        "header", ["", "query-id\tcorpus-id\tscore\n", "Query_ID\tdoc\trel\n", "qid\tpid\tlabel\n"]
    )
    def test_a_header_may_stand_or_not(self, folder: Path, header: str) -> None:
        write(folder, qrels=header + "q1\td1\t1\n")
        assert grades(load(folder)) == {"q1": {"d1": 1.0}}

    def test_a_query_called_like_a_heading_is_no_heading(self, folder: Path) -> None:
        queries = [{"_id": "query", "text": "one?"}, {"_id": "q2", "text": "two?"}]
        write(folder, queries=jsonl(queries), qrels="query\td1\t1\nq2\td2\t1\n")
        assert grades(load(folder)) == {"query": {"d1": 1.0}, "q2": {"d2": 1.0}}

    def test_damage_is_mended_and_counted(self, folder: Path) -> None:
        rows = "q1\td1\t1.0\nq1\td1\t1\nq9\td1\t1\nq1\td9\t1\nq2\td9\t1\n"
        write(folder, qrels="query-id\tcorpus-id\tscore\n" + rows)
        dataset = load(folder)
        assert grades(dataset) == {"q1": {"d1": 1.0}}
        assert dataset.left_out == {
            "judgements that repeat another": 1,
            "judgements of unknown queries": 1,
            "judgements of unknown documents": 2,
            "queries without judgement": 1,
        }
        assert dataset.information["judgements of unknown queries"] == "q9"
        assert dataset.information["judgements of unknown documents"] == "d9"

    def test_a_long_list_of_unknown_ids_is_cut(self, folder: Path) -> None:
        unknown = "".join(f"x{number:02}\td1\t1\n" for number in range(13))
        write(folder, qrels=QRELS + unknown)
        listed = load(folder).information["judgements of unknown queries"]
        assert listed.startswith("x00, x01, ")
        assert listed.endswith("x09 and 3 more")

    def test_conflicting_grades_are_named_by_their_line(self, folder: Path) -> None:
        write(folder, qrels=QRELS + "q1\td1\t2\n")
        fails(folder, "test.tsv, line 4: q1 and d1 have the grade 2, but 1 in an earlier line")

    @pytest.mark.parametrize("grade", ["0.5", "1.5", "nan", "inf", "-", "x", "", "1,0", "1e3", "٣"])
    def test_a_grade_that_is_no_whole_number_is_an_error(self, folder: Path, grade: str) -> None:
        write(folder, qrels=QRELS + f"q1\td3\t{grade}\n")
        fails(folder, f"test.tsv, line 4: the grade {grade!r} is not a whole number")

    def test_a_bad_grade_in_the_first_line_is_no_header(self, folder: Path) -> None:
        write(folder, qrels="q1\td1\tx\nq1\td2\t1\n")
        fails(folder, "test.tsv, line 1: the grade 'x'")

    def test_grades_of_zero_and_below_stay_for_the_profile(self, folder: Path) -> None:
        write(folder, qrels="q1\td1\t0\nq1\td2\t-1\nq2\td3\t+3\n")
        assert grades(load(folder)) == {"q1": {"d1": 0.0, "d2": -1.0}, "q2": {"d3": 3.0}}

    @pytest.mark.parametrize("row", ["q1", "q1 d1 1", "q1\td1", "q1\t0\td1\t1", "q1\td1\t1\t"])
    def test_rows_of_other_than_three_fields_are_an_error(self, folder: Path, row: str) -> None:
        write(folder, qrels=f"q1\td1\t1\n{row}\n")
        fails(folder, "test.tsv, line 2:", "between tabs")

    def test_nothing_judged_is_an_error(self, folder: Path) -> None:
        write(folder, qrels="q9\td1\t1\n")
        fails(folder, "test.tsv judges no document of the corpus")
        write(folder, qrels="")
        fails(folder, "test.tsv judges no document of the corpus")

    def test_the_split_is_test_or_the_only_one_or_the_one_named(self, folder: Path) -> None:
        (folder / "qrels/dev.tsv").write_text("q1\td3\t1\n")
        assert load(folder).information["split"] == "test"
        assert grades(load(folder, ",split=dev")) == {"q1": {"d3": 1.0}}
        (folder / "qrels/test.tsv").unlink()
        assert load(folder).information["split"] == "dev"
        with pytest.raises(InputError, match="there are dev\nname one by split="):
            load(folder, ",split=test")
        (folder / "qrels/train.tsv").write_text("q1\td3\t1\n")
        fails(folder, "test.tsv is missing; there are dev, train")
        for file in (folder / "qrels").iterdir():
            file.unlink()
        fails(folder, "test.tsv is missing; there is none")


class TestDamage:
    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ("{", "invalid JSON"),
            ("[" * 100_000, "invalid JSON"),
            ('["_id"]', "a row is an object"),
            ('{"text": "x"}', "the key '_id' is missing"),
            ('{"_id": "", "text": "x"}', "_id is empty"),
            ('{"_id": 1.5, "text": "x"}', "_id must be text, not"),
            ('{"_id": true, "text": "x"}', "_id must be text, not"),
            ('{"_id": "z"}', "the key 'text' is missing"),
            ('{"_id": "z", "text": ["x"]}', "text must be text, not a list"),
            ('{"_id": "z", "text": "\\ud800"}', "half of a surrogate pair"),
            ('{"_id": "\\udfff", "text": "x"}', "half of a surrogate pair"),
        ],
    )
    @pytest.mark.parametrize("name", ["corpus", "queries"])
    def test_a_bad_row_is_named_by_its_line(
        self, folder: Path, name: str, line: str, says: str
    ) -> None:
        rows = jsonl({"corpus": DOCUMENTS, "queries": QUERIES}[name])  # type: ignore[arg-type]
        write(folder, **{name: rows + "\n" + line})
        number = rows.count("\n") + 2
        fails(folder, f"{name}.jsonl, line {number}", says)

    def test_a_bad_title_is_an_error_unless_it_is_dropped(self, folder: Path) -> None:
        write(folder, corpus=jsonl([*DOCUMENTS, {"_id": "d4", "title": 1, "text": "x"}]))
        fails(folder, "corpus.jsonl, line 4: title must be text, not a number")
        assert len(load(folder, ",title=drop").corpora[0].sources) == 4

    def test_a_title_of_null_is_none(self, folder: Path) -> None:
        write(folder, corpus=jsonl([*DOCUMENTS, {"_id": "d4", "title": None, "text": "x"}]))
        assert load(folder).corpora[0].sources[3].text == "x"

    @pytest.mark.parametrize("name", ["corpus", "queries"])
    def test_an_id_that_stands_twice_names_both_lines(self, folder: Path, name: str) -> None:
        write(folder, **{name: '{"_id": "1", "text": "x"}\n{"_id": 1, "text": "y"}\n'})
        fails(folder, f"{name}.jsonl, line 2: the id '1' is already at", f"{name}.jsonl, line 1")

    @pytest.mark.parametrize("name", ["corpus", "queries", "qrels"])
    def test_other_encodings_are_named_by_their_line(self, folder: Path, name: str) -> None:
        write(
            folder, **{name: b'{"_id": "1", "text": "x"}\n\xe9\n' if name != "qrels" else b"\n\xe9"}
        )
        fails(folder, "line 2: not UTF-8")

    @pytest.mark.parametrize("name", ["corpus", "queries"])
    def test_missing_and_empty_files_are_errors(self, folder: Path, name: str) -> None:
        write(folder, **{name: " \n"})
        fails(folder, f"{name}.jsonl has no rows")
        (folder / f"{name}.jsonl").unlink()
        fails(folder, f"{name}.jsonl is missing", "a BEIR folder holds")

    def test_an_empty_and_a_missing_folder_are_errors(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        fails(tmp_path / "empty", "corpus.jsonl is missing")
        fails(tmp_path / "none", "none does not exist; name one with corpus.jsonl")


DATA = Path(os.environ.get("CHUNKMARK_DATA") or "no data folder")


@pytest.mark.skipif(not (DATA / "cosqa/beir").is_dir(), reason="needs cosqa in $CHUNKMARK_DATA")
def test_cosqa_is_whole() -> None:
    dataset = load_dataset("beir:cosqa/beir", data_dir=DATA)
    assert len(dataset.corpora[0].sources) == 6267
    assert len(dataset.queries) == 500
    assert Counter(len(query.qrels or {}) for query in dataset.queries) == {1: 500}
    assert set(dataset.left_out.values()) == {0}
    rows = [json.loads(one) for one in (DATA / "cosqa/beir/corpus.jsonl").read_bytes().splitlines()]
    texts = {source.path: source.text for source in dataset.corpora[0].sources}
    assert texts == {row["_id"]: row["text"] for row in rows}
