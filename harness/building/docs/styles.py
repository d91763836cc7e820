"""What a doc comment is in each language, and its markup."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chunkers.grammars.model import NONE, kinds, words

if TYPE_CHECKING:
    from collections.abc import Mapping

Markup = Literal["doxygen", "go", "javadoc", "markdown", "python", "ruby", "xml"]

# Neither a line of stars or slashes nor `/**/` begins a doc comment.
_STARS = r"/\*\*(?![*/])"
_SLASHES = r"///(?!/)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The doc comments of a language.

    Attributes:
        markup: Their markup.
        marks: How they begin; None if their place alone makes them doc comments.
        above: Without marks: kinds of nodes that a comment right above documents.
        inside: Without marks: kinds of nodes in which no comment is a doc comment.
        tools: How comments for tools begin, which are never doc comments.
        strings: Whether the first string of a body is a docstring.
        containers: Named kinds that hold definitions but are neither functions nor classes.
        rests: Kinds whose text is not parsed, so that it may end in a comment.
    """

    markup: Markup
    marks: re.Pattern[str] | None = None
    above: frozenset[str] = NONE
    inside: frozenset[str] = NONE
    tools: re.Pattern[str] | None = None
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
"""Language -> its doc comments."""
