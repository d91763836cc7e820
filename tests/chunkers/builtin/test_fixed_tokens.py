import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers import InputError, Services, Source, load_chunker
from chunkers.sizes import span_size
from chunkers.testing.services import count_tokens


def cut(spec, text):
    source = Source(text, "a.py", "python")
    spans = load_chunker(spec).chunk(source, Services(count_tokens=count_tokens))
    return [text[span.start : span.end] for span in spans]


def test_lines_are_kept_whole_where_they_fit():
    assert cut("fixed-tokens:max_size=3", "a b\nc\n\nd e f\ng\n") == ["a b\nc\n", "d e f\n", "g\n"]
    assert cut("fixed-tokens:max_size=3,overlap=1", "a b\nc\nd e\nf") == [
        "a b\nc\n",
        "c\nd e\n",
        "d e\nf",
    ]


def test_a_line_over_the_limit_is_cut_where_the_tokens_run_out():
    assert cut("fixed-tokens:max_size=2", "x\na b c d e\ny\n") == [
        "x\n",
        "a b ",
        "c d ",
        "e\n",
        "y\n",
    ]
    assert cut("fixed-tokens:max_size=2", "a" * 20) == ["a" * 8, "a" * 8, "a" * 4]


def test_a_character_of_too_many_tokens_is_a_chunk():
    source = Source("ab\n", "a", None)
    spans = load_chunker("fixed-tokens:max_size=2").chunk(
        source, Services(count_tokens=lambda text: 3 * len(text))
    )
    assert [(span.start, span.end) for span in spans] == [(0, 1), (1, 2)]


@given(st.text(st.sampled_from("abc \n\t🐍"), max_size=200), st.integers(1, 9), st.integers(0, 3))
def test_every_visible_character_is_in_one_chunk_within_the_limit(text, size, overlap):
    source, overlap = Source(text, "a", None), min(overlap, size - 1)
    services = Services(count_tokens=count_tokens)
    spans = load_chunker(f"fixed-tokens:max_size={size},overlap={overlap}").chunk(source, services)
    end = 0
    for span in spans:
        assert span_size(source, span, "tokens", services) <= size
        assert source.lines.size(end, max(end, span.start)) == 0
        assert source.lines.size(max(end, span.start), span.end) > 0
        if span.start < end:
            assert source.lines.line_of(end - 1) - source.lines.line_of(span.start) < overlap
        end = span.end
    assert source.lines.size(end, len(text)) == 0


def test_a_line_of_a_megabyte_is_cut_in_few_counts():
    calls = []

    def count(text):
        calls.append(len(text))
        return count_tokens(text)

    text = "var a=[" + "1," * 500_000 + "1];"
    spans = load_chunker("fixed-tokens").chunk(
        Source(text, "a.js", "javascript"), Services(count_tokens=count)
    )
    assert [span.start for span in spans[1:]] == [span.end for span in spans[:-1]]
    assert max(span.end - span.start for span in spans) <= 4 * 254
    assert len(calls) < 25 * len(spans)
    assert sum(calls) < 40 * len(text)


def test_without_a_tokenizer_it_says_what_is_missing():
    with pytest.raises(InputError, match="needs a tokenizer"):
        load_chunker("fixed-tokens").chunk(Source("a\n", "a", None), Services())


def test_what_it_declares():
    loaded = load_chunker("fixed-tokens:max_size=100,overlap=2")
    assert (loaded.name, loaded.max_size, loaded.unit, loaded.embeds) == (
        "fixed-tokens:max_size=100,overlap=2",
        100,
        "tokens",
        False,
    )
    with pytest.raises(InputError, match="max_size=0"):
        load_chunker("fixed-tokens:max_size=0")
