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
class Family:
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


_BRACES = Family("//", "function {name}(a, b) {{")
_PYTHON = Family("#", "def {name}(a, b):", closing="", nest=("[", "]"))
_PLAIN = Family("", "About {name}:", closing="")

FAMILIES: Mapping[str | None, Family] = MappingProxyType(
    {
        None: _PLAIN,
        "python": _PYTHON,
        "c": Family("//", "int {name}(int a, int b) {{"),
        "cpp": Family("//", "int {name}(int a, int b) {{"),
        "csharp": Family("//", "int {name}(int a, int b) {{", outer="class {name} {{"),
        "go": Family("//", "func {name}(a int, b int) int {{"),
        "java": Family("//", "int {name}(int a, int b) {{", outer="class {name} {{"),
        "javascript": Family("//", "function {name}(a, b) {{"),
        "kotlin": Family("//", "fun {name}(a: Int, b: Int): Int {{"),
        "rust": Family("//", "fn {name}(a: i64, b: i64) -> i64 {{"),
        "scala": Family("//", "def {name}(a: Int, b: Int): Int = {{"),
        "swift": Family("//", "func {name}(a: Int, b: Int) -> Int {{"),
        "tsx": Family("//", "function {name}(a: number, b: number): number {{"),
        "typescript": Family("//", "function {name}(a: number, b: number): number {{"),
    }
)
"""Syntax by language; other languages are written with braces."""


def family_of(language: str | None) -> Family:
    """The syntax of a language."""
    return FAMILIES.get(language, _BRACES)


def function(language: str | None, name: str, body: list[str]) -> str:
    """A function with the lines of its body, which are indented."""
    return "".join(f"{line}\n" for line in _function(family_of(language), name, body))


def program(language: str | None, seed: str, items: int) -> str:
    """A random program of `items` definitions, statements, comments and paragraphs."""
    chance = random.Random(f"{seed} {language}")  # noqa: S311
    family = family_of(language)
    make = _paragraph if family is _PLAIN else _item
    lines: list[str] = []
    for number in range(items):
        lines += make(chance, family, number)
        lines += [""] * chance.choice((0, 0, 1, 1, 2))
    return "\n".join(lines) + chance.choice(("\n", "\n", ""))


def _item(chance: random.Random, family: Family, number: int) -> list[str]:
    kind = chance.randrange(8)
    if kind == 0:
        return [f"{family.comment} {_words(chance, 12)}" for _ in range(chance.randint(1, 6))]
    if kind == 1:
        return [_statement(chance, family) for _ in range(chance.randint(1, 8))]
    if kind == 2:
        # Longer than most limits: it cannot be merged, and must not be lost.
        return [f'text{number} = "{_words(chance, chance.choice((20, 200)))}"']
    name = f"{chance.choice(_WORDS)}_{number}"
    return list(_function(family, name, _block(chance, family, chance.randint(1, 25), 3)))


def _function(family: Family, name: str, body: list[str]) -> Iterator[str]:
    indent = "    "
    if family.outer:
        yield family.outer.format(name=name.title().replace("_", ""))
    yield (indent if family.outer else "") + family.function.format(name=name)
    for line in body:
        yield (indent * (1 + bool(family.outer)) + line) if line else ""
    if family.closing:
        yield (indent if family.outer else "") + family.closing
    if family.outer:
        yield family.closing


def _block(chance: random.Random, family: Family, lines: int, depth: int) -> list[str]:
    """The lines of a block, a few of them in blocks of their own."""
    # The first line is a statement: some languages have no empty blocks.
    block = [f"{chance.choice(_WORDS)} = a{';' if family.closing else ''}"]
    while len(block) < lines:
        if depth and chance.random() < 0.2:
            opening = "if a > b:" if not family.closing else "if (a > b) {"
            inner = _block(chance, family, max(1, lines // 3), depth - 1)
            block += [opening, *(f"    {line}" if line else "" for line in inner)]
            block += [family.closing] if family.closing else []
        else:
            block.append(_statement(chance, family))
    return block


def _statement(chance: random.Random, family: Family) -> str:
    name, end = chance.choice(_WORDS), ";" if family.closing else ""
    return chance.choice(
        (
            "",
            f"{name} = a + {chance.randrange(1000)}{end}",
            f"{name}(a, {chance.choice(_WORDS)}(b)){end}",
            f'{name} = "{_words(chance, 4)}"{end}',
            f"{family.comment} {_words(chance, 6)}",
        )
    )


def _paragraph(chance: random.Random, family: Family, number: int) -> list[str]:
    del family
    if chance.random() < 0.2:
        return [f"{number}. {_words(chance, 3)}"]
    return [_words(chance, chance.randint(3, 14)) for _ in range(chance.randint(1, 12))]


def _words(chance: random.Random, count: int) -> str:
    return " ".join(
        chance.choice(_ODD) if chance.random() < 0.1 else chance.choice(_WORDS)
        for _ in range(count)
    )
