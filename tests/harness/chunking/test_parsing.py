"""A parser that does not come back costs its file, wherever in the harness it is parsed."""

import ast
import dataclasses
import re
import time
from pathlib import Path

import pytest
from commands import call
from worlds import grid, small

from chunkers import InputError, Source
from chunkers.grammars import parsing as bare
from chunkers.processes.isolation import Limits
from harness.building.calls.queries import call_queries
from harness.building.docs.queries import docstring_queries
from harness.building.questions import question_queries, read_questions
from harness.building.suggest import suggest
from harness.chunking import parsing
from harness.model import Corpus, Skipped

# tree-sitter 0.26.0 with the grammar of TSX never returns from it.
ENDLESS = "{d(b=(o p<T= )void=>{function d(){}):d=m}\nlet value = 1\n"
BROKEN = Source(ENDLESS, "src/broken.tsx", "tsx")
GOOD = Source(
    "/** Adds one to every value. */\nfunction more(x) { return x + 1 }\n", "a.tsx", "tsx"
)
REASON = "the parser of tsx took over 1.5 s"


@pytest.fixture(scope="module", autouse=True)
def impatient():
    """Little time for a parser; what is found out about a text is found out once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "LIMITS", Limits(1.5, 2 << 30))
        yield
        parsing._verdicts.clear()


def corpus():
    return Corpus("one", (GOOD, BROKEN))


def test_the_file_and_the_reason_are_named_and_known_the_next_time():
    with pytest.raises(parsing.UnparsedError, match=f"^src/broken.tsx: {REASON}$"):
        parsing.parse(BROKEN)
    started = time.monotonic()
    with pytest.raises(parsing.UnparsedError, match=r"^copy\.tsx: "):
        parsing.outline(dataclasses.replace(BROKEN, path="copy.tsx"))
    assert time.monotonic() - started < 1


@pytest.mark.parametrize(
    "source", [GOOD, Source("", "a.py", "python"), Source("x = '\ud800'\r\n", "a.py", "python")]
)
def test_what_parses_is_parsed_as_ever(source):
    assert str(parsing.parse(source)) == str(bare.parse(source))
    assert parsing.parse(dataclasses.replace(source, language=None)) is None


def test_chunks_are_shown_though_their_boundaries_are_not_known(tmp_path, capsys):
    (tmp_path / "broken.tsx").write_text(ENDLESS)
    arguments = ("chunk", tmp_path / "broken.tsx", "-c", "fixed", "-c", "whole-file")
    done = call(capsys, *arguments, "--format", "json")
    assert done.code == 3
    line = f"cannot parse broken.tsx to compare boundaries: {REASON}"
    assert done.err == f"chunkmark: warning: {line}\n"
    assert done.json["failures"] == [line]
    results = done.json["results"]
    assert [len(one["chunks"]) for one in results] == [1, 1]
    assert all(one["boundaries"]["failures"] == [["broken.tsx", REASON]] for one in results)


def test_a_run_by_parents_says_which_file_has_none(tmp_path):
    first, second = small().corpora
    broken = dataclasses.replace(BROKEN, path="one/broken.tsx")
    dataset = small(corpora=(dataclasses.replace(first, sources=(*first.sources, broken)), second))
    given = {"dataset": dataset, "chunkers": ("fixed",), "measures": ("MRR",)}
    with pytest.warns(UserWarning, match=f"one/broken.tsx: {REASON}; the parent of its chunks"):
        (cell,) = grid(tmp_path, retrievers=("bm25:expand=parent",), **given).cells
    assert cell.cell["health"]["notes"] == {f"no parents: {REASON}": 1}


@pytest.mark.parametrize("make", [docstring_queries, call_queries])
def test_a_data_set_leaves_the_file_out_and_says_why(make):
    (made,) = make(corpus()).corpora
    assert [one.path for one in made.sources] == ["a.tsx"]
    assert made.skipped == (Skipped("src/broken.tsx", REASON),)


def test_a_question_about_a_name_in_it_is_left_out(tmp_path):
    file = tmp_path / "questions.jsonl"
    file.write_text(
        '{"text": "what adds to all?", "targets": ["a.tsx::more"]}\n'
        '{"text": "where is the value?", "targets": ["src/broken.tsx::d"]}\n'
    )
    made = question_queries(corpus(), file)
    assert [one.text for one in made.queries] == ["what adds to all?"]
    assert dict(made.left_out) == {f"line 2: src/broken.tsx: {REASON}": 1}
    with pytest.warns(UserWarning, match=f"src/broken.tsx: {REASON}; stretches of lines"):
        found = suggest(corpus(), read_questions(file))
    assert [one.place for one in found["line 2"]] == ["src/broken.tsx:1-2"]


def test_nothing_else_of_the_harness_parses():
    root = Path(parsing.__file__).parents[1]
    taken = re.compile(r"parse|outline|tree_of|parsing")
    found = {
        (path.relative_to(root).as_posix(), f"{node.module}.{name.name}")
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chunkers.")
        for name in node.names
        if taken.fullmatch(name.name)
    }
    assert found == {
        ("chunking/parsing.py", "chunkers.grammars.outline"),
        ("chunking/parsing.py", "chunkers.grammars.parsing"),
    }


def test_a_grammar_that_is_missing_is_named_as_ever(monkeypatch):
    def missing(source):
        raise InputError("no wheel")

    monkeypatch.setattr(bare, "parse", missing)
    with pytest.raises(InputError, match="no wheel"):
        parsing.parse(GOOD)
