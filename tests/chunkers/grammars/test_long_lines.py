"""A line that exceeds the limit is cut at tokens of its tree, else between words."""

import re
import time

import pytest

from chunkers import Services, Source, load_chunker
from chunkers.testing.services import cheap_services

FUNCTION = (
    'function f%d(a,b){var c=a+b*%d;if(c>é){return g("ünï",c)}else{return[a,b,c].map(x=>x*2)}}'
)
MINIFIED = "!function(e,t){" + ";".join(FUNCTION % (n, n) for n in range(40)) + "}(this,1);\n"


@pytest.fixture
def chunks_of(spans_of):
    def chunks(text, spec, language="javascript"):
        spans = spans_of(load_chunker(spec), Source(text, "a", language))
        return [text[span.start : span.end] for span in spans]

    return chunks


@pytest.mark.parametrize("name", ["ast", "function", "semantic", "cluster-semantic"])
@pytest.mark.parametrize("limit", [150, 200, 600])
def test_minified_code_is_cut_where_the_fewest_constructs_are_open(chunks_of, name, limit):
    chunks = chunks_of(MINIFIED, f"{name}:max_size={limit},unit=chars")
    assert "".join(chunks) == MINIFIED
    assert min(map(len, chunks)) >= limit // 5
    assert {chunk[:10] for chunk in chunks[1:-1]} == {"function f"}


@pytest.mark.parametrize("unit", ["nws", "chars", "tokens"])
@pytest.mark.parametrize("name", ["ast", "fixed", "random-cuts"])
def test_every_unit_is_kept(chunks_of, name, unit):
    """`spans_of` holds the limit; a wrong unit would give other numbers of chunks."""
    text = "x = [" + "'a b', " * 400 + "]\n"
    sizes = {"nws": 3 + 400 * 5, "chars": 6 + 400 * 7, "tokens": 3 + 400 * 2}
    chunks = chunks_of(text, f"{name}:max_size=90,unit={unit}", "python")
    assert sizes[unit] / 90 <= len(chunks) <= sizes[unit] / 90 * 1.25 + 1


@pytest.mark.parametrize(
    ("language", "text", "token"),
    [
        ("python", "f(%s" + "1, 2, " * 30 + "'%s', 3)\n", "' a-b' * 12"),
        ("javascript", "f(%s" + "1,2," * 30 + "`%s ${x} c`,3)\n", "template"),
        ("java", "class A{String s=f(%s" + "1,2," * 30 + '"%s\\n",3);}\n', "literal"),
        ("rust", "fn f(){g(%s" + "1,2," * 30 + 'r#"%s"#,3)}\n', "raw"),
        ("go", "package p;var s=f(%s" + "1,2," * 30 + "`%s`,3)\n", "raw"),
        ("json", "[%s" + "1,2," * 30 + '"%s\\n",3]\n', "string"),
        ("c", "int x=f(%s" + "1,2," * 30 + "/* %s */3);\n", "comment"),
    ],
)
def test_a_string_or_a_comment_that_fits_stays_whole(chunks_of, language, text, token):
    del token
    words = "one two three four five six seven eight"
    for shift in range(0, 40, 4):
        line = text % ("9" * shift + "," if shift else "", words)
        for chunks in (chunks_of(line, f"ast:max_size={limit}", language) for limit in (50, 60)):
            assert len(chunks) > 2
            assert sum(words in chunk for chunk in chunks) == 1


def test_no_name_is_cut_and_no_piece_begins_with_what_closes(chunks_of):
    text = "call(" + "".join(f"identifier_{n}[{n}],{{key_{n}:{n}}}," for n in range(300)) + "0);\n"
    chunks = chunks_of(text, "ast:max_size=90")
    assert "".join(chunks) == text
    words = [re.findall(r"\w+", chunk) for chunk in chunks]
    assert [word for part in words for word in part] == re.findall(r"\w+", text)
    assert not [chunk for chunk in chunks if chunk[0] in ",;)]}"]
    assert not [chunk for chunk in chunks if chunk[-1] in "([{"]


def test_a_token_over_the_limit_is_cut_between_words_else_between_characters(chunks_of):
    words = "x = [1, '" + "some words " * 40 + "', 2]\n"
    for chunk in chunks_of(words, "ast:max_size=50", "python"):
        assert re.fullmatch(r"(x = \[1, ')?((some|words)\s+)*(', 2\]\n)?", chunk)
    letters = chunks_of("x = '" + "a" * 500 + "'\n", "ast:max_size=50", "python")
    assert [len(chunk) for chunk in letters[:-2]] == [52, *[50] * 8]


def test_arms_of_a_chain_on_one_line_fill_the_limit(chunks_of):
    text = "if(a){b()}" + "else if(a==1){b(2)}" * 300 + "\n"
    chunks = chunks_of(text, "ast:max_size=200")
    assert {chunk[:7] for chunk in chunks[1:]} == {"else if"}
    assert len(chunks) <= len(text) / 200 * 1.2


@pytest.mark.parametrize("name", ["fixed", "fixed-tokens", "ast", "random-cuts"])
@pytest.mark.parametrize("language", ["markdown", None])
def test_prose_on_one_line_is_cut_between_words(chunks_of, name, language):
    text = "Some words about a thing, and others. " * 60
    for chunk in chunks_of(text, f"{name}:max_size=60", language):
        assert set(chunk.split()) <= set(text.split())


def test_lines_beside_it_are_cut_as_ever(chunks_of):
    text = "a = 1\n" + "b = [" + ", ".join(map(str, range(300))) + "]\nc = 2\n"
    for name in ("ast", "function", "fixed", "random-cuts"):
        first, *inner, last = chunks_of(text, f"{name}:max_size=100", "python")
        assert (first, last) == ("a = 1\n", "c = 2\n")
        assert len(inner) > 5


def test_random_cuts_have_the_sizes_of_those_of_ast_elsewhere(spans_of):
    uneven = ";".join(f"function f{n}(a){{{'b(1,2);' * (n * 7 % 23)}}}" for n in range(60))
    source = Source(f"a();\n{uneven}\nb();\n", "a.js", "javascript")
    cuts = {}
    for name in ("ast", "random-cuts", "random-cuts:seed=1"):
        spec = name + (",max_size=200" if ":" in name else ":max_size=200")
        cuts[name] = spans_of(load_chunker(spec), source)
    sizes = {
        name: sorted(source.lines.size(span.start, span.end) for span in spans)
        for name, spans in cuts.items()
    }
    for name in ("random-cuts", "random-cuts:seed=1"):
        assert abs(len(sizes[name]) - len(sizes["ast"])) <= 2
        assert (
            len({s.start for s in cuts[name]} & {s.start for s in cuts["ast"]})
            < len(cuts[name]) / 2
        )
    assert cuts["random-cuts"] != cuts["random-cuts:seed=1"]


def test_a_long_line_repeats_nothing_and_a_header_names_its_path():
    text = "a = 1\n" + "b = [" + "1, " * 300 + "]\nc = 2\nd = 3\n"
    source = Source(text, "a.py", "python")
    spans = load_chunker("ast:max_size=100,overlap=2,header=on").chunk(source, Services())
    assert "".join(text[span.start : span.end] for span in spans) == text
    assert all(span.embed_text.startswith("a.py\n") for span in spans)


@pytest.mark.parametrize(
    ("language", "begin", "part", "end"),
    [
        ("javascript", "x=[", "1,", "1]"),
        ("javascript", "", "[", ""),
        ("javascript", "if(a){b()}", "else if(a){b()}", ""),
        ("javascript", "a", ".b()", ";"),
        ("javascript", "", "f(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23);\n", ""),
        ("python", "x = ", "a or ", "b"),
        (None, "", "word ", ""),
    ],
)
def test_the_time_is_nearly_linear(language, begin, part, end):
    def seconds(length):
        source = Source(begin + part * (length // len(part)) + end, "a", language)
        start = time.process_time()
        load_chunker("ast:max_size=50").chunk(source, cheap_services())
        return time.process_time() - start

    # Four times the text; quadratic time would be 16 times.
    assert min(seconds(160_000), seconds(160_000)) < 9 * seconds(40_000) + 0.1
