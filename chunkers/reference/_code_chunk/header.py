"""The lines that code-chunk puts before a chunk when it is embedded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkers.lazy import np
from chunkers.reference._code_chunk.entities import entities
from chunkers.reference._code_chunk.scopes import place_of, scope_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from chunkers.reference._utf16 import Utf16Text

_PATH_PARTS = 3
_USES = 10
_OVERLAP = 10


class Context:
    """What the headers of one file's chunks say."""

    def __init__(self, root: Node, text: Utf16Text, path: str, language: str) -> None:
        members = entities(root, text, language)
        defined = [entity for entity in members if entity.kind != "import"]
        self._path = "/".join(path.split("/")[-_PATH_PARTS:])
        self._uses = ", ".join(
            [entity.name for entity in members if entity.kind == "import"][:_USES]
        )
        self._signatures = [entity.signature for entity in defined]
        self._starts = np.array([entity.start for entity in defined], dtype=np.int64)
        self._ends = np.array([entity.end for entity in defined], dtype=np.int64)
        self._scopes = scope_tree(entity for entity in defined if entity.kind != "export")

    def header(self, start: int, end: int, previous: str) -> str:
        """All that comes before the text of a chunk.

        Args:
            start: Its first UTF-16 code unit.
            end: Behind its last one.
            previous: Text of the chunk before, whose last lines are repeated.
        """
        place = place_of(self._scopes, start, end)
        overlapping = np.flatnonzero((self._starts < end) & (self._ends > start))
        about = {
            "": self._path,
            "Scope: ": " > ".join(place.scope),
            "Defines: ": ", ".join(self._signatures[index] for index in overlapping),
            "Uses: ": self._uses,
            "After: ": ", ".join(place.before),
            "Before: ": ", ".join(place.after),
        }
        lines = [f"# {label}{value}\n" for label, value in about.items() if value]
        if lines:
            lines.append("\n")
        return "".join(lines) + _overlap(previous.split("\n"))


def _overlap(lines: Sequence[str]) -> str:
    repeated = "\n".join(lines[-_OVERLAP:])
    return f"# ...\n{repeated}\n# ---\n" if repeated else ""
