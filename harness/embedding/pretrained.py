"""Loads model folders: sentence-transformers models, and plain Hugging Face checkpoints.

Nothing is downloaded, no code of a model runs, and weights are read from .safetensors alone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chunkers.errors import InputError
from harness.embedding.embedder import OutOfMemoryError, encodable
from harness.embedding.fixed_shapes import batches
from harness.embedding.model_folders import (
    NO_LIMIT,
    is_checkpoint,
    loading,
    refuse_missing_weights,
)
from harness.embedding.packed import BLOCK, Packed, can_pack, in_threads, portions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

DEFAULT_TOKENS = 1024
"""Limit of a model if neither it nor its tokenizer states one, as with ByT5, which was pre-trained
on this many bytes. Special tokens and the prompt's are included."""

Output = Literal["sentence_embedding", "token_embeddings"]

_SMALLEST = 8  # CANINE's convolutions need four positions
_PROBES = ("a", "1", "def")


@dataclass(frozen=True)
class Batch:
    """The results of texts that ran together.

    Attributes:
        numbers: The indices of the texts.
        outputs: For each its vector, shape (d,), or the hidden states of its tokens, shape
            (tokens or more, d), float32.
        alone: Seconds that each would take alone.
        shares: Each text's share of the wall time.
    """

    numbers: list[int]
    outputs: list[NDArray[np.float32]]
    alone: list[float]
    shares: list[float]


@dataclass(frozen=True)
class Loaded:
    """A model ready for use.

    Attributes:
        model: The SentenceTransformer.
        tokenizer: Its tokenizer.
        limit: Tokens of a text that it sees, special ones included.
        before: Ids of the special tokens before a text.
        after: Ids of the special tokens after a text.
        padding: Id of the padding. It is masked, so any token serves if the model has none.
        has_types: Whether the model takes `token_type_ids`.
        packed: The transformer without padding, if the model can run so; `model` then lacks the
            weights that this holds.
    """

    model: Any
    tokenizer: Any
    limit: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    padding: int
    has_types: bool
    packed: Packed | None

    @property
    def room(self) -> int:
        """Tokens of a text that the model sees, without special ones."""
        return self.limit - len(self.before) - len(self.after)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of whole texts, without special ones.

        The name of a special token inside a text is read as that token, as in
        sentence-transformers.
        """
        if not texts:
            return []
        encoding = self.tokenizer(
            [encodable(text) for text in texts],
            add_special_tokens=False,
            return_attention_mask=False,
            verbose=False,
        )
        ids: list[list[int]] = encoding["input_ids"]
        return ids

    def places(self, text: str) -> tuple[list[int], NDArray[np.int64]]:
        """The tokens of a whole text, without special ones, and the characters of each.

        Returns:
            Ids, and the offsets [start, end) of their characters, shape (n, 2).

        Raises:
            InputError: The tokenizer does not say where its tokens are.
        """
        if not self.tokenizer.is_fast:
            kind = type(self.tokenizer).__name__
            raise InputError(f"its tokenizer, {kind}, does not say where in a text a token is")
        encoding = self.tokenizer(
            encodable(text),
            add_special_tokens=False,
            return_attention_mask=False,
            return_offsets_mapping=True,
            verbose=False,
        )
        offsets = np.array(encoding["offset_mapping"], dtype=np.int64).reshape(-1, 2)
        return encoding["input_ids"], offsets

    def run(
        self, texts: Sequence[Sequence[int] | NDArray[np.int32]], rows: int, output: Output
    ) -> Iterator[Batch]:
        """Run the model on texts, a batch at a time.

        Args:
            texts: The ids of each text, special ones included. One without any gives what is not
                to be used.
            rows: Texts of a batch at most.
            output: What to return.

        Raises:
            OutOfMemoryError: A batch did not fit.
        """
        filled = [ids if len(ids) else [self.padding] for ids in texts]
        try:
            if self.packed is None:
                yield from self._run_padded(filled, rows, output)
            else:
                yield from self._run_packed(self.packed, filled, rows, output)
        except (MemoryError, RuntimeError) as error:
            no_thread = "can't start new thread" in str(error)  # no memory for its stack
            if isinstance(error, MemoryError) or "memory" in str(error).lower() or no_thread:
                raise OutOfMemoryError(str(error)) from error
            raise

    def _run_padded(
        self, texts: Sequence[Sequence[int] | NDArray[np.int32]], rows: int, output: Output
    ) -> Iterator[Batch]:
        """In batches of fixed shapes; the missing rows of a batch hold special tokens alone."""
        for width, numbers in batches([len(ids) for ids in texts], rows, self.limit):
            started = time.perf_counter()
            outputs = self._padded([texts[n] for n in numbers], rows, width, output)
            seconds = time.perf_counter() - started
            count = len(numbers)
            yield Batch(numbers, list(outputs), [seconds] * count, [seconds / count] * count)

    def _padded(
        self,
        texts: Sequence[Sequence[int] | NDArray[np.int32]],
        rows: int,
        width: int,
        output: Output,
    ) -> NDArray[np.float32]:
        import torch

        filled = [*texts, *[[*self.before, *self.after]] * (rows - len(texts))]
        tokens = torch.full((rows, width), self.padding, dtype=torch.long)
        mask = torch.zeros((rows, width), dtype=torch.long)
        for number, row in enumerate(filled):
            tokens[number, : len(row)] = torch.tensor(row, dtype=torch.long)
            mask[number, : max(1, len(row))] = 1  # a model that sees nothing may return NaN
        features = {"input_ids": tokens, "attention_mask": mask}
        if self.has_types:
            features["token_type_ids"] = torch.zeros_like(tokens)
        with torch.inference_mode():
            result = self.model.forward(features)[output]
        values: NDArray[np.float32] = result[: len(texts)].numpy().astype(np.float32)
        return values

    def _run_packed(
        self,
        packed: Packed,
        texts: Sequence[Sequence[int] | NDArray[np.int32]],
        rows: int,
        output: Output,
    ) -> Iterator[Batch]:
        """Without padding, each batch in a thread of its own."""
        import torch

        parts = portions([len(ids) for ids in texts], rows, torch.get_num_threads())
        threads = min(torch.get_num_threads(), len(parts))

        def work(numbers: list[int]) -> Batch:
            started = time.perf_counter()
            own = [texts[n] for n in numbers]
            with torch.inference_mode():
                outputs = [
                    self._output(ids, states, output).numpy().astype(np.float32)
                    for ids, states in zip(own, packed.states(own), strict=True)
                ]
            seconds = time.perf_counter() - started
            tokens = np.array([len(ids) for ids in own])
            part = tokens / tokens.sum()
            # Alone a text takes whole blocks.
            alone = np.clip(-(-tokens // BLOCK) / -(-tokens.sum() // BLOCK), part, 1)
            shares = part * seconds / threads  # of the wall time, which the threads share
            return Batch(numbers, outputs, (alone * seconds).tolist(), shares.tolist())

        return in_threads(work, parts, threads)

    def _output(self, ids: Sequence[int] | NDArray[np.int32], states: Any, output: Output) -> Any:
        """What the modules after the transformer make of the states of one text."""
        import torch

        if output == "token_embeddings":
            return states
        features = {
            "input_ids": torch.tensor(ids, dtype=torch.long)[None],
            "attention_mask": torch.ones((1, len(ids)), dtype=torch.long),
            "token_embeddings": states[None],
        }
        for module in [*self.model][1:]:
            features = module(features)
        return features[output][0]


def load(folder: Path, name: str, max_tokens: int | None = None) -> Loaded:
    """Load a model for the CPU, in float32.

    A plain checkpoint is read by sentence-transformers as a transformer (of an encoder-decoder
    only the encoder) and pooled by the mean over its tokens, special ones included.

    Args:
        folder: The model's folder.
        name: The embedder's, for messages.
        max_tokens: Tokens of a text that it sees, special ones included; None for the limit of
            tokenizer and model, or `DEFAULT_TOKENS`.

    Raises:
        InputError: It cannot be loaded, lacks weights, or has fewer positions than `max_tokens`.
    """
    with loading(name) as options:
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(folder), **options).eval()
    if is_checkpoint(folder):
        _pool_by_mean(model, folder, name)
    if any(getattr(module, "include_prompt", True) is False for module in model):
        raise InputError(f"{name}: leaving the prompt out of pooling is not supported")
    tokenizer = model.tokenizer
    if not hasattr(tokenizer, "model_input_names"):
        raise InputError(f"{name}: {folder} has no transformer with a tokenizer")
    before, after = _special(tokenizer, name)
    limit = _limit(model, name, max_tokens)
    if limit < _SMALLEST:
        raise InputError(f"{name}: a limit of {limit} tokens is below the smallest, {_SMALLEST}")
    transformer = model[0].auto_model
    fillers = (tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
    return Loaded(
        model=model,
        tokenizer=tokenizer,
        limit=limit,
        before=before,
        after=after,
        padding=next(filler for filler in fillers if filler is not None),
        has_types="token_type_ids" in tokenizer.model_input_names,
        packed=Packed(transformer) if can_pack(transformer) else None,
    )


def _pool_by_mean(model: Any, folder: Path, name: str) -> None:
    """Pool a plain checkpoint by the mean, and refuse one that lacks weights.

    For generative models sentence-transformers takes the last token; here one rule holds for all
    models, so that they differ only in tokens and weights.
    """
    if len(model) < 2:
        raise InputError(f"{name}: {folder} has no model that returns a vector for each token")
    transformer = model[0].auto_model
    refuse_missing_weights(transformer, folder, name, unused="pooler")
    model[1] = type(model[1])(transformer.config.hidden_size, pooling_mode="mean")


def _special(tokenizer: Any, name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The special tokens that a tokenizer puts before and after a text."""
    for probe in _PROBES:
        bare = tokenizer(probe, add_special_tokens=False)["input_ids"]
        full = tokenizer(probe)["input_ids"]
        for at in range(len(full) - len(bare) + 1) if bare else ():
            if full[at : at + len(bare)] == bare:
                return tuple(full[:at]), tuple(full[at + len(bare) :])
    raise InputError(f"{name}: its tokenizer adds tokens that cannot be separated from the text's")


def _limit(model: Any, name: str, wanted: int | None) -> int:
    stated = model.max_seq_length
    own = _positions(model[0].auto_model)
    if wanted is not None:
        if own is not None and wanted > own:
            raise InputError(f"{name}: max_tokens={wanted}, but the model has {own} positions")
        return wanted
    known = [limit for limit in (stated, own) if limit is not None and 0 < limit < NO_LIMIT]
    return int(min(known, default=DEFAULT_TOKENS))


def _positions(transformer: Any) -> int | None:
    """Number of positions of a model; None if they are relative and unlimited."""
    import torch

    stated = getattr(transformer.config, "max_position_embeddings", None)
    limits = [stated] if isinstance(stated, int) and stated > 0 else []
    for module in transformer.modules():
        table = getattr(module, "position_embeddings", None)
        padding = getattr(module, "padding_idx", None)
        # RoBERTa and its relatives count positions from the padding's id + 1.
        if isinstance(table, torch.nn.Embedding) and isinstance(padding, int):
            limits.append(table.num_embeddings - padding - 1)
    return min(limits, default=None)
