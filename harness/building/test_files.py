"""Kinds of files, told by their paths."""

from __future__ import annotations

import re

# `testing`, `fixtures`, `spec` and their like are names of products too: of helpers that a package
# offers, of data, of a format's description.
_TEST_FOLDERS = frozenset({"__tests__", "e2e", "test", "testdata", "tests"})
_SPEC_FOLDER = re.compile(r"(?:^|/)spec/.*\.rb")
_TEST_NAME = re.compile(
    r"(?:test[_-].*|conftest|.*[_.-]tests?|.*Tests?|tests?)\.[^.]+"
    # Where a tool for tests has files of such names; elsewhere a spec may well describe a thing.
    r"|.*_spec\.(?:rb|lua|moon|cr|exs?)"
    r"|.*[.-]specs?\.[cm]?[jt]sx?"
    r"|.*[a-z\d]Spec\.(?:[cm]?[jt]sx?|scala|kt|groovy|hs|swift)"
    r"|.*[a-z\d]IT\.(?:java|kt|groovy|scala)"
)


def is_test(path: str) -> bool:
    """Whether a file tests others, by a folder or by its name as tools for tests want it."""
    *folders, name = path.split("/")
    return (
        not _TEST_FOLDERS.isdisjoint(folder.lower() for folder in folders)
        or _SPEC_FOLDER.search(path) is not None
        or _TEST_NAME.fullmatch(name) is not None
    )
