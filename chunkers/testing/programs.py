"""Random programs in many languages."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WORDS = ("read", "store", "count", "index", "value", "total", "line", "page", "node", "open")
_ODD = ("é", "ß", "e\u0301", "漢字", "🐍", "👩\u200d👩\u200d👧", "ﬁ", "\u202e", "\u00a0")


@dataclass(frozen=True, slots=True)
class Syntax:
    """The syntax of a group of languages.

    Attributes:
        comment: Mark of a line comment.
        function: Head of a function, with `{name}`.
        closing: End of a block; empty if indentation ends it.
        outer: Head of the class that a function must be in; empty if none is needed.
        nest: Opening and closing bracket of an expression.
    """

    comment: str
    function: str
    closing: str = "}"
    outer: str = ""
    nest: tuple[str, str] = ("(", ")")


_BRACES = Syntax("//", "function {name}(a, b) {{")
_PYTHON = Syntax("#", "def {name}(a, b):", closing="", nest=("[", "]"))
_PLAIN = Syntax("", "About {name}:", closing="")

SYNTAXES: Mapping[str | None, Syntax] = MappingProxyType(
    {
        None: _PLAIN,
        "python": _PYTHON,
        "c": Syntax("//", "int {name}(int a, int b) {{"),
        "cpp": Syntax("//", "int {name}(int a, int b) {{"),
        "csharp": Syntax("//", "int {name}(int a, int b) {{", outer="class {name} {{"),
        "go": Syntax("//", "func {name}(a int, b int) int {{"),
        "java": Syntax("//", "int {name}(int a, int b) {{", outer="class {name} {{"),
        "javascript": Syntax("//", "function {name}(a, b) {{"),
        "kotlin": Syntax("//", "fun {name}(a: Int, b: Int): Int {{"),
        "rust": Syntax("//", "fn {name}(a: i64, b: i64) -> i64 {{"),
        "scala": Syntax("//", "def {name}(a: Int, b: Int): Int = {{"),
        "swift": Syntax("//", "func {name}(a: Int, b: Int) -> Int {{"),
        "tsx": Syntax("//", "function {name}(a: number, b: number): number {{"),
        "typescript": Syntax("//", "function {name}(a: number, b: number): number {{"),
    }
)
"""Syntax by language; other languages are written with braces."""


def syntax_of(language: str | None) -> Syntax:
    """The syntax of a language."""
    return SYNTAXES.get(language, _BRACES)


def function(language: str | None, name: str, body: list[str]) -> str:
    """A function with the lines of its body, which are indented."""
    return "".join(f"{line}\n" for line in _function(syntax_of(language), name, body))


def program(language: str | None, seed: str, items: int) -> str:
    """A random program of `items` definitions, statements, comments and paragraphs."""
    chance = random.Random(f"{seed} {language}")  # noqa: S311
    syntax = syntax_of(language)
    make = _paragraph if syntax is _PLAIN else _item
    lines: list[str] = []
    for number in range(items):
        lines += make(chance, syntax, number)
        lines += [""] * chance.choice((0, 0, 1, 1, 2))
    return "\n".join(lines) + chance.choice(("\n", "\n", ""))


def _item(chance: random.Random, syntax: Syntax, number: int) -> list[str]:
    kind = chance.randrange(8)
    if kind == 0:
        return [f"{syntax.comment} {_words(chance, 12)}" for _ in range(chance.randint(1, 6))]
    if kind == 1:
        return [_statement(chance, syntax) for _ in range(chance.randint(1, 8))]
    if kind == 2:
        # Longer than most limits: it cannot be merged, and must not be lost.
        return [f'text{number} = "{_words(chance, chance.choice((20, 200)))}"']
    name = f"{chance.choice(_WORDS)}_{number}"
    return list(_function(syntax, name, _block(chance, syntax, chance.randint(1, 25), 3)))


def _function(syntax: Syntax, name: str, body: list[str]) -> Iterator[str]:
    indent = "    "
    if syntax.outer:
        yield syntax.outer.format(name=name.title().replace("_", ""))
    yield (indent if syntax.outer else "") + syntax.function.format(name=name)
    for line in body:
        yield (indent * (1 + bool(syntax.outer)) + line) if line else ""
    if syntax.closing:
        yield (indent if syntax.outer else "") + syntax.closing
    if syntax.outer:
        yield syntax.closing


def _block(chance: random.Random, syntax: Syntax, lines: int, depth: int) -> list[str]:
    """The lines of a block, a few of them in blocks of their own."""
    # The first line is a statement: some languages have no empty blocks.
    block = [f"{chance.choice(_WORDS)} = a{';' if syntax.closing else ''}"]
    while len(block) < lines:
        if depth and chance.random() < 0.2:
            opening = "if a > b:" if not syntax.closing else "if (a > b) {"
            inner = _block(chance, syntax, max(1, lines // 3), depth - 1)
            block += [opening, *(f"    {line}" if line else "" for line in inner)]
            block += [syntax.closing] if syntax.closing else []
        else:
            block.append(_statement(chance, syntax))
    return block


def _statement(chance: random.Random, syntax: Syntax) -> str:
    name, end = chance.choice(_WORDS), ";" if syntax.closing else ""
    return chance.choice(
        (
            "",
            f"{name} = a + {chance.randrange(1000)}{end}",
            f"{name}(a, {chance.choice(_WORDS)}(b)){end}",
            f'{name} = "{_words(chance, 4)}"{end}',
            f"{syntax.comment} {_words(chance, 6)}",
        )
    )


def _paragraph(chance: random.Random, syntax: Syntax, number: int) -> list[str]:
    del syntax
    if chance.random() < 0.2:
        return [f"{number}. {_words(chance, 3)}"]
    return [_words(chance, chance.randint(3, 14)) for _ in range(chance.randint(1, 12))]


def _words(chance: random.Random, count: int) -> str:
    return " ".join(
        chance.choice(_ODD) if chance.random() < 0.1 else chance.choice(_WORDS)
        for _ in range(count)
    )
