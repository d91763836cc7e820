"""Boundary quality, counted by hand on small sources."""

import pytest

from chunkers import Source, Span, load_chunker
from chunkers.plugins.loading import LoadedChunker
from harness.chunking.boundaries import BINS, Boundaries, boundaries, definition_lines
from harness.chunking.corpus import chunk_corpus
from harness.model import Corpus

DECORATED = """import os

@deco
@deco2(1)
def alpha(x):
    return x

# of beta
def beta():
    pass
"""
RUST = """#[test]
// why
fn f() {
}

struct A;

impl A {
    /// doc
    fn g(&self) {}
}
"""
JAVA = """class A {
    /** doc
     */
    @Override
    public int f() {
        return 1;
    }
}
"""


def chunker(*runs: tuple[int, int]) -> LoadedChunker:
    """Cuts every source at these lines."""

    def chunk(source, services):
        return [Span(*source.lines.offsets_of(first, last)) for first, last in runs]

    return LoadedChunker("by hand", chunk, "1", None, "nws", None)


def look(text: str, *runs: tuple[int, int], language: str | None = "python") -> Boundaries:
    corpus = Corpus("corpus", (Source(text, "a", language),))
    return boundaries(chunk_corpus(corpus, chunker(*runs)))


def fates(found: Boundaries) -> tuple[int, int, int, int]:
    assert found.definitions == found.whole + found.head_cut + found.split + found.lost
    return found.whole, found.head_cut, found.split, found.lost


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([(1, 10)], (2, 0, 0, 0)),
        ([(1, 2), (3, 7), (8, 10)], (2, 0, 0, 0)),
        ([(1, 3), (4, 8), (9, 10)], (0, 2, 0, 0)),
        ([(1, 4), (5, 8), (9, 10)], (0, 2, 0, 0)),
        ([(1, 5), (6, 10)], (1, 0, 1, 0)),
        ([(1, 4)], (0, 0, 0, 2)),
        ([(1, 5), (9, 9)], (0, 0, 2, 0)),
        ([(1, 6), (3, 10)], (2, 0, 0, 0)),
        ([], (0, 0, 0, 2)),
    ],
)
def test_definitions_are_whole_or_cut_off_from_their_heads_or_split_or_lost(runs, expected):
    assert fates(look(DECORATED, *runs)) == expected


def test_a_definition_has_the_decorators_attributes_and_comments_above_it():
    assert definition_lines(Source(DECORATED, "a", "python")) == [(3, 5, 6), (8, 9, 10)]
    assert definition_lines(Source(RUST, "a", "rust")) == [(1, 3, 4), (9, 10, 10)]
    assert definition_lines(Source(JAVA, "a", "java")) == [(2, 5, 7)]
    nested = "def f():\n    # inner\n    def g():\n        pass\n    return g\n"
    assert definition_lines(Source(nested, "a", "python")) == [(1, 1, 5)]
    assert definition_lines(Source("# a\n\nx = 1\n", "a", "python")) == []
    assert definition_lines(Source(DECORATED, "a", None)) == []


def test_chunks_parse_alone_without_their_indentation():
    text = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return (2)\n"
    assert look(text, (1, 6)).parsed == 1.0
    assert look(text, (2, 3), (5, 6)).parsed == 1.0
    assert look("x = f(\n    1,\n)\n", (1, 1), (2, 2), (3, 3)).parsed == 1 / 3


def test_chunks_of_broken_files_and_of_plain_text_say_nothing_about_parsing():
    assert look("x = (\n", (1, 1)).parsed is None
    plain = look("text\n", (1, 1), language=None)
    assert (plain.parsed, plain.definitions) == (None, 0)


def test_sizes_are_percentiles_by_nearest_rank_and_a_histogram():
    text = "".join("x" * size + "\n" for size in (10, 20, 30, 40, 60, 700, 2500))
    found = look(text, *((at, at) for at in range(1, 8)))
    assert found.sizes == (10, 40, 2500, 2500)
    counts = dict(zip(BINS, found.histogram, strict=True))
    assert counts == dict.fromkeys(BINS, 0) | {0: 4, 50: 1, 600: 1, 2000: 1}
    assert found.per_1000_lines == 1000.0
    document = found.document()
    assert document["sizes"] == {"p5": 10, "p50": 40, "p95": 2500, "max": 2500}
    assert document["histogram"][0] == {"from": 0, "chunks": 4}


def test_repeated_text_and_equal_chunks_are_counted():
    found = look("abcd\nefgh\nabcd\n", (1, 1), (1, 2), (2, 2), (3, 3))
    assert found.repeated == 8 / 12
    assert found.duplicates == 2


def test_an_empty_corpus_has_nothing_to_say():
    found = look("", language="python")
    assert found == Boundaries(0, 0, 0, 0, 0, None, None, (0,) * len(BINS), None, 0, None)


def test_files_of_several_languages_and_of_none_are_taken_together():
    files = ((DECORATED, "python"), (RUST, "rust"), (JAVA, "java"), ("a\nb\n", None))
    sources = tuple(Source(text, str(at), language) for at, (text, language) in enumerate(files))
    found = boundaries(chunk_corpus(Corpus("corpus", sources), chunker((1, 3), (4, 7))))
    # Python's alpha and Java's f lose their heads, Rust's f is split, beta and g are lost.
    assert fates(found) == (0, 2, 1, 2)
    assert found.per_1000_lines == 1000 * 7 / (10 + 11 + 8 + 2)


def test_a_file_on_which_the_chunker_fails_has_lost_its_definitions():
    def chunk(source, services):
        if source.path == "b":
            raise RecursionError("too deep")
        return [Span(0, len(source.text))]

    sources = tuple(Source(DECORATED, name, "python") for name in "abc")
    failing = LoadedChunker("failing", chunk, "1", None, "nws", None)
    found = boundaries(chunk_corpus(Corpus("corpus", sources), failing))
    assert fates(found) == (4, 0, 0, 2)
    assert (found.parsed, found.per_1000_lines) == (1.0, 1000 * 2 / 30)


def test_a_definition_that_lost_text_inside_is_split_and_parses_by_what_is_left():
    text = "def f():\n    return 'a' + 'b'\n\n\n# g\ndef g():\n    pass\n"

    def gapped(*gaps):
        spans = [Span(0, len(text), gaps=tuple((text.index(one), text.index(one) + len(one))
                                               for one in gaps))]  # fmt: skip
        return LoadedChunker("gapped", lambda source, services: spans, "1", None, "nws", None)

    def look_at(*gaps):
        return boundaries(chunk_corpus(Corpus("c", (Source(text, "a", "python"),)), gapped(*gaps)))

    assert fates(look_at("'a' + ")) == (1, 0, 1, 0)
    assert fates(look_at("# g")) == (1, 1, 0, 0)
    assert fates(look_at("\n\n\n")) == (2, 0, 0, 0)  # white space weighs nothing
    assert fates(look_at("def g():\n    pass\n")) == (1, 0, 0, 1)
    assert [look_at(one).parsed for one in ("'a' + ", "'b'")] == [1, 0]


def test_function_keeps_whole_what_lines_split():
    lines = [f"def f{at}(a):\n    b = a\n    return a + {at} + b\n\n" for at in range(40)]
    corpus = Corpus("corpus", (Source("".join(lines), "a", "python"),))
    function = boundaries(chunk_corpus(corpus, load_chunker("function:max_size=40")))
    fixed = boundaries(chunk_corpus(corpus, load_chunker("fixed:max_size=40")))
    assert (function.whole, function.split, function.parsed) == (40, 0, 1.0)
    assert fixed.split > 5


def test_files_of_a_corpus_are_taken_together():
    sources = tuple(Source(DECORATED, name, "python") for name in "ab")
    corpus = Corpus("corpus", sources)
    found = boundaries(chunk_corpus(corpus, chunker((1, 10))))
    assert (found.definitions, found.whole, found.duplicates) == (4, 4, 2)
    assert found.per_1000_lines == 100.0
