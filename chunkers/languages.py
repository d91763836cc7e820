"""The languages by file name, and the grammars that are at hand. A new grammar is one line here."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import threading
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Language, Parser


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


@dataclass(frozen=True, slots=True)
class Grammar:
    """A tree-sitter grammar, and what is named in it, all as names of node types.

    Attributes:
        module: Import name of its wheel, whose distribution is spelt with `-`.
        definitions: Functions and methods.
        values: Functions that are values, which are definitions where something is named so.
        carriers: What gives a value (its field `value` or `right`) a name.
        wrappers: What stands round one definition and belongs to it.
        scopes: Named containers of definitions or members: classes, modules, namespaces, types.
            A node of C's `struct_specifier` kind is one only where it has a body.
        function: The wheel's function that returns the grammar.
    """

    module: str
    definitions: frozenset[str]
    values: frozenset[str] = frozenset()
    carriers: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    function: str = "language"


_SCRIPT = (
    _set("function_declaration generator_function_declaration method_definition"),
    _set("arrow_function function_expression generator_function"),
    _set("variable_declarator assignment_expression pair field_definition public_field_definition"),
    _set("export_statement lexical_declaration variable_declaration expression_statement"),
)
_TYPESCRIPT = (
    *_SCRIPT,
    _set(
        "class_declaration abstract_class_declaration interface_declaration enum_declaration"
        " internal_module module"
    ),
)
_FUNCTION = _set("function_definition")
_METHODS = _set("method_declaration constructor_declaration compact_constructor_declaration")
_TYPES = _set(
    "class_declaration interface_declaration enum_declaration record_declaration"
    " annotation_type_declaration"
)
_WITH_TEMPLATE = _set("template_declaration")
_STRUCTS = _set("struct_specifier union_specifier enum_specifier")

GRAMMARS: Mapping[str, Grammar] = {
    "c": Grammar("tree_sitter_c", _FUNCTION, scopes=_STRUCTS),
    "cpp": Grammar(
        "tree_sitter_cpp",
        _FUNCTION,
        wrappers=_WITH_TEMPLATE,
        scopes=_STRUCTS | _set("class_specifier namespace_definition concept_definition"),
    ),
    "go": Grammar(
        "tree_sitter_go",
        _set("function_declaration method_declaration"),
        scopes=_set("type_spec"),
    ),
    "java": Grammar("tree_sitter_java", _METHODS, scopes=_TYPES),
    "javascript": Grammar("tree_sitter_javascript", *_SCRIPT, _set("class_declaration")),
    "python": Grammar(
        "tree_sitter_python",
        _FUNCTION,
        wrappers=_set("decorated_definition"),
        scopes=_set("class_definition"),
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        _set("function_item"),
        scopes=_set("impl_item trait_item mod_item struct_item enum_item union_item"),
    ),
    "tsx": Grammar("tree_sitter_typescript", *_TYPESCRIPT, function="language_tsx"),
    "typescript": Grammar("tree_sitter_typescript", *_TYPESCRIPT, function="language_typescript"),
}

# An upper-case suffix counts as its lower-case one unless it stands here itself. `.h` is read as
# C++, whose grammar reads C too, while that of C reads no C++.
_SUFFIXES = {
    "bash": ".sh .bash",
    "c": ".c",
    "cmake": ".cmake",
    "cpp": ".cc .cpp .cxx .c++ .C .h .H .hh .hpp .hxx .h++ .inl .ipp .tpp",
    "csharp": ".cs",
    "css": ".css",
    "dart": ".dart",
    "elixir": ".ex .exs",
    "erlang": ".erl .hrl",
    "go": ".go",
    "haskell": ".hs",
    "html": ".html .htm",
    "java": ".java",
    "javascript": ".js .jsx .mjs .cjs",
    "json": ".json",
    "julia": ".jl",
    "kotlin": ".kt .kts",
    "lua": ".lua",
    "markdown": ".md .markdown",
    "ocaml": ".ml .mli",
    "perl": ".pl .pm",
    "php": ".php",
    "powershell": ".ps1 .psm1",
    "python": ".py .pyi .pyw",
    "r": ".r",
    "restructuredtext": ".rst",
    "ruby": ".rb .rake .gemspec",
    "rust": ".rs",
    "scala": ".scala .sc",
    "scss": ".scss",
    "sql": ".sql",
    "swift": ".swift",
    "toml": ".toml",
    "tsx": ".tsx",
    "typescript": ".ts .mts .cts",
    "xml": ".xml",
    "yaml": ".yaml .yml",
    "zig": ".zig",
}
_NAMES = {
    "CMakeLists.txt": "cmake",
    "Containerfile": "dockerfile",
    "Dockerfile": "dockerfile",
    "GNUmakefile": "make",
    "Gemfile": "ruby",
    "Makefile": "make",
    "Rakefile": "ruby",
    "makefile": "make",
}

#: Suffix, dot included -> language.
SUFFIXES: Mapping[str, str] = {
    suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}


def language_of(path: str, overrides: Mapping[str, str] | None = None) -> str | None:
    """The language of a file by its name, whether or not a grammar is at hand.

    Args:
        path: Path inside the corpus, parts separated by `/`.
        overrides: Suffix -> language, asked before the table.

    Returns:
        A name such as `python` or `ruby`; None for what no table names.
    """
    name = PurePosixPath(path).name
    suffix = PurePosixPath(path).suffix
    for table, key in (
        (overrides or {}, suffix),
        (_NAMES, name),
        (SUFFIXES, suffix),
        (SUFFIXES, suffix.lower()),
    ):
        if key in table:
            return table[key]
    return None


@functools.cache
def _grammar(language: str) -> Language:
    from tree_sitter import Language

    grammar = GRAMMARS[language]
    try:
        module = importlib.import_module(grammar.module)
    except ImportError as error:
        raise InputError(_missing(grammar, language)) from error
    return Language(getattr(module, grammar.function)())


def _missing(grammar: Grammar, language: str) -> str:
    wheel = grammar.module.replace("_", "-")
    return f"the grammar of {language} is missing; install it: pip install {wheel}"


_parsers = threading.local()


def parser(language: str) -> Parser:
    """This thread's parser of a language, made on first use. A parser serves one thread at a time.

    Raises:
        InputError: The grammar's wheel is missing.
        KeyError: `GRAMMARS` has no such language.
    """
    made: dict[str, Parser] = _parsers.__dict__
    if language not in made:
        from tree_sitter import Parser

        made[language] = Parser(_grammar(language))
    return made[language]


def grammar_version(language: str) -> str:
    """Version of the wheel that holds a language's grammar.

    Raises:
        InputError: The wheel is missing.
        KeyError: `GRAMMARS` has no such language.
    """
    grammar = GRAMMARS[language]
    try:
        return importlib.metadata.version(grammar.module.replace("_", "-"))
    except importlib.metadata.PackageNotFoundError as error:
        raise InputError(_missing(grammar, language)) from error


@dataclass(frozen=True, slots=True)
class ListedLanguage:
    """A language in a list.

    Attributes:
        name: What `language_of` returns.
        files: Suffixes and file names, separated by spaces.
        grammar: The wheel of its grammar; empty where none is at hand, so that it is cut by lines.
        version: The wheel's version; empty where it is missing.
        problem: What is missing and how to get it; empty where nothing is.
    """

    name: str
    files: str
    grammar: str = ""
    version: str = ""
    problem: str = ""


def list_languages() -> list[ListedLanguage]:
    """Every language in order of name, with its grammar, which is not loaded."""
    files: dict[str, list[str]] = {
        name: [] for name in sorted({*SUFFIXES.values(), *_NAMES.values()})
    }
    for table in (SUFFIXES, _NAMES):
        for file, language in table.items():
            files[language].append(file)
    return [_listed(name, " ".join(found)) for name, found in files.items()]


def _listed(name: str, files: str) -> ListedLanguage:
    if name not in GRAMMARS:
        return ListedLanguage(name, files)
    wheel = GRAMMARS[name].module.replace("_", "-")
    try:
        return ListedLanguage(name, files, wheel, grammar_version(name))
    except InputError as error:
        return ListedLanguage(name, files, wheel, problem=str(error))


@functools.cache
def grammar_versions() -> str:
    """tree-sitter's version and every grammar's, in one line: part of a syntax chunker's version.

    Raises:
        InputError: A wheel is missing.
    """
    versions = {"tree-sitter": importlib.metadata.version("tree-sitter")}
    versions |= {language: grammar_version(language) for language in GRAMMARS}
    return ", ".join(f"{name} {version}" for name, version in versions.items())
