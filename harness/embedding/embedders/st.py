"""A model in a folder, `st:FOLDER`, or from the Hugging Face hub, `st:org/name`."""

from __future__ import annotations

from typing import Literal

from chunkers.errors import InputError
from harness.embedding.checkpoints import find_folder
from harness.embedding.encoder import Encoder


def make(
    *,
    argument: str,
    windows: Literal["max", "mean"] | None = None,
    max_tokens: int | None = None,
    prompt: str | None = None,
    query_prompt: str | None = None,
) -> Encoder:
    """A model from a folder or, where no such folder exists, from the hub or its local cache.

    It is a sentence-transformers model, or a plain checkpoint with any tokenizer (bytes,
    characters, BPE, WordPiece, ...), pooled by the mean over its tokens, special ones among them.

    Args:
        argument: A folder, or a name on the hub.
        windows: A text over the limit is embedded by windows of whole lines. `max`: it scores as
            the best of them; `mean`: by the mean of their unit vectors.
        max_tokens: Tokens that the model sees of a text, special ones and the prompt's among them;
            else what tokenizer and model state, or 1,024 where they state nothing.
        prompt: Put before every document, in place of what the model's configuration says; an empty
            one (`prompt=""`) puts nothing.
        query_prompt: The same before every query.

    Raises:
        InputError: It is neither at hand nor to be had.
    """
    if max_tokens is not None and max_tokens < 1:
        raise InputError(f"st: max_tokens={max_tokens}: a positive number is needed")
    return Encoder(
        "st",
        find_folder(argument, "st"),
        windows=windows,
        max_tokens=max_tokens,
        prompt=prompt,
        query_prompt=query_prompt,
    )
