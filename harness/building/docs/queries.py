"""Doc comments as queries: what one says is the question, what it documents the answer."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chunkers.grammars.loading import GRAMMARS
from chunkers.grammars.model import words
from harness.building.built_queries import (
    BuiltQueries,
    folder_of,
    name_words,
    names_overlap,
    same_words,
)
from harness.building.docs.comments import cut_doc_comments
from harness.building.docs.styles import STYLES
from harness.building.docs.text import description_of
from harness.chunking.layout import squeezed
from harness.chunking.parsing import UnparsedError, prepare
from harness.model import Query, Skipped, Target
from harness.relevance.targets import MIN_TWIN
from harness.support.word_runs import RUN, count_words, leaked_queries, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chunkers.source import Source
    from harness.building.docs.comments import DocumentedDefinition
    from harness.model import Corpus

FEWEST_WORDS = 4
"""Words below which a text is no question."""

# Why a doc comment makes no query; the first that applies is counted.
OTHER = "of no function, method or class"
EMPTY = "body is nothing but the docstring"
BOILERPLATE = "boilerplate: inherited, to do, a licence, a constructor or a reference"
FEW_WORDS = f"under {FEWEST_WORDS} words"
NAME = "only repeats the name"
COPY = f"copy of a query's target and its text, of {MIN_TWIN} characters or more"
SHARED = "text shared by several definitions"
LEAKED = f"{RUN} words in a row remain in the corpus"

_INHERITED = re.compile(r"\{?@inherit-?doc\b|<inherit-?doc\b|\(non-javadoc\)", re.IGNORECASE)
_BOILERPLATE = re.compile(
    r"\W*(?:to-?do\b|fixme\b|xxx\b|hack\b|(?:please )?(?:refer to|see)\b(?! (?:if|whether|that))"
    r"|created by\b.*\d|auto-?generated\b|not (?:yet )?implemented\b"
    r"|inherit(?:ed|s)? (?:doc|from)\b"
    r"|(?:(?:an?|the|this|default|copy|move|public|private|protected|empty|no-arg|main|class"
    r"|object|standard|static)\s+)*(?:constructor|destructor|ctor|dtor|getter|setter)s?"
    r"(?:\W+(?:\S+\s*){0,3})?$)",
    re.IGNORECASE,
)
_LICENCE = re.compile(
    r"\bcopyright\b|\ball rights reserved\b|\blicen[sc]ed under\b|\bspdx-licen[sc]e"
    r"|\bpermission is hereby granted\b|\bredistribution and use\b",
    re.IGNORECASE,
)
_LICENCE_WITHIN = 400
# Words that say nothing of what is done beyond a name.
_EMPTY_WORDS = words(
    "a an and as class constructor create creates creating for from function get gets getter given"
    " in instance interface is it its make makes method new object of on or return returned returns"
    " set sets setter struct that the this to type value with"
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    source: Source
    id: str
    definition: DocumentedDefinition
    text: str
    words: tuple[str, ...]
    reason: str


def docstring_queries(corpus: Corpus, *, whole: bool = False) -> BuiltQueries:
    """What doc comments say, as queries for the functions, methods and classes that had them.

    The doc comments of all files are cut, those that become no query too. A file whose parser does
    not come back is left out of the corpus. Two definitions with the
    same text are no target, unless they are copies long enough to count for each other when they
    are scored: then the first is it.

    Args:
        corpus: The files as they stand.
        whole: Whether a query is the whole comment, not its first sentence.

    Returns:
        One corpus and its queries in order of their ids, `path::Class.method`, `#2` behind what is
        named like one before.

    Raises:
        InputError: The wheel of a grammar is missing.
    """
    sources: list[Source] = []
    candidates: list[_Candidate] = []
    dropped = Counter(
        dict.fromkeys((OTHER, EMPTY, BOILERPLATE, FEW_WORDS, NAME, COPY, SHARED, LEAKED), 0)
    )
    skipped = list(corpus.skipped)
    prepare(corpus.sources)
    for source in corpus.sources:
        try:
            cut = cut_doc_comments(source)
        except UnparsedError as error:  # its doc comments cannot be cut, and would be answers
            skipped.append(Skipped(error.path, error.reason))
            continue
        sources.append(cut.source)
        dropped[OTHER] += cut.others
        candidates += _candidates(cut.source, cut.documented, whole=whole)
    without_copies = _decide(candidates)
    kept = {one.id: one.text for one in without_copies if not one.reason}
    leaked = leaked_queries(kept, (source.text for source in sources))
    for one in without_copies:
        if one.reason or one.id in leaked:
            dropped[one.reason or LEAKED] += 1
    return BuiltQueries(
        corpora=(replace(corpus, sources=tuple(sources), skipped=tuple(skipped)),),
        queries=tuple(
            sorted(
                (_query(one, corpus) for one in without_copies if one.id in {*kept} - leaked),
                key=lambda query: query.id,
            )
        ),
        left_out=dict(dropped),
        information=_unread(corpus.sources),
    )


def _candidates(
    source: Source, documented: Iterable[DocumentedDefinition], *, whole: bool
) -> list[_Candidate]:
    """The documented definitions of one file, each with the first reason against it, if any."""
    found = []
    markup = STYLES[source.language or ""].markup if documented else "go"
    for one in documented:
        number = f"#{one.number}" if one.number > 1 else ""
        text = description_of(one.comment, markup, whole=whole)
        said = tuple(words_of(text))
        reason = _reason(one, text)
        name = f"{source.path}::{one.name}{number}"
        found.append(_Candidate(source, name, one, text, said, reason))
    return found


def _reason(one: DocumentedDefinition, text: str) -> str:
    comment = "\n".join(one.comment)
    if one.empty:
        return EMPTY
    if (
        _INHERITED.search(comment)
        or _LICENCE.search(comment[:_LICENCE_WITHIN])
        or _BOILERPLATE.match(text)
    ):
        return BOILERPLATE
    if count_words(text) < FEWEST_WORDS:
        return FEW_WORDS
    if _repeats(one.name, text):
        return NAME
    return ""


def _repeats(name: str, text: str) -> bool:
    """Whether a text has no word of its own beside those of a name and such as `gets the`.

    The name is that of a definition and of the one around it.
    """
    name = ".".join(name.split(".")[-2:])
    # Words of names are those of ASCII.
    if {word for word in words_of(text) if not word.isascii()} - set(words_of(name)):
        return False
    said = {_stem(word) for word in name_words(text) - _EMPTY_WORDS}
    return said <= {_stem(word) for word in name_words(name)}


def _stem(word: str) -> str:
    for end in ("ing", "ies", "es", "ed", "s", "e", "y"):
        if word.endswith(end) and len(word) > len(end) + 2:
            return word.removesuffix(end)
    return word


def _decide(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The candidates, with a reason against those whose text is not theirs alone."""
    mine = {one.id: one for one in candidates}
    groups = [
        [mine[name] for name in group] for group in same_words({n: c.text for n, c in mine.items()})
    ]
    grouped = {one.id: group for group in groups for one in group}
    decided = []
    for one in candidates:
        group = grouped.get(one.id, [])
        if one.reason or not group:
            decided.append(one)
            continue
        copies = {_squeezed(each) for each in group}
        if len(copies) > 1 or len(copies.pop()) < MIN_TWIN:
            decided.append(replace(one, reason=SHARED))
        else:
            first = next(each for each in group if not each.reason)
            decided.append(one if one is first else replace(one, reason=COPY))
    return decided


def _squeezed(one: _Candidate) -> str:
    """The lines of a definition without white space."""
    lines = one.source.lines
    start, end = lines.offsets_of(one.definition.start_line, one.definition.end_line)
    return squeezed(one.source.text[start:end])


def _query(one: _Candidate, corpus: Corpus) -> Query:
    path, definition = one.source.path, one.definition
    overlap = names_overlap(definition.name, one.text)
    return Query(
        id=one.id,
        corpus=corpus.id,
        text=one.text,
        targets=(Target(path, definition.start_line, definition.end_line),),
        tags={
            "language": one.source.language or "",
            "folder": folder_of(path),
            "name-overlap": "yes" if overlap else "no",
        },
        cluster=path,
    )


def _unread(sources: Iterable[Source]) -> dict[str, str]:
    """The files of languages that have functions, but whose doc comments are not known here."""
    counts = Counter(one.language or "" for one in sources if one.language not in STYLES)
    for language in [*counts]:
        grammar = GRAMMARS.get(language)
        if grammar is None or not (grammar.definitions or grammar.values):
            del counts[language]
    listed = ", ".join(f"{language} {count}" for language, count in sorted(counts.items()))
    return {"doc comments not cut": listed} if listed else {}
