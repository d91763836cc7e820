"""What the adapters share: is the library here, what is counted, where its strings stand."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from chunkers.errors import InputError, MissingError
from chunkers.locate import spans_of
from chunkers.sizes import UNITS, check_max_size
from chunkers.source import Services, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from chunkers.sizes import Unit
    from chunkers.source import Source

_EXTRA = "pip install 'chunkmark[chunkers]'"


@dataclass(frozen=True)
class Limit:
    """What a library is told about size.

    Attributes:
        max_size: Its parameter for the size of a chunk.
        unit: What it is made to count.
        overlap: Its parameter for what a chunk may repeat of the one before, in the same unit.
        units: What it can count.

    Raises:
        InputError: One of them is out of range, or the unit is one that it cannot count.
    """

    max_size: int
    unit: Unit
    overlap: int = 0
    units: tuple[str, ...] = UNITS

    def __post_init__(self) -> None:
        check_max_size(self.max_size)
        if self.unit not in self.units:
            raise InputError(
                f"unit={self.unit}: this library cannot count it; write unit={self.units[0]}"
            )
        if not 0 <= self.overlap < self.max_size:
            raise InputError(f"overlap={self.overlap}: must be >= 0 and < max_size={self.max_size}")

    def counter(self, services: Services) -> Callable[[str], int]:
        """What measures a string as the harness does.

        Raises:
            InputError: The unit is `tokens` and no tokenizer is at hand.
        """
        if self.unit == "chars":
            return len
        if self.unit == "nws":
            return _visible
        count = services.line_tokens()
        return lambda text: sum(count(line) for line in text.split("\n") if line.strip())


def _visible(text: str) -> int:
    return sum(map(len, text.split()))


@dataclass(frozen=True)
class Adapter:
    """A chunker round somebody else's library.

    Attributes:
        chunk: Cuts a source; imports the library.
        version: The adapter's own, and what `installed` returned.
        limit: Its limit; None where it has none.
        languages: Those that it reads, where it does not read all.
        faults: The checks of `chunkers.testing` that it fails whatever its options are.
        embeds: Whether it asks for vectors.
    """

    chunk: Callable[[Source, Services], list[Span]]
    version: str
    limit: Limit | None = None
    languages: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    embeds: bool = False

    @property
    def max_size(self) -> int | None:
        """The limit's number."""
        return self.limit.max_size if self.limit else None

    @property
    def unit(self) -> Unit:
        """What the limit counts."""
        return self.limit.unit if self.limit else "nws"

    @property
    def exceptions(self) -> tuple[str, ...]:
        """What it is known to fail: with an overlap, text is repeated."""
        return (*self.faults, "repeats") if self.limit and self.limit.overlap else self.faults

    def texts(self, source: Source, services: Services) -> list[str]:
        """What `chunk` will embed; no library here asks for what depends on other vectors."""
        asked: list[str] = []

        def embed(texts: Sequence[str]) -> NDArray[np.float32]:
            asked.extend(texts)
            return np.ones((len(texts), 1), np.float32)

        if self.embeds:
            self.chunk(source, Services(embed, services.count_tokens, services.corpus))
        return asked


def installed(*distributions: str, below: Mapping[str, str] | None = None) -> str:
    """The versions of what an adapter's output depends on. Nothing is imported.

    Args:
        distributions: Their names.
        below: Distribution -> the first version that does not do.

    Raises:
        MissingError: One of them is not installed, or too new.
    """
    found = {}
    for name in distributions:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            raise MissingError(f"{name} is not installed: {_EXTRA}") from None
    for name, limit in (below or {}).items():
        if _number(found[name]) >= _number(limit):
            raise MissingError(
                f"{name} {found[name]} is not supported, use one below {limit}: {_EXTRA}"
            )
    return ", ".join(f"{name} {one}" for name, one in found.items())


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0]))


def named(same: str, **others: str) -> dict[str, str]:
    """Language -> its name in a library.

    Args:
        same: Languages that are called so there too, separated by blanks.
        others: Those that have another name.
    """
    return {name: name for name in same.split()} | others


def known(source: Source, services: Services, names: Mapping[str, str]) -> str | None:
    """What a library calls a source's language; None, with a note, where it does not read it."""
    language = source.language or "unknown language"
    if language not in names:
        services.note(f"not read: {language}")
    return names.get(language)


def spans_at(source: Source, found: Iterable[tuple[int, str]], services: Services) -> list[Span]:
    """Spans where the library says they start, or else wherever its strings are found.

    A start is believed where all of a source's are right: so offsets in bytes, or -1, are not.

    Args:
        source: The source.
        found: Start and text of every chunk, in the library's order.
        services: Where notes go.
    """
    found = list(found)
    if all(start >= 0 and source.text.startswith(text, start) for start, text in found):
        spans = [Span(start, start + len(text)) for start, text in found]
        return sorted(spans, key=lambda span: (span.start, span.end))
    return spans_of(source, [text for _, text in found], services)


def spans_joined(source: Source, texts: Sequence[str], services: Services) -> list[Span]:
    """Spans of strings that make up the source when they are joined, or else where they are."""
    starts = accumulate(map(len, texts), initial=0)
    return spans_at(source, zip(starts, texts, strict=False), services)


def embedder(services: Services) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """What turns texts into vectors, and notes a text that has none.

    Raises:
        InputError: No embedder is at hand.
    """
    embed = services.need_embed()

    def noting(texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = embed(texts)
        usable = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
        if not usable.all():
            services.note("unit without a vector")
        return vectors

    return noting
