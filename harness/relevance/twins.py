"""Finds other places of a target's text, so that no chunker is blamed for retrieving a copy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.chunking.layout import squeezed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chunkers.source import Source
    from harness.chunking.layout import Layout

MIN_TWIN = 100
"""Non-white-space characters below which equal text is no evidence of a copy."""

Stretch = tuple[str, int, int]
"""The path of a file and an interval of its non-white-space characters."""


@dataclass(frozen=True)
class SqueezedFile:
    """The text of a file without white space.

    Attributes:
        text: The text.
        starts: Where non-blank lines begin, ascending.
        borders: Where whole lines begin and end.
    """

    text: str
    starts: tuple[int, ...]
    borders: frozenset[int]

    @classmethod
    def of(cls, source: Source, layout: Layout) -> SqueezedFile:
        """Squeeze a file."""
        starts = tuple(layout.line_starts.tolist())
        return cls(squeezed(source.text), starts, frozenset((*starts, layout.size)))

    def head(self, start: int) -> str:
        """What lines are looked up by: the first `MIN_TWIN` characters from `start` on."""
        return self.text[start : start + MIN_TWIN]


@dataclass(frozen=True)
class Squeezed:
    """The files of a corpus without white space.

    Attributes:
        files: In corpus order.
        paths: Their paths, in the same order.
        numbers: Number of each file by path.
        beginnings: File and start of whole lines by their `head`, in order; those of the file
            `changed` are of another text and do not count.
        changed: Number of the file that was put in the place of another, or None.
    """

    files: tuple[SqueezedFile, ...]
    paths: tuple[str, ...]
    numbers: Mapping[str, int]
    beginnings: Mapping[str, Sequence[tuple[int, int]]]
    changed: int | None = None

    @classmethod
    def of(cls, sources: Sequence[Source], layouts: Sequence[Layout]) -> Squeezed:
        """Squeeze a corpus."""
        files = tuple(map(SqueezedFile.of, sources, layouts))
        paths = tuple(source.path for source in sources)
        beginnings: dict[str, list[tuple[int, int]]] = {}
        for number, file in enumerate(files):
            for start in file.starts:
                beginnings.setdefault(file.head(start), []).append((number, start))
        return cls(files, paths, {path: n for n, path in enumerate(paths)}, beginnings)

    def with_file(self, number: int, file: SqueezedFile) -> Squeezed:
        """The same corpus with one file put in the place of another; nothing else is squeezed."""
        files = (*self.files[:number], file, *self.files[number + 1 :])
        return replace(self, files=files, changed=number)

    def holds(self, text: str) -> bool:
        """Whether a file contains the whole of a text, white space aside; no file a blank one."""
        wanted = squeezed(text)
        return bool(wanted) and any(wanted in file.text for file in self.files)

    def twins(self, target: Stretch, taken: Sequence[Stretch]) -> list[Stretch]:
        """Runs of whole lines elsewhere that equal a target, in corpus order.

        Args:
            target: The target.
            taken: Stretches that a twin must not touch: the query's targets, and twins found
                for its other targets. So each character stands for one gold character at most.

        Returns:
            Stretches that do not touch each other.
        """
        path, low, high = target
        if high - low < MIN_TWIN:
            return []
        wanted = self.files[self.numbers[path]].text[low:high]
        found: list[Stretch] = []
        for number, start in self._beginning_with(wanted[:MIN_TWIN]):
            file, twin = self.files[number], (self.paths[number], start, start + len(wanted))
            equal = file.text.startswith(wanted, start) and twin[2] in file.borders
            if equal and not any(_touch(twin, one) for one in (*taken, *found)):
                found.append(twin)
        return found

    def _beginning_with(self, head: str) -> list[tuple[int, int]]:
        """File and start of the whole lines that begin with a head, in order."""
        places = [one for one in self.beginnings.get(head, ()) if one[0] != self.changed]
        if self.changed is None:
            return places
        file = self.files[self.changed]
        own = [(self.changed, at) for at in file.starts if file.text.startswith(head, at)]
        return sorted([*places, *own])


def _touch(a: Stretch, b: Stretch) -> bool:
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]
