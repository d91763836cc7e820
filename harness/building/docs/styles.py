"""What a doc comment is in each language, and its markup."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chunkers.grammars.model import NONE, kinds, words

if TYPE_CHECKING:
    from collections.abc import Mapping

Markup = Literal["doxygen", "go", "javadoc", "markdown", "plain", "python", "ruby", "xml"]

# Declarations without a body, and types, in all grammars.
_DECLARATIONS = words(
    "abstract_method_signature declaration function_signature function_signature_item"
    " method_declaration method_signature preproc_function_def type_alias_declaration"
    " type_definition"
)
_TOOLS = re.compile(
    r"(?:/[/*]+|#+!?|--+|;+|%+)\s*(?:eslint|tslint|jshint|jslint|prettier-|istanbul |c8 |@ts-|ts-"
    r"|biome-|flow\b|global |jscpd:|noinspection\b|noformatter|checkstyle:|CHECKSTYLE|NOSONAR"
    r"|NOLINT|nolint"
    r"|clang-format|clang-tidy|cppcheck|coverity|LCOV_|GCOV|swiftlint:|swift-format|ktlint|detekt"
    r"|rustfmt|phpcs:|@phpstan|phpstan-|psalm-|shellcheck |luacheck:|credo:|dialyzer|hlint"
    r"|#?(?:end)?region\b"
    r"|MARK:|pragma\b|-\*-|vim?:|<editor-fold|@formatter|sourceMappingURL|webpackChunkName)"
    r"|#!"
)

# Neither a line of stars or slashes nor `/**/` begins a doc comment.
_STARS = r"/\*\*(?![*/])"
_SLASHES = r"///(?!/)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The doc comments of a language.

    Attributes:
        markup: Their markup.
        marks: How those begin that are doc comments wherever they are.
        above: Kinds of nodes, besides definitions, that a comment right above documents.
        inside: Kinds of nodes, besides functions, in which it documents no such node.
        tools: How comments for tools begin, which are never doc comments.
        comments: Whether a comment right above a definition is a doc comment.
        strings: Whether the first string of a body is a docstring; then a comment above is none.
        containers: Named kinds that hold definitions but are neither functions nor classes.
        rests: Kinds whose text is not parsed, so that it may end in a comment.
    """

    markup: Markup
    marks: re.Pattern[str] | None = None
    above: frozenset[str] = _DECLARATIONS
    inside: frozenset[str] = NONE
    tools: re.Pattern[str] = _TOOLS
    comments: bool = True
    strings: bool = False
    containers: frozenset[str] = NONE
    rests: frozenset[str] = NONE


TRAILING = re.compile(r"(?://[/!]|/\*[*!])<")
"""How a doc comment of what comes before it begins."""

_SCRIPT = Style(
    markup="javadoc", marks=re.compile(_STARS), containers=words("internal_module module")
)
_C = Style(
    markup="doxygen",
    marks=re.compile(rf"/\*!|{_STARS}|{_SLASHES}|//!"),
    containers=words("namespace_definition"),
    rests=words("preproc_arg"),
)

STYLES: Mapping[str, Style] = {
    "c": _C,
    "cpp": _C,
    "csharp": Style(
        markup="xml",
        marks=re.compile(rf"{_SLASHES}|{_STARS}"),
        containers=words("namespace_declaration file_scoped_namespace_declaration"),
    ),
    "go": Style(
        markup="go",
        above=words(
            "package_clause function_declaration method_declaration type_declaration type_spec"
            " type_alias const_declaration const_spec var_declaration var_spec field_declaration"
            " method_elem"
        ),
        inside=words("block"),
        tools=re.compile(r"//(?:[a-z0-9]+:[a-z0-9]|export |extern |line |nolint\b|\s*\+build )"),
    ),
    "java": Style(markup="javadoc", marks=re.compile(_STARS)),
    "javascript": _SCRIPT,
    "kotlin": Style(markup="javadoc", marks=re.compile(_STARS)),
    "php": Style(
        markup="javadoc", marks=re.compile(_STARS), containers=words("namespace_definition")
    ),
    "python": Style(
        markup="python",
        strings=True,
        tools=re.compile(
            r"#(?:!|\s*(?:-\*-|%%|vim?:|type:|noqa\b|nosec\b|pragma\b|(?:end)?region\b"
            r"|(?:autopep8|bandit|coverage|cython|distutils|flake8|fmt|isort|mypy|pylint|pyright|ruff"
            r"|yapf)\b\s*:))"
        ),
    ),
    "ruby": Style(
        markup="ruby",
        above=words("method singleton_method class module")
        | kinds(
            "call",
            "alias_method attr attr_accessor attr_reader attr_writer define_method module_function"
            " private private_class_method protected public sig",
        )
        | words("alias assignment"),
        inside=words("method singleton_method"),
        tools=re.compile(
            r"#(?:!|\s*(?:rubocop:|standard:|steep:|typed:|@rbs\b|-\*-|frozen_string_literal:"
            r"|warn_indent:|shareable_constant_value:|(?:en)?coding[:=]))"
        ),
    ),
    "rust": Style(
        markup="markdown",
        marks=re.compile(rf"/\*!|{_STARS}|{_SLASHES}|//!|#!?\[\s*doc\s*=\s*r?#*\""),
        containers=words("mod_item impl_item"),
    ),
    "scala": Style(markup="javadoc", marks=re.compile(_STARS), containers=words("package_clause")),
    "swift": Style(markup="markdown", marks=re.compile(rf"{_SLASHES}|{_STARS}")),
    "tsx": _SCRIPT,
    "typescript": _SCRIPT,
    "elixir": Style(
        markup="markdown",
        marks=re.compile(r"@(?:module|type)?doc\s*(?=~?[sS]?[\"'])"),
        containers=kinds("call", "defimpl"),
    ),
    "hack": Style(markup="javadoc", marks=re.compile(_STARS)),
    "haskell": Style(markup="plain", marks=re.compile(r"--+ *[|^]|\{- *[|^]")),
    "julia": Style(
        markup="markdown", marks=re.compile(r'"'), containers=words("module_definition")
    ),
    "lua": Style(markup="javadoc", tools=re.compile(r"--+\s*luacheck:|#!")),
    "objc": _C,
    "ocaml": Style(markup="plain", marks=re.compile(r"\(\*\*(?![*)])")),
    "ql": Style(markup="javadoc", marks=re.compile(_STARS)),
    "r": Style(markup="javadoc", marks=re.compile(r"#+'")),
    "zig": Style(markup="markdown", marks=re.compile(rf"{_SLASHES}|//!")),
    **{
        language: Style(markup="plain")
        for language in (
            *("bash", "commonlisp", "elisp", "elm", "erlang", "fixed_form_fortran", "fortran"),
            *("make", "perl", "sql", "sqlite"),
        )
    },
}
"""Language -> its doc comments."""
