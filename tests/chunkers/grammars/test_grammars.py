"""Every grammar on a program of its own language, those of the extra where it is installed."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from chunkers import Services, Source, load_chunker
from chunkers.errors import install_command
from chunkers.grammars.bundled import BUNDLED
from chunkers.grammars.definitions import definitions
from chunkers.grammars.extra import EXTRA
from chunkers.grammars.loading import GRAMMARS, library_language, library_version, parser
from chunkers.grammars.outline import outline
from chunkers.grammars.parsing import deeper, parse
from chunkers.sizes import measure

PROGRAMS = Path(__file__).parents[1] / "programs"
EXPECTED = tomllib.loads((PROGRAMS / "definitions.toml").read_text("utf-8"))
SIZES = (80, 300, 600, 1500)
CUTTING = ("ast", "function", "random-cuts")

needs_extra = pytest.mark.skipif(not library_version(), reason="tree-sitter-languages is missing")
every_language = pytest.mark.parametrize(
    "language",
    [*sorted(BUNDLED), *(pytest.param(name, marks=needs_extra) for name in sorted(EXTRA))],
)


def program(language: str) -> Source:
    folder = PROGRAMS if language in BUNDLED else PROGRAMS / "extra"
    text = (folder / f"{language}.txt").read_bytes().decode("utf-8")
    return Source(text, f"a/{language}", language)


def expected(language: str) -> list[tuple[int, int, str]]:
    """First line, last line and the beginning of the first line of code of every definition."""
    found = []
    for row in EXPECTED[language]:
        lines, _, code = row.partition(": ")
        first, _, last = lines.partition("-")
        found.append((int(first), int(last), code))
    return found


def spans(spec: str, source: Source) -> list[tuple[int, int]]:
    """First and last line of every chunk, the blank ones before and behind left out."""
    lines = source.lines
    return [
        lines.lines_of(span.start, span.end)
        for span in load_chunker(spec).chunk(source, Services())
    ]


def test_there_is_a_program_for_every_grammar():
    assert {file.stem for file in PROGRAMS.glob("*.txt")} == set(BUNDLED)
    assert {file.stem for file in (PROGRAMS / "extra").glob("*.txt")} == set(EXTRA)
    assert set(EXPECTED) == set(GRAMMARS)


@every_language
def test_a_program_is_parsed_without_an_error(language):
    root = parse(program(language))
    assert root is not None
    assert not root.has_error
    assert root.descendant_count > 20


@every_language
@pytest.mark.parametrize("name", CUTTING)
def test_a_program_is_cut_exactly_once(spans_of, language, name):
    for size in SIZES:
        chunker = load_chunker(f"{name}:max_size={size}")
        assert len(spans_of(chunker, program(language))) > 0


@every_language
def test_the_definitions_are_found_with_what_stands_above_them(language):
    source = program(language)
    lines = measure(source, Services(), "nws")
    rows = (lines.rows + 1).tolist()
    root = parse(source)
    assert root is not None
    found = [(rows[first], rows[last]) for first, last in definitions(root, lines)]
    wanted = expected(language)
    assert found == [(first, last) for first, last, _ in wanted]
    text = source.text.split("\n")
    for first, last, code in wanted:
        assert any(line.strip().startswith(code) for line in text[first - 1 : last]), code


@every_language
def test_each_definition_is_a_chunk_of_function_and_no_chunk_of_ast_parts_it_from_its_comment(
    language,
):
    source = program(language)
    text = source.text.split("\n")
    whole, cut = spans("function:max_size=1500", source), spans("ast:max_size=600", source)
    for first, last, code in expected(language):
        # Lines of closing brackets stay with the definition before.
        assert [1 for start, end in whole if start == first and end >= last], code
        begins = next(
            row for row in range(first, last + 1) if text[row - 1].strip().startswith(code)
        )
        assert [1 for start, end in cut if start <= first and begins <= end], code


@every_language
def test_a_damaged_program_is_cut_exactly_once(spans_of, language):
    text = program(language).text
    chance = np.random.default_rng(len(text))
    lines = text.split("\n")
    damaged = [text[: len(text) // 3], text[len(text) // 2 :], text.replace("\n", "\r\n")]
    for _ in range(4):
        kept = [line for line in lines if chance.random() > 0.1]
        damaged.append("\n".join(kept))
        octets = bytearray(text.encode())
        for _ in range(20):
            octets[chance.integers(len(octets))] = chance.integers(256)
        damaged.append(octets.decode("utf-8", "replace"))
    for name in CUTTING:
        chunker = load_chunker(f"{name}:max_size={chance.choice(SIZES)}")
        for one in damaged:
            spans_of(chunker, Source(one, "a/b", language))


@every_language
def test_the_outline_of_a_line_has_every_definition_that_has_the_line(language):
    source = program(language)
    every = outline(source)
    for line in range(1, source.lines.count + 1):
        around = {scope for scope in every if scope.start_line <= line <= scope.end_line}
        assert around <= set(outline(source, [line])) <= set(every)


@pytest.mark.parametrize("opening", ["- ", "? ", "- a: ", "[", "a:\n ", "> "])
def test_yaml_nested_without_end_is_no_crash(spans_of, opening):
    spans_of(load_chunker("ast:max_size=80"), Source(opening * 5000 + "\n1\n" * 40, "a", "yaml"))


def test_yaml_nested_too_deep_for_its_parser_is_cut_by_lines():
    text = "".join(" " * level + f"a{level}:\n" for level in range(300))
    services = Services()
    found = load_chunker("ast:max_size=80").chunk(Source(text, "a", "yaml"), services)
    assert services.notes == {"fallback: fixed (yaml)": 1}
    assert found == load_chunker("fixed:max_size=80").chunk(Source(text, "a"), Services())


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("", 0),
        ("a: 1\nb: 2\n", 1),
        ("a:\n  b:\n    c: 1\nd:\n  e: 1\n", 3),
        ("- - - a\n", 4),
        ("- a: 1\n  b: 2\n", 3),
        ("a:\r b:\r  c:\r", 3),
        ("well-known a-b-c\n", 1),
    ],
)
def test_depth_counts_lines_and_the_marks_on_them(text, depth):
    assert depth == 0 or deeper(text, depth - 1)
    assert not deeper(text, depth + 1)


@needs_extra
def test_every_grammar_of_the_library_loads_and_parses():
    from tree_sitter import Parser

    samples = {one.symbol: program(name).text for name, one in EXTRA.items()}
    # What the library calls those of which a newer one is installed.
    samples |= {"c_sharp" if name == "csharp" else name: program(name).text for name in BUNDLED}
    newer = {"swift", "xml", "zig"}
    symbols = sorted(set(samples) - newer)
    assert len(symbols) == 49
    for symbol in symbols:
        root = Parser(library_language(symbol)).parse(samples[symbol].encode()).root_node
        assert root.descendant_count > 20, symbol


def test_without_the_extra_its_languages_are_listed_and_cut_by_lines():
    script = (
        "import chunkers.grammars.loading as loading\n"
        "loading.LIBRARY = 'tree-sitter-nothing'\n"
        "from chunkers import Services, Source, load_chunker\n"
        "from chunkers.languages import list_languages\n"
        "services = Services()\n"
        "load_chunker('ast:max_size=80').chunk(Source('x = 1\\n' * 90, 'a', 'perl'), services)\n"
        "print(dict(services.notes))\n"
        "(perl,) = [one for one in list_languages() if one.name == 'perl']\n"
        "print(repr(perl.problem))\n"
        "try:\n"
        "    loading.parser('perl')\n"
        "except loading.InputError as error:\n"
        "    print(error)\n"
        "print('nothing' in loading.grammar_versions())\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, check=True, capture_output=True, text=True
    )
    notes, problem, error, named = done.stdout.splitlines()
    assert notes == "{'fallback: fixed (perl)': 1}"
    assert install_command("languages") in problem
    assert install_command("languages") in error
    assert named == "False"
    assert parser("python") is not None
