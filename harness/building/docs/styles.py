"""What a doc comment is in each language, and in which markup it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chunkers.grammars.model import NONE, kinds, words

if TYPE_CHECKING:
    from collections.abc import Mapping

Markup = Literal["doxygen", "go", "javadoc", "markdown", "python", "ruby", "xml"]

# A rule of stars or slashes opens no doc comment, and neither does `/**/`.
_STARS = r"/\*\*(?![*/])"
_SLASHES = r"///(?!/)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The doc comments of a language.

    Attributes:
        markup: What they are written in.
        marks: How they begin; None where their place alone makes them what they are.
        above: Kinds of nodes that a comment right above documents, where there are no marks.
        inside: Kinds of nodes inside of which it does not.
        tools: How comments begin that speak to tools and are never documentation.
        strings: Whether the first strings of a body are documentation.
        containers: Kinds that are named and hold definitions, but are neither function nor class.
        rests: Kinds whose text is parsed no further, so that a comment at its end is part of it.
    """

    markup: Markup
    marks: re.Pattern[str] | None = None
    above: frozenset[str] = NONE
    inside: frozenset[str] = NONE
    tools: re.Pattern[str] | None = None
    strings: bool = False
    containers: frozenset[str] = NONE
    rests: frozenset[str] = NONE


BEHIND = re.compile(r"(?://[/!]|/\*[*!])<")
"""How a comment begins that documents what stands before it."""

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
    "python": Style(markup="python", strings=True),
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
}
"""Language -> what its doc comments are."""
