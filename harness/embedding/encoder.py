"""The embedder of a model folder: a vector is a function of its text alone.

BERT and its relatives run without padding (`harness.embedding.packed`). For other models every
batch has a fixed shape (`harness.embedding.fixed_shapes`): texts are sorted into buckets by
length, and short batches are filled with dummy rows. Which of the two it is follows from the
weights' folder, torch's version and the machine. These, the shapes and the processor's features
belong to the fingerprint, since each can change bits.

Rows are padded on the right, whatever side the tokenizer names: positions then count from the
text's first token, as without padding. A model whose convolutions read the padding (CANINE) sees
as much of it as the text's length implies, whatever else is in the batch.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from chunkers.errors import InputError
from harness.embedding.embedder import EmbedderBase
from harness.embedding.fixed_shapes import BUCKETS, runtime
from harness.embedding.model_cards import refuse_other_model
from harness.embedding.model_folders import folder_sha256, is_checkpoint, prompts_of
from harness.embedding.packed import BLOCK
from harness.embedding.pretrained import DEFAULT_TOKENS, Loaded, load
from harness.embedding.vector_store import StoredVector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from harness.embedding.embedder import Role
    from harness.embedding.model_cards import ModelCard

# To be raised whenever a change of this code may change vectors.
_ENCODING = 3


@dataclass(frozen=True)
class Encoder(EmbedderBase):
    """A sentence-transformers model or a plain checkpoint, loaded when it is first needed.

    Attributes:
        name: The embedder's spec in canonical form.
        folder: The model's folder.
        rows: Rows of every batch; without padding, texts of a batch at most.
        windows: How texts over the model's limit are embedded by windows; None truncates them.
        weights_sha256: The hash that the weights must have, or None.
        max_tokens: Tokens of a text that the model sees, special ones and the prompt's included;
            None for the model's own limit.
        prompt: Put before every document; None for the prompt of the model's configuration.
        query_prompt: The same for queries.
        card: The model's card, which the loaded model must be like; None if it has none.
    """

    name: str
    folder: Path
    rows: int = 16
    windows: Literal["max", "mean"] | None = None
    weights_sha256: str | None = None
    max_tokens: int | None = None
    prompt: str | None = None
    query_prompt: str | None = None
    card: ModelCard | None = None

    def with_fewer_rows(self) -> Self:
        """The same model with half the rows, which has another fingerprint.

        Raises:
            InputError: One row alone did not fit.
        """
        if self.rows == 1:
            raise InputError(f"{self.name}: one text alone does not fit into memory")
        return replace(self, rows=self.rows // 2)

    @cached_property
    def weights(self) -> str:
        """sha256 over the names and contents of the model's files.

        Raises:
            InputError: No such folder, no safetensors weights, or weights of another hash.
        """
        return folder_sha256(self.folder, self.name, self.weights_sha256)

    def identity(self, role: Role) -> dict[str, Any]:
        """Everything that a vector of this role depends on besides the text."""
        identity: dict[str, Any] = {
            "encoding": _ENCODING,
            "weights": self.weights,
            **runtime(),
            "shape": {"rows": self.rows, "buckets": BUCKETS, "block": BLOCK},
            "precision": "float32",
            "keeps": "tail" if role == "query-tail" else "head",
            "prompt": self.prompt_of(role),
        }
        if self.max_tokens is not None:
            identity["max_tokens"] = self.max_tokens
        if self.card is not None:
            identity["model"] = {"name": self.card.hub, "revision": self.card.revision}
        if is_checkpoint(self.folder):
            identity["checkpoint"] = {"pooling": "mean", "without_limit": DEFAULT_TOKENS}
        return identity

    def prompt_of(self, role: Role) -> str:
        """What is put before every text of a role."""
        kind, option = "query", self.query_prompt
        if role == "document":
            kind, option = "document", self.prompt
        return self._own_prompts[kind] if option is None else option

    @cached_property
    def _own_prompts(self) -> dict[str, str]:
        return prompts_of(self.folder)

    @cached_property
    def loaded(self) -> Loaded:
        """The model.

        Raises:
            InputError: It cannot be loaded, or is not as its card says.
        """
        _ = self.weights  # checked before anything is loaded
        loaded = load(self.folder, self.name, self.max_tokens)
        if self.card is not None:
            refuse_other_model(loaded.model, self.card, self.name)
        return loaded

    @cached_property
    def limit(self) -> int:
        """Tokens of a document that the model sees, without special ones and its prompt's."""
        return self.room("document")

    @cached_property
    def query_limit(self) -> int:
        """Tokens of a query that the model sees, without special ones and its prompt's."""
        return self.room("query-head")

    def room(self, role: Role) -> int:
        """Tokens of a text of a role that the model sees, without special ones and its prompt's.

        Raises:
            InputError: There are none.
        """
        room = self.loaded.room - len(self.loaded.ids([self.prompt_of(role)])[0])
        if room < 1:
            raise InputError(
                f"{self.name}: special tokens and the prompt {self.prompt_of(role)[:40]!r} "
                f"fill all {self.loaded.limit} tokens that the model sees"
            )
        return room

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Tokens of each whole text, without special ones and prompt, shape (n,)."""
        return np.array([len(ids) for ids in self.loaded.ids(texts)], dtype=np.int64)

    def embed(self, texts: Sequence[str], role: Role) -> Iterator[list[tuple[int, StoredVector]]]:
        """Embed texts, a batch at a time.

        A text over the limit keeps its first tokens, or its last if the role says so; the prompt
        before them stays whole.

        Yields:
            Pairs of a text's index and its vector, for the texts of one batch.

        Raises:
            OutOfMemoryError: A batch did not fit.
            InputError: The prompt alone fills the model's limit.
        """
        self.room(role)
        loaded, prompt = self.loaded, self.prompt_of(role)
        started = time.perf_counter()
        whole = loaded.ids([prompt + text for text in texts])
        per_token = (time.perf_counter() - started) / max(1, sum(map(len, whole)))
        totals = [len(ids) for ids in (loaded.ids(texts) if prompt else whole)]
        opening = loaded.ids([prompt])[0] if prompt and role == "query-tail" else []
        rows = [
            [
                *loaded.before,
                *_truncated(ids, opening, loaded.room, tail=role == "query-tail"),
                *loaded.after,
            ]
            for ids in whole
        ]
        for batch in loaded.run(rows, self.rows, "sentence_embedding"):
            costs = zip(batch.numbers, batch.outputs, batch.alone, batch.shares, strict=True)
            yield [
                (
                    n,
                    _with_cost(
                        # Without a token there is nothing to take the mean of.
                        vector if rows[n] else np.zeros_like(vector),
                        totals[n],
                        len(whole[n]) * per_token,
                        alone,
                        share,
                    ),
                )
                for n, vector, alone, share in costs
            ]


def _truncated(ids: list[int], opening: list[int], room: int, *, tail: bool) -> list[int]:
    """The `room` tokens of a prompt and text that the model sees: the first, or the last.

    The last tokens follow the prompt's (`opening`); its last token may differ in `ids`, where it
    merged with the text, and is then not kept.
    """
    if len(ids) <= room or not tail:
        return ids[:room]
    same = (a == b for a, b in zip(ids, opening, strict=False))
    kept = next((n for n, equal in enumerate(same) if not equal), len(opening))
    return ids[:kept] + ids[len(ids) - (room - kept) :]


def _with_cost(
    vector: NDArray[np.float32], tokens: int, tokenizing: float, alone: float, share: float
) -> StoredVector:
    """A vector with its cost: seconds to tokenize its text and to run it, alone or in its batch."""
    seconds = tokenizing + alone
    return StoredVector(vector, tokens, seconds, seconds / (tokenizing + share))
