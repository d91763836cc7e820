"""The queries that are made from a repository, and the tags that they all have."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.support.word_runs import words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.model import Corpus, Query

_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SHORTEST_NAME_WORD = 3
# What comes before the last part of a name; a colon ends the parts of names in Objective-C.
_LAST_PART = re.compile(r"(?:\.|::|:(?=\w+$)|#|\\|/|->)(?=[^\W\d])")
_NUMBER = re.compile(r"#\d+$")


@dataclass(frozen=True)
class BuiltQueries:
    """Queries made from a repository.

    Attributes:
        corpora: The corpora of the queries, without the text that became a query.
        queries: Their targets are lines of the sources in `corpora`. Tags: `language`, `folder`
            (by `folder_of`) and, if the target has a name, `name-overlap` (`yes` or `no`).
        left_out: Candidates that became no query: reason -> count.
        information: What a result must show, such as the commit.
    """

    corpora: tuple[Corpus, ...]
    queries: tuple[Query, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    information: Mapping[str, str] = field(default_factory=dict)


def same_words(texts: Mapping[str, str]) -> list[list[str]]:
    """The keys of texts with the same words (`words_of`), in groups of two or more.

    Two queries with the same words and different targets would each count the other's answer as
    wrong. Texts without words are compared by their characters, white space apart.
    """
    groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for key, text in texts.items():
        groups[tuple(words_of(text)) or ("", *text.split())].append(key)
    return [group for group in groups.values() if len(group) > 1]


def folder_of(path: str) -> str:
    """The tag `folder`: the first part of a path, `.` for a file at the top."""
    first, slash, _ = path.partition("/")
    return first if slash else "."


def names_overlap(name: str, text: str) -> bool:
    """The tag `name-overlap`: whether a text has a word of a definition's own name.

    The own name is the last part of `Class.method`, `Class::method`, `Class#method#2` and the like.
    Names, those in the text too, are split by `name_words`. Words of under three letters, such as
    `is` or `to`, do not count.
    """
    own = name_words(_LAST_PART.split(_NUMBER.sub("", name))[-1])
    return any(len(word) >= _SHORTEST_NAME_WORD for word in own & name_words(text))


def name_words(text: str) -> set[str]:
    """The words of a name, split at underscores, digits and capitals, in lower case."""
    return {word.lower() for word in _NAME_WORD.findall(text)}
