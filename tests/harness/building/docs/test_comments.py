from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.source import Source
from harness.building.docs.comments import StrippedSource, strip_doc_comments
from harness.building.docs.nodes import Tree
from harness.building.docs.styles import STYLES

PROGRAMS = Path(__file__).parents[3] / "chunkers" / "programs"


WITH_PROGRAM = sorted(name for name in STYLES if (PROGRAMS / f"{name}.txt").is_file())
PLAIN = [
    ("bash", "# A.", "f() {\n  g\n}"),
    ("c", "/* A. */", "int f(void) {\n return 1;\n}"),
    ("c", "/* A,\n * and B. */", "static int\nf(void)\n{\n return 1;\n}"),
    ("cpp", "// A.", "template <class T>\nvoid f() {}"),
    ("csharp", "// A.", "class C { }"),
    ("elixir", "# A.", "defmodule M do\nend"),
    ("haskell", "{- A. -}", "f x = 1"),
    ("java", "// A.", "@X class C { }"),
    ("javascript", "// A.", "export const f = () => 1;"),
    ("julia", "# A.", "function f()\n  1\nend"),
    ("kotlin", "// A.", "@X\nfun f() = 1"),
    ("lua", "--[[ A. ]]", "local function f()\nend"),
    ("rust", "// A.", "#[x]\nfn f() {}"),
    ("scala", "// A.", "def f = 1"),
    ("sql", "-- A.", "CREATE FUNCTION f() RETURNS int AS 'select 1' LANGUAGE sql;"),
    ("swift", "/* A. */", "func f() {}"),
    ("tsx", "// A.", "function f() {}"),
    ("typescript", "/* A. */", "class C {}"),
    ("zig", "// A.", "fn f() void {}"),
]


def cut(text: str, language: str) -> StrippedSource:
    return strip_doc_comments(Source(text, "folder/file", language))


def errors(source: Source) -> int:
    tree = Tree.of(source)
    assert tree is not None
    return tree.errors()


def found(text: str, language: str) -> list[tuple[str, str]]:
    """What is documented, and its lines after the cut."""
    result = cut(text, language)
    lines = result.source.text.split("\n")
    return [
        (one.name, "\n".join(lines[one.start_line - 1 : one.end_line])) for one in result.documented
    ]


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("c", "/** A. */\nint f(void) { return 1; }\n", "int f(void) { return 1; }\n"),
        ("c", "int a; /**< A. */\nint b; ///< B.\n/* no doc */\n",
         "int a;\nint b;\n/* no doc */\n"),
        *((name, f"{comment}\n{code}\n", f"{code}\n") for name, comment, code in PLAIN),
        ("c", "/*! A. */\n/***** rule *****/\n//// rule\n/**/\n",
         "/***** rule *****/\n//// rule\n/**/\n"),
        ("c", "#define X 1 ///< A\n#define Y \"a /// b\" //!< B\n#define Z \"a /// b\"\n",
         "#define X 1\n#define Y \"a /// b\"\n#define Z \"a /// b\"\n"),
        ("cpp", "//! A\n/// B\n// C\nvoid f() {}\n", "// C\nvoid f() {}\n"),
        ("csharp", "/// <summary>A</summary>\n[X]\nclass C { /** B */ int F() { return 1; } }\n",
         "[X]\nclass C {  int F() { return 1; } }\n"),
        ("go", "// A\npackage p\n\n// no doc\n\n//go:noinline\n// B\n//nolint:x\nfunc f() {\n"
         "\t// no doc\n\tvar x = 1\n}\n",
         "package p\n\n// no doc\n\n//go:noinline\n//nolint:x\nfunc f() {\n\t// no doc\n"
         "\tvar x = 1\n}\n"),
        ("go", "package p\n\nvar x = 1 // no doc\nfunc f() {}\n",
         "package p\n\nvar x = 1 // no doc\nfunc f() {}\n"),
        ("go", "package p\n\n// #include <a.h>\nimport \"C\"\n",
         "package p\n\n// #include <a.h>\nimport \"C\"\n"),
        ("java", "/** A. */\n@X\nclass C {\n\t/** B. */ int f() { return 1; }\n}\n",
         "@X\nclass C {\n\tint f() { return 1; }\n}\n"),
        ("javascript", "f(/** @type {X} */ (y));\nx = 1 /** a\n b */ y = 2\n",
         "f( (y));\nx = 1 \n y = 2\n"),
        ("javascript", "// no\r\n/**\r\n * A.\r\n */\r\nfunction f() {}\r\n",
         "// no\r\nfunction f() {}\r\n"),
        ("kotlin", "/** A. */\nfun f() {}", "fun f() {}"),
        ("php", "<?php\n/** A. */\nfunction f() {}\n# no\n", "<?php\nfunction f() {}\n# no\n"),
        ("python", '"""A."""\nclass C:\n    "B"\n    x = """no"""\n',
         'class C:\n    x = """no"""\n'),
        ("python", 'def f():\n\t"""A."""\n\nprint "two"\n', 'def f():\n\tpass\n\nprint "two"\n'),
        ("ruby", "# frozen_string_literal: true\n# A\nclass C\n  # rubocop:disable X\n  # B\n"
         "  def f = 1\n  # C\n  attr_reader :x\n  def g\n    # no\n    h = 1\n  end\nend\n",
         "# frozen_string_literal: true\nclass C\n  # rubocop:disable X\n  def f = 1\n"
         "  attr_reader :x\n  def g\n    # no\n    h = 1\n  end\nend\n"),
        ("ruby", "# A\n# rubocop:disable X\n# B\ndef f = 1\n", "# rubocop:disable X\ndef f = 1\n"),
        ("ruby", "=begin\nA\n=end\ndef f\nend\n", "def f\nend\n"),
        ("rust", "//! A\n\n/// B\n#[doc = \"C\"]\n#[inline]\nfn f() {} // no\n",
         "\n#[inline]\nfn f() {} // no\n"),
        ("scala", "/** A. */\nclass C { def f = 1 }\n", "class C { def f = 1 }\n"),
        ("swift", "/// A.\n@x\nfunc f() {}\n", "@x\nfunc f() {}\n"),
        ("tsx", "/** A. */\nconst f = () => <b>{/** B */}</b>;\n",
         "const f = () => <b>{ }</b>;\n"),
        ("typescript", "/** A. */\ninterface I { x: number } /** B */",
         "interface I { x: number }"),
        ("haskell", "-- | A\nf = 1\n", "f = 1\n"),
        ("c", "/* A. */\nint f(void);\n\n/* no doc */\n\nint g(void);\n",
         "int f(void);\n\n/* no doc */\n\nint g(void);\n"),
        ("c", "/* eslint-disable x */\nint f(void) { /* no doc */\n int a; }\n",
         "/* eslint-disable x */\nint f(void) { /* no doc */\n int a; }\n"),
        ("elixir", "defmodule M do\n  @doc \"\"\"\n  A.\n  \"\"\"\n"
         "  def f(x) do\n    x\n  end\nend\n",
         "defmodule M do\n  def f(x) do\n    x\n  end\nend\n"),
    ],
)  # fmt: skip
def test_doc_comments_go_and_nothing_else_does(language: str, before: str, after: str) -> None:
    assert cut(before, language).source.text == after


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("cpp", "/// A\ntemplate <class T>\nvoid f() {\n}\n"
         "namespace n {\n/** B */\nstruct S {\n};\n}\n",
         [("f", "template <class T>\nvoid f() {\n}"), ("n.S", "struct S {\n};")]),
        ("c", "/** A */\nint f(void);\n/** B */\nint g(void)\n{\n}\n",
         [("g", "int g(void)\n{\n}")]),
        ("csharp", "namespace N {\n/// A\n[X]\n[Y]\npublic class C {\n"
         "  /// B\n  int F() => 1;\n}\n}\n",
         [("N.C", "[X]\n[Y]\npublic class C {\n  int F() => 1;\n}"), ("N.C.F", "  int F() => 1;")]),
        ("go", "package p\n// A\nfunc (s *S[T]) F() {\n}\ntype (\n\t// B\n\tT struct{}\n)\n",
         [("S.F", "func (s *S[T]) F() {\n}"), ("T", "\tT struct{}")]),
        ("java", "/** A */\n// eslint\n@X(1)\npublic class C {\n"
         " /** B */\n @Y public C() {\n }\n}\n",
         [("C", "@X(1)\npublic class C {\n @Y public C() {\n }\n}"),
          ("C.C", " @Y public C() {\n }")]),
        ("javascript", "/** A */\nexport const f = () => {\n};\n"
         "/** B */\na.b = function () {\n};\n",
         [("f", "export const f = () => {\n};"), ("a.b", "a.b = function () {\n};")]),
        ("javascript", "/** A */\n\nfunction f() {\n}\n", []),
        ("javascript", "/** Not this */\n/** This */\n@dec\nexport class C {\n}\n",
         [("C", "@dec\nexport class C {\n}")]),
        ("python", "@a\n@b(\n 1)\ndef f():\n '''A'''\n def g():\n  'B'\n  return 1\n return g\n",
         [("f", "@a\n@b(\n 1)\ndef f():\n def g():\n  return 1\n return g"),
          ("f.g", " def g():\n  return 1")]),
        ("ruby", "module M\n # A\n sig { void }\n def f\n end\n # B\n private def g\n end\nend\n",
         [("M.f", " sig { void }\n def f\n end"), ("M.g", " private def g\n end")]),
        ("rust", "/// A\n#[x]\n// plain\npub fn f() {\n}\nimpl S {\n    /// B\n    fn g() {}\n}\n",
         [("f", "#[x]\n// plain\npub fn f() {\n}"), ("S.g", "    fn g() {}")]),
        ("scala", "/** A */\nobject O {\n  def f: Int =\n    1\n  /** B */\n}\n",
         [("O", "object O {\n  def f: Int =\n    1\n}")]),
    ],
)  # fmt: skip
def test_targets_are_definitions_with_their_attributes(
    language: str, text: str, expected: list[tuple[str, str]]
) -> None:
    assert found(text, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "@a  # grows\ndef f():\n 'A'\n return 1\n", "@a  # grows\ndef f():\n return 1"),
        ("python", "@a\n# b\n\n@c(\n 1)  # d\n\n# e\n\ndef f():\n 'A'\n return 1\n",
         "@a\n# b\n\n@c(\n 1)  # d\n\n# e\n\ndef f():\n return 1"),
        ("python", "x = 1  # a\n# b\n@c\ndef f():\n 'A'\n return 1\n", "@c\ndef f():\n return 1"),
        ("java", "/** A. */\n@X // x\n@Y(1) /* y */ // z\nclass C {\n}\n",
         "@X // x\n@Y(1) /* y */ // z\nclass C {\n}"),
        ("java", "class D {\n @X /** A. */\n void f() {\n }\n}\n", " @X\n void f() {\n }"),
        ("csharp", "/// A\n[X] // x\nclass C {\n}\n", "[X] // x\nclass C {\n}"),
        ("php", "<?php\n/** A */\n#[X] // x\nfunction f() {\n}\n", "#[X] // x\nfunction f() {\n}"),
        ("rust", "/// A\n#[inline] // hot\nfn f() {\n}\n", "#[inline] // hot\nfn f() {\n}"),
        ("rust", "#[inline]\n/// A\nfn f() {\n}\n", "#[inline]\nfn f() {\n}"),
        ("rust", "#![allow(x)]\n\n/// A\nfn f() {\n}\n", "fn f() {\n}"),
        ("rust", "#![allow(x)] // why\n/// A\nfn f() {\n}\n", "fn f() {\n}"),
        ("typescript", "/** A */\n@X() // x\nexport class C {\n}\n",
         "@X() // x\nexport class C {\n}"),
        ("kotlin", "/** A */\n@X // x\nfun f() {\n}\n", "@X // x\nfun f() {\n}"),
        ("swift", "/// A\n@x // x\nfunc f() {\n}\n", "@x // x\nfunc f() {\n}"),
        ("scala", "/** A */\n@x // x\ndef f(): Int = {\n 1\n}\n",
         "@x // x\ndef f(): Int = {\n 1\n}"),
    ],
)  # fmt: skip
def test_comments_behind_attributes_or_between_them_part_nothing(
    language: str, text: str, expected: str
) -> None:
    assert [lines for _, lines in found(text, language)][-1:] == [expected]


def test_a_comment_behind_code_documents_nothing_below() -> None:
    assert found("class C {\n int x; /** A. */\n void f() {\n }\n}\n", "java") == []
    assert found("class C {\n int x; /* A. */\n /** B. */\n void f() {\n }\n}\n", "java") == [
        ("C.f", " void f() {\n }")
    ]


def test_an_inner_attribute_that_documents_is_cut() -> None:
    text = '#![doc = "A"]\n#![allow(x)]\nfn f() {}\n'
    assert cut(text, "rust").source.text == "#![allow(x)]\nfn f() {}\n"


def test_lines_of_a_comment_count_together_and_blocks_alone() -> None:
    assert cut("/// A\n/// B\nfn f() {}\n", "rust").documented[0].comment == ("/// A", "/// B")
    assert cut("/// A\n\n/// B\nfn f() {}\n", "rust").documented[0].comment == ("/// B",)
    assert cut("/** A */\n/** B */\nfn f() {}\n", "rust").documented[0].comment == ("/** B */",)
    assert cut("// A\n// B\nfunc f() {}\n", "go").documented[0].comment == ("// A", "// B")


def test_what_documents_nothing_named_is_counted() -> None:
    text = "/** File. */\n\n/** A. */\nclass C {\n  /** Field. */\n  int x;\n}\n/** Lost. */\n"
    assert cut(text, "java").others == 3


def test_definitions_of_one_name_are_numbered_documented_or_not() -> None:
    text = "void f(int a) {\n}\n/** A. */\nvoid f(char a) {\n}\n"
    assert [(one.name, one.number) for one in cut(text, "cpp").documented] == [("f", 2)]


def test_a_body_of_nothing_but_strings_is_empty() -> None:
    (one,) = cut("def f():\n    '''A'''\n    'B'\n", "python").documented
    assert (one.empty, one.comment) == (True, ("A",))


@pytest.mark.parametrize(
    ("text", "documented"),
    [
        ("# Weighs a box.\n# Twice.\ndef f():\n    return 1\n", ["Weighs a box.\nTwice."]),
        ("class A:\n    # Weighs it.\n    def f(self):\n        return 1\n", ["Weighs it."]),
        ("# Weighs it.\nasync def f():\n    return 1\n", ["Weighs it."]),
        ("# Weighs it.\nclass A:\n    x = 1\n", ["Weighs it."]),
        # A docstring comes first, and the comment stays.
        ('# Old.\ndef f():\n    "New."\n    return 1\n', ["New."]),
        # Comments about something else.
        ("# Weighs it.\n\ndef f():\n    return 1\n", []),
        ("# Weighs it.\n@cache\ndef f():\n    return 1\n", []),
        ("def f():\n    # Weighs it.\n    def g():\n        return 1\n    return g\n", []),
        ("# noqa: D103\ndef f():\n    return 1\n", []),
        ("# type: ignore\ndef f():\n    return 1\n", []),
        ("#!/usr/bin/env python\ndef f():\n    return 1\n", []),
        ("# Weighs it.\nx = 1\n", []),
        ("x = 1  # Weighs it.\ndef f():\n    return 1\n", []),
    ],
)
def test_a_comment_above_a_function_of_python_counts_without_a_docstring(
    text: str, documented: list[str]
) -> None:
    result = cut(text, "python")
    assert [one.comment for one in result.documented] == [(comment,) for comment in documented]
    assert ("#" in result.source.text) is (documented in ([], ["New."]))


def test_docstrings_are_read_as_python_reads_them() -> None:
    text = "def f():\n  ('one ' # why\n   r'two\\n')\n  return 1\n"
    text += "def g():\n  f'no'\ndef h():\n  b'no'\n"
    assert [one.comment for one in cut(text, "python").documented] == [("one two\\n",)]


@pytest.mark.parametrize("language", WITH_PROGRAM)
def test_a_program_of_every_language_parses_as_before(language: str) -> None:
    text = (PROGRAMS / f"{language}.txt").read_bytes().decode("utf-8")
    result = cut(text, language)
    assert result.documented
    assert errors(result.source) == errors(Source(text, "a", language))
    # Its grammar reads Julia worse without the strings, which keep their place without words. In
    # Python a comment above a function counts where there is no docstring.
    if language not in ("julia", "python"):
        assert cut(result.source.text, language) == StrippedSource(
            Source(result.source.text, "folder/file", language)
        )


def test_broken_code_that_would_parse_worse_keeps_the_room_of_its_comments() -> None:
    text = (
        "NAMESPACE_BEGIN\n\n/// @sa one\ntemplate<typename V, typename>\nstruct s\n{\n"
        + "".join(
            "    /// @brief reads it\n    /// @sa a place far away from here, which is long\n"
            "    template<typename B, typename T = V>\n"
            f"    static auto {name}(B && j, T& v) noexcept(\n"
            "        noexcept(::n::get(std::forward<B>(j), v)))\n"
            "    -> decltype(::n::get(std::forward<B>(j), v), void())\n    {\n"
            "        ::n::get(std::forward<B>(j), v);\n    }\n\n"
            for name in ("a", "b", "c")
        )
        + "};\n\nNAMESPACE_END\n"
    )
    result = cut(text, "cpp")
    assert 0 < errors(result.source) <= errors(Source(text, "a", "cpp"))
    assert "brief" not in result.source.text


# How a language writes a comment, an attribute, a function and the two ends of a class.
FORMS = {
    "cpp": ("/** {} */", "[[nodiscard]]", "int {0}() {{ return 1; }}", "class {0} {{", "}};"),
    "csharp": ("/// {}", "[Some(1)]", "class {0} {{ int f; }}", "class {0} {{", "}}"),
    "java": ("/** {} */", "@Some(1)", "int {0}() {{ return 1; }}", "class {0} {{", "}}"),
    "kotlin": ("/** {} */", "@Some(1)", "fun {0}() {{ f() }}", "class {0} {{", "}}"),
    "php": ("/** {} */", "#[Some(1)]", "function {0}() {{ return 1; }}", "class {0} {{", "}}"),
    "ruby": ("# {}", "sig {{ void }}", "def {0}() = 1", "class N{0}", "end"),
    "rust": ("/// {}", "#[some(1)]", "fn {0}() {{ f(1) }}", "mod {0} {{", "}}"),
    "scala": ("/** {} */", "@some(1)", "def {0}(): Int = {{ 1 }}", "class {0} {{", "}}"),
    "swift": ("/// {}", "@some", "func {0}() {{ f() }}", "class {0} {{", "}}"),
    "typescript": ("/** {} */", "@some(1)", "class {0} {{ f() {{}} }}", "namespace {0} {{", "}}"),
}

ITEM = st.tuples(
    st.lists(st.sampled_from(["größe", "of it", "«x»"]), max_size=2),
    st.booleans(),
    st.sampled_from(["function", "open", "close", "blank"]),
)


def program(language: str, items: list[tuple[list[str], bool, str]], tab: str) -> str:
    """A program in which `secret` stands in every doc comment and nowhere else."""
    comment, attribute, function, opening, closing = FORMS[language]
    lines: list[str] = ["<?php"] * (language == "php")
    depth = 0
    for number, (words, attributed, kind) in enumerate(items):
        if kind == "blank" or (kind == "close" and depth == 0):
            lines.append("")
            continue
        if kind == "close":
            depth -= 1
            lines.append(tab * depth + closing.format())
            continue
        lines += [tab * depth + comment.format(f"The secret {word}.") for word in words]
        lines += [tab * depth + attribute.format()] * (attributed and kind == "function")
        form = function if kind == "function" else opening
        lines.append(tab * depth + form.format(f"n{number}"))
        depth += kind == "open"
    return "\n".join([*lines, *(closing.format() for _ in range(depth)), ""])


@pytest.mark.parametrize("language", sorted(FORMS))
@settings(max_examples=25, deadline=None)
@given(
    items=st.lists(ITEM, max_size=8),
    tab=st.sampled_from(["  ", "\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_no_word_of_a_doc_comment_is_left_and_targets_resolve(
    language: str, items: list[tuple[list[str], bool, str]], tab: str, end: str
) -> None:
    text = program(language, items, tab).replace("\n", end)
    result = cut(text, language)
    assert "secret" not in result.source.text
    assert errors(result.source) <= errors(Source(text, "a", language))
    assert cut(text, language) == result
    lines = result.source.text.split("\n")
    for one in result.documented:
        inside = "\n".join(lines[one.start_line - 1 : one.end_line])
        assert one.name.rsplit(".", 1)[-1] in inside
        assert all("secret" in comment for comment in one.comment)
    names = {one.name.rsplit(".", 1)[-1].lstrip("N") for one in result.documented}
    wanted = {
        f"n{number}"
        for number, (words, _, kind) in enumerate(items)
        if words and kind == "function"
    }
    if errors(Source(text, "a", language)) == 0:
        assert wanted <= names


@pytest.mark.parametrize("language", WITH_PROGRAM)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_broken_sources_keep_their_lines_and_parse_if_they_did(
    language: str, data: st.DataObject
) -> None:
    text = (PROGRAMS / f"{language}.txt").read_bytes().decode("utf-8")
    start = data.draw(st.integers(0, len(text)))
    end = min(len(text), start + data.draw(st.integers(0, 200)))
    broken = text[:start] + data.draw(st.sampled_from(["", "{", "/*", '"""', "é"])) + text[end:]
    result = cut(broken, language)
    # How many errors a parser sees in what it can't read changes with any character before them.
    assert errors(result.source) == 0 or errors(Source(broken, "a", language)) > 0
    for one in result.documented:
        assert 1 <= one.start_line <= one.end_line <= result.source.lines.count
