from collections.abc import Mapping
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.grammars.loading import GRAMMARS
from chunkers.languages import language_of
from chunkers.source import Source
from harness.building.built_queries import BuiltQueries
from harness.building.docs import queries as reasons
from harness.building.docs.queries import docstring_queries
from harness.building.docs.styles import STYLES
from harness.model import Corpus, Dataset, Query
from harness.relevance.targets import Copies, by_head, locate, target_texts, with_twins
from harness.support.word_runs import leaked_queries


def made(files: Mapping[str, str], *, whole: bool = False) -> BuiltQueries:
    sources = (Source(text, path, language_of(path)) for path, text in files.items())
    return docstring_queries(Corpus("mine", tuple(sources)), whole=whole)


def dropped(result: BuiltQueries) -> dict[str, int]:
    return {reason: count for reason, count in result.left_out.items() if count}


def lines_of(result: BuiltQueries, query: Query) -> str:
    (target,) = query.targets
    (corpus,) = result.corpora
    (source,) = (one for one in corpus.sources if one.path == target.path)
    assert target.start_line is not None
    return "\n".join(source.text.split("\n")[target.start_line - 1 : target.end_line])


def python(name: str, text: str, body: str = "return 1") -> str:
    return f'def {name}():\n    """{text}"""\n    {body}\n'


FILES = {
    "a.py": '"""File."""\nclass C:\n    """Holds what is kept."""\n'
    '    def keep(self):\n        """Keeps one more thing."""\n        return 1\n',
    "src/b.go": "// Package b holds much.\npackage b\n\n// F gives back what it was given.\n"
    "func (s *S) F() int {\n\treturn 1\n}\n",
    "src/c.rs": "/// Turns all of it round.\n#[inline]\nfn turn() {}\n",
    "src/d.ts": "/** Writes down what was said. */\nexport function note() {\n}\n",
    "README.md": "# Words\n",
}


def test_queries_say_what_their_targets_do() -> None:
    result = made(FILES)
    assert [(query.id, query.text, lines_of(result, query)) for query in result.queries] == [
        ("a.py::C", "Holds what is kept.",
         "class C:\n    def keep(self):\n        return 1"),
        ("a.py::C.keep", "Keeps one more thing.", "    def keep(self):\n        return 1"),
        ("src/b.go::S.F", "F gives back what it was given.",
         "func (s *S) F() int {\n\treturn 1\n}"),
        ("src/c.rs::turn", "Turns all of it round.", "#[inline]\nfn turn() {}"),
        ("src/d.ts::note", "Writes down what was said.", "export function note() {\n}"),
    ]  # fmt: skip
    assert [dict(query.tags) for query in result.queries][1:4] == [
        {"language": "python", "folder": ".", "name-overlap": "no", "name-whole": "no"},
        {"language": "go", "folder": "src", "name-overlap": "no", "name-whole": "yes"},
        {"language": "rust", "folder": "src", "name-overlap": "no", "name-whole": "no"},
    ]
    assert {query.cluster for query in result.queries} == {*FILES} - {"README.md"}
    assert dropped(result) == {reasons.OTHER: 2}
    assert dict(result.information) == {}


def test_a_data_set_can_be_made_of_them() -> None:
    result = made(FILES)
    one = Dataset("d", "span", result.corpora, result.queries)
    other = made(FILES)
    assert Dataset("d", "span", other.corpora, other.queries).fingerprint == one.fingerprint


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Only three words.", reasons.FEW_WORDS),
        ("", reasons.FEW_WORDS),
        ("{@inheritDoc} and then some more words.", reasons.BOILERPLATE),
        ("TODO write this down some day.", reasons.BOILERPLATE),
        ("FIXME: this does not work at all.", reasons.BOILERPLATE),
        ("See the other one for details.", reasons.BOILERPLATE),
        ("The default constructor of the class.", reasons.BOILERPLATE),
        ("Copyright 2020 by somebody or other.", reasons.BOILERPLATE),
        ("Auto-generated method stub, to be filled.", reasons.BOILERPLATE),
        ("Created by somebody on 1.2.2020.", reasons.BOILERPLATE),
        ("a[0]=the address to ask a[1]=what it answers", reasons.BOILERPLATE),
        ("Gets the value of the parsed thing.", ""),
        ("Returns the wanted items of the list.", reasons.NAME),
        ("The wanted list items.", reasons.NAME),
        ("Constructs a window of the wanted size.", ""),
        ("See if there is more to come.", ""),
    ],
)
def test_what_says_nothing_is_left_out(text: str, reason: str) -> None:
    result = made({"a.js": f"/** {text} */\nfunction wantedListItems() {{\n}}\n"})
    assert dropped(result) == ({reason: 1} if reason else {})
    assert len(result.queries) == (not reason)
    assert text not in result.corpora[0].sources[0].text or not text


def test_names_far_outside_are_words_of_its_own() -> None:
    text = "class Parser:\n    class Store:\n        def get(self):\n"
    text += '            """Gets the {} of it."""\n            return 1\n'
    assert len(made({"a.py": text.format("parser")}).queries) == 1
    assert dropped(made({"a.py": text.format("store")})) == {reasons.NAME: 1}


def test_a_comment_about_editing_loses_no_question() -> None:
    told = python("f", "Say whether code is generated.", "# do not edit this\n    return 1")
    assert [query.id for query in made({"a.py": told}).queries] == ["a.py::f"]


def test_a_body_of_nothing_but_words_is_left_out() -> None:
    result = made({"a.py": 'class E(Exception):\n    """Says that it went wrong."""\n'})
    assert dropped(result) == {reasons.EMPTY: 1}
    assert result.corpora[0].sources[0].text == "class E(Exception):\n    pass\n"


def test_two_with_one_text_are_no_target() -> None:
    text = python("f", "Says what is said twice.")
    result = made({"a.py": text, "b.py": text.replace("return 1", "return 2")})
    assert (result.queries, dropped(result)) == ((), {reasons.SHARED: 2})


def test_copies_that_score_for_each_other_are_one_query() -> None:
    body = "\n    ".join(f"value_{number} = compute({number})" for number in range(8))
    text = python("f", "Says what is said twice.", body)
    result = made({"a.py": text, "b.py": text, "c.py": text.replace("    ", "\t")})
    assert [query.id for query in result.queries] == ["a.py::f"]
    assert dropped(result) == {reasons.COPY: 2}
    other = made({"a.py": text, "b.py": text, "c.py": text + "    return 2\n"})
    assert dropped(other) == {reasons.SHARED: 3}


def test_every_copy_is_another_place_of_the_answer_when_scored() -> None:
    body = "\n    ".join(f"value_{number} = compute({number})" for number in range(8))
    text = python("f", "Says what is said twice.", body)
    result = made({"a.py": text, "b.py": "import os\n\n" + text, "c.py": "x = 1\n"})
    (corpus,), (query,) = result.corpora, result.queries
    numbers = {source.path: number for number, source in enumerate(corpus.sources)}
    places, refused = locate(query, corpus, numbers)
    texts = target_texts(places, corpus, numbers)
    copies = Copies.of(corpus.sources, by_head(texts))
    (place,) = with_twins(places, corpus, numbers, copies)
    assert refused == []
    assert [twin[0] for twin in place.twins] == ["b.py"]


def test_short_copies_do_not_score_for_each_other() -> None:
    text = python("f", "Says what is said twice.")
    assert dropped(made({"a.py": text, "b.py": text})) == {reasons.SHARED: 2}


LEAK = "gives one two three four five six seven eight nine"


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("two three four five six seven eight nine", 0),
        ("TWO three, four\nfive `six` seven: eight - nine", 0),
        ("three four five six seven eight nine", 1),
    ],
)
def test_words_that_remain_anywhere_in_the_corpus_leave_a_query_out(words: str, left: int) -> None:
    result = made({"a.py": python("f", LEAK), "README.md": words + "\n"})
    assert len(result.queries) == left
    assert dropped(result) == ({} if left else {reasons.LEAKED: 1})


def test_a_short_query_that_remains_whole_is_left_out() -> None:
    files = {"a.py": python("f", "Reads it all again.")}
    assert dropped(made({**files, "b.py": "# reads it all again, says he\n"})) == {
        reasons.LEAKED: 1
    }
    assert len(made({**files, "b.py": "# reads it all\n"}).queries) == 1


def test_every_language_with_functions_has_doc_comments() -> None:
    grammars = {name for name, g in GRAMMARS.items() if g.definitions or g.values or g.heads}
    assert grammars <= STYLES.keys()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.kt", "interface I {\n  /** Says what was heard here. */\n  fun f(): Int\n}\n"),
        ("a.java", "interface I {\n  /** Says what was heard here. */\n  int f();\n}\n"),
        ("a.cs", "interface I {\n  /// Says what was heard here.\n  int F();\n}\n"),
        ("a.php", "<?php interface I {\n  /** Says what was heard here. */\n  function f();\n}\n"),
        ("a.swift", "protocol I {\n  /// Says what was heard here.\n  func f() -> Int\n}\n"),
        ("a.scala", "trait I {\n  /** Says what was heard here. */\n  def f: Int\n}\n"),
        ("a.rs", "trait I {\n  /// Says what was heard here.\n  fn f();\n}\n"),
        ("a.ts", "interface I {\n  /** Says what was heard here. */\n  f(): number\n}\n"),
        ("a.go", "package p\n\ntype I interface {\n\t// F says what was heard.\n\tF()\n}\n"),
        ("a.c", "/* Says what was heard here. */\nint f(void);\n"),
    ],
)
def test_a_function_without_a_body_is_no_target_in_any_language(path: str, text: str) -> None:
    result = made({path: text})
    assert result.queries == ()
    assert dropped(result) == {reasons.OTHER: 1}
    assert "heard" not in result.corpora[0].sources[0].text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("writeInt16", "Write integer 16 value"),
        ("size", "The size of the object as an integer"),
        ("run", "Deprecated: use start in place of it"),
        ("run", "Alias for start, kept for old code"),
        ("run", "if (x == 1) return foo(bar);"),
        ("run", "Implements the Runnable interface"),
        ("getName", "Getter for the name field"),
        ("run", "Run is a wrapper for Engine.Run."),
        ("run", "Run is like start(key)."),
        ("setBar", "These methods were taken from another repository"),
    ],
)
def test_a_comment_that_says_nothing_of_what_is_done_makes_no_query(name: str, text: str) -> None:
    assert made({"a.js": f"// {text}\nfunction {name}() {{\n}}\n"}).queries == ()


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Reads files, e.g. Go sources. Then more.", "Reads files, e.g. Go sources."),
        ("Reads it all (i.e. Every file). More.", "Reads it all (i.e. Every file)."),
        ("Reads rows, cells, etc. (as before). More.", "Reads rows, cells, etc. (as before)."),
        ("Reads rows, cells, etc. Then more.", "Reads rows, cells, etc."),
        ("Compares old vs. New trees here. More.", "Compares old vs. New trees here."),
        ("Reads all of it. https://a.b/c Returns 0.", "Reads all of it."),
        ("Reads one file of it. router.read(x)", "Reads one file of it."),
        ("Reads what version 2.1 wrote here. More.", "Reads what version 2.1 wrote here."),
    ],
)
def test_a_sentence_does_not_end_within_an_abbreviation(text: str, query: str) -> None:
    (one,) = made({"a.c": f"/* {text} */\nint f(void) {{\n return 1;\n}}\n"}).queries
    assert one.text == query


def test_the_whole_comment_can_be_the_query() -> None:
    text = python("f", "Reads it. Then writes\n    what it read.\n\n    :param x: which")
    (query,) = made({"a.py": text}, whole=True).queries
    assert query.text == "Reads it. Then writes what it read. x which"


def test_ids_of_one_name_are_numbered() -> None:
    text = "/// Reads one of them all.\nvoid f(int a) {\n}\n/// Reads two of them all.\n"
    result = made({"a b/ü.cpp": text + "void f(char a) {\n}\n"})
    assert [query.id for query in result.queries] == ["a b/ü.cpp::f", "a b/ü.cpp::f#2"]


SENTENCES = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]),
    min_size=1,
    max_size=12,
).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6), st.booleans())
def test_no_query_is_left_in_its_corpus_and_none_stands_twice(
    texts: list[tuple[str, str]], whole: bool
) -> None:
    files = {
        f"{number}.js": f"/**\n * {said}\n */\nfunction f{number}() {{\n  // {other}\n}}\n"
        for number, (said, other) in enumerate(texts)
    }
    result = made(files, whole=whole)
    (corpus,) = result.corpora
    held = leaked_queries(
        {query.id: query.text for query in result.queries}, (one.text for one in corpus.sources)
    )
    assert not held
    assert all(a.text.lower() != b.text.lower() for a, b in combinations(result.queries, 2))
    assert len(result.queries) + sum(result.left_out.values()) == len(texts)
    for query in result.queries:
        number = query.id.partition(".")[0]
        assert lines_of(result, query).startswith(f"function f{number}()")
    assert made(files, whole=whole) == result


def test_words_are_counted_in_scripts_with_marks_and_in_those_without_spaces() -> None:
    texts = (
        "नेटवर्क सॉकेट खोलता और प्रतीक्षा करता है।",
        "打开网络连接并等待服务器的回复。",
        "打开网络。",
    )
    result = made({f"{n}.py": python(f"f{n}", text) for n, text in enumerate(texts)})
    assert [query.text for query in result.queries] == list(texts[:2])
    assert dropped(result) == {reasons.FEW_WORDS: 1}
