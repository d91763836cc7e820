"""Approximate search in the clusters nearest to the query, by FAISS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from harness.retrieval.approximate import FaissIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Ivf(FaissIndex):
    """The index `ivf`."""

    name: ClassVar = "ivf"
    ranges: ClassVar = {"clusters": (1, 1_000_000), "probes": (1, 1_000_000)}

    clusters: int | None
    probes: int

    def filled(self, rows: NDArray[np.float32]) -> tuple[Any, int]:
        """Cluster the rows, and file each under its nearest centre."""
        import faiss

        clusters = min(self.clusters or 4 * round(len(rows) ** 0.5), len(rows))
        centres = faiss.IndexFlatIP(rows.shape[1])
        lists: Any = faiss.IndexIVFFlat(
            centres, rows.shape[1], clusters, faiss.METRIC_INNER_PRODUCT
        )
        lists.cp.min_points_per_centroid = 1  # no warnings about small corpora
        lists.cp.spherical = True
        lists.nprobe = self.probes
        lists.train(rows)
        lists.add(rows)
        # A row has an 8-byte number.
        return lists, 8 * len(rows) + 4 * clusters * rows.shape[1]


def make(*, clusters: int | None = None, probes: int = 16, nearest: int = 100) -> Ivf:
    """Inverted file: vectors are clustered, and a search reads the clusters nearest to the query.

    Source: Sivic and Zisserman 2003; Jégou, Douze and Schmid 2011.

    Args:
        clusters: Number of clusters, called nlist; by default 4 times the root of the number of
            vectors.
        probes: Clusters that a search reads, called nprobe.
        nearest: Vectors that a search returns. Chunks without one of them are not ranked.
    """
    return Ivf(clusters=clusters, probes=probes, nearest=nearest)
