"""Any sentence-transformers model: `st:FOLDER`, or `st:org/name` from the Hugging Face hub."""

from __future__ import annotations

from typing import Literal

from harness.checkpoints import find_folder
from harness.encoder import Encoder


def make(*, argument: str, windows: Literal["max"] | None = None) -> Encoder:
    """A model from a folder or, where no such folder exists, from the hub or its local cache.

    Args:
        argument: A folder, or a name on the hub.
        windows: `max`: a text over the limit scores as its best window of whole lines.

    Raises:
        InputError: It is neither at hand nor to be had.
    """
    return Encoder("st", find_folder(argument, "st"), windows=windows)
