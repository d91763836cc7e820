"""The interface of indexes of vectors, and the index that a spec names."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from chunkers.errors import InputError, suggestion
from chunkers.plugins.registry import Registry
from chunkers.plugins.spec import bind, canonical, parse_spec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INDEXES = Registry("index", ("harness.retrieval.indexes",), "chunkmark.indexes")

_ADDRESS = re.compile(r"://|@|=.*=|\b(?:host|user|dbname|service)=")
"""What an address of a server has; it may hold a password, which no message repeats."""

SPARE = 32
"""Rows that an exact index returns beyond the requested number, so that it has near ties too."""


@dataclass(frozen=True)
class Neighbours:
    """The rows that an index found for some queries.

    Attributes:
        rows: Row numbers, unordered, -1 for none, shape (q, k).
        bounds: For each query, an upper bound of the float64 scores of all other rows, shape (q,);
            -inf if no other row counts.
    """

    rows: NDArray[np.int64]
    bounds: NDArray[np.float64]


class VectorSearch(Protocol):
    """Indexed unit vectors."""

    @property
    def nbytes(self) -> int:
        """Size of the index, in bytes."""
        ...

    def search(self, queries: NDArray[np.float32], count: int) -> Neighbours:
        """The nearest rows of each query: `count` of them or more, if there are so many.

        Args:
            queries: Unit vectors, shape (q, d).
            count: Minimum number of rows; an approximate index may return fewer.
        """
        ...


class VectorIndex(Protocol):
    """Builds an index of the vectors of one corpus."""

    @property
    def version(self) -> str:
        """Changes whenever the rows that are found may change; empty for an exact index."""
        ...

    def build(self, rows: NDArray[np.float32]) -> VectorSearch:
        """Index unit vectors, shape (n, d), n > 0."""
        ...


def load_index(text: str) -> tuple[str, VectorIndex]:
    """The index of a spec, and its name: the canonical spec without the address of a server.

    Raises:
        InputError: Unknown name, key or value, or a package is missing.
    """
    try:
        entry, spec = INDEXES.find(parse_spec(text))
        make: Any = INDEXES.load(entry)
        bound = bind(make, spec, INDEXES.kind)
    except InputError:
        if not _ADDRESS.search(text):
            raise
        name = text.partition(":")[0]
        entries = INDEXES.entries()
        hint = "put the address in quotes" if name in entries else suggestion(name, entries)
        raise InputError(f"index {name}: invalid spec; {hint}") from None
    name = canonical(make, replace(spec, argument=None), bound)
    return name, cast("VectorIndex", INDEXES.make(entry, make, bound, "build"))


def public_name(text: str) -> str:
    """A spec of an index without the address of a server, which may hold a password."""
    return str(replace(parse_spec(text), argument=None))


def public_retriever(text: str) -> str:
    """A spec of a retriever without the address of a server."""
    spec = parse_spec(text)
    options = (
        (key, public_name(value) if key == "index" else value) for key, value in spec.options
    )
    return str(replace(spec, options=tuple(options)))


def float32_bound(similarities: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """The largest float64 scores that rows below float32 similarities can have, shape (q,).

    A float32 dot product of unit vectors of d components is off by less than d * 2**-23.
    """
    return similarities + width * 2.0**-23
