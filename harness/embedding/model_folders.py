"""Folders of models: found by name, hashed, and checked before anything in them is loaded."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.support.files import file_sha256
from harness.support.hub import download
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_LIMIT = 1_000_000
"""Tokenizers without a limit state a huge number: from here on it counts as none."""

# Read as weights or settings of a model; other files in a folder do not matter.
_MODEL_FILES = (".safetensors", ".json", ".txt", ".model")


@contextlib.contextmanager
def loading(who: str) -> Iterator[dict[str, Any]]:
    """The options by which sentence-transformers loads a model: from its folder, without its code.

    The libraries are kept from printing, and from starting threads of their own.

    Raises:
        InputError: The block raised an error, whatever its kind: a damaged folder raises any.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch
    import transformers

    logging: Any = transformers.logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield {
            "device": "cpu",
            "trust_remote_code": False,
            "local_files_only": True,
            "model_kwargs": {"use_safetensors": True, "dtype": torch.float32},
        }
    except InputError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"{who}: the model cannot be loaded: {reason}") from error


def find_folder(name: str, who: str, revision: str | None = None) -> Path:
    """The model folder of this name, or else the hub's model, downloaded or from its local cache.

    Args:
        name: The path of a folder, or a name on the hub.
        who: The embedder or retriever, for messages.
        revision: The hash of a commit on the hub; None for the newest files.

    Raises:
        InputError: There is no such folder, and the download failed.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    try:
        return download(name, "model", [f"*{suffix}" for suffix in _MODEL_FILES], revision)
    except InputError as error:
        raise InputError(
            f"{who}:{name}: no such folder, and {error}; name the folder of a downloaded model"
        ) from error


def folder_sha256(folder: Path, who: str, weights_sha256: str | None = None) -> str:
    """sha256 over the names and contents of a model's files.

    Raises:
        InputError: There is no such folder, it has no safetensors weights or none with the hash
            `weights_sha256`, or it is not a whole model.
    """
    if not folder.is_dir():
        raise InputError(f"{who}: there is no model folder {folder}")
    paths = sorted(p for p in folder.rglob("*") if p.suffix in _MODEL_FILES and p.is_file())
    digests = {p.relative_to(folder).as_posix(): file_sha256(p) for p in paths}
    weights = {p: d for p, d in digests.items() if p.endswith(".safetensors")}
    if any(_only_pickled(module) for module in folder.iterdir() if module.is_dir()):
        raise InputError(
            f"{who}: a module in {folder} has no weights in .safetensors; other formats can run "
            "code and are not loaded: convert them first"
        )
    if not weights:
        raise InputError(
            f"{who}: {folder} has no weights in .safetensors (other formats can run code)\n"
            "give the folder of a downloaded model"
        )
    if weights_sha256 and weights_sha256 not in weights.values():
        raise InputError(
            f"{who}: the weights in {folder} have a wrong sha256 "
            f"({next(iter(weights.values()))[:12]}…); install the package again"
        )
    if not {"modules.json", "config.json"} & digests.keys():
        raise InputError(
            f"{who}: {folder} is not a model folder: it has neither modules.json "
            "(sentence-transformers) nor config.json (a checkpoint)"
        )
    if "adapter_config.json" in digests:
        raise InputError(
            f"{who}: {folder} has an adapter without its base model; merge the two and save that"
        )
    lines = "".join(f"{path}\t{digest}\n" for path, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _only_pickled(module: Path) -> bool:
    pickled = any(module.glob("*.bin")) or any(module.glob("*.pt"))
    return pickled and not any(module.glob("*.safetensors"))


def refuse_missing_weights(model: Any, folder: Path, who: str, unused: str = "") -> None:
    """Refuse a folder that lacks weights, which the libraries would draw at random.

    Args:
        model: The transformers model that was loaded from the folder.
        folder: The model's folder.
        who: The embedder or retriever, for messages.
        unused: Weights with this in their name may be missing, if it is not empty.

    Raises:
        InputError: Weights are missing.
    """
    _, report = type(model).from_pretrained(
        str(folder),
        config=model.config,
        local_files_only=True,
        use_safetensors=True,
        output_loading_info=True,
    )
    missing = sorted(key for key in report["missing_keys"] if not unused or unused not in key)
    if missing:
        raise InputError(
            f"{who}: {folder} lacks {counted(len(missing), 'weight')} of {type(model).__name__}, "
            f"first {missing[0]}"
        )


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder is a plain checkpoint, without the modules of sentence-transformers."""
    return not (folder / "modules.json").is_file()


def prompts_of(folder: Path) -> dict[str, str]:
    """The prompts of a model's own configuration, for a `document` and for a `query`.

    Its default prompt is used for neither, as when sentence-transformers encodes queries and
    documents.
    """
    path = folder / "config_sentence_transformers.json"
    config = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    prompts = config.get("prompts") or {}
    aliases = {"document": ("document", "passage", "corpus"), "query": ("query",)}
    return {
        kind: next((prompts[name] for name in names if prompts.get(name)), "")
        for kind, names in aliases.items()
    }


def modules_of(folder: Path, who: str) -> list[str]:
    """The modules of a model in order, such as `Transformer`, `Pooling(mean)`, `Normalize`.

    Args:
        folder: The model's folder.
        who: The embedder, for messages.

    Raises:
        InputError: Its settings cannot be read.
    """
    if is_checkpoint(folder):
        return ["Transformer", "Pooling(mean)"]  # as `harness.embedding.pretrained` loads it
    try:
        modules = json.loads((folder / "modules.json").read_text("utf-8"))
        places = [(module["type"].rpartition(".")[2], module["path"]) for module in modules]
        return [
            f"Pooling({_pooling(folder / path)})" if kind == "Pooling" else kind
            for kind, path in places
        ]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{who}: the modules of {folder} cannot be read: {error}") from error


def _pooling(module: Path) -> str:
    """How a Pooling module pools, by its settings of today or by a flag for each way."""
    config = json.loads((module / "config.json").read_text("utf-8"))
    mode = config.get("pooling_mode")
    if mode is None:
        flags = [
            key for key, on in config.items() if key.startswith("pooling_mode_") and on is True
        ]
        names = (key.removeprefix("pooling_mode_").removesuffix("_tokens") for key in flags)
        mode = [name.removesuffix("_token") for name in names] or ["mean"]
    return mode if isinstance(mode, str) else "+".join(map(str, mode))
