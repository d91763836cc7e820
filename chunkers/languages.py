"""Languages by file name, and their grammars. To add a language, add a line here."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from chunkers.errors import InputError, suggestion
from chunkers.grammars.loading import (
    GRAMMARS,
    grammar_of,
    grammar_version,
    grammar_versions,
    missing_extra,
    parser,
    source_of,
)
from chunkers.grammars.model import Grammar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "GRAMMARS",
    "LANGUAGES",
    "LIST",
    "NAMES",
    "SUFFIXES",
    "Grammar",
    "ListedLanguage",
    "grammar_of",
    "grammar_version",
    "grammar_versions",
    "language_of",
    "linguist_language",
    "list_languages",
    "parse_overrides",
    "parser",
    "pattern_of",
]

# Suffixes and file names. An upper-case suffix that is not listed counts as its lower-case form.
# Components count as the language of their scripts, notebooks as that of their code cells.
# `.h` is read as C++, whose grammar reads C too, while the grammar of C does not read C++.
_FILES = {
    "bash": ".sh .bash",
    "c": ".c",
    "cmake": ".cmake CMakeLists.txt",
    "commonlisp": ".lisp .lsp .asd",
    "cpp": ".cc .cpp .cxx .c++ .C .h .H .hh .hpp .hxx .h++ .inl .ipp .tpp",
    "csharp": ".cs .csx",
    "css": ".css",
    "dart": ".dart",
    "dockerfile": ".dockerfile Containerfile Dockerfile",
    "dot": ".dot .gv",
    "elisp": ".el",
    "elixir": ".ex .exs",
    "elm": ".elm",
    "embedded_template": ".erb .ejs",
    "erlang": ".erl .hrl",
    "fixed_form_fortran": ".f .for .ftn .f77",
    "fortran": ".f90 .f95 .f03 .f08",
    "go": ".go",
    "gomod": "go.mod",
    "groovy": ".groovy .gradle Jenkinsfile",
    "hack": ".hack .hck",
    "haskell": ".hs",
    "hcl": ".hcl .tf .tfvars",
    "html": ".html .htm .xhtml",
    "java": ".java",
    "javascript": ".js .jsx .mjs .cjs",
    "jsdoc": "",
    "json": ".json .webmanifest",
    "julia": ".jl",
    "kotlin": ".kt .kts",
    "lua": ".lua",
    "make": ".mk GNUmakefile Makefile makefile",
    "markdown": ".md .markdown",
    "objc": ".m .mm",
    "ocaml": ".ml .mli",
    "perl": ".pl .pm",
    "php": ".php .phtml",
    "powershell": ".ps1 .psm1",
    "python": ".py .pyi .pyw .ipynb",
    "ql": ".ql .qll",
    "r": ".r",
    "regex": "",
    "restructuredtext": ".rst",
    "ruby": ".rb .rake .gemspec .ru Gemfile Rakefile",
    "rust": ".rs",
    "scala": ".scala .sc .sbt",
    "scss": ".scss",
    "sql": ".sql",
    "sqlite": "",
    "swift": ".swift",
    "toml": ".toml",
    "tsq": "",
    "tsx": ".tsx",
    "typescript": ".ts .mts .cts .vue .svelte .astro",
    "xml": ".xml .xsd .xsl .xslt",
    "yaml": ".yaml .yml",
    "zig": ".zig",
}
# Names of GitHub's Linguist, in lower case, that are not those above.
_LINGUIST = {
    "c++": "cpp",
    "c#": "csharp",
    "codeql": "ql",
    "common-lisp": "commonlisp",
    "emacs-lisp": "elisp",
    "fortran-free-form": "fortran",
    "go-module": "gomod",
    "graphviz-(dot)": "dot",
    "html+erb": "embedded_template",
    "makefile": "make",
    "objective-c": "objc",
    "objective-c++": "objc",
    "shell": "bash",
}
LANGUAGES: tuple[str, ...] = tuple(sorted(_FILES))
"""Every language, in order of name."""

LIST = "chunkmark list languages"
"""Lists the languages, for messages."""

SUFFIXES: Mapping[str, str] = {
    name: language
    for language, names in _FILES.items()
    for name in names.split()
    if name.startswith(".")
}
"""Suffix, dot included -> language."""

NAMES: Mapping[str, str] = {
    name: language
    for language, names in _FILES.items()
    for name in names.split()
    if not name.startswith(".")
}
"""File name -> language."""


def language_of(path: str, overrides: Mapping[str, str] | None = None) -> str | None:
    """The language of a file by its name, with or without a grammar; None if unknown.

    Args:
        path: Path inside the corpus, parts separated by `/`.
        overrides: Glob over the file name or the whole path, such as `*.h` or `lib/*` -> language.
            They come before the table; the last match decides.
    """
    pattern = pattern_of(path, overrides or ())
    if overrides and pattern is not None:
        return overrides[pattern]
    name = PurePosixPath(path).name
    suffix = PurePosixPath(path).suffix
    for table, key in ((NAMES, name), (SUFFIXES, suffix), (SUFFIXES, suffix.lower())):
        if key in table:
            return table[key]
    return None


def linguist_language(name: str) -> str | None:
    """The language of a name or a short name of GitHub's Linguist, with `-` for spaces."""
    key = name.lower()
    known = _LINGUIST.get(key, key.replace("-", "_"))
    return known if known in LANGUAGES else SUFFIXES.get(f".{key}")


def pattern_of(path: str, patterns: Iterable[str]) -> str | None:
    """The last of the patterns that matches a file name or a whole path; see `language_of`."""
    name = PurePosixPath(path).name
    matches = [glob for glob in patterns if fnmatchcase(name, glob) or fnmatchcase(path, glob)]
    return matches[-1] if matches else None


def warn_unused(option: str, patterns: Iterable[str], paths: Iterable[str]) -> None:
    """Warn of patterns that match no path; see `pattern_of`."""
    paths = list(paths)
    for pattern in patterns:
        if not any(pattern_of(path, [pattern]) for path in paths):
            glob = any(mark in pattern for mark in "*?[")
            advice = "" if glob else "; write a glob of a name or a path, as in '*.h' or 'src/*'"
            warnings.warn(f"{option} {pattern!r} fits no file that is read{advice}", stacklevel=2)


def parse_overrides(texts: Iterable[str]) -> dict[str, str]:
    """Parse `PATTERN=LANGUAGE`, as `language_of` takes them.

    Raises:
        InputError: A text has no `=` or no pattern, or names an unknown language.
    """
    return parse_patterns("--language", "LANGUAGE, such as '*.h=cpp'", texts, known_language)


def known_language(name: str, others: Iterable[str] = ()) -> str:
    """A name that is a language, or one of some others.

    Raises:
        InputError: It is neither; the message suggests names.
    """
    names = [*others, *LANGUAGES]
    if name in names:
        return name
    alias = linguist_language(name.lstrip("."))
    hint = f"did you mean {alias}?" if alias else suggestion(name, names, LIST)
    raise InputError(f"unknown language {name!r}; {hint}")


def parse_patterns(
    option: str, form: str, texts: Iterable[str], value_of: Callable[[str], str]
) -> dict[str, str]:
    """Parse `PATTERN=VALUE`; a repeated pattern comes last, as the one that decides.

    Args:
        option: Its name, for messages.
        form: What comes after `PATTERN=`, with an example, for messages.
        texts: The texts.
        value_of: The value that a text names; it raises InputError for an unknown one.

    Raises:
        InputError: A text lacks `=`, the pattern or the value, or the value is unknown.
    """
    values: dict[str, str] = {}
    for text in texts:
        pattern, mark, name = text.rpartition("=")
        if not (mark and pattern and name):
            raise InputError(f"{option} {text!r}: write PATTERN={form}")
        try:
            value = value_of(name)
        except InputError as error:
            raise InputError(f"{option} {text!r}: {error}") from None
        values.pop(pattern, None)
        values[pattern] = value
    return values


@dataclass(frozen=True, slots=True)
class ListedLanguage:
    """A language in a list.

    Attributes:
        name: Its name, as `language_of` returns it.
        files: Suffixes and file names, separated by spaces.
        grammar: The wheel of its grammar, or the grammar's name in the extra's library; empty
            without a grammar: such files are cut by lines.
        source: `wheel`, the name of the extra's distribution, or `none`.
        version: Version of the wheel or the extra; empty if it is missing.
        problem: What is missing and how to install it, or empty.
    """

    name: str
    files: str
    grammar: str = ""
    source: str = "none"
    version: str = ""
    problem: str = ""


def list_languages() -> list[ListedLanguage]:
    """Every language in order of name. No grammar is loaded."""
    return [_listed(name, _FILES[name]) for name in LANGUAGES]


def _listed(name: str, files: str) -> ListedLanguage:
    grammar = GRAMMARS.get(name)
    if grammar is None:
        return ListedLanguage(name, files)
    title, source = source_of(grammar), "wheel"
    if not grammar.module:
        title, source = grammar.symbol, title
    try:
        return ListedLanguage(name, files, title, source, grammar_version(name))
    except InputError as error:
        problem = str(error) if grammar.module else missing_extra()
        return ListedLanguage(name, files, title, source, problem=problem)
