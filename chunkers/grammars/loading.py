"""Loads grammars, makes parsers, and reads the grammars' versions."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import importlib.util
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from chunkers import distributions
from chunkers.errors import InputError, install_command
from chunkers.grammars.bundled import BUNDLED
from chunkers.grammars.extra import EXTRA

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Mapping

    from tree_sitter import Language, Parser

    from chunkers.grammars.model import Grammar

GRAMMARS: Mapping[str, Grammar] = {**BUNDLED, **EXTRA}
"""Language -> grammar, those of the extra included even if the extra is missing."""

LIBRARY = "tree-sitter-languages"
_CAPSULE = b"tree_sitter.Language"
_parsers = threading.local()


def grammar_of(language: str | None) -> Grammar | None:
    """The grammar of a language; None if there is none, or if it needs the missing extra.

    A missing wheel is an error, which `parser` raises.
    """
    grammar = GRAMMARS.get(language or "")
    return grammar if grammar is None or grammar.module or library_version() else None


def parser(language: str) -> Parser:
    """This thread's parser of a language, made on first use. Parsers are not safe for threads.

    Raises:
        InputError: The grammar's wheel, or the extra, is missing.
        KeyError: `GRAMMARS` has no such language.
    """
    parsers: dict[str, Parser] = _parsers.__dict__
    if language not in parsers:
        from tree_sitter import Parser

        parsers[language] = Parser(_language(language))
    return parsers[language]


@functools.cache
def _language(language: str) -> Language:
    from tree_sitter import Language

    grammar = GRAMMARS[language]
    if grammar.symbol:
        return library_language(grammar.symbol)
    try:
        module = importlib.import_module(grammar.module)
    except ImportError as error:
        raise InputError(_missing(grammar, language)) from error
    return Language(getattr(module, grammar.function)())


def library_language(symbol: str) -> Language:
    """A grammar of the extra's library, by its symbol.

    Raises:
        InputError: The extra is missing, or its library has no such symbol.
    """
    import ctypes

    from tree_sitter import Language

    try:
        make = getattr(_library(), f"tree_sitter_{symbol}")
    except AttributeError as error:
        raise InputError(f"{LIBRARY} has no grammar {symbol}") from error
    make.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return Language(capsule(make(), _CAPSULE, None))


@functools.cache
def _library() -> ctypes.CDLL:
    import ctypes

    spec = importlib.util.find_spec(LIBRARY.replace("-", "_"))
    for folder in (spec and spec.submodule_search_locations) or ():
        for name in ("languages.so", "languages.dll"):
            file = Path(folder, name)
            if file.is_file():
                return ctypes.CDLL(str(file))
    raise InputError(missing_extra())


@functools.cache
def library_version() -> str:
    """Version of the extra's library; empty if it is missing."""
    try:
        return distributions.version_of(LIBRARY)
    except importlib.metadata.PackageNotFoundError:
        return ""


@functools.cache
def grammar_version(language: str) -> str:
    """Version of the wheel or library that holds a language's grammar.

    Raises:
        InputError: It is missing.
        KeyError: `GRAMMARS` has no such language.
    """
    grammar = GRAMMARS[language]
    if not grammar.module and library_version():
        return library_version()
    try:
        return distributions.version_of(source_of(grammar))
    except importlib.metadata.PackageNotFoundError as error:
        raise InputError(_missing(grammar, language)) from error


@functools.cache
def grammar_versions() -> str:
    """The versions of tree-sitter, of every wheel and of the extra if it is installed, in one line.

    They are part of a syntax chunker's version.

    Raises:
        InputError: A wheel is missing.
    """
    found = {"tree-sitter": distributions.version_of("tree-sitter")}
    wheels = (language for language, grammar in GRAMMARS.items() if grammar.module)
    found |= {language: grammar_version(language) for language in wheels}
    if library_version():
        found[LIBRARY] = library_version()
    return ", ".join(f"{name} {version}" for name, version in found.items())


def source_of(grammar: Grammar) -> str:
    """The distribution of a grammar."""
    return grammar.module.replace("_", "-") if grammar.module else LIBRARY


def missing_extra() -> str:
    """The message about a missing library."""
    return f"{LIBRARY} is missing; with Python up to 3.12, {install_command('languages')}"


def _missing(grammar: Grammar, language: str) -> str:
    if not grammar.module:
        return f"the grammar of {language}: {missing_extra()}"
    return f"the grammar of {language} is missing; install it: pip install {source_of(grammar)}"
