"""What holds for the reference chunkers on any text."""

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers import Services, Source, load_chunker
from chunkers.reference import code_chunk_ast, code_chunk_fixed, memorybench_fixed

LANGUAGES = ["go", "java", "javascript", "python", "rust", "tsx", "typescript"]
SIZES = st.sampled_from([1, 7, 30, 80, 300, 1500])

load = functools.cache(load_chunker)

pieces = st.sampled_from(
    [
        *("\n", "\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\ufeff", "\xa0", " ", "    ", "\t"),
        *("é", "🐍", "a", "x = 1", "y" * 40, "(", ")", "[", "]", "{", "}", "<", ">", ";", ","),
        *('"', "'", '"""', "`", "\\", "# c\n", "// c\n", "/* c */", "@a\n", "#[a]\n", "=>"),
        *("def f(a):\n", "class A:\n", "class A {", "import a\n", "from a import b\n", "use a::{"),
        *("function f() {\n", "fn f() {\n", "func (a A) f() {\n", "type (\n", "export {", "enum E"),
        *("interface I {", "impl A for B {", "struct S", "package p\n", "trait T {", "void m();"),
    ]
)
texts = st.lists(pieces, max_size=80).map("".join)


def utf16(text):
    return text.encode("utf-16-le", "surrogatepass")


@pytest.mark.parametrize("language", LANGUAGES)
# Always the same texts: there are broken programs on which tree-sitter never returns.
@settings(max_examples=80, deadline=None, derandomize=True)
@given(texts, SIZES)
def test_spans_are_the_chunks_in_characters(language, text, size):
    expected = code_chunk_ast.reference_chunks(text, "a/b", language=language, max_size=size)
    found = load(f"code-chunk-ast:max_size={size}").chunk(Source(text, "a/b", language), Services())
    octets = utf16(text)
    for chunk in expected:
        assert utf16(chunk.text) == octets[2 * chunk.start : 2 * chunk.end]
        assert chunk.start_line == text.encode("utf-16-le")[: 2 * chunk.start].decode(
            "utf-16-le"
        ).count("\n")
    assert sorted(
        (span.ref_id, text[span.start : span.end], span.embed_text) for span in found
    ) == (sorted((chunk.id, chunk.text, chunk.header + chunk.text) for chunk in expected))


@settings(max_examples=200, deadline=None)
@given(texts, SIZES)
def test_windows_of_lines_hold_the_whole_text_once(text, size):
    chunks = code_chunk_fixed.reference_chunks(text, "a", max_size=size)
    assert "\n".join(chunk.text for chunk in chunks) == text
    assert [chunk.end_line + 1 for chunk in chunks[:-1]] == [c.start_line for c in chunks[1:]]
    for chunk in chunks:
        weight = sum(1 + (char > "\uffff") for char in chunk.text if char > " ")
        assert weight <= size or chunk.start_line == chunk.end_line


@settings(max_examples=200, deadline=None)
@given(texts, st.integers(1, 40), st.data())
def test_windows_of_characters_lose_nothing_but_blanks(text, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    chunks = memorybench_fixed.reference_chunks(text, "a", max_size=size, overlap=overlap)
    octets, covered = utf16(text), set()
    for chunk in chunks:
        assert utf16(chunk.text) == octets[2 * chunk.start : 2 * chunk.end]
        covered.update(range(chunk.start, chunk.end))
    lost = b"".join(
        octets[2 * unit : 2 * unit + 2] for unit in range(len(octets) // 2) if unit not in covered
    )
    # A byte order mark is white space in JavaScript.
    assert lost.decode("utf-16-le").replace("\ufeff", "").strip() == ""


@settings(max_examples=200, deadline=None)
@given(texts, st.integers(1, 40), st.data())
def test_windows_of_characters_are_valid_spans_that_can_be_embedded(text, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    chunker = load(f"memorybench-fixed:max_size={size},overlap={overlap}")
    for span in chunker.chunk(Source(text, "a"), Services()):
        assert span.end > span.start
        (span.embed_text or text[span.start : span.end]).encode("utf-8")
