"""Approximate search in the clusters nearest to the query, by FAISS."""

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
class Ivf:
    """The index `ivf`."""

    clusters: int | None
    probes: int
    nearest: int

    @property
    def version(self) -> str:
        """Of the clusters, with what they depend on."""
        return faiss_version()

    def build(self, rows: NDArray[np.float32]) -> ApproximateSearch:
        """Cluster the rows, and file each under its nearest centre."""
        import faiss

        refuse_files(rows, "ivf")
        clusters = min(self.clusters or 4 * round(len(rows) ** 0.5), len(rows))
        centres = faiss.IndexFlatIP(rows.shape[1])
        lists: Any = faiss.IndexIVFFlat(
            centres, rows.shape[1], clusters, faiss.METRIC_INNER_PRODUCT
        )
        lists.cp.min_points_per_centroid = 1  # no warnings about small corpora
        lists.cp.spherical = True
        lists.nprobe = self.probes
        with one_thread():
            lists.train(rows)
            lists.add(rows)
        # A row has an 8-byte number.
        size = rows.nbytes + 8 * len(rows) + 4 * clusters * rows.shape[1]
        return ApproximateSearch(lists, self.nearest, size)


def make(*, clusters: int | None = None, probes: int = 16, nearest: int = 100) -> Ivf:
    """Inverted file: vectors are clustered, and a search reads the clusters nearest to the query.

    Source: Sivic and Zisserman 2003; Jégou, Douze and Schmid 2011.

    Args:
        clusters: Number of clusters, called nlist; by default 4 times the root of the number of
            vectors.
        probes: Clusters that a search reads, called nprobe.
        nearest: Vectors that a search returns. Chunks without one of them are not ranked.
    """
    if clusters is not None:
        require_range("ivf: clusters", clusters, 1, 1_000_000)
    require_range("ivf: probes", probes, 1, 1_000_000)
    require_range("ivf: nearest", nearest, 1, 100_000)
    return Ivf(clusters, probes, nearest)
