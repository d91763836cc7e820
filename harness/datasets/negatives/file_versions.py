"""Versions of files, recognised by their lines, whatever their names are."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Generic, TypeVar

from harness.chunking.layout import squeezed

if TYPE_CHECKING:
    from collections.abc import Iterable

NEAR = 0.4
"""Share of the distinctive lines of the smaller of two texts from which they are versions."""
DISTINCTIVE = 10
"""Characters of a distinctive line, white space not counted; see `lines_of`."""
COMMON = 20
"""Files that may share a distinctive line; above, it is ignored, such as one of a licence."""

File = TypeVar("File")


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text that are not blank, without white space."""
    return tuple(tight for line in text.split("\n") if (tight := squeezed(line)))


class FileVersions(Generic[File]):
    """Texts of files, one or several for each, searched for versions of a text."""

    def __init__(self, texts: Iterable[tuple[File, str]]) -> None:
        known: dict[tuple[File, str], frozenset[str]] = {}
        for file, text in texts:
            if (file, text) not in known:
                known[file, text] = _distinctive(text)
        holders: dict[str, set[File]] = defaultdict(set)
        for (file, _), lines in known.items():
            for line in lines:
                holders[line].add(file)
        self._common = frozenset(line for line, files in holders.items() if len(files) > COMMON)
        self._holding: dict[str, list[int]] = defaultdict(list)
        self._sizes: list[tuple[File, int]] = []
        for (file, _), lines in known.items():
            for line in lines - self._common:
                self._holding[line].append(len(self._sizes))
            self._sizes.append((file, len(lines - self._common)))

    def of(self, text: str) -> frozenset[File]:
        """The files that a text is a version of."""
        lines = _distinctive(text) - self._common
        shared = Counter(number for line in lines for number in self._holding.get(line, ()))
        return frozenset(
            self._sizes[number][0]
            for number, count in shared.items()
            if count >= NEAR * min(len(lines), self._sizes[number][1])
        )


@functools.lru_cache(maxsize=1 << 12)  # corpora of one repository share most of their files
def _distinctive(text: str) -> frozenset[str]:
    """The distinct lines of a text that are long enough, or all where none is."""
    lines = frozenset(lines_of(text))
    return frozenset(line for line in lines if len(line) >= DISTINCTIVE) or lines
