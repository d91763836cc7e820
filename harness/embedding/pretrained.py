"""Loads models from folders: sentence-transformers models, and plain Hugging Face checkpoints.

Nothing is fetched, no code of a model runs, and weights come from .safetensors alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError
from harness.embedding.checkpoints import NO_LIMIT, hush, refuse_missing
from harness.embedding.embed import encodable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DEFAULT_TOKENS = 1024
"""Tokens that a model sees where neither it nor its tokenizer states a limit, as with ByT5,
which was pre-trained on this many bytes. Special tokens and the prompt's are among them."""

_SMALLEST = 8  # CANINE's convolutions need four positions
_PROBES = ("a", "1", "def")


@dataclass(frozen=True)
class Loaded:
    """A model ready for use.

    Attributes:
        model: The SentenceTransformer.
        tokenizer: Its tokenizer.
        limit: Tokens that it sees of a text, special ones among them.
        before: Ids of the special tokens before a text.
        after: Ids of those behind it.
        padding: Id that fills a batch. It is masked, so the end token will do where there is none.
        has_types: Whether it takes `token_type_ids`.
    """

    model: Any
    tokenizer: Any
    limit: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    padding: int
    has_types: bool

    @property
    def room(self) -> int:
        """Tokens of a text that the model sees, special ones left out."""
        return self.limit - len(self.before) - len(self.after)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of whole texts, without special ones.

        The name of a special token inside a text is that token, as in sentence-transformers.
        """
        if not texts:
            return []
        found = self.tokenizer(
            [encodable(text) for text in texts],
            add_special_tokens=False,
            return_attention_mask=False,
            verbose=False,
        )
        ids: list[list[int]] = found["input_ids"]
        return ids


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder holds a plain checkpoint: no modules of sentence-transformers."""
    return not (folder / "modules.json").is_file()


def prompts_of(folder: Path) -> dict[str, str]:
    """The prompts that a model's own configuration brings: for a `document` and for a `query`.

    Its default prompt is for neither, as where sentence-transformers encodes queries and documents.
    """
    path = folder / "config_sentence_transformers.json"
    config = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    prompts = config.get("prompts") or {}
    names = {"document": ("document", "passage", "corpus"), "query": ("query",)}
    return {
        kind: next((prompts[name] for name in own if prompts.get(name)), "")
        for kind, own in names.items()
    }


def load(folder: Path, name: str, max_tokens: int | None = None) -> Loaded:
    """Load a model onto the processor, in float32.

    A plain checkpoint is read by sentence-transformers as a transformer (of an encoder-decoder
    the encoder alone) and pooled by the mean over its tokens, special ones among them.

    Args:
        folder: The model's folder.
        name: The embedder's, for messages.
        max_tokens: Tokens that it shall see of a text, special ones among them; None for what the
            tokenizer and the model state, or `DEFAULT_TOKENS`.

    Raises:
        InputError: It cannot be loaded, lacks weights, or cannot see so many tokens.
    """
    model = _sentence_transformer(folder, name)
    if is_checkpoint(folder):
        _pool_by_mean(model, folder, name)
    if any(getattr(module, "include_prompt", True) is False for module in model):
        raise InputError(f"{name}: leaving the prompt out of pooling is not supported")
    tokenizer = model.tokenizer
    if not hasattr(tokenizer, "model_input_names"):
        raise InputError(f"{name}: {folder} holds no transformer with a tokenizer")
    before, after = _special(tokenizer, name)
    limit = _limit(model, name, max_tokens)
    if limit < _SMALLEST:
        raise InputError(f"{name}: a limit of {limit} tokens is below the smallest, {_SMALLEST}")
    fillers = (tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
    return Loaded(
        model=model,
        tokenizer=tokenizer,
        limit=limit,
        before=before,
        after=after,
        padding=next(one for one in fillers if one is not None),
        has_types="token_type_ids" in tokenizer.model_input_names,
    )


def _sentence_transformer(folder: Path, name: str) -> Any:
    hush()
    import torch
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(
            str(folder),
            device="cpu",
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True, "dtype": torch.float32},
        ).eval()
    except Exception as error:  # the libraries raise anything for a damaged folder
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"{name}: the model cannot be loaded: {reason}") from error


def _pool_by_mean(model: Any, folder: Path, name: str) -> None:
    """Pool a plain checkpoint by the mean, and refuse one whose weights are not all there.

    Of models made for writing text sentence-transformers takes the last token; here one rule holds
    for all, so that they differ by their tokens and weights alone.
    """
    if len(model) < 2:
        raise InputError(f"{name}: {folder} holds no model that gives a vector for each token")
    transformer = model[0].auto_model
    refuse_missing(transformer, folder, name, unused="pooler")
    model[1] = type(model[1])(transformer.config.hidden_size, pooling_mode="mean")


def _special(tokenizer: Any, name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The special tokens that a tokenizer puts before and behind a text."""
    for probe in _PROBES:
        bare = tokenizer(probe, add_special_tokens=False)["input_ids"]
        full = tokenizer(probe)["input_ids"]
        for at in range(len(full) - len(bare) + 1) if bare else ():
            if full[at : at + len(bare)] == bare:
                return tuple(full[:at]), tuple(full[at + len(bare) :])
    raise InputError(f"{name}: its tokenizer adds tokens that cannot be told from the text's")


def _limit(model: Any, name: str, wanted: int | None) -> int:
    stated = model.max_seq_length
    own = _positions(model[0].auto_model)
    if wanted is not None:
        if own is not None and wanted > own:
            raise InputError(f"{name}: max_tokens={wanted}, but the model has {own} positions")
        return wanted
    known = [one for one in (stated, own) if one is not None and 0 < one < NO_LIMIT]
    return int(min(known, default=DEFAULT_TOKENS))


def _positions(transformer: Any) -> int | None:
    """Positions that a model has, None where they are relative and without end."""
    import torch

    stated = getattr(transformer.config, "max_position_embeddings", None)
    found = [stated] if isinstance(stated, int) and stated > 0 else []
    for module in transformer.modules():
        table = getattr(module, "position_embeddings", None)
        padding = getattr(module, "padding_idx", None)
        # RoBERTa and its kin count positions from the one behind the padding's id.
        if isinstance(table, torch.nn.Embedding) and isinstance(padding, int):
            found.append(table.num_embeddings - padding - 1)
    return min(found, default=None)
