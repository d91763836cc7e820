"""A model of a folder, a card or the hub: `st:FOLDER`, `st:NAME`, `st:org/name`; pool=late."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from chunkers.errors import InputError
from harness.embedding.encoder import Encoder
from harness.embedding.late import LateEncoder, late
from harness.embedding.model_cards import find_model
from harness.embedding.model_folders import find_folder


def make(
    *,
    argument: str,
    windows: Literal["max", "mean"] | None = None,
    max_tokens: int | None = None,
    prompt: str | None = None,
    query_prompt: str | None = None,
    pool: Literal["late"] | None = None,
) -> Encoder | LateEncoder:
    """A model of a folder or, if there is no such folder, of the hub or its local cache.

    It is a sentence-transformers model, or a plain checkpoint with any tokenizer (bytes,
    characters, BPE, WordPiece, ...), pooled by the mean over its tokens, special ones included.

    A model with a card (`chunkmark list models`) has the card's revision, limit and prompts unless
    others are given here, and must pool as the card says.

    Args:
        argument: A folder, the name of a model card, or a name on the hub.
        windows: Embed a text over the limit by windows of whole lines. `max`: it scores as its best
            window; `mean`: by the mean of their unit vectors.
        max_tokens: Tokens of a text that the model sees, special ones and the prompt's included.
            Default: the card's, else the limit of tokenizer and model, or 1,024 if they state none.
        prompt: Put before every document, in place of the prompt of its card or configuration; an
            empty one (`prompt=""`) puts nothing there.
        query_prompt: The same before every query.
        pool: `late`: embed the whole file, and pool a chunk's vector from its tokens there; see
            `harness.embedding.late`. For models that pool by the mean.

    Raises:
        InputError: There is no such folder, and the download failed; a value is out of range; or
            both `windows` and `pool` are given.
    """
    if max_tokens is not None and max_tokens < 1:
        raise InputError(f"st: max_tokens={max_tokens}: must be at least 1")
    card = None if Path(argument).expanduser().is_dir() else find_model(argument)
    if card is None:
        folder = find_folder(argument, "st")
    else:
        folder = find_folder(card.hub, "st", card.revision)
        max_tokens = max_tokens or card.max_tokens
        prompt = card.prompt if prompt is None else prompt
        query_prompt = card.query_prompt if query_prompt is None else query_prompt
    encoder = Encoder(
        "st",
        folder,
        windows=windows,
        max_tokens=max_tokens,
        prompt=prompt,
        query_prompt=query_prompt,
        card=card,
    )
    return encoder if pool is None else late(encoder)
