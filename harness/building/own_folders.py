"""Folders that chunkmark wrote, which are no part of the repository that they lie in.

They are told by what their cards say, not by their names: anybody may call a folder so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.building.folder import CARD, FILES, SCHEMA
from harness.runs.folder import MANIFEST
from harness.support.files import PARTIAL
from harness.support.json_files import schema_of

if TYPE_CHECKING:
    from collections.abc import Callable

OURS = "written by chunkmark"
"""Why such a folder is left out."""

_HEAD = 200  # bytes, in which the schema of a card stands
# A card, how its schema begins in any version, and what lies beside it.
_CARDS = (("manifest.json", MANIFEST, "cells"), (CARD, SCHEMA.rstrip("0123456789"), FILES[0]))
_PARTIAL = re.compile(re.escape(PARTIAL) + r".+-[0-9]+")


def is_ours(name: str, holds: Callable[[str], bool], head: Callable[[str, int], bytes]) -> bool:
    """Whether a folder is a run, a built data set, or what was left of one that was broken off.

    Args:
        name: Of the folder.
        holds: Whether an entry of this name is in it.
        head: The first so many bytes of a file in it; empty where it is none.
    """
    return _PARTIAL.fullmatch(name) is not None or any(
        holds(card) and holds(beside) and schema_of(head(card, _HEAD)).startswith(schema)
        for card, schema, beside in _CARDS
    )
