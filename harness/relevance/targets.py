"""Finds other places of a target's text, so that no chunker is blamed for retrieving a copy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from harness.chunking.layout import squeezed
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from chunkers.source import Source
    from harness.chunking.layout import Layout
    from harness.model import Corpus, Query

MIN_TWIN = 100
"""Non-white-space characters below which equal text is no evidence of a copy."""

_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")

Stretch = tuple[str, int, int]
"""The path of a file and an interval of its non-white-space characters."""


@dataclass(frozen=True)
class SqueezedFile:
    """The text of a file without white space.

    `starts` are those of non-blank lines, ascending, shape (n,), and `hashes` what these lines are
    looked up by, shape (n,).
    """

    text: str
    starts: NDArray[np.int64]
    hashes: NDArray[np.int64]

    @classmethod
    def of(cls, source: Source, layout: Layout) -> SqueezedFile:
        """Squeeze a file."""
        text, starts = squeezed(source.text), layout.line_starts
        heads = (hash(text[start : start + MIN_TWIN]) for start in starts.tolist())
        return cls(text, starts, np.fromiter(heads, np.int64, len(starts)))

    def ends(self, at: int) -> bool:
        """Whether a whole line ends at a character."""
        place = int(np.searchsorted(self.starts, at))
        return at == (self.starts[place] if place < len(self.starts) else len(self.text))


@dataclass(frozen=True)
class Squeezed:
    """The files of a corpus without white space.

    `numbers` are those of files by path. `hashes` are those of all lines, ascending, and `lines`
    the file and start of each, shape (n, 2). The file `changed` replaces another one, to which its
    `lines` still belong.
    """

    files: tuple[SqueezedFile, ...]
    paths: tuple[str, ...]
    numbers: Mapping[str, int]
    hashes: NDArray[np.int64]
    lines: NDArray[np.int64]
    changed: int | None = None

    @classmethod
    def of(
        cls,
        sources: Sequence[Source],
        layouts: Sequence[Layout],
        known: dict[Source, SqueezedFile] | None = None,
    ) -> Squeezed:
        """Squeeze a corpus; `known` are the files of earlier ones, and get those of this one."""
        known = {} if known is None else known
        for source, layout in zip(sources, layouts, strict=True):
            if source not in known:
                known[source] = SqueezedFile.of(source, layout)
        files = tuple(known[source] for source in sources)
        paths = tuple(source.path for source in sources)
        empty = np.zeros(0, np.int64)
        hashes = np.concatenate([empty, *(file.hashes for file in files)])
        starts = np.concatenate([empty, *(file.starts for file in files)])
        numbers = np.repeat(np.arange(len(files)), [len(file.starts) for file in files])
        order = np.argsort(hashes, kind="stable")  # lines of equal text stay in corpus order
        lines = np.stack((numbers, starts), axis=1)[order]
        return cls(files, paths, {path: n for n, path in enumerate(paths)}, hashes[order], lines)

    def with_file(self, number: int, file: SqueezedFile) -> Squeezed:
        """The same corpus with one file put in the place of another; nothing else is squeezed."""
        files = (*self.files[:number], file, *self.files[number + 1 :])
        return replace(self, files=files, changed=number)

    def holds(self, text: str) -> bool:
        """Whether a file contains the whole of a text, white space aside; no file a blank one."""
        wanted = squeezed(text)
        return bool(wanted) and any(wanted in file.text for file in self.files)

    def twins(self, target: Stretch, occupied: Sequence[Stretch]) -> list[Stretch]:
        """Runs of whole lines elsewhere that equal a target, in corpus order.

        A twin touches no other, and none of `occupied`: the query's targets, and twins of its other
        targets. So each character counts for one gold character at most.
        """
        path, low, high = target
        if high - low < MIN_TWIN:
            return []
        wanted = self.files[self.numbers[path]].text[low:high]
        matches: list[Stretch] = []
        for number, start in self._beginning_with(wanted[:MIN_TWIN]):
            file, twin = self.files[number], (self.paths[number], start, start + len(wanted))
            equal = file.text.startswith(wanted, start) and file.ends(twin[2])
            if equal and not any(_touch(twin, other) for other in (*occupied, *matches)):
                matches.append(twin)
        return matches

    def _beginning_with(self, head: str) -> list[tuple[int, int]]:
        """File and start of the lines that may begin with a head, in corpus order."""
        first, last = (int(np.searchsorted(self.hashes, hash(head), side)) for side in _SIDES)
        places = [(file, at) for file, at in self.lines[first:last].tolist()]
        if self.changed is None:
            return places
        file = self.files[self.changed]
        own = [(self.changed, at) for at in file.starts[file.hashes == hash(head)].tolist()]
        return sorted([*(place for place in places if place[0] != self.changed), *own])


def _touch(a: Stretch, b: Stretch) -> bool:
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]


@dataclass(frozen=True)
class LocatedTarget:
    """A target in the coordinates of its file.

    Lines are None for the whole file. `stretch` and `lines` are intervals of non-white-space
    characters and of non-blank lines; `twins` are other places of the same text.
    """

    path: str
    start_line: int | None
    end_line: int | None
    grade: float
    stretch: Stretch
    lines: tuple[int, int]
    twins: tuple[Stretch, ...] = ()
    twin_lines: tuple[tuple[int, int], ...] = ()


def locate(
    query: Query,
    corpus: Corpus,
    layouts: Sequence[Layout],
    files: Mapping[str, int],
    squeezed: Squeezed | None,
) -> tuple[list[LocatedTarget], list[str]]:
    """Resolve the targets of a query; nothing here depends on a chunker.

    `files` are the numbers of sources by path; without `squeezed`, no twins are looked for. Returns
    the places, and the reason for each target that was dropped: its file is not indexed, it ends
    before its first line, or it holds no non-blank line.
    """
    places: list[LocatedTarget] = []
    dropped: list[str] = []
    for target in query.targets:
        number = files.get(target.path)
        if number is None:
            dropped.append(f"{target.path} is not indexed")
            continue
        source, layout = corpus.sources[number], layouts[number]
        first, last = target.start_line or 1, target.end_line or source.lines.count
        if target.start_line is not None and last > source.lines.count:
            lines = counted(source.lines.count, "line")
            dropped.append(f"{target.path}:{first}-{last} passes the file's {lines}")
            continue
        low, high = layout.interval(*source.lines.offsets_of(first, last)) if last else (0, 0)
        if low == high:
            dropped.append(f"{target.path}:{first}-{last} holds no non-blank line")
            continue
        places.append(
            LocatedTarget(
                target.path,
                target.start_line,
                target.end_line,
                target.grade,
                (target.path, low, high),
                layout.lines(low, high),
            )
        )
    return _with_twins(places, squeezed, layouts, files), dropped


def _with_twins(
    places: list[LocatedTarget],
    squeezed: Squeezed | None,
    layouts: Sequence[Layout],
    files: Mapping[str, int],
) -> list[LocatedTarget]:
    if squeezed is None:
        return places
    occupied = [place.stretch for place in places]
    result = []
    for place in places:
        # A target without lines stands for its file, whose copies are files of their own.
        twins = squeezed.twins(place.stretch, occupied) if place.start_line is not None else []
        occupied += twins
        lines = tuple(layouts[files[path]].lines(low, high) for path, low, high in twins)
        result.append(replace(place, twins=tuple(twins), twin_lines=lines))
    return result
