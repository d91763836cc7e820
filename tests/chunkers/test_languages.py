import threading

import pytest

from chunkers import InputError, language_of
from chunkers.languages import (
    GRAMMARS,
    Grammar,
    grammar_version,
    grammar_versions,
    list_languages,
    parser,
)


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("b.pyi", "python"),
        ("app.min.js", "javascript"),
        ("b.mjs", "javascript"),
        ("b.jsx", "javascript"),
        ("b.ts", "typescript"),
        ("types.d.ts", "typescript"),
        ("b.tsx", "tsx"),
        ("B.java", "java"),
        ("b.go", "go"),
        ("b.rs", "rust"),
        ("b.c", "c"),
        ("b.h", "cpp"),
        ("b.hpp", "cpp"),
        ("b.C", "cpp"),
        ("B.PY", "python"),
        ("x.pl", "perl"),
        ("b.rb", "ruby"),
        ("README.md", "markdown"),
        ("a/Makefile", "make"),
        ("CMakeLists.txt", "cmake"),
        ("b.txt", None),
        ("LICENSE", None),
        (".py", None),
        ("a.py/b", None),
        ("", None),
    ],
)
def test_the_language_follows_from_the_file_name(path, language):
    assert language_of(path) == language


def test_the_table_of_suffixes_can_be_overridden():
    assert language_of("b.h", {".h": "c"}) == "c"
    assert language_of("b.py", {".h": "c"}) == "python"


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_every_grammar_parses_its_own_language_and_knows_what_a_function_is(language, programs):
    grammar = GRAMMARS[language]
    root = parser(language).parse(programs[language].encode()).root_node
    assert not root.has_error
    kinds = parser(language).language
    names = grammar.definitions | grammar.values | grammar.carriers | grammar.wrappers
    names |= grammar.scopes
    # The grammar of JavaScript says field_definition where that of TypeScript says public_….
    names -= {"field_definition", "public_field_definition"}
    assert [name for name in sorted(names) if kinds.id_for_node_kind(name, True) is None] == []
    assert grammar_version(language)[0].isdigit()


def test_each_thread_has_its_own_parser_which_is_kept():
    mine = parser("python")
    others = []
    thread = threading.Thread(target=lambda: others.append(parser("python")))
    thread.start()
    thread.join()
    assert parser("python") is mine
    assert others[0] is not mine


def test_many_threads_parse_alike(programs):
    source = programs["python"].encode()
    expected = str(parser("python").parse(source).root_node)
    found = []

    def work() -> None:
        found.extend(str(parser("python").parse(source).root_node) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 80


def test_a_missing_grammar_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(GRAMMARS, "logo", Grammar("tree_sitter_logo", frozenset()))
    for call in (parser, grammar_version):
        with pytest.raises(InputError, match="pip install tree-sitter-logo"):
            call("logo")


def test_the_versions_of_all_grammars_stand_in_one_line():
    versions = grammar_versions()
    assert all(f"{name} {grammar_version(name)}" in versions for name in GRAMMARS)
    assert versions.startswith("tree-sitter ")


def test_the_list_says_which_languages_have_a_grammar():
    found = {one.name: one for one in list_languages()}
    assert list(found) == sorted(found)
    assert {name for name, one in found.items() if one.grammar} == set(GRAMMARS)
    assert found["python"].files.split() == [".py", ".pyi", ".pyw"]
    assert found["make"].files.split() == ["GNUmakefile", "Makefile", "makefile"]
    assert not any(one.problem for one in found.values())
