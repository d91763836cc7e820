import pytest

from chunkers import Services, Source, Span, load_chunker
from chunkers.grammars.headers import with_headers

TEXT = '''\
import os

class Store:
    """Keeps."""

    def report(
        self, names,  # why
    ):
        def inner(text):
            return text
        return inner(names)

    def close(self): pass

LAST = 1
'''
PATH = "a folder/store.py"
STORE = ["Store", "class Store:"]
REPORT = ["Store > report", "def report( self, names, # why ):"]
INNER = ["Store > report > inner", "def inner(text):"]


def headers(source: Source, spans: list[Span]) -> list[list[str]]:
    found = []
    for span in with_headers(source, spans):
        head = span.embed_text.removesuffix(source.text[span.start : span.end])
        assert head.endswith("\n")
        found.append(head[:-1].split("\n"))
    return found


def test_every_line_has_the_scopes_that_begin_before_it():
    source = Source(TEXT, PATH, "python")
    expected = [
        [],
        [],
        [],
        STORE,
        STORE,
        STORE,
        REPORT,
        REPORT,
        REPORT,
        INNER,
        REPORT,
        STORE,
        STORE,
        [],
        [],
    ]
    spans = [Span(*source.lines.offsets_of(line, line)) for line in range(1, 16)]
    # What begins with blank lines is placed by its first other character.
    full = [span for span in spans if source.text[span.start : span.end].strip()]
    lines = [source.lines.line_of(span.start) for span in full]
    assert headers(source, full) == [[PATH, *expected[line - 1]] for line in lines]
    assert headers(source, [spans[4]]) == [[PATH, *STORE]]
    assert headers(source, [spans[11]]) == [[PATH, *STORE]]


def test_a_chunk_that_begins_in_the_line_of_a_definition_is_inside_it():
    source = Source("class A:\n    def f(self): return 1\n", "a.py", "python")
    middle = source.text.index("self")
    at = source.text.index("def")
    assert headers(source, [Span(9, 20), Span(at, at + 3), Span(middle, middle + 4)]) == [
        ["a.py", "A", "class A:"],
        ["a.py", "A", "class A:"],
        ["a.py", "A > f", "def f(self):"],
    ]


def test_what_ends_on_the_line_where_another_begins_is_not_round_it():
    text = "function a() {\n} function b() {\n  return 1;\n}\n"
    source = Source(text, "a.js", "javascript")
    line = Span(*source.lines.offsets_of(3, 3))
    assert headers(source, [line]) == [["a.js", "b", "function b()"]]


def test_the_path_stands_alone_without_a_grammar():
    assert headers(Source("a\nb\n", "docs/a.txt", None), [Span(0, 2), Span(2, 4)]) == [
        ["docs/a.txt"],
        ["docs/a.txt"],
    ]
    assert with_headers(Source("", "a.py", "python"), []) == []


def test_a_deep_chain_keeps_its_inner_end():
    names = [f"level{number}" for number in range(40)]
    text = "".join(f"{' ' * at}class {name}:\n" for at, name in enumerate(names)) + " " * 40 + "x\n"
    source = Source(text, "a.py", "python")
    line = source.lines.count
    ((_, chain, signature),) = headers(source, [Span(*source.lines.offsets_of(line, line))])
    assert chain.startswith("… > level") and chain.endswith("level38 > level39")
    assert len(chain) <= 204
    assert signature == "class level39:"


def test_repeated_lines_place_a_chunk():
    spec = "fixed:max_size=40,overlap=2,header=on"
    source = Source(TEXT, PATH, "python")
    for span in load_chunker(spec).chunk(source, Services()):
        assert span.embed_text == with_headers(source, [span])[0].embed_text


@pytest.mark.parametrize("name", ["ast", "fixed", "whole-file"])
def test_an_empty_or_blank_file_has_no_header(name):
    for text in ("", " \n\n"):
        source = Source(text, "a.py", "python")
        assert load_chunker(f"{name}:header=on").chunk(source, Services()) == []
