"""Files that are always whole, and their hashes."""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

DAMAGED = (
    OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError
)  # fmt: skip
"""What reading a file raises that is not as it was written, whatever was done to it."""

PARTIAL = ".partial-"
"""How the name of what is not whole yet begins."""

_SCHEMA = re.compile(rb'\s*\{\s*"schema":\s*"(chunkmark\.[a-z/0-9.-]+)"')


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document so that the file is always whole."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    _replace(path, text)


def schema_of(data: bytes) -> str:
    """The schema that a document of chunkmark's begins with; empty for anything else."""
    found = _SCHEMA.match(data)
    return found[1].decode() if found else ""


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows, one a line, so that the file is always whole."""
    dumped = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    _replace(path, "".join(line + "\n" for line in dumped))


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f"{PARTIAL}{path.name}-{os.getpid()}")
    try:
        partial.write_bytes(text.encode("utf-8", "surrogatepass"))
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)  # of a disk that is full
        raise


def file_sha256(path: Path) -> str:
    """sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """Read a document.

    Raises:
        InputError: It is missing or damaged.
    """
    try:
        found = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read ({error}); remove its folder") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} is damaged; remove its folder")
    return found
