"""What every maker of queries returns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.support.word_runs import words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.model import Corpus, Query


@dataclass(frozen=True)
class Made:
    """Queries made out of a repository.

    Attributes:
        corpora: What the queries are ranked against. What was made into a query is cut out of it.
        queries: Their targets are lines of the sources in `corpora`. Tags: `language`, `folder`
            (the first part of the target's path, `.` for none) and, where the target has a name,
            `name-overlap` (`yes` or `no`).
        left_out: Candidates that became no query: reason -> count.
        information: What a result must carry, such as the commit.
    """

    corpora: tuple[Corpus, ...]
    queries: tuple[Query, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    information: Mapping[str, str] = field(default_factory=dict)


def alike(texts: Mapping[str, str]) -> list[list[str]]:
    """The keys of texts that ask the same, in groups of two or more.

    Whatever the maker, no query may ask with another's words for something else: each would count
    the other's answer as wrong. Texts are the same that have the same words (`words_of`); those
    without any, that are the same but for white space.
    """
    groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for key, text in texts.items():
        groups[tuple(words_of(text)) or ("", *text.split())].append(key)
    return [group for group in groups.values() if len(group) > 1]


def folder_of(path: str) -> str:
    """The value of the tag `folder`: the first part of a path, `.` for a file at the top."""
    first, slash, _ = path.partition("/")
    return first if slash else "."
