"""Any sentence-transformers model: `st:FOLDER`, or `st:org/name` from the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from chunkers.errors import InputError
from harness.encoder import Encoder


def make(*, argument: str, windows: Literal["max"] | None = None) -> Encoder:
    """A model from a folder or, where no such folder exists, from the hub or its local cache.

    Args:
        argument: A folder, or a name on the hub.
        windows: `max`: a text over the limit scores as its best window of whole lines.

    Raises:
        InputError: It is neither at hand nor to be had.
    """
    folder = Path(argument).expanduser()
    if not folder.is_dir():
        folder = _from_hub(argument)
    return Encoder("st", folder, windows=windows)


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    patterns = ["*.safetensors", "*.json", "*.txt", "*.model"]
    try:
        return Path(snapshot_download(name, allow_patterns=patterns))
    except (HFValidationError, LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        reason = " ".join(str(error).split())[:160]
        raise InputError(
            f"st:{name} is no folder, and the hub did not give it ({reason}); "
            "download the model elsewhere and name its folder"
        ) from error
