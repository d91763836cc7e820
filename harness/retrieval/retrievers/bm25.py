"""BM25 over the tokens of whole chunks, with the library bm25s: no model."""

from __future__ import annotations

import importlib.metadata
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.retrieval.lexical import Tokens, tokenize
from harness.retrieval.options import require_range
from harness.retrieval.postings import Postings, TokenCounter
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
    counter: TokenCounter
    dense: bool = False

    @property
    def version(self) -> str:
        """Version of the tokens and of the library."""
        return f"4 bm25s {importlib.metadata.version('bm25s')}"

    def index(self, material: Material) -> Index:
        """Index the tokens of every chunk."""
        import bm25s

        postings = self.counter.postings(material.chunks)
        if not postings.places:
            return Bm25Index(material, self.counter.kind, None)
        model = bm25s.BM25(method="lucene", k1=self.k1, b=self.b, backend="numpy")
        # What `model.index` makes of the tokens one by one, with equal bits.
        model.scores = {
            "data": _scores(postings, self.k1, self.b),
            "indices": postings.chunks,
            "indptr": postings.starts,
            "num_docs": len(material.chunks),
        }
        model.vocab_dict, model.nonoccurrence_array = postings.places, None
        return Bm25Index(material, self.counter.kind, model)


def _scores(postings: Postings, k1: float, b: float) -> NDArray[np.float32]:
    """The score of every posting: Lucene's inverse document frequency times the saturated count."""
    frequency = np.diff(postings.starts)
    n, different = len(postings.lengths), np.unique(frequency)
    logs = [math.log(1 + (n - df + 0.5) / (df + 0.5)) for df in different.tolist()]
    weight = np.array(logs, np.float32)[np.searchsorted(different, frequency)]
    norm = k1 * ((1 - b) + b * postings.lengths / postings.lengths.mean())
    saturated = postings.counts / (norm[postings.chunks] + postings.counts)
    scores: NDArray[np.float32] = (np.repeat(weight, frequency) * saturated).astype(np.float32)
    return scores


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
    return Bm25(k1, b, TokenCounter(tokens))
