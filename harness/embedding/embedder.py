"""What an embedder is: the interface that local models, servers and stored vectors share."""

from __future__ import annotations

import abc
import dataclasses
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, runtime_checkable

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from harness.embedding.vector_store import StoredVector

Role = Literal["document", "query-head", "query-tail"]
"""The role of a text; for a query also which end of it is kept if it is over the limit."""

Windows = Literal["max", "mean"]
"""How a text that was split into windows scores: as its best window, or by their mean vector."""


class OutOfMemoryError(Exception):
    """A batch did not fit into memory; fewer rows may."""


class Embedder(Protocol):
    """Turns texts into vectors. A vector must be a function of its text alone.

    Attributes:
        name: The spec in canonical form.
        windows: How texts over the limit are embedded by windows; None to truncate them.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def windows(self) -> Windows | None: ...  # noqa: D102

    @property
    def limit(self) -> int | None:
        """Tokens of a document that the model sees, without special ones; None if unknown."""
        ...

    @property
    def query_limit(self) -> int | None:
        """Tokens of a query that the model sees."""
        ...

    def renamed(self, name: str) -> Embedder:
        """The same embedder under another name, the canonical form of its spec."""
        ...

    def identity(self, role: Role) -> dict[str, Any]:
        """Everything that a vector depends on besides its text, as JSON values."""
        ...

    def fingerprint(self, role: Role = "document") -> str:
        """Hash of `identity`."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Tokens of each whole text, without special ones, shape (n,)."""
        ...

    def embed(self, texts: Sequence[str], role: Role) -> Iterator[list[tuple[int, StoredVector]]]:
        """Embed texts, and yield pairs of a text's index and its vector, a batch at a time."""
        ...

    def with_fewer_rows(self) -> Embedder:
        """The same embedder with smaller batches, which has another fingerprint."""
        ...


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as a place in its file.

    Attributes:
        text: The text of the whole file.
        start: First character of the chunk.
        end: After its last character.
    """

    text: str
    start: int
    end: int

    @property
    def own(self) -> str:
        """The text of the chunk."""
        return self.text[self.start : self.end]


@runtime_checkable
class PassageEmbedder(Protocol):
    """An embedder by which the vector of a chunk depends on its file too.

    It is also an `Embedder`: queries have no file.
    """

    @property
    def plain(self) -> Embedder:
        """The same model without files, for the texts that a chunker embeds to cut."""
        ...

    def embed_passages(
        self, passages: Sequence[Passage]
    ) -> Iterator[list[tuple[int, StoredVector]]]:
        """Embed chunks, and yield pairs of a chunk's index and its vector.

        A vector must be a function of its passage alone.
        """
        ...


def plain(embedder: Embedder) -> Embedder:
    """The embedder for texts that are not chunks of a file."""
    return embedder.plain if isinstance(embedder, PassageEmbedder) else embedder


class EmbedderBase(abc.ABC):
    """The methods that the embedders here share; a subclass is a frozen dataclass with a `name`."""

    name: str

    @property
    @abc.abstractmethod
    def limit(self) -> int | None:
        """Tokens of a document that the model sees."""

    @property
    def query_limit(self) -> int | None:
        """Tokens of a query that the model sees."""
        return self.limit

    @abc.abstractmethod
    def identity(self, role: Role) -> dict[str, Any]:
        """Everything that a vector depends on besides its text."""

    def fingerprint(self, role: Role = "document") -> str:
        """Hash of `identity`: the model's part of a vector's address in the store."""
        canonical = json.dumps(self.identity(role), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def renamed(self, name: str) -> Self:
        """The same embedder under another name, the canonical form of its spec."""
        return dataclasses.replace(self, name=name)  # type: ignore[type-var]

    def with_fewer_rows(self) -> Self:
        """Refuse, unless overridden: an embedder that computes nothing has no batches to halve."""
        raise InputError(f"{self.name}: the vectors do not fit into memory")


_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """The text with U+FFFD in place of lone surrogates, which no encoding has."""
    return text if text.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
