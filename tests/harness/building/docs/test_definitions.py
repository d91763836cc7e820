"""What definitions are called, and their lines: the same for all who speak of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.languages import language_of
from chunkers.source import Source
from harness.building.docs.definitions import definitions_in, parts_of
from harness.building.docs.queries import docstring_queries
from harness.building.questions import question_queries
from harness.model import Corpus, Target

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("f", ("f",)),
        ("Store.get", ("Store", "get")),
        ("Store::get", ("Store", "get")),
        ("a::Store<b::C<d>>::get", ("a", "Store", "get")),
        ("Store::~Store", ("Store", "~Store")),
        ("Store::operator<=>", ("Store", "operator<=>")),
        ("operator->", ("operator->",)),
        ("Store::operator a::B", ("Store", "operator a::B")),
        ("Store :: get", ("Store", "get")),
        ("Store<T>", ("Store",)),
        ("M:f", ("M", "f")),
        ("a\\b\\f", ("a", "b", "f")),
        ("Store.prototype.get", ("Store", "get")),
        ("insert:at:", ("insert:at:",)),
        ("::", ("::",)),
        ("<$>", ("<$>",)),
        ("..", ("..",)),
        ("", ("",)),
    ],
)
def test_a_name_has_parts_whatever_joins_them(name: str, parts: tuple[str, ...]) -> None:
    assert parts_of(name) == parts


@given(st.text(alphabet="aB1_.:<>~#\\ operat(", max_size=12))
def test_every_name_has_parts(name: str) -> None:
    assert parts_of(name)
    assert parts_of(".".join(parts_of(name)))


def named(text: str, language: str) -> list[tuple[str, str, bool]]:
    """Name, owner, and whether it is local, of every definition."""
    found = definitions_in(Source(text, "x", language))
    return [(one.name, one.owner, one.local) for one in found]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("go", "package p\n\nfunc (s *Store[T]) Get() {\n}\n", [("Store.Get", "Store", False)]),
        ("go", "package p\n\ntype Box struct{ a int }\n", [("Box", "", False)]),
        ("cpp", "namespace n {\nvoid Foo<int>::shut() {\n}\n}\n",
         [("n", "", False), ("n.Foo.shut", "Foo", False)]),
        ("cpp", "struct S {\n  void shut() { }\n};\n", [("S", "", False), ("S.shut", "S", False)]),
        ("c", "typedef struct {\n  int a;\n} Box;\n", [("Box", "", False)]),
        ("c", "typedef struct box { int a; } Box;\n", [("box", "", False)]),
        ("rust", "impl<T> A for Store<T> {\n  fn get() {}\n}\n",
         [("Store", "", False), ("Store.get", "Store", False)]),
        ("typescript", "type X = { a: number };\ntype Y = string;\n", [("X", "", False)]),
        ("typescript", "export type X = {\n  a: number\n};\n", [("X", "", False)]),
        ("javascript", "const run = () => {\n  function inner() {\n  }\n};\n",
         [("run", "", False), ("run.inner", "", True)]),
        ("javascript", "exports.f = function () {\n};\nA.prototype.g = () => 1;\n",
         [("exports.f", "", False), ("A.g", "A", False)]),
        ("lua", "function M:f()\n  return 1\nend\n", [("M.f", "M", False)]),
        ("python", "class A:\n    def f(self):\n        def g():\n            return 1\n",
         [("A", "", False), ("A.f", "A", False), ("A.f.g", "A", True)]),
    ],
)  # fmt: skip
def test_definitions_have_one_name_with_their_owners(
    language: str, text: str, expected: list[tuple[str, str, bool]]
) -> None:
    assert named(text, language) == expected


DOCS = {
    "a.go": "package p\n\n// Get fetches one thing by its key.\nfunc (s *Store) Get() {\n}\n\n"
    "// Box keeps one thing for later use.\ntype Box struct{ a int }\n",
    "b.cpp": "/** Destroys all things that are left. */\nvoid Foo::destroy() {\n  run();\n}\n",
    "c.java": "class C {\n  /** Opens the door to all rooms. */\n  @Override // why\n"
    "  void open() {\n  }\n}\n",
    "d.py": "@cache  # grows\ndef f():\n    '''Say what one thing is.'''\n    return 1\n",
    "e.rs": "/// A place for very many things.\nstruct Store {\n  a: u8,\n}\n\n"
    "impl Store {\n  /// Take one thing from the place.\n  #[inline] // hot\n"
    "  fn take() -> u8 {\n    1\n  }\n}\n",
    "f.ts": "/** The form of one thing sent. */\ntype Sent = { a: number };\n",
    "g.c": "/** The form of one thing kept. */\ntypedef struct { int a; } Kept;\n",
    "h.rb": "class Head\n  # Keep one thing under its name.\n  def []=(name, one)\n    name\n"
    "  end\nend\n",
    "i.ts": "class Seen {\n  /** Gives back who looks at it. */\n  [Symbol.one]() {\n"
    "    return 1;\n  }\n}\n",
}


def corpus_of(files: dict[str, str]) -> Corpus:
    return Corpus(
        "c", tuple(Source(text, path, language_of(path)) for path, text in sorted(files.items()))
    )


def test_the_id_of_a_doc_comments_question_is_a_target_with_the_same_lines(tmp_path: Path) -> None:
    made = docstring_queries(corpus_of(DOCS))
    ids = [query.id for query in made.queries]
    assert ids == [
        "a.go::Box",
        "a.go::Store.Get",
        "b.cpp::Foo.destroy",
        "c.java::C.open",
        "d.py::f",
        "e.rs::Store",
        "e.rs::Store.take",
        "f.ts::Sent",
        "g.c::Kept",
        "h.rb::Head.[]=",
        "i.ts::Seen.[Symbol.one]",
    ]
    file = tmp_path / "questions.jsonl"
    rows = [{"id": one, "text": f"what is asked of {one}", "targets": one} for one in ids]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = question_queries(made.corpora[0], file)
    assert not asked.left_out
    assert {q.id: q.targets for q in asked.queries} == {q.id: q.targets for q in made.queries}


@pytest.mark.parametrize("symbol", ["destroy", "Foo.destroy", "Foo::destroy", "destroy#1"])
def test_any_end_of_a_name_in_any_spelling_is_a_target(tmp_path: Path, symbol: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"text": "what goes at last", "targets": f"b.cpp::{symbol}"}))
    (query,) = question_queries(corpus_of(DOCS), file).queries
    assert query.targets == (Target("b.cpp", 2, 4),)


def test_a_type_goes_before_what_only_holds_its_parts(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"text": "where things are", "targets": "e.rs::Store"}))
    (query,) = question_queries(corpus_of(DOCS), file).queries
    assert query.targets == (Target("e.rs", 2, 4),)
