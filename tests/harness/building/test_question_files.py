"""Files of questions: three formats, and every damage by its line."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from chunkers.errors import InputError
from chunkers.source import Source
from harness.building.questions import Question, read_questions
from harness.building.suggest import suggest
from harness.model import Corpus

if TYPE_CHECKING:
    from pathlib import Path


def test_the_three_formats_say_the_same(tmp_path: Path) -> None:
    rows = [
        {"id": "one", "text": 'He said "where", twice?', "targets": ["é.c:1-2", "é.c::main"]},
        {"id": "2", "text": "Was ist hier?", "targets": ["pkg/a b.py"]},
    ]
    files = {
        "q.jsonl": "\n".join(map(json.dumps, rows)),
        "q.csv": '\ufeffID,Text,targets\none,"He said ""where"", twice?",é.c:1-2; é.c::main\n\n'
        "2,Was ist hier?,pkg/a b.py\n",
        "q.yaml": '- id: one\n  text: He said "where", twice?\n  targets:\n  - é.c:1-2\n'
        "  - é.c::main\n- {id: 2, text: 'Was ist hier?', targets: pkg/a b.py}\n",
    }
    read = {}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
        read[name] = [(one.id, one.text, one.targets) for one in read_questions(tmp_path / name)]
    assert read["q.jsonl"] == read["q.csv"] == read["q.yaml"]
    assert len(read["q.jsonl"]) == 2


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("q.txt", "x", "must be .jsonl, .csv or .yaml, each question with"),
        ("q.jsonl", "", "contains no question"),
        ("q.jsonl", "\n{]", "line 2, column 2: invalid JSON"),
        ("q.jsonl", "[" * 100_000, "line 1: invalid JSON"),
        ("q.jsonl", "[]", "line 1: a question must be an object"),
        ("q.jsonl", '{"text": "a", "targets": "b", "path": "c"}', "line 1: unknown key 'path'"),
        ("q.jsonl", '{"text": " ", "targets": "b"}', "line 1: text is empty"),
        ("q.jsonl", '{"question": "a", "file": "b"}', "missing; rename 'question' to 'text'"),
        ("q.jsonl", '{"text": "a", "file": "b"}', "missing; rename 'file' to 'targets'"),
        ("q.jsonl", '{"file": "b"}', "'text' is missing; its keys are file"),
        ("q.jsonl", '{"a": "a", "b": "b"}', "'text' is missing; its keys are a, b"),
        ("q.jsonl", '{"text": "a"}', 'missing; add it, as in "targets": ["src/run.py:10-20"]'),
        (
            "q.jsonl",
            '{"text": "a", "targets": [{"path": "b"}]}',
            "must be text such as src/run.py:1",
        ),
        ("q.csv", "query,path\n1,2\n", "but has query, path; rename 'query' to 'text'"),
        (
            "q.jsonl",
            '{"text": "\\ud800", "targets": "b"}',
            "line 1: text has half of a surrogate pair",
        ),
        (
            "q.jsonl",
            '{"id": 1, "text": "a", "targets": "b"}\n' * 2,
            "line 2: duplicate id '1', first",
        ),
        ("q.jsonl", '\n[\n  {"text": "a"}\n]', "line 2: write each question whole on one line"),
        ("q.jsonl", '{\n  "text": "a"}', "line 1: write each question whole on one line"),
        ("q.csv", "text;targets\na;b\n", "text;targets; separate the cells by commas, not by ';'"),
        ("q.csv", "a,b\n1,2\n", "line 1: the header needs text and targets"),
        ("q.csv", "text,targets\n\na,b,c\n", "line 3: 3 cells"),
        ("q.csv", 'text,targets\n"a,b\n', "invalid CSV"),
        ("q.yaml", "text: a", "not a list of questions"),
        ("q.yaml", "- text: a\n  targets: [b\n", "line 3: invalid YAML"),
        ("q.yaml", "- a\n", "line 1: a question must be an object"),
        ("q.yaml", "[" * 2000, "invalid YAML"),
        ("q.yaml", "- !!python/object/apply:os.system [echo]\n", "line 1"),
        ("q.yaml", "\n- text: a\n  text: b\n", "line 2: duplicate key 'text'"),
        ("q.yaml", "- text: a\n  targets: [[b]]\n", "line 2: a list or a mapping where"),
        ("q.yaml", "- text: {a: b}\n", "line 1: a list or a mapping where"),
        ("q.yaml", "- ? [a, b]\n  : c\n", "line 1: a list or a mapping where"),
        ("q.yaml", "- text: a\n  targets: [{b: c}, d]\n", "line 2: a list or a mapping where"),
        ("q.yaml", "- text: &x a\n  targets: *x\n", "line 2: aliases such as *x"),
        ("q.yaml", "- text: a\n  targets: b\n---\n- c\n", "line 3: a second document begins"),
        ("q.yaml", "- text: é\n  targets: b\x07\n", "invalid YAML: control characters"),
        ("q.csv", "text,targets,targets\na,b,c\n", "line 1: the heading names 'targets' twice"),
        ("q.csv", "Text,Targets, text\na,b,c\n", "line 1: the heading names 'text' twice"),
        ("q.jsonl", '{"text": "a", "text": "b", "targets": "c"}', "line 1: duplicate key 'text'"),
        ("q.jsonl", '{"text": "a", "targets": "b", "id": 1e999}', "line 1: 1e999 is too large"),
    ],
)
def test_damaged_files_end_in_one_clear_error(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(InputError) as raised:
        read_questions(tmp_path / name)
    assert words in str(raised.value)
    assert name in str(raised.value)


def test_yaml_of_many_questions_takes_seconds(tmp_path: Path) -> None:
    one = "- text: where is the thing number {0} to be found\n  targets: a.py:1\n"
    (tmp_path / "q.yaml").write_text("".join(one.format(n) for n in range(50_000)), "utf-8")
    began = time.process_time()
    assert len(read_questions(tmp_path / "q.yaml")) == 50_000
    assert time.process_time() - began < 3  # node by node it takes twice as long, and more


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "q.jsonl")
    with pytest.raises(InputError, match="not a regular file"):
        read_questions(tmp_path / "q.jsonl")


def test_a_question_of_very_many_words_is_told_candidates_in_seconds() -> None:
    text = " ".join(f"w{n} parse" for n in range(50_000))
    code = "".join(f"def parse_{n}():\n    return w{n}\n\n\n" for n in range(300))
    corpus = Corpus("repo", (Source(code, "a.py", "python"),))
    began = time.process_time()
    found = suggest(corpus, [Question("q", text, ("?",), 1)])
    assert time.process_time() - began < 4  # each word at each place takes ten times as long
    assert [one.place for one in found["q"]] == ["a.py:1-2", "a.py:1001-1002", "a.py:1005-1006"]
    assert set(found["q"][0].words) == {"0", "w0", "w", "parse"}
