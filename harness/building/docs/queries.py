"""Queries from doc comments: the description asks for the definition that it documents."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chunkers.grammars.model import words
from harness.building.built_queries import (
    BuiltQueries,
    folder_of,
    name_words,
    names_overlap,
    same_words,
    spells_name,
    without_name,
)
from harness.building.docs.comments import strip_doc_comments
from harness.building.docs.styles import STYLES
from harness.building.docs.text import description_of
from harness.chunking.layout import squeezed
from harness.chunking.parsing import UnparsedError, prepare
from harness.model import Query, Skipped, Target
from harness.reading.stored_text import kept
from harness.relevance.targets import MIN_TWIN
from harness.support.word_runs import RUN, count_words, leaked_queries, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chunkers.source import Source
    from harness.building.built_queries import Names
    from harness.building.docs.comments import DocumentedDefinition
    from harness.model import Corpus

FEWEST_WORDS = 4
"""Minimum number of words of a query."""

# Why a doc comment makes no query; the first that applies is counted.
OTHER = "of no function, method or class with a body"
EMPTY = "body is nothing but the docstring"
BOILERPLATE = "boilerplate: inherited, to do, a licence, a constructor or a reference"
CODE = "code that is commented out"
FEW_WORDS = f"under {FEWEST_WORDS} words"
NAME = "only repeats the name"
COPY = f"copy of a query's target and its text, of {MIN_TWIN} characters or more"
SHARED = "text shared by several definitions"
LEAKED = f"{RUN} words in a row remain in the corpus"

_INHERITED = re.compile(r"\{?@inherit-?doc\b|<inherit-?doc\b|\(non-javadoc\)", re.IGNORECASE)
_BOILERPLATE = re.compile(
    r"\W*(?:to-?do\b|fixme\b|xxx\b|hack\b|(?:please )?(?:refer to|see)\b(?! (?:if|whether|that))"
    r"|\w+(?:\[\d+\])?=\S.*\s\w+(?:\[\d+\])?=\S|created by\b.*\d|auto-?generated\b"
    r"|not (?:yet )?implemented\b"
    r"|inherit(?:ed|s)? (?:doc|from)\b|deprecated\b"
    r"|(?:an? )?(?:alias|synonym|shorthand) (?:of|for|to)\b|(?:the )?same as\b"
    r"|(?:\S+ )?(?:is |are )?(?:just )?(?:(?:an? )?(?:simple )?wrapper (?:for|of|around)|like"
    r"|similar to|equivalent to) \S+\W*$"
    r"|(?:(?:these|the following|other|some|public|private|internal) )?"
    r"(?:methods|functions|props|properties|accessors)\b"
    r"|https?:|references?:|(?:borrowed|stolen|taken|adapted|copied|derived) from\b"
    r"|(?:added|defined|introduced|used) in\b"
    r"|for internal use\b|internal use only\b|(?:\S+ )?implements (?:the )?\S+"
    r"(?: \S+)?(?: interface| protocol| trait)?\W*$|overrides? \S+\W*$"
    r"|(?:(?:an?|the|this|default|copy|move|public|private|protected|empty|no-arg|main|class"
    r"|object|standard|static)\s+)*(?:constructor|destructor|ctor|dtor|getter|setter)s?"
    r"(?:\W+(?:\S+\s*){0,3})?$)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r".*[;{}]\s*$|(?:if|for|while|switch)\s*\(.*\)\s*$|(?:return|import|#include|#define|var|let|const)\b"
    r"(?=[^.]*[=(<])[^.]*$|[\w.$>:-]+\([^()]*\)\s*$",
    re.DOTALL,
)
_LICENCE = re.compile(
    r"\bcopyright\b|\ball rights reserved\b|\blicen[sc]ed under\b|\bspdx-licen[sc]e"
    r"|\bpermission is hereby granted\b|\bredistribution and use\b",
    re.IGNORECASE,
)
_LICENCE_WITHIN = 400
# Words that add nothing to a name.
_EMPTY_WORDS = words(
    "a an and as class constructor create creates creating for from function get gets getter given"
    " in instance interface is it its make makes method new object of on or return returned returns"
    " set sets setter struct that the this to type value with bool boolean bytes char default"
    " double field float int integer long number param parameter short string unsigned variable"
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A documented definition that may make a query; `reason` says why it makes none."""

    source: Source
    id: str
    definition: DocumentedDefinition
    text: str
    reason: str


def docstring_queries(
    corpus: Corpus, *, whole: bool = False, names: Names = "kept"
) -> BuiltQueries:
    """Make queries from doc comments for the functions, methods and classes that they document.

    The doc comments of all files are cut, including those that become no query. A text that several
    definitions share makes no query, unless they are copies long enough to count for each other in
    scoring: then the first copy is the target.

    Args:
        corpus: The files as they are. A file whose parser fails is left out of the result.
        whole: Use whole comments as queries, not their first sentences.
        names: `stripped` takes the definition's own name out of its query, where it stands whole.

    Returns:
        The corpus, and the queries in order of their ids: `path::Class.method`, followed by `#2`
        for the second definition of that name.

    Raises:
        InputError: The wheel of a grammar is missing.
    """
    sources: list[Source] = []
    candidates: list[_Candidate] = []
    left_out = Counter(
        dict.fromkeys((OTHER, EMPTY, BOILERPLATE, CODE, FEW_WORDS, NAME, COPY, SHARED, LEAKED), 0)
    )
    skipped = list(corpus.skipped)
    prepare(corpus.sources)
    # A file as read ends here if the caller lets go of it, so that its memory is free for the next.
    waiting = [*reversed(corpus.sources)]
    corpus = replace(corpus, sources=())
    while waiting:
        try:
            stripped = strip_doc_comments(waiting.pop())
        except UnparsedError as error:  # its doc comments cannot be cut, and would be answers
            skipped.append(Skipped(error.path, error.reason))
            continue
        source = kept(stripped.source)
        sources.append(source)
        left_out[OTHER] += stripped.others
        candidates += _candidates(source, stripped.documented, whole=whole, names=names)
    candidates = _without_shared(candidates)
    texts = {candidate.id: candidate.text for candidate in candidates if not candidate.reason}
    leaked = leaked_queries(texts, (source.text for source in sources))
    queries = []
    for candidate in candidates:
        if candidate.reason or candidate.id in leaked:
            left_out[candidate.reason or LEAKED] += 1
        else:
            queries.append(_query(candidate, corpus))
    return BuiltQueries(
        corpora=(replace(corpus, sources=tuple(sources), skipped=tuple(skipped)),),
        queries=tuple(sorted(queries, key=lambda query: query.id)),
        left_out=dict(left_out),
    )


def _candidates(
    source: Source, documented: Iterable[DocumentedDefinition], *, whole: bool, names: Names
) -> list[_Candidate]:
    """The documented definitions of a file, each with the first reason against it, if any."""
    candidates = []
    for definition in documented:
        number = f"#{definition.number}" if definition.number > 1 else ""
        name = f"{source.path}::{definition.name}{number}"
        markup = STYLES[source.language or ""].markup
        text = description_of(definition.comment, markup, whole=whole)
        if names == "stripped":
            text = without_name(definition.name, text)
        reason = _reason(definition, text)
        candidates.append(_Candidate(source, name, definition, text, reason))
    return candidates


def _reason(definition: DocumentedDefinition, text: str) -> str:
    """Why a definition makes no query, whatever the others say; empty if it may make one."""
    comment = "\n".join(definition.comment)
    if definition.empty:
        return EMPTY
    if (
        _INHERITED.search(comment)
        or _LICENCE.search(comment[:_LICENCE_WITHIN])
        or _BOILERPLATE.match(text)
    ):
        return BOILERPLATE
    if _CODE.match(text):
        return CODE
    if count_words(text) < FEWEST_WORDS:
        return FEW_WORDS
    if _repeats(definition.name, text):
        return NAME
    return ""


def _repeats(name: str, text: str) -> bool:
    """Whether a text only repeats the names of a definition and of the one around it.

    Words such as those of `gets the` do not count.
    """
    name = ".".join(name.split(".")[-2:])
    # `name_words` finds words of ASCII only.
    if {word for word in words_of(text) if not word.isascii()} - set(words_of(name)):
        return False
    stems = {_stem(word) for word in name_words(text) - _EMPTY_WORDS}
    return stems <= {_stem(word) for word in name_words(name)}


def _stem(word: str) -> str:
    for end in ("ing", "ies", "es", "ed", "s", "e", "y"):
        if word.endswith(end) and len(word) > len(end) + 2:
            return word.removesuffix(end)
    return word


def _without_shared(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The candidates, with a reason against those whose text is not theirs alone."""
    decided = {candidate.id: candidate for candidate in candidates}
    for ids in same_words({candidate.id: candidate.text for candidate in candidates}):
        group = [decided[name] for name in ids]
        copies = {_squeezed(candidate) for candidate in group}
        are_twins = len(copies) == 1 and len(copies.pop()) >= MIN_TWIN
        rest = [candidate for candidate in group if not candidate.reason]
        for candidate in rest[1:] if are_twins else rest:
            reason = COPY if are_twins else SHARED
            decided[candidate.id] = replace(candidate, reason=reason)
    return list(decided.values())


def _squeezed(candidate: _Candidate) -> str:
    """The lines of a definition without white space."""
    definition = candidate.definition
    return squeezed(candidate.source.lines.text_of(definition.start_line, definition.end_line))


def _query(candidate: _Candidate, corpus: Corpus) -> Query:
    source, definition = candidate.source, candidate.definition
    return Query(
        id=candidate.id,
        corpus=corpus.id,
        text=candidate.text,
        targets=(Target(source.path, definition.start_line, definition.end_line),),
        tags={
            "language": source.language or "",
            "folder": folder_of(source.path),
            "name-overlap": "yes" if names_overlap(definition.name, candidate.text) else "no",
            "name-whole": "yes" if spells_name(definition.name, candidate.text) else "no",
        },
        cluster=source.path,
    )
