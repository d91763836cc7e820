"""Batches of fixed shapes, and what else the bits of a vector depend on.

With plain batching the bits of a vector depend on the other texts of its batch. If every batch has
one of a few widths and a fixed number of rows, they depend on the text alone.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BUCKETS = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192)
"""Widths of batches, in tokens with special ones; the last width is the model's limit."""

_LIBRARIES = ("torch", "transformers", "tokenizers", "sentence-transformers")
# They choose the kernels in torch's back ends.
_KERNEL_VARIABLES = ("ATEN_CPU_CAPABILITY", "DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA", "MKL_CBWR")


def batches(lengths: Sequence[int], rows: int, limit: int) -> Iterator[tuple[int, list[int]]]:
    """Sort texts into batches of few widths.

    Args:
        lengths: Tokens of each text with special ones, none over `limit`.
        rows: Rows of every batch.
        limit: The model's.

    Yields:
        Width of a batch, and the indices of its texts: at most `rows`, in order.
    """
    widths = [*(width for width in BUCKETS if width < limit), limit]
    for low, width in zip([0, *widths], widths, strict=False):
        bucket = [n for n, length in enumerate(lengths) if low < length <= width]
        for at in range(0, len(bucket), rows):
            yield width, bucket[at : at + rows]


def runtime() -> dict[str, Any]:
    """Library versions and processor features, which decide which kernels run, as JSON values."""
    return {
        "libraries": {name: importlib.metadata.version(name) for name in _LIBRARIES},
        "processor": {
            "machine": platform.machine(),
            "system": platform.system(),
            "features": sorted(np.show_config(mode="dicts")["SIMD Extensions"]["found"]),
            "variables": {
                name: os.environ[name] for name in _KERNEL_VARIABLES if name in os.environ
            },
        },
    }
