"""What holds for every built-in chunker on any text."""

import functools
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chunkers import Source, load_chunker
from chunkers.grammars.bundled import BUNDLED
from chunkers.sizes import UNITS
from chunkers.testing.services import cheap_services

CUTTING = ("ast", "function", "random-cuts", "fixed", "semantic", "cluster-semantic")
BY_LINES = (*CUTTING, "whole-file")
BUILT_IN = (*BY_LINES, "fixed-chars", "fixed-tokens")
SIZES = (80, 300, 600, 1500)
LANGUAGES = (*sorted(BUNDLED), "cmake", None)

load = functools.cache(load_chunker)

fragments = st.sampled_from(
    [
        *("\n", "\n\n", "\r\n", "\r", "\f", "\0", "\x85", "\u2028", "\ufeff", " ", "\t", "    "),
        *("é", "🐍", "a", "x = 1", "y" * 90, "(", ")", "[", "]", "{", "}", "<", ">", ";", ","),
        *('"', "'", '"""', "`", "\\", "# c\n", "// c\n", "/* c */", "/*", "#if X\n", "#endif\n"),
        *("@a\n", "#[a]\n", "public:\n", "def f():\n", "class A:\n", "if x {\n", "else"),
        *("function f() {\n", "fn f() {\n"),
    ]
)
texts = st.lists(fragments, max_size=120).map("".join)
limits = st.builds("max_size={},unit={}".format, st.sampled_from(SIZES), st.sampled_from(UNITS))


@st.composite
def mutated(draw: st.DrawFn, program: str) -> str:
    """A program with pieces removed, repeated, put elsewhere, or with other line ends."""
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(program)))
        end = min(len(program), start + draw(st.integers(0, 400)))
        at = draw(st.integers(0, len(program)))
        piece = draw(st.sampled_from([program[start:end], ""]) | fragments)
        program = draw(
            st.sampled_from([program[:start] + program[end:], program[:at] + piece + program[at:]])
        )
    return draw(st.sampled_from([program, program.replace("\n", "\r\n"), program * 3]))


@pytest.mark.parametrize("name", CUTTING)
@settings(max_examples=100, deadline=None)
@given(texts, st.sampled_from(LANGUAGES), limits)
def test_any_text_is_cut_exactly_once_within_the_limit(spans_of, name, text, language, limit):
    spans_of(load(f"{name}:{limit}"), Source(text, "a/b", language))


@pytest.mark.parametrize("language", sorted(BUNDLED))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.data_too_large])
@given(st.data(), limits)
def test_any_program_is_cut_exactly_once_within_the_limit(
    spans_of, programs, language, data, limit
):
    source = Source(data.draw(mutated(programs[language])), "a/b", language)
    for name in CUTTING:
        spans_of(load(f"{name}:{limit}"), source)


@pytest.mark.parametrize("name", CUTTING)
@settings(max_examples=60, deadline=None)
@given(texts, st.sampled_from(LANGUAGES), st.sampled_from([0, 1, 3, 50]), limits)
def test_overlapping_chunks_repeat_no_more_lines_than_said_and_stay_within_the_limit(
    spans_of, name, text, language, overlap, limit
):
    source = Source(text, "a/b", language)
    spans_of(load(f"{name}:{limit},overlap={overlap}"), source, overlap)


@pytest.mark.parametrize("name", CUTTING)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("overlap", [0, 1, 3, 50])
def test_programs_are_cut_exactly_once_apart_from_the_overlap(
    spans_of, programs, name, size, overlap
):
    for language, text in programs.items():
        source = Source(text, "a/b", language)
        spans = spans_of(load(f"{name}:max_size={size},overlap={overlap}"), source, overlap)
        ends = [span.end for span in spans]
        starts = [span.start for span in spans]
        repeated = sum(start < end for start, end in zip(starts[1:], ends, strict=False))
        assert repeated == 0 if overlap == 0 else repeated >= len(spans) // 3


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_header_changes_no_span(programs, name):
    for language, text in programs.items():
        source = Source(text, "a/b", language)
        plain = load(name).chunk(source, cheap_services())
        headed = load(f"{name}:header=on").chunk(source, cheap_services())
        assert [(one.start, one.end) for one in headed] == [(one.start, one.end) for one in plain]
        for span in headed:
            assert span.embed_text.startswith("a/b\n")
            assert span.embed_text.endswith("\n" + text[span.start : span.end])


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("text", ["", "  \n\n\t\n", "\n", "\r\n\f\n", "\u3000\x85\u2028"])
@pytest.mark.parametrize("language", ["python", None])
def test_an_empty_or_blank_file_has_no_chunk(name, text, language):
    given = cheap_services()
    assert load(name).chunk(Source(text, "a/__init__.py", language), given) == []
    assert not given.notes


@pytest.mark.parametrize("name", BY_LINES)
@pytest.mark.parametrize("size", [2, 600])
def test_chunks_report_the_right_lines(name, size):
    spec = name if name == "whole-file" else f"{name}:max_size={size}"
    cases = {
        "def a():\n    return 1\ndef b():\n    return 2\n": 4,
        "a = 1\r\nb = 2\r\nc = 3\r\n": 3,
        "a = 1\n\f\ndef b():\n    return 2\n": 4,
        "# é\ndef f():\n    return 1\n": 3,
    }
    for text, count in cases.items():
        source = Source(text, "a.py", "python")
        spans = load(spec).chunk(source, cheap_services())
        found = [source.lines.lines_of(span.start, span.end) for span in spans]
        if size == 600 or name == "whole-file":
            assert (found[0][0], found[-1][1]) == (1, count)
            continue
        blank = [at for at in range(1, count + 1) if source.lines.blank(at)]
        assert list(dict.fromkeys(found)) == [(n, n) for n in range(1, count + 1) if n not in blank]
        lines = "".join(line + "\n" for line in text.split("\n") if line.strip())
        assert "".join(text[span.start : span.end] for span in spans) == lines


@pytest.mark.parametrize("name", BY_LINES)
def test_a_megabyte_on_one_line_is_cut_within_the_limit(name):
    text = "var a=[" + "1," * 500_000 + "1];"
    source = Source(text, "dist/app.min.js", "javascript")
    spans = load(name).chunk(source, cheap_services())
    assert "".join(text[span.start : span.end] for span in spans) == text
    assert {source.lines.lines_of(span.start, span.end) for span in spans} == {(1, 1)}
    if name != "whole-file":
        assert len(text) / 600 <= len(spans) <= len(text) / 600 * 1.1
        assert max(source.lines.size(span.start, span.end) for span in spans) <= 600


@pytest.mark.parametrize("name", ["ast", "function"])
@pytest.mark.parametrize(
    "nest",
    [
        ("python", "[", "]"),
        ("python", "(f(", "))"),
        ("python", "a + ", ""),
        ("javascript", "if (x) {", "}"),
        ("javascript", "x ? y : ", ""),
        ("javascript", "() => {", "}"),
        ("java", "{", "}"),
        ("go", "[]int{", "}"),
        ("rust", "if x {", "}"),
        ("c", "(", ")"),
        ("cpp", "{[", "]}"),
    ],
)
@pytest.mark.parametrize("between", ["", "\n"])
def test_deep_nesting_is_no_error(spans_of, name, nest, between):
    language, opening, closing = nest
    text = (opening + between) * 10_000 + "1\n" + (closing + between) * 10_000
    spans_of(load(name), Source(text, "deep", language))


def test_the_hash_seed_changes_nothing(tmp_path):
    script = tmp_path / "spans.py"
    script.write_text(
        "import pathlib, sys\n"
        "from chunkers.testing.services import cheap_services\n"
        "from chunkers import Source, load_chunker\n"
        "for file in sorted(pathlib.Path(sys.argv[1]).glob('*.txt')):\n"
        "    source = Source(file.read_text('utf-8'), file.name, file.stem)\n"
        "    for spec in sys.argv[2:]:\n"
        "        print(file.name, spec, load_chunker(spec).chunk(source, cheap_services()))\n",
        encoding="utf-8",
    )
    root = Path(__file__).parents[2]
    programs = Path(__file__).parent / "programs"
    specs = ["whole-file", *(f"{name}:max_size=80" for name in CUTTING)]
    printed = [
        subprocess.run(
            [sys.executable, str(script), str(programs), *specs],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert printed[0].count(b"Span(") > 100
