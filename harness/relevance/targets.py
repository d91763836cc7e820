"""Finds other places of a target's text, so that no chunker is blamed for retrieving a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.chunking.layout import Layout, squeezed
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chunkers.source import LineIndex, Source
    from harness.model import Corpus, Query

MIN_TWIN = 100
"""Non-white-space characters below which equal text is no evidence of a copy."""

Stretch = tuple[str, int, int]
"""The path of a file and an interval of its non-white-space characters."""

Wanted = Mapping[str, Sequence[str]]
"""Texts of targets by their first `MIN_TWIN` characters; white space is not counted."""

FileCopies = dict[str, list[int]]
"""Texts of targets, and where runs of whole lines of a file equal each, in order."""


def by_head(texts: Iterable[str]) -> Wanted:
    """The texts to look for, of which all are at least `MIN_TWIN` characters long."""
    wanted: dict[str, list[str]] = {}
    for text in texts:
        wanted.setdefault(text[:MIN_TWIN], []).append(text)
    return wanted


def copies_in(source: Source, wanted: Wanted) -> FileCopies:
    """Where a file has the text of a target; it is read once for all of them."""
    found: FileCopies = {}
    if not wanted:
        return found
    whole, lines = squeezed(source.text), source.lines
    for start in lines.text_starts.tolist():
        for text in wanted.get(whole[start : start + MIN_TWIN], ()):
            if whole.startswith(text, start) and _ends(lines, start + len(text)):
                found.setdefault(text, []).append(start)
    return found


def _ends(lines: LineIndex, at: int) -> bool:
    """Whether a non-blank line ends at a character."""
    # Where line `n` ends, line `n + 1` begins.
    place = int(np.searchsorted(lines.line_nws, at))
    return place < len(lines.line_nws) and at == int(lines.line_nws[place])


@dataclass(frozen=True)
class Copies:
    """Where the files of a corpus have the texts of targets; white space is not counted.

    `places` are number of file and start of each copy, in corpus order. The file `changed`, which
    has its own, replaces another one, to which its `places` still belong.
    """

    sources: Sequence[Source]
    places: Mapping[str, Sequence[tuple[int, int]]]
    changed: int | None = None
    own: FileCopies = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        sources: Sequence[Source],
        wanted: Wanted,
        known: dict[Source, FileCopies] | None = None,
    ) -> Copies:
        """Read a corpus once; `known` are the files of earlier ones, and get those of this one."""
        known = {} if known is None else known
        places: dict[str, list[tuple[int, int]]] = {}
        for number, source in enumerate(sources):
            if source not in known:
                known[source] = copies_in(source, wanted)
            for text, starts in known[source].items():
                places.setdefault(text, []).extend((number, at) for at in starts)
        return cls(sources, places)

    def with_file(self, sources: Sequence[Source], number: int, own: FileCopies) -> Copies:
        """The same corpus with one file put in the place of another; nothing else is read."""
        return replace(self, sources=sources, changed=number, own=own)

    def twins(self, text: str, occupied: Sequence[Stretch]) -> list[Stretch]:
        """The copies of a text, in corpus order.

        A twin touches no other, and none of `occupied`: the query's targets, and twins of its other
        targets. So each character counts for one gold character at most.
        """
        matches: list[Stretch] = []
        for number, start in self._places_of(text):
            twin = (self.sources[number].path, start, start + len(text))
            if not any(_touch(twin, other) for other in (*occupied, *matches)):
                matches.append(twin)
        return matches

    def _places_of(self, text: str) -> list[tuple[int, int]]:
        places = self.places.get(text, ())
        own = [(self.changed, at) for at in self.own.get(text, ()) if self.changed is not None]
        return sorted([*(place for place in places if place[0] != self.changed), *own])


def holders(sources: Iterable[Source], texts: Iterable[str]) -> dict[str, list[int]]:
    """For each text, the numbers of the first two sources that contain all of it.

    Texts are without white space, and white space is not counted. No source contains a blank one.
    """
    found: dict[str, list[int]] = {text: [] for text in texts}
    for number, source in enumerate(sources):
        left = [text for text, numbers in found.items() if text and len(numbers) < 2]
        if not left:
            break
        whole = squeezed(source.text)
        for text in left:
            if text in whole:
                found[text].append(number)
    return found


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
    query: Query, corpus: Corpus, files: Mapping[str, int]
) -> tuple[list[LocatedTarget], list[str]]:
    """Resolve the targets of a query, without twins; nothing here depends on a chunker.

    `files` are the numbers of sources by path. Returns the places, and the reason for each target
    that was dropped: its file is not indexed, it ends before its first line, or it holds no
    non-blank line.
    """
    places: list[LocatedTarget] = []
    dropped: list[str] = []
    for target in query.targets:
        number = files.get(target.path)
        if number is None:
            dropped.append(f"{target.path} is not indexed")
            continue
        source = corpus.sources[number]
        index, layout = source.lines, Layout.of(source)
        first, last = target.start_line or 1, target.end_line or index.count
        if target.start_line is not None and last > index.count:
            lines = counted(index.count, "line")
            dropped.append(f"{target.path}:{first}-{last} passes the file's {lines}")
            continue
        low, high = (int(index.line_nws[at]) for at in (first - 1, last)) if last else (0, 0)
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
    return places, dropped


def target_text(place: LocatedTarget, corpus: Corpus, files: Mapping[str, int]) -> str:
    """The text of a target without white space; empty for a whole file, and without evidence.

    A target without lines stands for its file, whose copies are files of their own.
    """
    _, low, high = place.stretch
    first, last = place.start_line, place.end_line
    if first is None or last is None or high - low < MIN_TWIN:
        return ""
    return squeezed(corpus.sources[files[place.path]].lines.text_of(first, last))


def target_texts(
    places: Iterable[LocatedTarget], corpus: Corpus, files: Mapping[str, int]
) -> set[str]:
    """The texts whose copies are looked for."""
    return {target_text(place, corpus, files) for place in places} - {""}


def with_twins(
    places: Sequence[LocatedTarget],
    corpus: Corpus,
    files: Mapping[str, int],
    copies: Copies,
) -> list[LocatedTarget]:
    """The targets of a query with the other places of their texts."""
    occupied = [place.stretch for place in places]
    result = []
    for place in places:
        twins = copies.twins(target_text(place, corpus, files), occupied)
        occupied += twins
        lines = tuple(
            Layout.of(corpus.sources[files[path]]).lines(low, high) for path, low, high in twins
        )
        result.append(replace(place, twins=tuple(twins), twin_lines=lines))
    return result
