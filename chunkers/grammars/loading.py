"""Loads grammars and makes parsers; says which versions they have."""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.metadata
import importlib.util
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.grammars.bundled import BUNDLED
from chunkers.grammars.extra import EXTRA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Language, Parser

    from chunkers.grammars.model import Grammar

GRAMMARS: Mapping[str, Grammar] = {**BUNDLED, **EXTRA}
"""Language -> grammar. A language of the extra has one even where the extra is missing."""

LIBRARY = "tree-sitter-languages"
_CAPSULE = b"tree_sitter.Language"
_parsers = threading.local()


def grammar_of(language: str | None) -> Grammar | None:
    """The grammar of a language; None where there is none, or where the extra is missing.

    A missing wheel is no reason: it is installed with this package, and `parser` says so.
    """
    grammar = GRAMMARS.get(language or "")
    return grammar if grammar is None or grammar.module or library_version() else None


def parser(language: str) -> Parser:
    """This thread's parser of a language, made on first use. A parser serves one thread at a time.

    Raises:
        InputError: The grammar's wheel, or the extra, is missing.
        KeyError: `GRAMMARS` has no such language.
    """
    made: dict[str, Parser] = _parsers.__dict__
    if language not in made:
        from tree_sitter import Parser

        made[language] = Parser(_language(language))
    return made[language]


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
    """A grammar out of the library of the extra, by the name of its symbol.

    Raises:
        InputError: The extra is missing, or its library has no such symbol.
    """
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
    found = importlib.util.find_spec(LIBRARY.replace("-", "_"))
    for folder in (found and found.submodule_search_locations) or ():
        for name in ("languages.so", "languages.dll"):
            file = Path(folder, name)
            if file.is_file():
                return ctypes.CDLL(str(file))
    raise InputError(missing_extra())


@functools.cache
def library_version() -> str:
    """Version of the extra's library; empty where it is missing."""
    try:
        return importlib.metadata.version(LIBRARY)
    except importlib.metadata.PackageNotFoundError:
        return ""


def grammar_version(language: str) -> str:
    """Version of the wheel or library that holds a language's grammar.

    Raises:
        InputError: It is missing.
        KeyError: `GRAMMARS` has no such language.
    """
    grammar = GRAMMARS[language]
    try:
        return importlib.metadata.version(source_of(grammar))
    except importlib.metadata.PackageNotFoundError as error:
        raise InputError(_missing(grammar, language)) from error


@functools.cache
def grammar_versions() -> str:
    """tree-sitter's version and every grammar's, in one line: part of a syntax chunker's version.

    The extra's library is named where it is installed.

    Raises:
        InputError: A wheel is missing.
    """
    versions = {"tree-sitter": importlib.metadata.version("tree-sitter")}
    versions |= {name: grammar_version(name) for name, one in GRAMMARS.items() if one.module}
    if library_version():
        versions[LIBRARY] = library_version()
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def source_of(grammar: Grammar) -> str:
    """Name of the distribution that holds a grammar."""
    return grammar.module.replace("_", "-") if grammar.module else LIBRARY


def missing_extra() -> str:
    """What to do about a missing library."""
    return f"{LIBRARY} is missing; with Python up to 3.12: pip install 'chunkmark[languages]'"


def _missing(grammar: Grammar, language: str) -> str:
    if not grammar.module:
        return f"the grammar of {language}: {missing_extra()}"
    return f"the grammar of {language} is missing; install it: pip install {source_of(grammar)}"
