"""Any sentence-transformers model: `st:FOLDER`, or `st:org/name` from the Hugging Face hub."""

from __future__ import annotations

from typing import Literal

from harness.checkpoints import find_folder
from harness.encoder import Encoder


def make(*, argument: str, windows: Literal["max", "mean"] | None = None) -> Encoder:
    """A model from a folder or, where no such folder exists, from the hub or its local cache.

    Args:
        argument: A folder, or a name on the hub.
        windows: A text over the limit is embedded by windows of whole lines. `max`: it scores as
            the best of them; `mean`: by the mean of their unit vectors.

    Raises:
        InputError: It is neither at hand nor to be had.
    """
    return Encoder("st", find_folder(argument, "st"), windows=windows)
