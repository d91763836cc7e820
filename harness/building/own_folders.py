"""Folders that chunkmark wrote, which are not part of the repository that they lie in.

They are recognized by what their cards say, not by their names, which any folder may have.
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

OWN = "written by chunkmark"
"""Why such a folder is left out."""

_HEAD = 200  # bytes, which hold the schema of a card
# A card, the beginning of its schema in any version, and a file or folder beside it.
_CARDS = (("manifest.json", MANIFEST, "cells"), (CARD, SCHEMA.rstrip("0123456789"), FILES[0]))
_PARTIAL = re.compile(re.escape(PARTIAL) + r".+-[0-9]+")


def is_own_folder(
    name: str, holds: Callable[[str], bool], head: Callable[[str, int], bytes]
) -> bool:
    """Whether a folder is a run, a built data set, or the remains of an interrupted one.

    `holds` says whether an entry is in it; `head` gives the first bytes of a file in it, empty
    where it is not a file.
    """
    return _PARTIAL.fullmatch(name) is not None or any(
        holds(card) and holds(beside) and schema_of(head(card, _HEAD)).startswith(schema)
        for card, schema, beside in _CARDS
    )
