"""Stored cells that somebody changed after they were written."""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.support.files import file_sha256, unreadable
from harness.support.json_files import AGAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

DAMAGE_ERRORS = (
    OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError,
    OverflowError
)  # fmt: skip
"""What reading a file raises that somebody changed after it was written."""


Fields = dict[str, type | tuple[str, ...]]
"""The fields of a document: the type of each, or the keys that it has as an object."""


def lost_field(document: Mapping[str, Any], fields: Fields) -> str:
    """The first field that is missing or of another type, as `health.chunks`; empty if none is."""
    for name, kind in fields.items():
        needed = kind if isinstance(kind, type) else dict
        if name not in document or not isinstance(document[name], needed):
            return name
        for key in () if isinstance(kind, type) else kind:
            if key not in document[name]:
                return f"{name}.{key}"
    return ""


def damage(place: Path, error: Exception) -> str:
    """What one of `DAMAGE_ERRORS` says of a file, or of a folder of files, for messages."""
    if isinstance(error, OSError):
        return unreadable(error.filename or place, error)
    return f"{_damaged_in(place, error)} is damaged"


def _damaged_in(place: Path, error: Exception) -> str:
    """The file of a stored cell that is not as it was written; any other place as it is."""
    digests = {}
    with suppress(*DAMAGE_ERRORS):
        digests = json.loads((place / "cell.json").read_bytes())["files"]
        for name, digest in digests.items():
            if file_sha256(place / name) != digest:
                return str(place / name)
    # The two files that have no digest; what is read of the other one is its keys.
    other = "" if isinstance(error, json.JSONDecodeError) else " or metrics.json"
    return f"{place / 'per_query.jsonl'}{other}" if digests else str(place)


@contextmanager
def undamaged(cell: Path) -> Iterator[None]:
    """Reads the files of a stored cell.

    Raises:
        InputError: A file is missing or damaged.
    """
    try:
        yield
    except DAMAGE_ERRORS as error:
        raise InputError(f"{damage(cell, error)}; {AGAIN}") from None
