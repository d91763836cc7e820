"""The source text of a stored data set, and its syntax colouring."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from pygments.lexers import get_lexer_by_name
from pygments.token import Token
from pygments.util import ClassNotFound

from chunkers.errors import InputError
from harness.datasets.loading import load_dataset
from harness.model import Region
from harness.relevance.filler import mask_sources

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from pygments.lexer import Lexer

    from chunkers.source import Source
    from harness.runs.record import MaskRow

File = tuple[str, str]
"""Corpus and path; the corpus of a masked file is that of its query."""

LONGEST_LINE = 2_000
LONGEST_FILE = 400_000
"""Characters above which a file is not coloured, because lexers are slow on such files."""

_CLASSES = (
    (Token.Comment, "C"),
    (Token.Literal.String, "S"),
    (Token.Literal.Number, "M"),
    (Token.Name.Decorator, "D"),
    (Token.Name.Function, "F"),
    (Token.Name.Class, "F"),
    (Token.Name.Tag, "K"),
    (Token.Name.Builtin, "B"),
    (Token.Keyword, "K"),
    (Token.Operator.Word, "K"),
)
PLAIN = "P"

_ALIASES = {
    "commonlisp": "common-lisp",
    "embedded_template": "erb",
    "fixed_form_fortran": "fortranfixed",
    "hack": "php",
    "sqlite": "sql",
}
"""Languages that the lexers name otherwise."""


@dataclass(frozen=True)
class LoadedSources:
    """The files of a data set; without any, `problem` says why and what to do."""

    files: Mapping[File, Source]
    problem: str = ""


def load_sources(
    name: str,
    fingerprint: str,
    config: Mapping[str, Any],
    masks: Mapping[str, tuple[str, MaskRow]],
    data_dir: Path | None,
) -> LoadedSources:
    """Load the files that a run has read.

    Args:
        name: The spec of the data set.
        fingerprint: What the data set must have.
        config: The options of the run.
        masks: The corpus and mask of each masked query, by its id.
        data_dir: A folder looked into before `$CHUNKMARK_DATA`.
    """
    try:
        languages, seed = config["languages"], config["seed"]
        dataset = load_dataset(name, data_dir=data_dir, languages=languages, seed=seed)
        if dataset.fingerprint != fingerprint:
            return LoadedSources(
                {},
                "there is no source text: the data set is not what the run has read: its "
                f"fingerprint is {dataset.fingerprint[:12]}, that of the run {fingerprint[:12]}; "
                "restore the files that the run has read, or run again",
            )
        files = {
            (corpus.id, source.path): source
            for corpus in dataset.corpora
            for source in corpus.sources
        }
        places = [
            (files[corpus, mask.path], Region(mask.path, mask.start_line, mask.end_line), query)
            for query, (corpus, mask) in masks.items()
        ]
        for (_, mask), masked in zip(masks.values(), mask_sources(places), strict=True):
            files[mask.corpus, mask.path] = masked.source
    except InputError as error:
        reason = "; ".join(str(error).split("\n"))
        return LoadedSources({}, f"there is no source text: the data set does not load: {reason}")
    return LoadedSources(files)


def coloured(source: Source) -> str:
    """The syntax of a source as runs: the letter of a class, then the length in UTF-16 units.

    Empty for a file that is not coloured: without a lexer, or too long.
    """
    lexer = _lexer(source.language)
    longest = max(map(len, source.text.split("\n")))
    if lexer is None or longest > LONGEST_LINE or len(source.text) > LONGEST_FILE:
        return ""
    tokens = [
        (_class_of(kind), utf16_length(text))
        for _, kind, text in lexer.get_tokens_unprocessed(source.text)
    ]
    if sum(length for _, length in tokens) != utf16_length(source.text):
        return ""
    return "".join(
        f"{letter}{sum(length for _, length in run)}"
        for letter, run in groupby(tokens, key=lambda token: token[0])
    )


def utf16_length(text: str) -> int:
    """The length of a text in the units that JavaScript counts in."""
    return len(text) + sum(mark > "\uffff" for mark in text) if not text.isascii() else len(text)


@cache
def _lexer(language: str | None) -> Lexer | None:
    try:
        return get_lexer_by_name(_ALIASES.get(language or "", language or "text"))
    except ClassNotFound:
        return None


@cache
def _class_of(kind: Any) -> str:
    return next((letter for parent, letter in _CLASSES if kind in parent), PLAIN)
