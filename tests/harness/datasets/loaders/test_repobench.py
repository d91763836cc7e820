import json
from pathlib import Path
from typing import Any

import pytest

from chunkers.errors import InputError
from harness.datasets.loading import load_dataset

FILE = "repobench/python_cross_file_first.jsonl"
GOLD = "def helper(x):\n    return x + 1"


def row(gold: int = 1, *paths: str, **more: Any) -> dict[str, Any]:
    context = [
        {"identifier": "Other", "path": "pkg/other.py", "snippet": "class Other:\n    pass"},
        {"identifier": "helper", "path": "pkg/help.py", "snippet": GOLD},
        {"identifier": "more", "path": "pkg/help.py", "snippet": "def more():\n    pass"},
    ]
    for path, one in zip(paths, context, strict=False):
        one["path"] = path
    return {
        "repo_name": "own/repo",
        "file_path": "pkg/main.py",
        "context": context,
        "import_statement": "from pkg.help import helper",
        "token_num": 100,
        "cropped_code": "a = 1\nb = 2\nc = 3\n",
        "all_code": "never read",
        "next_line": "d = helper(c)",
        "gold_snippet_index": gold,
        "created_at": "2024-01-01",
        "level": "2k",
    } | more


def place(root: Path, *rows: dict[str, Any] | str, file: str = FILE) -> None:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
    (root / file).write_text("".join(line + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))
    return tmp_path


def test_one_candidate_is_gold_and_the_others_are_not(root: Path) -> None:
    place(root, row())
    dataset = load_dataset("repobench-r")
    (query,), (corpus,) = dataset.queries, dataset.corpora
    assert (dataset.gold, dataset.pooling) == ("document", "max")
    assert query.text == "from pkg.help import helper\na = 1\nb = 2\nc = 3\n"
    assert query.qrels == {"pkg/other.py": 0.0, "pkg/help.py": 1.0, "pkg/help.py#2": 0.0}
    assert (query.truncate, query.tags, query.cluster) == ("tail", {"level": "2k"}, "own/repo")
    assert {one.path: one.text for one in corpus.sources}["pkg/help.py"] == GOLD
    assert {one.language for one in corpus.sources} == {"python"}


def test_every_row_has_a_corpus_of_its_own(root: Path) -> None:
    place(root, row(0), row(2), row(1, file_path="pkg/b.py"))
    dataset = load_dataset("repobench-r")
    names = ["own/repo/pkg/b.py#1", "own/repo/pkg/main.py#1", "own/repo/pkg/main.py#2"]
    assert [query.id for query in dataset.queries] == names
    assert [query.corpus for query in dataset.queries] == names
    assert [corpus.id for corpus in dataset.corpora] == names


def test_a_copy_of_the_gold_is_gold(root: Path) -> None:
    place(root, row(context=[
        {"path": "a.py", "snippet": GOLD},
        {"path": "b.py", "snippet": GOLD.replace("    ", "\t")},
        {"path": "c.py", "snippet": " "},
    ]))  # fmt: skip
    dataset = load_dataset("repobench-r")
    assert dataset.queries[0].qrels == {"a.py": 1.0, "b.py": 1.0, "c.py": 0.0}
    assert dataset.information == {
        "rows": "1", "candidates that repeat the gold": "1", "candidates without text": "1"
    }  # fmt: skip


def test_the_last_lines_alone_can_be_the_query(root: Path) -> None:
    place(root, row())
    assert load_dataset("repobench-r:lines=2").queries[0].text == "b = 2\nc = 3"
    with pytest.raises(InputError, match="lines=0: must be at least 1"):
        load_dataset("repobench-r:lines=0")


def test_rows_that_make_no_query_are_counted(root: Path) -> None:
    place(root, row(), row(-1), row(cropped_code=" \n"))
    dataset = load_dataset("repobench-r")
    assert len(dataset.queries) == 1
    assert dataset.left_out == {
        "rows that need no snippet of another file": 1, "rows without code": 1
    }  # fmt: skip


@pytest.mark.parametrize("language", ["python", "java"])
def test_other_languages_and_splits_lie_beside(root: Path, language: str) -> None:
    place(root, row(), file=f"repobench/{language}_cross_file_random.jsonl")
    (corpus,) = load_dataset(f"repobench-r:language={language},split=cross_file_random").corpora
    assert {one.language for one in corpus.sources} == {language}
    with pytest.raises(InputError, match=r"java_cross_file_first\.jsonl is in none of the data fo"):
        load_dataset("repobench-r:language=java")


def test_every_spelling_of_a_path_is_the_file(root: Path) -> None:
    place(root, row(1, "./pkg/other.py", "pkg//help.py", "pkg\\help.py"))
    assert sorted(load_dataset("repobench-r").queries[0].qrels or {}) == [
        "pkg/help.py", "pkg/help.py#2", "pkg/other.py"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "invalid JSON"),
        (row(3), "gold_snippet_index: 3 is none of the 3 snippets"),
        (row(-2), "gold_snippet_index must be at least"),
        (row(True), "gold_snippet_index must be a whole number, not true or false"),
        (row(cropped_code=None), "cropped_code must be text, not null"),
        (row(context=[{"path": "a"}]), "context, item 1: the key 'snippet' is missing"),
        (row(context=[{"path": "a", "snippet": ""}] * 2), "the gold snippet has no text"),
        (row(1, "../a.py"), "leads out of its corpus"),
        ({"repo_name": "a/b", "cross_file_context": []}, "the key 'file_path' is missing"),
    ],
)
def test_a_malformed_row_is_named_by_its_line(root: Path, line: Any, says: str) -> None:
    place(root, row(), line)
    with pytest.raises(InputError, match=f"{FILE}, line 2[:,] .*{says}") as error:
        load_dataset("repobench-r")
    assert "\n" not in str(error.value)
