import json
from pathlib import Path
from typing import Any

import pytest

from chunkers.errors import InputError
from harness.datasets.loading import load_dataset

FILE = "crosscodeeval/python/line_completion_oracle_bm25.jsonl"
DEFINES = "class Generator:\n    def gen_begin(self, ids):\n        pass"
OTHER = "class Cache:\n    def clear(self):\n        return None"
OWN = "generator.gen_begin(ids)"


def row(number: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "prompt": "import model\ngenerator = model.Generator()\nids = [1]\ngenerator.",
        "groundtruth": "gen_begin(ids)",
        "right_context": "\nnever read\n",
        "metadata": {
            "task_id": f"project_cc_python/{number}",
            "repository": "owner-project-1234567",
            "file": "main.py",
            "context_start_lineno": 0,
            "groundtruth_start_lineno": 3,
            "right_context_start_lineno": 4,
        },
        "crossfile_context": {
            "text": "# Here are some relevant code fragments",
            "list": [
                {"retrieved_chunk": DEFINES, "filename": "model.py", "score": 4.2},
                {"retrieved_chunk": OTHER, "filename": "model.py", "score": 1.5},
                {"retrieved_chunk": OTHER, "filename": "copy.py", "score": 1.5},
            ],
        },
    } | more


def about(number: int, **more: str) -> dict[str, Any]:
    return row(number)["metadata"] | more


def place(root: Path, *rows: dict[str, Any] | str, file: str = FILE) -> None:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in rows]
    (root / file).write_text("".join(line + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CHUNKMARK_DATA", str(tmp_path))
    return tmp_path


def test_gold_is_what_holds_a_name_that_the_answer_adds(root: Path) -> None:
    place(root, row())
    dataset = load_dataset("crosscodeeval")
    (query,), (corpus,) = dataset.queries, dataset.corpora
    assert query.id == "project_cc_python/0"
    assert query.text.endswith("generator.")
    assert query.truncate == "tail"
    assert query.qrels == {"model.py#1": 1.0}
    assert [one.path for one in corpus.sources] == ["copy.py#1", "model.py#1", "model.py#2"]
    assert "gold" in dataset.information


def test_a_keyword_or_a_name_of_the_prompt_makes_no_gold(root: Path) -> None:
    # `return`, `None` and `self` stand in OTHER, `ids` in DEFINES.
    place(root, row(), row(1, groundtruth="return None if self else ids"))
    dataset = load_dataset("crosscodeeval")
    assert [query.id for query in dataset.queries] == ["project_cc_python/0"]
    assert dataset.left_out["rows whose answer has no new name"] == 1


def test_snippets_of_the_repository_are_shared_but_for_the_querys_own_file(root: Path) -> None:
    own = {"text": "", "list": [{"retrieved_chunk": OWN, "filename": "main.py", "score": 1.0}]}
    elsewhere = about(2, repository="another-project-7654321")
    place(
        root,
        row(),
        row(1, metadata=about(1, file="model.py"), crossfile_context=own),
        row(2, metadata=elsewhere),
    )
    dataset = load_dataset("crosscodeeval")
    held = {one.id: [source.path for source in one.sources] for one in dataset.corpora}
    others = ["copy.py#1", "model.py#1", "model.py#2"]
    assert held == {
        "another-project-7654321:main.py": others,
        "owner-project-1234567:main.py": others,
        "owner-project-1234567:model.py": ["copy.py#1", "main.py#1"],
    }
    assert {query.id: query.qrels for query in dataset.queries} == {
        "project_cc_python/0": {"model.py#1": 1.0},
        "project_cc_python/1": {"main.py#1": 1.0},
        "project_cc_python/2": {"model.py#1": 1.0},
    }


def test_rows_that_make_no_query_are_counted(root: Path) -> None:
    place(root, row(), row(1, prompt=" "), row(2, groundtruth="unheard_of()"))
    assert load_dataset("crosscodeeval").left_out == {
        "rows without a prompt": 1,
        "rows whose answer has no new name": 0,
        "rows without a snippet that holds a new name of the answer": 1,
    }


@pytest.mark.parametrize("language", ["java", "typescript", "csharp"])
def test_other_languages_lie_beside(root: Path, language: str) -> None:
    place(root, row(), file=FILE.replace("python", language))
    (corpus, *_) = load_dataset(f"crosscodeeval:language={language}").corpora
    assert {one.language for one in corpus.sources} == {language}
    with pytest.raises(InputError, match=f"{FILE} is in none of the data folders"):
        load_dataset("crosscodeeval")


def test_every_spelling_of_a_path_is_the_file(root: Path) -> None:
    context = row()["crossfile_context"]
    context["list"][0]["filename"] = ".\\model.py"
    context["list"].append({"retrieved_chunk": OWN, "filename": "./main.py", "score": 1.0})
    place(root, row(crossfile_context=context))
    assert load_dataset("crosscodeeval").queries[0].qrels == {"model.py#1": 1.0}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nothing", "invalid JSON"),
        (row(0), "'project_cc_python/0' is already at .*line 1$"),
        (row(1, prompt=3), "prompt must be text, not a number"),
        (row(1, crossfile_context={"text": ""}), "crossfile_context: the key 'list' is missing"),
        (row(1, metadata={"task_id": "a"}), "metadata: the key 'repository' is missing"),
        (row(1, metadata=about(1, file="../main.py")), "leads out of its corpus"),
        ({"context": "x", "cross_file_context": []}, "the key 'prompt' is missing"),
    ],
)
def test_a_malformed_row_is_named_by_its_line(root: Path, line: Any, says: str) -> None:
    place(root, row(), line)
    with pytest.raises(InputError, match=f"{FILE}, line 2[:,] .*{says}") as error:
        load_dataset("crosscodeeval")
    assert "\n" not in str(error.value)
