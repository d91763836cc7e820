"""A cross-encoder reranks the first units of another retriever: `rerank:MODEL`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from chunkers.errors import InputError
from harness.embedding.model_folders import find_folder
from harness.retrieval.cross_encoder import CrossEncoder
from harness.retrieval.options import require_range
from harness.retrieval.ranking import Ranking, fit, in_order, rank
from harness.retrieval.retrievers import bm25, bow, dense, hybrid, vsa

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.retrieval.ranking import (
        Index,
        Material,
        Order,
        Rankable,
        Ranker,
        Retriever,
        SearchQuery,
    )

First = Literal["dense", "bm25", "bow", "vsa", "hybrid"]

_MOST = 1_000_000  # units of a query; a model scores some hundreds a second


@dataclass(frozen=True)
class RerankIndex:
    """The first retriever's index, and the texts of the chunks."""

    material: Material
    first: Index | Ranker
    model: CrossEncoder
    top: int

    @property
    def nbytes(self) -> int:
        """Size of the first retriever's index, in bytes."""
        return self.first.nbytes

    def rank(self, query: SearchQuery, order: Order, rankable: Rankable) -> Ranking:
        """The first `top` units in the order of the model, then the others in their old order."""
        deep = replace(order, depth=max(order.depth, self.top))
        first = rank(self.first, query, deep, rankable)
        head, rest = first.units[: self.top], first.units[self.top :]
        chunks = np.flatnonzero(np.isin(self.material.unit_of, head))
        texts = [self.material.chunks[chunk] for chunk in chunks.tolist()]
        scored = self.model.score(query.text, texts, query.keeps)
        units, start = np.unique(self.material.unit_of[chunks], return_index=True)
        best = np.maximum.reduceat(scored.scores, start) if len(units) else np.zeros(0)
        best_first = in_order(units, best, order.ties, rankable)
        ranking = Ranking(
            np.concatenate((units[best_first], rest)),
            np.concatenate((best[best_first], np.full(len(rest), np.nan))),
            by_rank=True,
            disturbed=first.disturbed,
            counts={
                "pairs": len(texts),
                "pair_tokens": int(scored.tokens.sum()),
                "truncated_pairs": int((scored.unseen > 0).sum()),
                "unseen_pair_tokens": int(scored.unseen.sum()),
                "pair_text_tokens": int(scored.text_tokens.sum()),
                "unseen_pair_text_tokens": int(scored.unseen_text.sum()),
            },
        )
        return fit(ranking, order, rankable)


@dataclass(frozen=True)
class Rerank:
    """The retriever `rerank`."""

    first: Retriever
    model: CrossEncoder
    top: int

    @property
    def dense(self) -> bool:
        """Whether the first retriever needs vectors."""
        return self.first.dense

    @property
    def version(self) -> str:
        """Version of the order, of the first retriever and of all that a score depends on."""
        return f"1 ({self.first.version}) {self.model.version}"

    def index(self, material: Material) -> RerankIndex:
        """Index the corpus for the first retriever."""
        return RerankIndex(material, self.first.index(material), self.model, self.top)


def make(*, argument: str, first: First = "dense", top: int = 50) -> Rerank:
    """A sentence-transformers cross-encoder over the beginning of another ranking.

    It scores the query with the whole text of every chunk of the first `top` units. A unit scores
    as its best chunk. Scores are the model's logits: its activation would make large ones equal.
    The other units follow in the first retriever's order, without a score.

    Args:
        argument: A folder with the model, or a name on the hub.
        first: The first retriever, with its defaults.
        top: Number of units that the model sees.

    Raises:
        InputError: The model is not installed, or its weights are not safetensors.
    """
    require_range("rerank: top", top, 1, _MOST)
    makers: dict[First, Callable[[], Retriever]] = {
        "dense": dense.make, "bm25": bm25.make, "bow": bow.make, "vsa": vsa.make,
        "hybrid": hybrid.make,
    }  # fmt: skip
    if not argument.strip():
        raise InputError("rerank: it needs a model; write rerank:FOLDER")
    model = CrossEncoder(f"rerank:{argument}", find_folder(argument, "rerank"))
    _ = model.weights  # refuses a model that cannot be loaded, before anything is computed
    return Rerank(makers[first](), model, top)
