"""BM25 over the tokens of whole chunks, by bm25s: no model."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import InputError
from harness.retrieval.lexical import Tokens, tokenize
from harness.retrieval.ranking import Index, Material, SearchQuery, pool

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MOST = 1000  # of k1; beyond it scores are shares of term frequencies, and lose digits


@dataclass(frozen=True)
class Bm25Index:
    """An inverted index over chunks; None where no chunk holds a token."""

    material: Material
    tokens: Tokens
    model: Any

    @property
    def nbytes(self) -> int:
        """Size of the sparse score matrix, in bytes."""
        if self.model is None:
            return 0
        return sum(int(self.model.scores[part].nbytes) for part in ("data", "indices", "indptr"))

    def scores(
        self, question: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Scores of all units that share a token with the query."""
        del depth  # every score is computed at once
        asked = [] if self.model is None else tokenize(question.text, self.tokens)
        asked = [token for token in asked if token in self.model.vocab_dict]
        if not asked:
            return np.zeros(0, np.int64), np.zeros(0)
        values = np.asarray(self.model.get_scores(asked), dtype=np.float64)
        chunks = np.flatnonzero(values > 0)
        return pool(values[chunks], chunks, self.material)


@dataclass(frozen=True)
class Bm25:
    """The retriever `bm25`."""

    k1: float
    b: float
    tokens: Tokens
    dense: bool = False

    @property
    def version(self) -> str:
        """Version of the tokens and of the library."""
        return f"2 bm25s {importlib.metadata.version('bm25s')}"

    def index(self, material: Material) -> Index:
        """Index the tokens of every chunk."""
        import bm25s

        corpus = [tokenize(chunk, self.tokens) for chunk in material.chunks]
        if not any(corpus):
            return Bm25Index(material, self.tokens, None)
        model = bm25s.BM25(method="lucene", k1=self.k1, b=self.b, backend="numpy")
        model.index(corpus, create_empty_token=False, show_progress=False)
        return Bm25Index(material, self.tokens, model)


def make(*, k1: float = 1.5, b: float = 0.75, tokens: Tokens = "identifiers") -> Bm25:
    """Okapi BM25 in Lucene's form.

    A token of the query counts as often as it stands there. Frequencies and lengths are those of
    tokens: a name of several parts adds its parts to the length, too.

    Args:
        k1: Saturation of term frequency, 0 to 1000.
        b: Weight of length, 0 to 1.
        tokens: `identifiers`: every run of word characters counts as a whole and once more for
            each of its parts (`parse_url`: `parse_url`, `parse`, `url`); `words`: runs alone.
    """
    if not 0 <= k1 <= _MOST:
        raise InputError(f"bm25: k1={k1:g}: it is 0 to {_MOST}")
    if not 0 <= b <= 1:
        raise InputError(f"bm25: b={b:g}: it is 0 to 1")
    return Bm25(k1, b, tokens)
