"""Finds other places of a target's text, so that no chunker is blamed for retrieving a copy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from chunkers.recent import Recent
from harness.chunking.layout import Layout, squeezed
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from chunkers.source import Source
    from harness.model import Corpus, Query

MIN_TWIN = 100
"""Non-white-space characters below which equal text is no evidence of a copy."""

Stretch = tuple[str, int, int]
"""The path of a file and an interval of its non-white-space characters."""

Beginnings = dict[str, list[int]]
"""Heads, the first `MIN_TWIN` characters of targets, and where non-blank lines of a file begin with
each, in order; white space is not counted."""

_TIGHT: Recent[Source, str] = Recent(1 << 20)


def _tight(source: Source) -> str:
    """The text of a source without white space, which is kept for those used last alone."""
    return _TIGHT.get(source, source.length, lambda: squeezed(source.text))


def beginnings(source: Source, heads: AbstractSet[str]) -> Beginnings:
    """Where a copy of a target may begin in a file."""
    found: Beginnings = {}
    if not heads:
        return found
    text = _tight(source)
    for start in source.lines.text_starts.tolist():
        head = text[start : start + MIN_TWIN]
        if head in heads:
            found.setdefault(head, []).append(start)
    return found


@dataclass(frozen=True)
class Squeezed:
    """The files of a corpus, in which copies of targets are looked for; white space is not counted.

    `starts` are number of file and start of the lines that begin with a head, in corpus order. The
    file `changed`, which has its own, replaces another one, to which its `starts` still belong.
    """

    sources: Sequence[Source]
    starts: Mapping[str, Sequence[tuple[int, int]]]
    changed: int | None = None
    own: Beginnings = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        sources: Sequence[Source],
        heads: AbstractSet[str],
        known: dict[Source, Beginnings] | None = None,
    ) -> Squeezed:
        """Read a corpus once; `known` are the files of earlier ones, and get those of this one."""
        known = {} if known is None else known
        starts: dict[str, list[tuple[int, int]]] = {}
        for number, source in enumerate(sources):
            if source not in known:
                known[source] = beginnings(source, heads)
            for head, places in known[source].items():
                starts.setdefault(head, []).extend((number, at) for at in places)
        return cls(sources, starts)

    def with_file(self, sources: Sequence[Source], number: int, own: Beginnings) -> Squeezed:
        """The same corpus with one file put in the place of another; nothing else is read."""
        return replace(self, sources=sources, changed=number, own=own)

    def twins(self, text: str, occupied: Sequence[Stretch]) -> list[Stretch]:
        """Runs of whole lines elsewhere that equal the text of a target, in corpus order.

        A twin touches no other, and none of `occupied`: the query's targets, and twins of its other
        targets. So each character counts for one gold character at most.
        """
        if len(text) < MIN_TWIN:
            return []
        matches: list[Stretch] = []
        for number, start in self._beginning_with(text[:MIN_TWIN]):
            source = self.sources[number]
            twin = (source.path, start, start + len(text))
            if any(_touch(twin, other) for other in (*occupied, *matches)):
                continue
            if _tight(source).startswith(text, start) and _ends(source, twin[2]):
                matches.append(twin)
        return matches

    def _beginning_with(self, head: str) -> list[tuple[int, int]]:
        """File and start of the lines that begin with a head, in corpus order."""
        places = self.starts.get(head, ())
        own = [(self.changed, at) for at in self.own.get(head, ()) if self.changed is not None]
        return sorted([*(place for place in places if place[0] != self.changed), *own])


def _ends(source: Source, at: int) -> bool:
    """Whether a non-blank line ends at a character."""
    # Where line `n` ends, line `n + 1` begins.
    before = source.lines.line_nws
    place = int(np.searchsorted(before, at))
    return place < len(before) and at == int(before[place])


def holders(sources: Iterable[Source], texts: Iterable[str]) -> dict[str, list[int]]:
    """For each text, the numbers of the first two sources that contain all of it.

    Texts are without white space, and white space is not counted. No source contains a blank one.
    """
    found: dict[str, list[int]] = {text: [] for text in texts}
    for number, source in enumerate(sources):
        left = [text for text, numbers in found.items() if text and len(numbers) < 2]
        if not left:
            break
        whole = _tight(source)
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


def heads_of(places: Iterable[LocatedTarget], corpus: Corpus, files: Mapping[str, int]) -> set[str]:
    """What the copies of targets begin with, if these are long enough to be looked for."""
    texts = (target_text(place, corpus, files) for place in places)
    return {text[:MIN_TWIN] for text in texts if text}


def with_twins(
    places: Sequence[LocatedTarget],
    corpus: Corpus,
    files: Mapping[str, int],
    squeezed: Squeezed,
) -> list[LocatedTarget]:
    """The targets of a query with the other places of their texts."""
    occupied = [place.stretch for place in places]
    result = []
    for place in places:
        twins = squeezed.twins(target_text(place, corpus, files), occupied)
        occupied += twins
        lines = tuple(
            Layout.of(corpus.sources[files[path]]).lines(low, high) for path, low, high in twins
        )
        result.append(replace(place, twins=tuple(twins), twin_lines=lines))
    return result
