"""What every maker of queries returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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


def folder_of(path: str) -> str:
    """The value of the tag `folder`: the first part of a path, `.` for a file at the top."""
    first, slash, _ = path.partition("/")
    return first if slash else "."
