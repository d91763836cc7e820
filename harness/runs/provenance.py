"""Which code made a result: a hash of source folders, so that no edit meets a stale result."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

_ROOT = Path(__file__).parents[2]

RANKING = (
    "chunkers",
    "harness/support",
    "harness/reading",
    "harness/measures",
    "harness/parity",
    "harness/embedding",
    "harness/chunking",
    "harness/relevance",
    "harness/retrieval",
    "harness/runs",
)
"""Folders whose code a ranking depends on."""
SCORING = (
    "chunkers",
    "harness/support",
    "harness/measures",
    "harness/parity",
    "harness/stats",
    "harness/chunking",
    "harness/relevance",
    "harness/runs",
)
"""Folders whose code the measures of a stored ranking depend on."""


@functools.cache
def code_hash(*folders: str) -> str:
    """sha256 over the names and contents of all Python files below folders of this checkout."""
    digest = hashlib.sha256()
    for path in sorted({path for folder in folders for path in (_ROOT / folder).rglob("*.py")}):
        digest.update(path.relative_to(_ROOT).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
