import csv
import json
import os
import shutil
from pathlib import Path

import pytest

from chunkers.errors import InputError
from harness.datasets.loading import load_dataset
from harness.datasets.registry import list_datasets
from harness.model import Absent

STORE = "codesearchnet/annotationStore.csv"
HEADING = "Language,Query,GitHubUrl,Relevance,Notes\r\n"
URL = "https://github.com/own/repo/blob/" + "0" * 40 + "/pkg/{}.py#L1-L{}"
A, B, C = URL.format("a", 2), URL.format("b", 3), URL.format("c", 4)


def short(url: str) -> str:
    return url.removeprefix("https://github.com/")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))
    (tmp_path / "codesearchnet/code").mkdir(parents=True)
    (tmp_path / "codesearchnet/queries.csv").write_text("query\nread a file\nsort a list\n")
    judged(tmp_path, f"Python,read a file,{A},3,", f"Python,sort a list,{B},2,")
    supply(tmp_path, "python", {A: "def a(): pass", B: "def b(): pass", C: "def c(): pass"})
    return tmp_path


def judged(root: Path, *lines: str) -> None:
    (root / STORE).write_bytes((HEADING + "".join(f"{line}\r\n" for line in lines)).encode())


def supply(root: Path, language: str, code: dict[str, str], key: str = "code") -> None:
    rows = [json.dumps({"url": url, key: text, "repo": "own/repo"}) for url, text in code.items()]
    (root / f"codesearchnet/code/{language}.jsonl").write_text("".join(f"{r}\n" for r in rows))


def test_the_code_of_a_language_is_its_corpus_and_grades_its_gold(root: Path) -> None:
    dataset = load_dataset("codesearchnet")
    (corpus,) = dataset.corpora
    assert corpus.id == "python"
    assert [source.path for source in corpus.sources] == [short(A), short(B), short(C)]
    assert {query.id: query.qrels for query in dataset.queries} == {
        "python/read a file": {short(A): 3.0},
        "python/sort a list": {short(B): 2.0},
    }
    assert {query.text for query in dataset.queries} == {"read a file", "sort a list"}
    assert {source.language for source in corpus.sources} == {"python"}


def test_without_code_it_is_not_at_hand(root: Path) -> None:
    def missing() -> str:
        return {one.name: one.missing for one in list_datasets()}["codesearchnet"]

    assert missing() == ""
    shutil.rmtree(root / "codesearchnet/code")
    assert missing() == (
        "needs files, see `chunkmark dataset fetch codesearchnet`: "
        "the code of a language, codesearchnet/code/<language>.jsonl"
    )


def test_several_judges_are_averaged(root: Path) -> None:
    judged(root, f"Python,read a file,{A},3,", f"Python,read a file,{A},0,odd",
           f"Python,read a file,{B},1.0,", f"Python,read a file,{C},0,")  # fmt: skip
    (query,) = load_dataset("codesearchnet").queries
    assert query.qrels == {short(A): 1.5, short(B): 1.0, short(C): 0.0}


def test_a_note_may_have_several_lines(root: Path) -> None:
    note = '"first, ""quoted""\r\nsecond"'
    judged(root, f"Python,read a file,{A},3,{note}", f"Python,sort a list,{B},2,")
    assert len(load_dataset("codesearchnet").queries) == 2
    judged(root, f"Python,read a file,{A},3,{note}", f"Python,sort a list,{B},7,")
    with pytest.raises(InputError, match=r"annotationStore\.csv, line 4: the grade '7' is not"):
        load_dataset("codesearchnet")


def test_what_has_no_code_is_counted_and_a_language_without_any_is_absent(root: Path) -> None:
    gone = URL.format("gone", 9)
    judged(root, f"Python,read a file,{A},3,", f"Python,read a file,{gone},1,",
           f"Python,sort a list,{gone},1,", f"Python,unheard of,{A},1,",
           f"Go,read a file,{A},1,")  # fmt: skip
    dataset = load_dataset("codesearchnet")
    assert [query.id for query in dataset.queries] == ["python/read a file"]
    assert dataset.left_out == {
        "judgements of questions that are not in queries.csv": 1,
        "judged functions without code": 2,
        "questions without code of a judged function": 1,
        "repeated functions": 0,
        "repeated functions with other code": 0,
    }
    reason = "no code/go.jsonl beside annotationStore.csv"
    assert dataset.absent == (Absent("go", reason, 1),)


def test_a_function_with_two_codes_is_left_out_and_the_language_is_not(root: Path) -> None:
    with (root / "codesearchnet/code/python.jsonl").open("a") as opened:
        for url, code in ((B, "def b(): pass"), (C, "other"), (C, "def c(): pass"), (C, "third")):
            opened.write(json.dumps({"url": url, "code": code}) + "\n")
    judged(root, f"Python,read a file,{A},3,", f"Python,read a file,{C},2,")
    dataset = load_dataset("codesearchnet")
    assert [source.path for source in dataset.corpora[0].sources] == [short(A), short(B)]
    assert [query.qrels for query in dataset.queries] == [{short(A): 3.0}]
    assert {key: count for key, count in dataset.left_out.items() if count} == {
        "judged functions without code": 1,
        "repeated functions": 2,
        "repeated functions with other code": 1,
    }


def test_one_language_can_be_chosen(root: Path) -> None:
    assert load_dataset("codesearchnet:language=python").absent == ()
    with pytest.raises(InputError, match=r"no code of a judged function is in .*code\nplace <lang"):
        load_dataset("codesearchnet:language=go")


def test_the_other_form_of_the_corpus_is_read(root: Path) -> None:
    before = load_dataset("codesearchnet").fingerprint
    supply(root, "python", {A: "def a(): pass", B: "def b(): pass", C: "def c(): pass"}, "function")
    assert load_dataset("codesearchnet").fingerprint == before


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("Python,read a file", "2 cells, but the heading has 5"),
        (f"Python,read a file,{A},0.5,", "the grade '0.5' is not 0, 1, 2 or 3"),
        (f"Python,read a file,{A},4,", "the grade '4' is not"),
        (f"Python,read a file,{A},,", "the grade '' is not"),
        (
            "Python,read a file,https://example.org/a.py#L1,1,",
            "is not an address of lines on GitHub",
        ),
        (f"Cobol,read a file,{A},1,", "'Cobol' is not a language of"),
        (f'Python,"read" a file,{A},1,', "invalid CSV"),
    ],
)
def test_a_malformed_judgement_is_named_by_its_line(root: Path, line: str, says: str) -> None:
    judged(root, f"Python,read a file,{A},3,", line)
    with pytest.raises(InputError, match=f"{STORE}, line 3: .*{says}") as error:
        load_dataset("codesearchnet")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('{"url": 1}', "url must be text, not a number"),
        ('{"url": "https://example.org/a.py", "code": ""}', "url has an invalid value"),
        (json.dumps({"url": A}), "needs code or function"),
    ],
)
def test_a_malformed_function_is_named_by_its_line(root: Path, row: str, says: str) -> None:
    with (root / "codesearchnet/code/python.jsonl").open("a") as opened:
        opened.write(row + "\n")
    with pytest.raises(InputError, match=f"python.jsonl, line 4: .*{says}"):
        load_dataset("codesearchnet")


DATA = Path(os.environ.get("CHUNKMARK_DATA") or "no data folder")


@pytest.mark.skipif(not (DATA / STORE).is_file(), reason="needs codesearchnet in $CHUNKMARK_DATA")
class TestPublished:
    def test_without_code_the_message_says_what_to_place(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"place <language>\.jsonl there"):
            load_dataset("codesearchnet", data_dir=DATA)

    def test_all_judgements_are_scored_when_the_code_is_supplied(self, root: Path) -> None:
        for name in ("annotationStore.csv", "queries.csv"):
            shutil.copy(DATA / "codesearchnet" / name, root / "codesearchnet" / name)
        with (DATA / STORE).open(newline="", encoding="utf-8") as opened:
            judgements = list(csv.DictReader(opened))
        for language in {one["Language"] for one in judgements}:
            urls = {one["GitHubUrl"] for one in judgements if one["Language"] == language}
            supply(root, language.lower(), {url: f"code of {url}" for url in sorted(urls)})
        dataset = load_dataset("codesearchnet")
        assert not any(dataset.left_out.values())
        assert dataset.absent == ()
        assert dataset.information["judgements"] == "as published"
        pairs = {(one["Language"].lower(), one["Query"]) for one in judgements}
        assert {query.id for query in dataset.queries} == {"/".join(pair) for pair in pairs}
        assert sum(len(query.qrels or ()) for query in dataset.queries) == len(
            {(one["Language"], one["Query"], one["GitHubUrl"]) for one in judgements}
        )
