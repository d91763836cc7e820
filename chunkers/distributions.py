"""Versions of installed distributions."""

from __future__ import annotations

import importlib.metadata
import re

_VERSION = re.compile(r"^Version: *(\S+)", re.MULTILINE)


def version_of(distribution: str) -> str:
    """The version of a distribution, as `importlib.metadata.version` returns it.

    That parses the whole description too, which takes four times as long.

    Raises:
        importlib.metadata.PackageNotFoundError: It is not installed.
    """
    found = importlib.metadata.distribution(distribution)
    match = _VERSION.search(found.read_text("METADATA") or "")
    return match[1] if match else found.version
