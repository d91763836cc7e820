"""BM25 over the tokens of whole chunks, by bm25s: no model."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.retrieval.lexical import Tokens, tokenize
from harness.retrieval.options import require_range
from harness.retrieval.ranking import Index, Material, SearchQuery, pool

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MOST = 1000  # a larger k1 loses digits of the scores


@dataclass(frozen=True)
class Bm25Index:
    """An inverted index over chunks; `model` is None if no chunk has a token."""

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
        self, query: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Scores of all units that share a token with the query."""
        del depth  # all scores are computed at once
        tokens = [] if self.model is None else tokenize(query.text, self.tokens)
        tokens = [token for token in tokens if token in self.model.vocab_dict]
        if not tokens:
            return np.zeros(0, np.int64), np.zeros(0)
        values = np.asarray(self.model.get_scores(tokens), dtype=np.float64)
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
        return f"3 bm25s {importlib.metadata.version('bm25s')}"

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

    A token counts as often as it is in the query. The parts of a name count towards the length.

    Args:
        k1: Saturation of term frequency, 0 to 1000.
        b: Weight of length, 0 to 1.
        tokens: `identifiers`: every run of word characters counts whole, and again for each of its
            parts (`parse_url`: `parse_url`, `parse`, `url`); `words`: whole runs alone.
    """
    require_range("bm25: k1", k1, 0, _MOST)
    require_range("bm25: b", b, 0, 1)
    return Bm25(k1, b, tokens)
