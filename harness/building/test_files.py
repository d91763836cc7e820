"""Which files are tests, by their paths."""

from __future__ import annotations

import re

# Not `testing`, `fixtures`, `spec` and similar names, which also name products: helpers that a
# package offers, data, the description of a format.
_TEST_FOLDERS = frozenset({"__tests__", "e2e", "test", "testdata", "tests"})
_SPEC_FOLDER = re.compile(r"(?:^|/)spec/.*\.rb")
_TEST_NAME = re.compile(
    r"(?:test[_-].*|conftest|.*[_.-]tests?|.*Tests?|tests?)\.[^.]+"
    # Only in languages whose test tools use such names; elsewhere a spec may describe something.
    r"|.*_spec\.(?:rb|lua|moon|cr|exs?)"
    r"|.*[.-]specs?\.[cm]?[jt]sx?"
    r"|.*[a-z\d]Spec\.(?:[cm]?[jt]sx?|scala|kt|groovy|hs|swift)"
    r"|.*[a-z\d]IT\.(?:java|kt|groovy|scala)"
)


def is_test(path: str) -> bool:
    """Whether a file is a test, by its folder or by a name that test tools use."""
    *folders, name = path.split("/")
    return (
        not _TEST_FOLDERS.isdisjoint(folder.lower() for folder in folders)
        or _SPEC_FOLDER.search(path) is not None
        or _TEST_NAME.fullmatch(name) is not None
    )
