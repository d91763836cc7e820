"""Kinds of files, told by their paths."""

from __future__ import annotations

import re

_TEST_FOLDERS = frozenset(
    {"__tests__", "e2e", "fixtures", "spec", "specs", "test", "testdata", "testing", "tests"}
)
_TEST_NAME = re.compile(
    r"(?:test[_-].*|conftest|.*[_.-](?:test|tests|spec|specs)|.*(?:Test|Tests|Spec|[a-z]IT))"
    r"\.[^.]+|tests?\.[^.]+"
)


def is_test(path: str) -> bool:
    """Whether a file tests others, by a folder or by its name as tools for tests want it."""
    *folders, name = path.split("/")
    return not _TEST_FOLDERS.isdisjoint(folders) or _TEST_NAME.fullmatch(name) is not None
