"""What a cell took: the numbers of `cost` and `latency_ms` in its `cell.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.runs.cuts import UNITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.runs.compute import Computed
    from harness.runs.context import Watch
    from harness.runs.cuts import Cut


def cost_of(computed: Computed, cut: Cut, watch: Watch) -> dict[str, float | None]:
    """What the cell costs; `seconds` from an empty store: cutting and embedding whenever done."""
    apart = {"chunking", UNITS, "embedding"}
    seconds = [one for name, one in watch.seconds.items() if name not in apart]
    seconds += [cut.seconds, cut.embedding or 0.0, computed.cost["embedding_seconds"] or 0.0]
    now = computed.cost["embedded_now"]
    return computed.cost | {
        "chunking_texts": cut.texts,
        "chunking_embedding_seconds": cut.embedding,
        "embedded_now": now if cut.texts is None else (now or 0) + cut.computed,
        "seconds": round(sum(seconds), 3),
    }


def latency_of(seconds: dict[str, NDArray[np.float64] | None]) -> dict[str, Any]:
    """Milliseconds for a query: p50 and p95 of embedding it, searching, and both."""
    embedding, search = seconds["embedding"], seconds["search"]
    total = search if embedding is None or search is None else embedding + search
    columns = {"embedding": embedding, "search": search, "total": total}
    return {
        name: None
        if values is None or not len(values)
        else {f"p{p}": round(float(np.percentile(values, p)) * 1000, 3) for p in (50, 95)}
        for name, values in columns.items()
    }
