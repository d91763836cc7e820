import threading

import pytest

from chunkers import InputError, language_of
from chunkers.grammars.bundled import BUNDLED
from chunkers.grammars.model import Grammar
from chunkers.languages import (
    GRAMMARS,
    LANGUAGES,
    grammar_of,
    grammar_version,
    grammar_versions,
    list_languages,
    parse_overrides,
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
        ("x.R", "r"),
        ("b.rb", "ruby"),
        ("B.cs", "csharp"),
        ("README.md", "markdown"),
        ("a/Makefile", "make"),
        ("rules.mk", "make"),
        ("CMakeLists.txt", "cmake"),
        ("go.mod", "gomod"),
        ("Jenkinsfile", "groovy"),
        ("b.txt", None),
        ("LICENSE", None),
        (".py", None),
        ("a.py/b", None),
        ("", None),
    ],
)
def test_the_language_follows_from_the_file_name(path, language):
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("path", "overrides", "language"),
    [
        ("a/b.h", ["*.h=c"], "c"),
        ("a/b.py", ["*.h=c"], "python"),
        ("ci/Jenkinsfile", ["Jenkinsfile=java"], "java"),
        ("a/b.inc", ["*.inc=php"], "php"),
        ("lib/x/b.h", ["lib/*=c"], "c"),
        ("src/lib/b.h", ["lib/*=c"], "cpp"),
        ("b.h", ["*=python", "b.?=rust"], "rust"),
        ("b.h", ["b.?=rust", "*=python"], "python"),
        ("b.h", ["*.h=c", "*=python", "*.h=objc"], "objc"),
        ("b.H", ["*.h=c"], "cpp"),
        ("a=b.txt", ["a=*=sql"], "sql"),
    ],
)
def test_the_last_pattern_that_fits_a_name_or_a_path_decides(path, overrides, language):
    assert language_of(path, parse_overrides(overrides)) == language


@pytest.mark.parametrize("text", ["*.h", "=c", "", "*.h=", "*.h=fortran66", "*.h=C"])
def test_a_malformed_pattern_or_an_unknown_language_is_refused(text):
    with pytest.raises(InputError) as refused:
        parse_overrides(["*.x=c", text])
    told = str(refused.value)
    assert repr(text) in told
    assert len(told.split("\n")) <= 2
    assert any(words in told for words in ("PATTERN=LANGUAGE", "did you mean", "list languages"))


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_every_name_of_a_kind_is_one_of_the_grammar(language):
    grammar = grammar_of(language)
    if grammar is None:
        pytest.skip("tree-sitter-languages is not installed")
    kinds = parser(language).language
    sets = [
        *(grammar.definitions, grammar.values, grammar.carriers, grammar.wrappers, grammar.scopes),
        *(grammar.attributes - Grammar().attributes, grammar.comments - Grammar().comments),
        *(grammar.leads, grammar.openers, grammar.closers, grammar.transparent, grammar.heads),
        *grammar.heads.values(),
    ]
    names = {name.partition(" ")[0] for one in sets for name in one}
    names |= set(grammar.blocks) - set(Grammar().blocks)
    # The grammar of JavaScript says field_definition where that of TypeScript says public_….
    names -= {"field_definition", "public_field_definition"}
    assert [name for name in sorted(names) if kinds.id_for_node_kind(name, True) is None] == []
    for field in set(grammar.bodies) - set(Grammar().bodies):
        assert kinds.field_id_for_name(field) is not None, field


def test_every_grammar_belongs_to_a_language():
    assert set(GRAMMARS) <= set(LANGUAGES)
    assert all((grammar.module == "") != (grammar.symbol == "") for grammar in GRAMMARS.values())


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


def test_a_missing_wheel_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(GRAMMARS, "logo", Grammar(module="tree_sitter_logo"))
    for call in (parser, grammar_version):
        with pytest.raises(InputError, match="pip install tree-sitter-logo"):
            call("logo")


def test_the_versions_of_all_wheels_stand_in_one_line():
    versions = grammar_versions()
    assert all(f"{name} {grammar_version(name)}" in versions for name in BUNDLED)
    assert versions.startswith("tree-sitter ")


def test_the_list_says_where_each_grammar_comes_from():
    found = {one.name: one for one in list_languages()}
    assert list(found) == sorted(found) == list(LANGUAGES)
    assert {name for name, one in found.items() if one.source == "wheel"} == set(BUNDLED)
    assert found["python"].files.split() == [".py", ".pyi", ".pyw", ".ipynb"]
    assert found["make"].files.split() == [".mk", "GNUmakefile", "Makefile", "makefile"]
    ruby, perl, cmake = found["ruby"], found["perl"], found["cmake"]
    assert (ruby.grammar, ruby.source, ruby.problem) == ("tree-sitter-ruby", "wheel", "")
    assert ruby.version == grammar_version("ruby")
    assert (perl.grammar, perl.source) == ("perl", "tree-sitter-languages")
    assert (cmake.grammar, cmake.source, cmake.version) == ("", "none", "")
    assert not any(one.problem for name, one in found.items() if name in BUNDLED)
