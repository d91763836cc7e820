"""Folders with a model: found by name, hashed, loaded from safetensors alone, fed in fixed shapes.

With plain batching what a model says of a text depends on its batch-mates. Where every batch has
one of a few widths and a fixed number of rows, it is a function of the text alone.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import InputError
from harness.support.files import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BUCKETS = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192)
"""Widths of batches, in tokens with special ones; the last one is the model's limit."""

_LIBRARIES = ("torch", "transformers", "tokenizers", "sentence-transformers")
# What steers the choice of kernels in torch's back ends.
_KERNEL_VARIABLES = ("ATEN_CPU_CAPABILITY", "DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA", "MKL_CBWR")
# Read as weights or settings of a model; everything else in a folder does not matter.
_MODEL_FILES = (".safetensors", ".json", ".txt", ".model")


NO_LIMIT = 1_000_000
"""Tokenizers without a limit state an astronomical one: from here on it is none."""


def hush() -> None:
    """Keep the libraries from writing of themselves and from starting threads of their own."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import transformers

    quiet: Any = transformers.logging
    quiet.set_verbosity_error()
    quiet.disable_progress_bar()


def refuse_missing(model: Any, folder: Path, who: str, unused: str = "") -> None:
    """Refuse a folder that lacks weights: the libraries draw such at random.

    Args:
        model: The transformers model that was loaded from it.
        folder: The model's.
        who: Whose model it is, for messages.
        unused: Weights with this in their name may be missing, if it is not empty.

    Raises:
        InputError: Weights are missing.
    """
    _, found = type(model).from_pretrained(
        str(folder),
        config=model.config,
        local_files_only=True,
        use_safetensors=True,
        output_loading_info=True,
    )
    missing = sorted(key for key in found["missing_keys"] if not unused or unused not in key)
    if missing:
        raise InputError(
            f"{who}: {folder} lacks {len(missing)} weights of {type(model).__name__}, "
            f"first {missing[0]}"
        )


def find_folder(name: str, who: str) -> Path:
    """A model's folder, or where there is none of that name, the hub's model from its local cache.

    Args:
        name: A folder, or a name on the Hugging Face hub.
        who: Who asks, for messages.

    Raises:
        InputError: It is neither at hand nor to be had.
    """
    folder = Path(name).expanduser()
    return folder if folder.is_dir() else _from_hub(name, who)


def _from_hub(name: str, who: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    patterns = [f"*{suffix}" for suffix in _MODEL_FILES]
    try:
        return Path(snapshot_download(name, allow_patterns=patterns))
    except (HFValidationError, LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        reason = " ".join(str(error).split())[:160]
        raise InputError(
            f"{who}:{name} is no folder, and the hub did not give it ({reason}); "
            "download the model elsewhere and name its folder"
        ) from error


def folder_sha256(folder: Path, who: str, weights_sha256: str | None = None) -> str:
    """sha256 over the names and contents of a model's files.

    Args:
        folder: The model's.
        who: Whose model it is, for messages.
        weights_sha256: What the weights must hash to, or None.

    Raises:
        InputError: No such folder, no safetensors weights, or weights of another hash.
    """
    if not folder.is_dir():
        raise InputError(f"{who}: there is no model folder {folder}")
    paths = sorted(p for p in folder.rglob("*") if p.suffix in _MODEL_FILES and p.is_file())
    digests = {p.relative_to(folder).as_posix(): file_sha256(p) for p in paths}
    weights = {p: d for p, d in digests.items() if p.endswith(".safetensors")}
    if any(_only_pickled(one) for one in folder.iterdir() if one.is_dir()):
        raise InputError(
            f"{who}: a module in {folder} has its weights in a format that can run "
            "code, and none in .safetensors; convert it first"
        )
    if not weights:
        raise InputError(
            f"{who}: {folder} holds no .safetensors weights; "
            "other formats can run code and are not loaded"
        )
    if weights_sha256 and weights_sha256 not in weights.values():
        raise InputError(
            f"{who}: the weights in {folder} have a wrong sha256 "
            f"({next(iter(weights.values()))[:12]}…); install the package again"
        )
    if not {"modules.json", "config.json"} & digests.keys():
        raise InputError(
            f"{who}: {folder} holds no model: neither modules.json (sentence-transformers) "
            "nor config.json (a checkpoint)"
        )
    if "adapter_config.json" in digests:
        raise InputError(
            f"{who}: {folder} holds an adapter without its base model; merge the two and save that"
        )
    lines = "".join(f"{path}\t{digest}\n" for path, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _only_pickled(module: Path) -> bool:
    pickled = any(module.glob("*.bin")) or any(module.glob("*.pt"))
    return pickled and not any(module.glob("*.safetensors"))


def surroundings() -> dict[str, Any]:
    """What a model's bits depend on besides its weights and the batch's shape, as JSON values."""
    return {
        "libraries": {name: importlib.metadata.version(name) for name in _LIBRARIES},
        "processor": _processor(),
    }


def _processor() -> dict[str, Any]:
    """What decides which kernels run: torch need not be imported to know it."""
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "features": sorted(np.show_config(mode="dicts")["SIMD Extensions"]["found"]),
        "variables": {name: os.environ[name] for name in _KERNEL_VARIABLES if name in os.environ},
    }


def batches(lengths: Sequence[int], rows: int, limit: int) -> Iterator[tuple[int, list[int]]]:
    """Texts in batches of few widths.

    Args:
        lengths: Tokens of each text with special ones, none over `limit`.
        rows: Rows of every batch.
        limit: The model's.

    Yields:
        Width of a batch, and the numbers of its texts: at most `rows`, in order.
    """
    widths = [*(width for width in BUCKETS if width < limit), limit]
    for low, width in zip([0, *widths], widths, strict=False):
        inside = [n for n, length in enumerate(lengths) if low < length <= width]
        for at in range(0, len(inside), rows):
            yield width, inside[at : at + rows]
