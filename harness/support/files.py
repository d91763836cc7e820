"""Files that are always whole, and their hashes."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PARTIAL = ".partial-"
"""Prefix of the names of files and folders that are not complete yet."""


def replace_file(path: Path, text: str) -> None:
    """Write a file through a temporary one beside it; an interrupted call leaves the old file."""
    partial = path.with_name(f"{PARTIAL}{path.name}-{os.getpid()}")
    try:
        partial.write_bytes(text.encode("utf-8", "surrogatepass"))
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def unreadable(path: Path | str, error: OSError) -> str:
    """Why a file cannot be read, for messages."""
    if isinstance(error, FileNotFoundError):
        return f"{path} does not exist"
    return f"{path} cannot be read: {error.strerror or error}"


def file_sha256(path: Path) -> str:
    """sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
