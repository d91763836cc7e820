"""The common part of the adapters: versions, size limits, positions of the library's strings."""

from __future__ import annotations

import functools
import importlib.metadata
import re
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from chunkers import distributions
from chunkers.errors import InputError, MissingError, install_command, reason_of
from chunkers.lazy import np
from chunkers.locate import spans_of
from chunkers.sizes import UNITS, check_limit
from chunkers.source import Services, Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from packaging.specifiers import SpecifierSet

    from chunkers.sizes import Unit

SAMPLE = Source(
    "def double(x):\n    return 2 * x\n\n\ndef half(x):\n    return x / 2\n", "sample.py", "python"
)
"""A file that every library can cut."""

_EXTRA = install_command("chunkers")


@dataclass(frozen=True)
class Limit:
    """The size limit for a library.

    Attributes:
        max_size: Its parameter for the size of a chunk.
        unit: The unit that it is made to count.
        overlap: Its parameter for the overlap with the chunk before, in the same unit.
        units: The units that it can count.

    Raises:
        InputError: A number is out of range, or the library cannot count the unit.
    """

    max_size: int
    unit: Unit
    overlap: int = 0
    units: tuple[str, ...] = UNITS

    def __post_init__(self) -> None:
        check_limit(self.max_size, self.overlap)
        if self.unit not in self.units:
            raise InputError(
                f"unit={self.unit}: this library cannot count it; write unit={self.units[0]}"
            )

    def counter(self, services: Services) -> Callable[[str], int]:
        """The size of a string as the harness measures it.

        Raises:
            InputError: The unit is `tokens` and there is no tokenizer.
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
    """A chunker that wraps a library.

    Attributes:
        cut: Cuts a source; imports the library.
        libraries: The distributions that its output depends on.
        limit: Its limit, or None.
        languages: The languages that it reads; empty for all.
        faults: The checks of `chunkers.testing` that it fails with any options.
        embeds: Whether it needs an embedder.
        grammars: The versions of the grammars that it is given.
        version: The adapter's version, and those of the libraries and grammars.

    Raises:
        MissingError: A distribution is not installed, or in a version that is not supported.
    """

    cut: Callable[[Source, Services], list[Span]]
    libraries: tuple[str, ...]
    limit: Limit | None = None
    languages: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    embeds: bool = False
    grammars: str = ""
    version: str = field(init=False)

    def __post_init__(self) -> None:
        versions = [f"{name} {version}" for name, version in _installed(self.libraries).items()]
        versions += [self.grammars] if self.grammars else []
        object.__setattr__(self, "version", f"1 ({', '.join(versions)})")

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Cut a source.

        Raises:
            InputError: The library cannot cut `SAMPLE` either: it is another than the adapter was
                written for. Other errors are those of the library.
        """
        try:
            return self.cut(source, services)
        except InputError:
            raise
        except Exception as error:
            if self._cuts_sample():
                raise
            ranges = supported()
            versions = ", ".join(
                f"{name} {version} (works: {ranges[name]})"
                for name, version in _installed(self.libraries).items()
                if name in ranges
            )
            raise InputError(f"{versions}: {reason_of(error)}") from error

    def _cuts_sample(self) -> bool:
        services = Services(lambda texts: np.ones((len(texts), 1), np.float32), len)
        try:
            return bool(self.cut(SAMPLE, services))
        except Exception:
            return False

    @property
    def max_size(self) -> int | None:
        """The size of the limit."""
        return self.limit.max_size if self.limit else None

    @property
    def unit(self) -> Unit:
        """The unit of the limit."""
        return self.limit.unit if self.limit else "nws"

    @property
    def exceptions(self) -> tuple[str, ...]:
        """The checks that it is known to fail: with an overlap, text is repeated."""
        return (*self.faults, "repeats") if self.limit and self.limit.overlap else self.faults

    def texts(self, source: Source, services: Services) -> list[str]:
        """The texts that `chunk` will embed; for no library here do they depend on vectors."""
        embedded: list[str] = []

        def embed(texts: Sequence[str]) -> NDArray[np.float32]:
            embedded.extend(texts)
            return np.ones((len(texts), 1), np.float32)

        if self.embeds:
            self.chunk(source, Services(embed, services.count_tokens, services.corpus))
        return embedded


@functools.cache
def supported() -> Mapping[str, SpecifierSet]:
    """The versions of each distribution that the extra `chunkers` installs; empty without metadata.

    They are those of `pyproject.toml`, as the installed package has them.
    """
    try:
        lines = importlib.metadata.requires("chunkmark") or ()
    except importlib.metadata.PackageNotFoundError:  # a checkout that is not installed
        lines = ()
    from packaging.specifiers import SpecifierSet  # packaging.requirements takes longer to import

    required = [line.partition(";")[0] for line in lines if 'extra == "chunkers"' in line]
    matches = [re.fullmatch(r"([\w.-]+) *(.*)", each.strip()) for each in required]
    return {match[1]: SpecifierSet(match[2]) for match in matches if match}


def _installed(names: Iterable[str]) -> dict[str, str]:
    """The versions of distributions. Nothing is imported."""
    found = {}
    for name in names:
        try:
            found[name] = distributions.version_of(name)
        except importlib.metadata.PackageNotFoundError:
            raise MissingError(f"{name} is not installed: {_EXTRA}") from None
        wanted = supported().get(name)
        if wanted is not None and not wanted.contains(found[name], prereleases=True):
            raise MissingError(f"{name} {found[name]} is not supported, use {wanted}: {_EXTRA}")
    return found


def named(same: str, **others: str) -> dict[str, str]:
    """Language -> its name in a library: the `same` name (separated by blanks), or another."""
    return {name: name for name in same.split()} | others


def known(source: Source, services: Services, names: Mapping[str, str]) -> str | None:
    """The library's name of a source's language; None, with a note, if it does not read it."""
    language = source.language or "unknown language"
    if language not in names:
        services.note(f"not read: {language}")
    return names.get(language)


def spans_at(source: Source, chunks: Iterable[tuple[int, str]], services: Services) -> list[Span]:
    """Spans of chunks (start, text) at the library's starts, or where the texts are found.

    The starts are used only if all of them are right; offsets in bytes, or -1, are not.
    """
    chunks = list(chunks)
    if all(start >= 0 and source.text.startswith(text, start) for start, text in chunks):
        spans = [Span(start, start + len(text)) for start, text in chunks]
        return sorted(spans, key=lambda span: (span.start, span.end))
    return spans_of(source, [text for _, text in chunks], services)


def spans_joined(source: Source, texts: Sequence[str], services: Services) -> list[Span]:
    """Spans of strings that give the source when joined; if they do not, where they are found."""
    starts = accumulate(map(len, texts), initial=0)
    return spans_at(source, zip(starts, texts, strict=False), services)


def embedder(services: Services) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """The function from texts to vectors, which notes a text without one.

    Raises:
        InputError: There is no embedder.
    """
    embed = services.need_embed()

    def noting(texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = embed(texts)
        usable = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
        if not usable.all():
            services.note("unit without a vector")
        return vectors

    return noting
