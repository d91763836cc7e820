"""Approximate search by a graph of near neighbours, by FAISS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.retrieval.approximate import (
    ApproximateSearch,
    faiss_version,
    one_thread,
    refuse_files,
)
from harness.retrieval.options import require_range

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Hnsw:
    """The index `hnsw`."""

    links: int
    construction: int
    effort: int
    nearest: int

    @property
    def version(self) -> str:
        """Of the graph, with what it depends on."""
        return faiss_version()

    def build(self, rows: NDArray[np.float32]) -> ApproximateSearch:
        """Add the rows in their order."""
        import faiss

        refuse_files(rows, "hnsw")
        graph: Any = faiss.IndexHNSWFlat(rows.shape[1], self.links, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = self.construction
        graph.hnsw.efSearch = self.effort
        with one_thread():
            graph.add(rows)
        # A row has 4-byte links: twice as many in the lowest layer as above it.
        return ApproximateSearch(graph, self.nearest, rows.nbytes + len(rows) * self.links * 8)


def make(*, links: int = 32, construction: int = 200, effort: int = 64, nearest: int = 100) -> Hnsw:
    """Hierarchical navigable small world graph. A search follows links to nearer vectors.

    Source: Malkov and Yashunin 2018.

    Args:
        links: Links of a vector in each layer, called M; twice as many in the lowest one.
        construction: Candidates that are kept while the graph is built, called efConstruction.
        effort: Candidates that are kept while it is searched, called ef; at least `nearest`.
        nearest: Vectors that a search returns. Chunks without one of them are not ranked.
    """
    require_range("hnsw: links", links, 2, 1024)
    require_range("hnsw: construction", construction, 1, 100_000)
    require_range("hnsw: effort", effort, 1, 100_000)
    require_range("hnsw: nearest", nearest, 1, 100_000)
    return Hnsw(links, construction, effort, nearest)
