"""Cosine similarity of sums of random bipolar token vectors: no model, no training.

Random vectors of many components are almost orthogonal, so the sum over a text keeps the count of
each token, spread over all components. The cosine approximates that of `bow`, with an error of
about 1 / sqrt(dimensions).
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from harness.retrieval.lexical import Tokens, tokenize
from harness.retrieval.options import require_range
from harness.retrieval.ranking import Index, Material, SearchQuery, cosines, pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIGEST = 64  # bytes, the longest that blake2b gives
_MOST = 1_000_000  # components, of a vector for every chunk
_AT_ONCE = 512  # tokens whose components are unpacked together


# Texts share their tokens, chunkers their texts: 40 MB for 10,000 components.
@functools.lru_cache(maxsize=1 << 15)
def packed_components(token: str, dimensions: int) -> bytes:
    """The components of a token, one bit each: 1 is +1, 0 is -1.

    Block j holds the components 512 j to 512 j + 511. It is the 64-byte blake2b digest, without
    key, salt or person, of j as four bytes, the lowest first, followed by the token in UTF-8.
    Component i of a block is bit i % 8, counted from the lowest, of byte i // 8.

    Returns:
        The first ceil(dimensions / 8) bytes of the blocks in order.
    """
    size = -(-dimensions // 8)
    name = token.encode()
    blocks = (blake2b(j.to_bytes(4, "little") + name).digest() for j in range(-(-size // _DIGEST)))
    return b"".join(blocks)[:size]


def bundle(tokens: Counter[str], dimensions: int) -> NDArray[np.int64]:
    """The sum of the tokens' vectors, weighted by their counts, shape (dimensions,)."""
    names, counts = list(tokens), np.array(list(tokens.values()), dtype=np.int64)
    ones = np.zeros(dimensions, dtype=np.int64)
    for at in range(0, len(names), _AT_ONCE):
        batch = names[at : at + _AT_ONCE]
        packed = b"".join(packed_components(name, dimensions) for name in batch)
        rows = np.frombuffer(packed, dtype=np.uint8).reshape(len(batch), -1)
        bits = np.unpackbits(rows, axis=1, count=dimensions, bitorder="little")
        ones += np.einsum("i,ij->j", counts[at : at + _AT_ONCE], bits)
    ones *= 2
    ones -= counts.sum()
    return ones


@dataclass(frozen=True)
class VsaIndex:
    """An integer vector for each chunk, so that sums and dot products are exact.

    Attributes:
        material: The corpus.
        tokens: The kind of tokens.
        vectors: Shape (chunks, dimensions).
        squares: Their squared lengths, shape (chunks,).
    """

    material: Material
    tokens: Tokens
    vectors: NDArray[np.int16] | NDArray[np.int32]
    squares: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """Size of the vectors, in bytes."""
        return int(self.vectors.nbytes)

    def scores(
        self, query: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Cosines of all units that have a token; none for a query without one."""
        del depth  # all scores are computed at once
        vector = bundle(Counter(tokenize(query.text, self.tokens)), self.vectors.shape[1])
        length = int(vector @ vector)
        chunks = np.flatnonzero(self.squares) if length else np.zeros(0, dtype=np.int64)
        dots = np.einsum("ij,j->i", self.vectors, vector)[chunks]
        return pool(cosines(dots, self.squares[chunks], length), chunks, self.material)


@dataclass(frozen=True)
class Vsa:
    """The retriever `vsa`."""

    dimensions: int
    tokens: Tokens
    dense: bool = False
    version: str = "3"

    def index(self, material: Material) -> Index:
        """Sum the tokens of every chunk."""
        longest = max((len(tokenize(chunk, self.tokens)) for chunk in material.chunks), default=0)
        narrow = longest <= np.iinfo(np.int16).max  # no component exceeds the number of tokens
        shape = len(material.unit_of), self.dimensions
        vectors = material.space.empty(shape, np.int16 if narrow else np.int32)
        squares = np.zeros(len(vectors), np.int64)
        for at, chunk in enumerate(material.chunks):
            vector = bundle(Counter(tokenize(chunk, self.tokens)), self.dimensions)
            vectors[at], squares[at] = vector, vector @ vector
        return VsaIndex(material, self.tokens, vectors, squares)


def make(*, dimensions: int = 10_000, tokens: Tokens = "identifiers") -> Vsa:
    """Hyperdimensional vectors: bipolar components from a hash of each token, summed, by cosine.

    Source: the multiply-add-permute family of Gayler 1998, of which only the sum is used.
    `packed_components` says exactly how the components are drawn.

    Args:
        dimensions: Components of a vector.
        tokens: `identifiers`: every run of word characters counts whole, and again for each of its
            parts (`parse_url`: `parse_url`, `parse`, `url`); `words`: whole runs alone.
    """
    require_range("vsa: dimensions", dimensions, 1, _MOST)
    return Vsa(dimensions, tokens)
