"""The embedder over a sentence-transformers model: a vector is a function of its text alone.

With plain batching a text's bits depend on its batch-mates. Here every batch has a fixed shape:
texts are sorted into buckets by length, a batch has a fixed number of rows, and short batches are
filled with dummy rows. The shape, the library versions and the processor's features belong to
the fingerprint, since each can change bits.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chunkers.errors import InputError
from harness.checkpoints import BUCKETS, batches, folder_sha256, surroundings
from harness.embedding import OutOfMemoryError
from harness.store import Embedded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from harness.embedding import Role


@dataclass(frozen=True)
class Encoder:
    """A sentence-transformers model, loaded when it is first needed.

    Attributes:
        name: The embedder's spec in canonical form.
        folder: The model's folder.
        rows: Rows of every batch.
        windows: How texts over the model's limit are embedded by windows, if they are.
        weights_sha256: What the weights must hash to, or None.
    """

    name: str
    folder: Path
    rows: int = 16
    windows: Literal["max", "mean"] | None = None
    weights_sha256: str | None = None

    def named(self, name: str) -> Encoder:
        """The same model under the canonical form of the spec that asked for it."""
        return replace(self, name=name)

    def with_fewer_rows(self) -> Encoder:
        """The same model with half the rows: another fingerprint.

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
        return {
            "weights": self.weights,
            **surroundings(),
            "shape": {"rows": self.rows, "buckets": BUCKETS},
            "precision": "float32",
            "keeps": "tail" if role == "query-tail" else "head",
            "prompt": self._prompt(role),
        }

    def fingerprint(self, role: Role = "document") -> str:
        """Hash of `identity`: the model's part of a vector's address."""
        canonical = json.dumps(self.identity(role), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def _prompt(self, role: Role) -> str:
        path = self.folder / "config_sentence_transformers.json"
        if not path.is_file():
            return ""
        prompts = json.loads(path.read_text("utf-8")).get("prompts") or {}
        names = ("document", "passage", "corpus") if role == "document" else ("query",)
        return next((prompts[name] for name in names if prompts.get(name)), "")

    @cached_property
    def _model(self) -> Any:
        _ = self.weights  # checked before anything of it is loaded
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch
        import transformers
        from sentence_transformers import SentenceTransformer

        quiet: Any = transformers.logging
        quiet.set_verbosity_error()
        quiet.disable_progress_bar()
        try:
            model = SentenceTransformer(
                str(self.folder),
                device="cpu",
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True, "dtype": torch.float32},
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:300]
            raise InputError(f"{self.name}: the model cannot be loaded: {reason}") from error
        if any(getattr(module, "include_prompt", True) is False for module in model):
            raise InputError(f"{self.name}: leaving the prompt out of pooling is not supported")
        return model.eval()

    @cached_property
    def _limit(self) -> int:
        limit = self._model.max_seq_length
        if not limit:
            raise InputError(f"{self.name}: the model states no largest number of tokens")
        return int(limit)

    @cached_property
    def limit(self) -> int:
        """Tokens of a document that the model sees, without special ones and its prompt's."""
        return self._room("document")

    @cached_property
    def query_limit(self) -> int:
        """Tokens of a query that the model sees, without special ones and its prompt's."""
        return self._room("query-head")

    def _room(self, role: Role) -> int:
        special = int(self._model.tokenizer.num_special_tokens_to_add())
        prompt = self._prompt(role)
        return self._limit - special - (int(self.count_tokens([prompt])[0]) if prompt else 0)

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Tokens of each whole text, without special ones, shape (n,)."""
        if not texts:
            return np.zeros(0, dtype=np.int64)
        found = self._model.tokenizer(
            [text.strip() for text in texts],
            add_special_tokens=False,
            return_attention_mask=False,
            verbose=False,
        )
        return np.array([len(ids) for ids in found["input_ids"]], dtype=np.int64)

    def embed(self, texts: Sequence[str], role: Role) -> Iterator[list[tuple[int, Embedded]]]:
        """Embed texts, a batch at a time.

        Yields:
            Number of the text and what belongs into the store, for each text of one batch.

        Raises:
            OutOfMemoryError: A batch did not fit.
        """
        totals = self.count_tokens(texts)
        prompt = self._prompt(role)
        if prompt and role == "query-tail":
            raise InputError(
                f"{self.name}: its prompt would be cut off queries that keep their last tokens; "
                "this data set needs a model without a prompt for queries"
            )
        tokenizer = self._model.tokenizer
        side, tokenizer.truncation_side = (
            tokenizer.truncation_side,
            "left" if role == "query-tail" else "right",
        )
        try:
            ids = tokenizer(
                [prompt + text.strip() for text in texts],
                truncation=True,
                max_length=self._limit,
                return_attention_mask=False,
            )["input_ids"]
            filler = tokenizer("", return_attention_mask=False)["input_ids"]
        finally:
            tokenizer.truncation_side = side
        lengths = [len(one) for one in ids]
        for width, numbers in batches(lengths, self.rows, self._limit):
            started = time.perf_counter()
            vectors = self._forward([ids[n] for n in numbers], filler, width)
            seconds = time.perf_counter() - started
            yield [
                (n, Embedded(vector, int(totals[n]), seconds, len(numbers)))
                for n, vector in zip(numbers, vectors, strict=True)
            ]

    def _forward(self, ids: list[list[int]], filler: list[int], width: int) -> NDArray[np.float32]:
        import torch

        tokenizer = self._model.tokenizer
        padding = tokenizer.pad_token_id or 0
        rows = ids + [filler] * (self.rows - len(ids))
        tokens = torch.full((self.rows, width), padding, dtype=torch.long)
        mask = torch.zeros((self.rows, width), dtype=torch.long)
        for number, row in enumerate(rows):
            tokens[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
        features = {"input_ids": tokens, "attention_mask": mask}
        if "token_type_ids" in tokenizer.model_input_names:
            features["token_type_ids"] = torch.zeros_like(tokens)
        try:
            with torch.inference_mode():
                output = self._model.forward(features)["sentence_embedding"]
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, MemoryError) or "memory" in str(error).lower():
                raise OutOfMemoryError(str(error)) from error
            raise
        vectors: NDArray[np.float32] = output[: len(ids)].numpy().astype(np.float32)
        return vectors
