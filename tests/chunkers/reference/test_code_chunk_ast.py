"""What the chunker of code-chunk does, faults included, on small texts."""

import pytest

from chunkers import InputError, Services, Source, load_chunker
from chunkers.reference.code_chunk_ast import reference_chunks


def cut(text, spec="code-chunk-ast", path="a/b.py", language="python", **source):
    services = Services(corpus="some_repo")
    spans = load_chunker(spec).chunk(Source(text, path, language, **source), services)
    return spans, services


def places(text, max_size, path="a.py"):
    return [
        (chunk.start_line, chunk.end_line)
        for chunk in reference_chunks(text, path, max_size=max_size)
    ]


def test_indentation_and_what_lies_between_windows_are_in_no_chunk():
    text = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"
    spans, _ = cut(text, "code-chunk-ast:max_size=20,header=off")
    assert [text[span.start : span.end] for span in spans] == [
        "class A:",
        "def f(self):\n        return 1",
        "def g(self):\n        return 2",
    ]


def test_a_piece_of_a_leaf_that_meets_whole_nodes_becomes_the_whole_leaf():
    text = 'x = (\n"""' + "\n".join(["a" * 12] * 6) + '"""\n)\n'
    assert places(text, 30) == [(0, 6), (3, 5), (1, 7)]
    spans, _ = cut(text, "code-chunk-ast:max_size=30")
    assert [span.ref_id for span in spans] == ["a/b.py:0-6", "a/b.py:1-7", "a/b.py:3-5"]
    assert [source_line(text, span.start) for span in spans] == [1, 2, 4]


def source_line(text, offset):
    return text.count("\n", 0, offset) + 1


def test_a_piece_of_a_leaf_ends_on_the_first_line_of_the_next():
    text = '"""' + "".join(f"{letter * 30}\n" for letter in "abcd") + '"""\n'
    # The quotation marks are nodes of their own.
    assert places(text, 31) == [(0, 0), (0, 1), (1, 2), (2, 3), (3, 4), (4, 4)]


def test_offsets_are_utf16_units_and_spans_are_characters():
    text = "s = '🐍🐍'\nt = 1\n"
    chunks = reference_chunks(text, "a.py", max_size=8)
    assert [(chunk.start, chunk.end) for chunk in chunks][-1] == (11, 16)
    spans, _ = cut(text, "code-chunk-ast:max_size=8,header=off")
    assert text[spans[-1].start : spans[-1].end] == "t = 1"


def test_a_byte_order_mark_that_was_dropped_counts_again():
    text = "# aé\nx = 1\n"
    spans, _ = cut(text, "code-chunk-ast:header=off", encoding="utf-8-sig")
    assert [text[span.start : span.end] for span in spans] == ["# aé\nx = 1"]
    chunks = reference_chunks("\ufeff" + text, "a/b.py")
    assert [(chunk.start, chunk.end) for chunk in chunks] == [(1, 11)]


def test_what_is_embedded_is_header_and_text_or_the_text_alone():
    text = "import os\n\n\ndef f():\n    return os\n"
    spans, _ = cut(text, "code-chunk-ast:max_size=18")
    assert [span.embed_text for span in spans] == [
        "# a/b.py\n# Uses: os\n# Before: f\n\nimport os",
        "# a/b.py\n# Scope: f\n# Defines: def f()\n# Uses: os\n\n"
        "# ...\nimport os\n# ---\ndef f():\n    return os",
    ]
    bare, _ = cut(text, "code-chunk-ast:max_size=18,header=off")
    assert [(span.start, span.end) for span in bare] == [(0, 9), (12, 34)]
    assert {span.embed_text for span in bare} == {None}


def test_only_the_last_ten_lines_of_the_chunk_before_are_repeated():
    text = "".join(f"x{number} = {number}\n" for number in range(12)) + "y = '" + "y" * 60 + "'\n"
    last = reference_chunks(text, "a.py", max_size=70)[1]
    repeated = [f"x{number} = {number}" for number in range(2, 12)]
    assert last.header == "\n".join(["# a.py", "", "# ...", *repeated, "# ---", ""])


@pytest.mark.parametrize(
    ("prefix", "path", "line", "ref_id"),
    [
        ("", "x/y/z/b.py", "# y/z/b.py", "x/y/z/b.py:0-0"),
        ("/data/trees/", "b.py", "# data/trees/b.py", "/data/trees/b.py:0-0"),
        ("/data/<corpus>", "b.py", "# data/some_repo/b.py", "/data/some_repo/b.py:0-0"),
    ],
)
def test_the_prefix_goes_before_the_path(prefix, path, line, ref_id):
    spec = f"code-chunk-ast:path_prefix={prefix}" if prefix else "code-chunk-ast"
    spans, _ = cut("x = 1\n", spec, path)
    assert spans[0].embed_text == f"{line}\n\nx = 1"
    assert spans[0].ref_id == ref_id


@pytest.mark.parametrize("text", ["", "\n", " \n\t\r\n", "\ufeff"])
def test_a_blank_text_gives_no_chunk(text):
    assert cut(text)[0] == []


@pytest.mark.parametrize("language", ["ruby", None])
def test_a_language_that_it_does_not_read_is_noted(language):
    spans, services = cut("x = 1\n", path="a.rb", language=language)
    assert spans == []
    assert dict(services.notes) == {f"not read: {language or 'unknown language'}": 1}
    with pytest.raises(InputError, match=r"a\.rb: code-chunk does not read"):
        reference_chunks("x = 1\n", "a.rb")


def test_the_suffix_says_the_language_where_none_is_given():
    text = "let x = <A/>;\n"
    for suffix in ("ts", "tsx", "mts", "cts", "js"):
        assert places(text, 1500, f"a.{suffix}") == [(0, 0)]
    with pytest.raises(InputError):
        reference_chunks(text, "a.TS")


def test_typescript_is_read_by_the_grammar_of_tsx():
    services = cut("let x = <A>y;\n", path="a.ts", language="typescript")[1]
    assert dict(services.notes) == {"syntax error": 1}
    assert not cut("let x = <A/>;\n", path="a.ts", language="typescript")[1].notes


def test_code_may_be_nested_deeper_than_python_calls():
    text = "x = " + "(" * 20_000 + "1" + ")" * 20_000 + "\n"
    spans, _ = cut(text)
    assert sum(span.end - span.start for span in spans) >= 40_000


def test_the_version_names_the_grammars_and_the_limit_is_declared():
    chunker = load_chunker("code-chunk-ast")
    assert {"python", "tree-sitter", "tsx"} <= set(chunker.version.replace("(", "").split())
    assert (chunker.max_size, chunker.unit) == (1500, "nws")
    with pytest.raises(InputError, match="max_size=0"):
        load_chunker("code-chunk-ast:max_size=0")
