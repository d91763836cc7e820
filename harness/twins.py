"""Finds other places of a target's text, so that no chunker is blamed for retrieving a copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chunkers.source import Source
    from harness.chunking import Layout

MIN_TWIN = 100
"""Non-white-space characters below which equal text is no evidence of a copy."""

Stretch = tuple[str, int, int]
"""The path of a file and an interval of its non-white-space characters."""


@dataclass(frozen=True)
class Squeezed:
    """The texts of a corpus without white space, joined by line feeds.

    Attributes:
        text: All files; a line feed can stand in no file's own text.
        paths: Their paths, in the same order.
        begins: Where each file begins, ascending, shape (n_files,).
        numbers: Number of each file by path.
        borders: For each file, where whole lines begin and end.
        beginnings: Where whole lines begin, in `text`, by their first `MIN_TWIN` characters.
    """

    text: str
    paths: tuple[str, ...]
    numbers: dict[str, int]
    begins: NDArray[np.int64]
    borders: tuple[frozenset[int], ...]
    beginnings: dict[str, list[int]]

    @classmethod
    def of(cls, sources: Sequence[Source], layouts: Sequence[Layout]) -> Squeezed:
        """Squeeze a corpus."""
        texts = ["".join(source.text.split()) for source in sources]
        lengths = np.array([len(text) + 1 for text in texts], dtype=np.int64)
        borders = tuple(frozenset([*one.line_starts.tolist(), one.size]) for one in layouts)
        paths = tuple(source.path for source in sources)
        begins = np.cumsum(lengths) - lengths
        text = "\n".join(texts)
        beginnings: dict[str, list[int]] = {}
        for begin, layout in zip(begins.tolist(), layouts, strict=True):
            for start in layout.line_starts.tolist():
                head = text[begin + start : begin + start + MIN_TWIN]
                beginnings.setdefault(head, []).append(begin + start)
        numbers = {path: number for number, path in enumerate(paths)}
        return cls(text, paths, numbers, begins, borders, beginnings)

    def twins(self, target: Stretch, taken: Sequence[Stretch]) -> list[Stretch]:
        """Runs of whole lines elsewhere that equal a target, from left to right.

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
        begin = int(self.begins[self.numbers[path]])
        wanted = self.text[begin + low : begin + high]
        found: list[Stretch] = []
        free = 0
        for at in self.beginnings.get(wanted[:MIN_TWIN], ()):
            if at < free or self.text[at : at + len(wanted)] != wanted:
                continue
            number = int(np.searchsorted(self.begins, at, side="right")) - 1
            start = at - int(self.begins[number])
            twin = (self.paths[number], start, start + len(wanted))
            if twin[2] in self.borders[number] and not any(_touch(twin, one) for one in taken):
                found.append(twin)
                free = at + len(wanted)
        return found


def _touch(a: Stretch, b: Stretch) -> bool:
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]
