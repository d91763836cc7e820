"""BM25 over the tokens of whole chunks, with the library bm25s: no model."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers import distributions
from harness.retrieval.lexical import Tokens, tokenize
from harness.retrieval.options import require_range
from harness.retrieval.postings import Postings, TokenCounter, batches
from harness.retrieval.ranking import Index, Material, SearchQuery, pool
from harness.support.arrays import ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray


_AT_ONCE = 1 << 18  # postings of a query or the index, so that memory does not grow with it
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
        return f"4 bm25s {distributions.version_of('bm25s')}"

    def index(self, material: Material) -> Index:
        """Index the tokens of every chunk."""
        postings = self.counter.postings(material.chunks, material.space)
        if not postings.places:
            return Bm25Index(material, self.counter.kind, None)
        model = _model_type()(method="lucene", k1=self.k1, b=self.b, backend="numpy")
        # What `model.index` makes of the tokens one by one, with equal bits.
        model.scores = {
            "data": _into_scores(postings, self.k1, self.b),
            "indices": postings.chunks,
            "indptr": postings.starts,
            "num_docs": len(postings.lengths),
        }
        model.vocab_dict, model.nonoccurrence_array = postings.places, None
        return Bm25Index(material, self.counter.kind, model)


@functools.cache
def _model_type() -> Any:
    """The model of bm25s, which adds scores in the same order, but those of all tokens at once."""
    import bm25s

    class Model(bm25s.BM25):  # type: ignore[misc]
        @staticmethod
        def _compute_relevance_from_scores(  # noqa: PLR0917 # as the library's
            data: NDArray[np.float32],
            indptr: NDArray[np.int64],
            indices: NDArray[np.int32],
            num_docs: int,
            query_tokens_ids: NDArray[np.int32],
            dtype: np.dtype[np.float32],
        ) -> NDArray[np.float32]:
            first, after = indptr[query_tokens_ids], indptr[query_tokens_ids + 1]
            scores = np.zeros(num_docs, dtype)
            for some in batches(after - first, _AT_ONCE):
                _, places = ranges(first[some], after[some] - first[some])
                np.add.at(scores, indices[places], data[places])
            return scores

    return Model


def _into_scores(postings: Postings, k1: float, b: float) -> NDArray[np.float32]:
    """The score of every posting: Lucene's inverse document frequency times the saturated count.

    Scores are put in the place of the counts, which are lost, so that they need no memory of their
    own.
    """
    frequency = np.diff(postings.starts)
    n, different = len(postings.lengths), np.unique(frequency)
    logs = [math.log(1 + (n - df + 0.5) / (df + 0.5)) for df in different.tolist()]
    weight = np.array(logs, np.float32)[np.searchsorted(different, frequency)]
    norm = k1 * ((1 - b) + b * postings.lengths / postings.lengths.mean())
    scores: NDArray[np.float32] = postings.counts.view(np.float32)
    for tokens in batches(frequency, _AT_ONCE):
        some = slice(postings.starts[tokens.start], postings.starts[tokens.stop])
        counts = postings.counts[some]
        saturated = counts / (norm[postings.chunks[some]] + counts)
        scores[some] = np.repeat(weight[tokens], frequency[tokens]) * saturated
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
