"""Approximate search by a graph of near neighbours, by FAISS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from harness.retrieval.approximate import FaissIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Hnsw(FaissIndex):
    """The index `hnsw`."""

    name: ClassVar = "hnsw"
    ranges: ClassVar = {
        "links": (2, 1024),
        "construction": (1, 100_000),
        "effort": (1, 100_000),
    }

    links: int
    construction: int
    effort: int

    def filled(self, rows: NDArray[np.float32]) -> tuple[Any, int]:
        """Add the rows to a graph."""
        import faiss

        graph: Any = faiss.IndexHNSWFlat(rows.shape[1], self.links, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = self.construction
        graph.hnsw.efSearch = self.effort
        graph.add(rows)
        # A row has 4-byte links: twice as many in the lowest layer as above it.
        return graph, len(rows) * self.links * 8


def make(*, links: int = 32, construction: int = 200, effort: int = 64, nearest: int = 100) -> Hnsw:
    """Hierarchical navigable small world graph. A search follows links to nearer vectors.

    Source: Malkov and Yashunin 2018.

    Args:
        links: Links of a vector in each layer, called M; twice as many in the lowest one.
        construction: Candidates that are kept while the graph is built, called efConstruction.
        effort: Candidates that are kept while it is searched, called ef; at least `nearest`.
        nearest: Vectors that a search returns. Chunks without one of them are not ranked.
    """
    return Hnsw(links=links, construction=construction, effort=effort, nearest=nearest)
