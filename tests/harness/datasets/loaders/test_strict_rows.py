"""Rows that say one thing and could be read as another: refused, or kept apart."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from chunkers.errors import InputError
from harness.datasets.loading import load_dataset
from harness.model import Corpus, Dataset, Query, Target

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))
    return tmp_path


def put(file: Path, *rows: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def crosscodeeval(task: str, repository: str, file: str, snippet: str) -> dict[str, Any]:
    return {
        "prompt": "x = ",
        "groundtruth": "b.foo(1)",
        "metadata": {"task_id": task, "repository": repository, "file": file},
        "crossfile_context": {"list": [{"retrieved_chunk": snippet, "filename": "b.py"}]},
    }


def test_corpora_of_names_that_hold_the_separator_are_kept_apart(root: Path) -> None:
    pairs = [("r:a", "z.py"), ("r", "a:z.py"), ("r%3Aa", "z.py"), ("r", "z.py")]
    rows = [
        crosscodeeval(f"t/{n}", repository, file, f"def foo(): return {n}")
        for n, (repository, file) in enumerate(pairs)
    ]
    put(root / "crosscodeeval/python/line_completion_oracle_bm25.jsonl", *rows)
    dataset = load_dataset("crosscodeeval")
    corpora = {corpus.id: corpus for corpus in dataset.corpora}
    assert len(corpora) == len(pairs)
    for query in dataset.queries:
        repository, _ = pairs[int(query.id[-1])]
        assert corpora[query.corpus].repository == repository
    assert "r:z.py" in corpora  # names without the separator are as they were


def repobench(*paths: str, gold: int = 0) -> dict[str, Any]:
    context = [{"path": path, "snippet": f"def f{n}(): pass"} for n, path in enumerate(paths)]
    return {
        "repo_name": "a/b", "file_path": "m.py", "context": context, "import_statement": "",
        "cropped_code": "x = 1", "gold_snippet_index": gold,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("paths", "ids"),
    [
        (["b.py", "b.py", "c.py"], ["b.py", "b.py#2", "c.py"]),
        (["b.py#2", "b.py", "b.py"], ["b.py#2", "b.py", "b.py#3"]),
        (["b.py", "b.py", "b.py#2", "b.py#2"], ["b.py", "b.py#3", "b.py#2", "b.py#2#2"]),
    ],
)
def test_snippets_of_one_path_are_told_apart(root: Path, paths: list[str], ids: list[str]) -> None:
    put(root / "repobench/python_cross_file_first.jsonl", repobench(*paths, gold=1))
    dataset = load_dataset("repobench-r")
    texts = {source.text: source.path for source in dataset.corpora[0].sources}
    assert [texts[f"def f{n}(): pass"] for n in range(len(ids))] == ids
    assert dataset.queries[0].qrels == {one: float(one == ids[1]) for one in ids}


@pytest.mark.parametrize("grade", ["9" * 400, "-" + "9" * 400])
def test_a_grade_beyond_numbers_is_named_by_its_line(root: Path, grade: str) -> None:
    put(root / "mine/corpus.jsonl", {"_id": "d", "text": "a"})
    put(root / "mine/queries.jsonl", {"_id": "q", "text": "b"})
    put(root / "mine/qrels/test.tsv", "q\td\t1", f"q\te\t{grade}")
    with pytest.raises(InputError, match=r"test\.tsv, line 2: the grade '-?9+"):
        load_dataset("beir:mine")


@pytest.mark.parametrize("grade", [float("inf"), float("nan")])
def test_no_data_set_holds_a_grade_that_is_not_finite(grade: float) -> None:
    with pytest.raises(InputError, match="finite"):
        Target("a.py", 1, 1, grade)
    with pytest.raises(InputError, match="finite"):
        Dataset("d", "document", (Corpus("c", ()),), (Query("q", "c", "t", qrels={"a": grade}),))


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(root: Path, name: str) -> None:
    put(root / "mine/corpus.jsonl", {"_id": "d", "text": "a"})
    put(root / "mine/queries.jsonl", {"_id": "x", "text": "b"})
    put(root / "mine/qrels/test.tsv", "x\td\t1")
    (root / "mine" / name).unlink()
    os.mkfifo(root / "mine" / name)
    with pytest.raises(InputError, match=f"{name} is not a regular file"):
        load_dataset("beir:mine")


TWICE = '{"_id": "q", "text": "first", "text": "second"}'


@pytest.mark.parametrize("file", ["corpus", "queries"])
def test_a_key_that_stands_twice_is_refused_by_its_line(root: Path, file: str) -> None:
    put(root / "mine/corpus.jsonl", {"_id": "d", "text": "a"})
    put(root / "mine/queries.jsonl", {"_id": "x", "text": "b"})
    put(root / "mine/qrels/test.tsv", "x\td\t1")
    with (root / f"mine/{file}.jsonl").open("a") as opened:
        opened.write(TWICE)
    with pytest.raises(InputError, match=rf"{file}\.jsonl, line 2: duplicate key 'text'"):
        load_dataset("beir:mine")


def repoeval(prompt: str) -> str:
    about = {"fpath_tuple": ["r", "a.py"], "context_start_lineno": 0, "lineno": 1}
    about["ground_truth"] = "pass"
    return json.dumps({"prompt": prompt, "metadata": about})


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (repoeval("\ud800x"), "prompt has half of a surrogate pair"),
        (repoeval("x")[:-1] + ', "prompt": "y"}', "duplicate key 'prompt'"),
    ],
)
def test_a_task_of_repoeval_is_read_as_strictly_as_other_rows(
    root: Path, row: str, words: str
) -> None:
    file = root / "repoeval/datasets/function_level_completion_2k_context_codex.test.jsonl"
    put(file, repoeval("\U0001f600"), row)
    with pytest.raises(InputError, match=f"line 2: {words}"):
        load_dataset("repoeval-function")


def test_an_order_that_names_a_repository_twice_is_refused(root: Path) -> None:
    put(root / "repoeval/datasets/function_level_completion_2k_context_codex.test.jsonl",
        repoeval("x"))  # fmt: skip
    tree = root / "repoeval/repositories/function_level/r"
    put(tree / "a.py", "pass", "pass")
    put(root / "order.json", '{"r": ["a.py"], "r": []}')
    with pytest.raises(InputError, match=r"order\.json: duplicate key 'r'"):
        load_dataset(f'repoeval-function:repos=r,order="{root}/order.json"')


def test_a_file_without_a_query_says_why(root: Path) -> None:
    put(root / "repobench/python_cross_file_first.jsonl", repobench("b.py", gold=-1))
    with pytest.raises(InputError, match="\nleft out: rows that need no snippet"):
        load_dataset("repobench-r")
    row = crosscodeeval("t", "r", "a.py", "def bar(): pass")
    put(root / "crosscodeeval/python/line_completion_oracle_bm25.jsonl", row)
    with pytest.raises(InputError, match="\nleft out: rows without a snippet"):
        load_dataset("crosscodeeval")
