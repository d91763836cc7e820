"""The sources that a chunker is tested on: written by hand for common faults, and random."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chunkers.languages import SUFFIXES
from chunkers.source import Source
from chunkers.testing.programs import function, program, syntax_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEEP = 3_000
_BODY = ["total = a + b", "", "left = total", "return total"]


@dataclass(frozen=True, slots=True)
class Case:
    """One source.

    Attributes:
        name: A description.
        language: Its language; None for plain text.
        text: Its text.
        encoding: `utf-8-sig` if the reader dropped a byte order mark.
    """

    name: str
    language: str | None
    text: str
    encoding: str = "utf-8"

    def source(self) -> Source:
        """The source that the chunker gets."""
        suffixes = (suffix for suffix, language in SUFFIXES.items() if language == self.language)
        suffix = next(suffixes, ".txt")
        path = f"folder/{self.name.replace(' ', '-')}{suffix}"
        return Source(self.text, path, self.language, self.encoding)

    def with_text(self, text: str) -> Case:
        """The same case with another text."""
        return replace(self, text=text)


def cases(languages: tuple[str | None, ...], seed: int, programs: int) -> list[Case]:
    """The cases for each language: those written by hand, and a number of random programs."""
    all_cases: list[Case] = []
    for language in languages:
        all_cases += _handmade(language)
        for number in range(programs):
            text = program(language, f"{seed} {number}", items=6 * (number + 1))
            all_cases.append(Case(f"random program {number}", language, text))
    return all_cases


@functools.lru_cache(maxsize=4)
def large(language: str | None, seed: int, length: int) -> Case:
    """A program of `length` characters, without repetition."""
    parts: list[str] = []
    size = 0
    while size < length:
        parts.append(program(language, f"{seed} large {len(parts)}", items=40) + "\n")
        size += len(parts[-1])
    return Case("large program", language, "".join(parts)[:length])


def _handmade(language: str | None) -> Iterator[Case]:
    syntax = syntax_of(language)
    mark = syntax.comment or "-"
    first = function(language, "alpha", _BODY)
    two = first + "\n" + function(language, "beta", [f"{mark} é 🐍 e\u0301 漢字", *_BODY])
    opening, closing = syntax.nest
    lines = "A line of some length\n" * 50
    texts = {
        "empty": "",
        "blank": "  \n\n\t\n",
        "blank, all white space": "\r\n\f\v\x1c\x85\u2028\u3000\n",
        "one line feed": "\n",
        "no final newline": two.rstrip("\n"),
        "blank lines around": f"\n\n\n{two}\n\n\n",
        "combining characters": first.replace("total", "te\u0301tal").replace("left", "ﬁ\u0308"),
        "astral characters": f'{mark} 🐍🐍🐍\nx = "👩\u200d👩\u200d👧"\n{two}{mark} 🐍\n',
        "right-to-left marks": f"{mark} \u202eabc\u202c\n{first}",
        "CRLF": two.replace("\n", "\r\n"),
        "lone CR": two.replace("\n", "\r"),
        "mixed line ends": two.replace("\n", "\r\n", 3).replace("return", "\rreturn"),
        "tabs": two.replace("    ", "\t"),
        "form feeds": f"{first}\f\n{first}\fx = 1\n",
        "other separators": f"x = 1\x0by = 2\x1cz = 3\x85{mark} a\u2028b\u2029c\n{first}",
        "byte order mark in the text": f"\ufeff{first}",
        "NUL": f"{first}x = 1\0y = 2\n\0\n{first}",
        "control characters": f"{first}\x01\x02\x1b[31m\x7f\n{first}",
        "one long line": "x = " + " + ".join(f"y{number}" for number in range(2_000)),
        "one long word": "x" * 5_000 + "\n",
        "long literal": f'x = "{"A" * 2_000}"\ny = 1\n',
        "long literal with escapes": f'x = """{lines}\\t{lines}\\t{lines}"""\ny = 1\n',
        "long literal of many lines": 'x = """' + "A line of it\n" * 200 + '"""\ny = 1\n',
        "deep nesting on one line": f"x = {opening * _DEEP}1{closing * _DEEP}\n",
        "deep nesting by lines": "x = " + f"{opening}\n" * _DEEP + "1\n" + f"{closing}\n" * _DEEP,
        "deep blocks": _deep_blocks(language),
        "syntax errors": f"{first}){{ def ((\n{two[: len(two) // 2]}\n\"'`/* <!--\n{two}",
        "unclosed literal": f'x = "abc\n{two}',
        "only comments": f"{mark} first\n{mark} second\n\n{mark} third\n" * 20,
        "duplicate functions": first * 12,
        "duplicate functions, blank lines between": f"{first}\n\n" * 12,
        "duplicate lines": "x = 1\n" * 300,
        "one character": "x",
        "brackets alone": "}\n)\n]\n{\n(\n[\n",
    }
    for name, text in texts.items():
        yield Case(name, language, text)
    yield Case("byte order mark dropped", language, two, "utf-8-sig")


def _deep_blocks(language: str | None) -> str:
    """Nested blocks, as deep as in generated code."""
    syntax = syntax_of(language)
    depth = 80
    opening = "if (a) {" if syntax.closing else "if a:"
    body = [f"{' ' * level}{opening}" for level in range(depth)]
    body.append(f"{' ' * depth}x = 1")
    if syntax.closing:
        body += [f"{' ' * level}{syntax.closing}" for level in reversed(range(depth))]
    return function(language, "deep", body)
