"""`chunkmark dataset validate --suggest`: candidates for a person, and nothing picked."""

import json

import pytest
from commands import call, says

QUESTIONS = [
    {"id": "q1", "text": "Where are tokens refreshed?", "targets": ["src/auth.py::gone"]},
    {"id": "q2", "text": "zzyzx", "targets": ["nowhere.py:1-2"]},
]


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "my repo"
    (root / "src").mkdir(parents=True)
    (root / "src/auth.py").write_text(
        "def login(user):\n    return user\n\n\ndef refresh_tokens(user):\n    return user.tokens\n"
    )
    (root / "src/other.py").write_text("def unrelated():\n    return 1\n")
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS))
    return root


@pytest.mark.parametrize("prefix", ["", "repo:"])
def test_places_that_share_rare_words_are_named(capsys, repository, prefix):
    file = repository.parent / "q.jsonl"
    done = call(capsys, "dataset", "validate", f"{prefix}{repository}", "--suggest", file,
                "--format", "json")  # fmt: skip
    assert done.code == 0, done.err
    assert done.json["schema"] == "chunkmark.dataset-suggest/1"
    first, second = done.json["questions"]
    assert first["candidates"][0]["place"] == "src/auth.py:5-6"
    assert "tokens" in first["candidates"][0]["words"]
    assert first["targets"] == ["src/auth.py::gone"]
    assert second["candidates"] == []
    shown = call(capsys, "dataset", "validate", f"{prefix}{repository}", "--suggest", file).out
    assert shown.count("none: no place shares a word") == 1


def test_the_options_of_the_spec_count(capsys, repository):
    (repository / "notes.md").write_text("tokens are refreshed here, refreshed\n")
    file = repository.parent / "q.jsonl"
    found = {}
    for files in ("code", "all"):
        spec = f'repo:"{repository}",files={files}'
        done = call(capsys, "dataset", "validate", spec, "--suggest", file, "--format", "json")
        assert done.code == 0, done.err
        found[files] = [one["place"] for one in done.json["questions"][0]["candidates"]]
    assert "notes.md:1-1" in found["all"]
    assert "notes.md:1-1" not in found["code"]
    says(call(capsys, "dataset", "validate", f"repo:{repository},filse=all", "--suggest", file), 2,
         "filse", "files")  # fmt: skip


def test_the_questions_themselves_are_no_candidate(capsys, repository):
    file = repository / "questions.yaml"
    file.write_text("- text: Where are tokens refreshed?\n  targets: src/auth.py::gone\n")
    done = call(capsys, "dataset", "validate", f'repo:"{repository}",files=all', "--suggest", file,
                "--format", "json")  # fmt: skip
    (first,) = done.json["questions"]
    assert [one["place"] for one in first["candidates"]] == ["src/auth.py:5-6"]


@pytest.mark.parametrize("form", ["table", "csv", "markdown"])
def test_every_question_has_its_rows(capsys, repository, form):
    done = call(capsys, "dataset", "validate", repository, "--suggest",
                repository.parent / "q.jsonl", "--format", form)  # fmt: skip
    assert done.code == 0
    assert "src/auth.py:5-6" in done.out
    assert "zzyzx" in done.out


def test_what_cannot_be_looked_into_is_said(capsys, repository, tmp_path):
    file = tmp_path / "q.jsonl"
    says(call(capsys, "dataset", "validate", "stdlib", "--suggest", file), 2, "not a folder")
    says(call(capsys, "dataset", "validate", repository, "--suggest", tmp_path / "none.jsonl"), 2,
         "none.jsonl")  # fmt: skip
    says(call(capsys, "dataset", "validate", repository, "--suggest", file, "--run", tmp_path), 2,
         "remove --run")  # fmt: skip
