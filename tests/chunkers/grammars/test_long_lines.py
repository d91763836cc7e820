"""A line that exceeds the limit is cut at tokens of its tree."""

import pytest

from chunkers import Services, Source, load_chunker

FUNCTION = (
    'function f%d(a,b){var c=a+b*%d;if(c>é){return g("ünï",c)}else{return[a,b,c].map(x=>x*2)}}'
)
MINIFIED = "!function(e,t){" + ";".join(FUNCTION % (n, n) for n in range(40)) + "}(this,1);\n"


def chunks_of(text, spec, language="javascript"):
    source = Source(text, "a", language)
    spans = load_chunker(spec).chunk(source, Services())
    assert "".join(text[span.start : span.end] for span in spans) == text
    return [text[span.start : span.end] for span in spans]


@pytest.mark.parametrize("name", ["ast", "function"])
@pytest.mark.parametrize("limit", [100, 200, 600])
def test_minified_code_is_cut_within_the_limit_and_at_least_half_full(name, limit):
    chunks = chunks_of(MINIFIED, f"{name}:max_size={limit},unit=chars")
    assert max(map(len, chunks)) <= limit
    assert min(map(len, chunks[:-1])) >= limit // 2


def test_cuts_fall_where_the_fewest_constructs_are_open():
    chunks = chunks_of(MINIFIED, "ast:max_size=300,unit=chars")
    assert {chunk[:10] for chunk in chunks[1:-1]} == {"function f"}


def test_a_token_stays_whole():
    token = "'" + "a" * 500 + "'"
    chunks = chunks_of(f"x = [1, 2, {token}, 3]\n", "ast:max_size=50", "python")
    assert [chunk for chunk in chunks if "a" * 500 in chunk]


def test_lines_beside_it_are_cut_as_ever():
    text = "a = 1\n" + "b = [" + ", ".join(map(str, range(300))) + "]\nc = 2\n"
    first, *inner, last = chunks_of(text, "ast:max_size=100", "python")
    assert (first, last) == ("a = 1\n", "c = 2\n")
    assert len(inner) > 5
