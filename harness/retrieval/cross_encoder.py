"""Scores pairs of query and text by a cross-encoder: a score is a function of its pair alone.

Batches have fixed shapes, as in `harness.embedding.encoder`: pairs are sorted into buckets by
length, a batch has a fixed number of rows, and short batches are filled with pairs of empty texts.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chunkers.errors import InputError
from harness.embedding.fixed_shapes import BUCKETS, batches, runtime
from harness.embedding.model_folders import (
    NO_LIMIT,
    folder_sha256,
    loading,
    refuse_missing_weights,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_ROWS = 8  # the pairs of one query fall into several buckets, and what is missing is filled up
_SMALLEST = 8  # tokens that a pair needs to be one


@dataclass(frozen=True)
class PairScores:
    """Scores of pairs, and what the model did not see of them.

    Attributes:
        scores: The model's logits, shape (n,).
        tokens: Tokens of each pair, query and text, without special ones, shape (n,).
        unseen: Those of them that were cut off, shape (n,).
        text_tokens: Tokens of each text, shape (n,).
        unseen_text: Those of them that were cut off, shape (n,).
    """

    scores: NDArray[np.float64]
    tokens: NDArray[np.int64]
    unseen: NDArray[np.int64]
    text_tokens: NDArray[np.int64]
    unseen_text: NDArray[np.int64]


@dataclass(frozen=True)
class _Frame:
    """The special tokens round a query and a text: ids, and the token types of all five parts."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[int, int, int, int, int]

    @property
    def size(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)

    def around(self, query: Sequence[int], text: Sequence[int]) -> tuple[list[int], list[int]]:
        """Ids and token types of a pair."""
        parts = (self.before, query, self.between, text, self.after)
        pairs = zip(parts, self.types, strict=True)
        return list(itertools.chain(*parts)), [kind for part, kind in pairs for _ in part]


@dataclass(frozen=True)
class CrossEncoder:
    """A sentence-transformers cross-encoder with one label, loaded when it is first needed.

    Attributes:
        name: Who asks for it, for messages.
        folder: The model's folder.
    """

    name: str
    folder: Path

    @cached_property
    def weights(self) -> str:
        """sha256 over the names and contents of the model's files.

        Raises:
            InputError: No such folder, or no safetensors weights.
        """
        return folder_sha256(self.folder, self.name)

    @property
    def version(self) -> str:
        """Everything that a score depends on besides the pair, in one line."""
        shape = {"rows": _ROWS, "buckets": BUCKETS}
        parts = {"weights": self.weights, **runtime(), "shape": shape, "precision": "float32"}
        return json.dumps(parts, sort_keys=True)

    @cached_property
    def _model(self) -> Any:
        _ = self.weights  # checked before anything of it is loaded
        with loading(self.name) as options:
            from sentence_transformers import CrossEncoder as Model

            model = Model(str(self.folder), **options)
            self._check(model)
        return model.eval()

    def _check(self, model: Any) -> None:
        """Refuse what would be scored otherwise than its makers mean."""
        config = model.model.config
        architectures = getattr(config, "architectures", None) or [""]
        if not architectures[0].endswith("ForSequenceClassification") or config.num_labels != 1:
            raise InputError(
                f"{self.name}: {self.folder} is no cross-encoder with one label "
                f"({architectures[0] or 'unknown architecture'}, {config.num_labels} labels)"
            )
        refuse_missing_weights(model.model, self.folder, self.name)
        modules = self.folder / "modules.json"
        several = modules.is_file() and len(json.loads(modules.read_text("utf-8"))) > 1
        if several or getattr(model, "default_prompt_name", None):
            raise InputError(
                f"{self.name}: further modules or prompts of its own are not supported"
            )
        if not model.tokenizer.is_fast:
            raise InputError(f"{self.name}: a tokenizer of the tokenizers library is needed")
        if not 0 < model.tokenizer.model_max_length < NO_LIMIT:
            raise InputError(
                f"{self.name}: the model states no largest number of tokens; "
                "write model_max_length into its tokenizer_config.json"
            )

    @cached_property
    def _frame(self) -> _Frame:
        tokenizer = self._model.tokenizer
        probe = tokenizer("a", "b")
        ids, sides = probe["input_ids"], probe.sequence_ids(0)
        segments = probe.get("token_type_ids") or [0] * len(ids)
        if sides.index(0) > sides.index(1):
            raise InputError(f"{self.name}: its tokenizer puts the text before the query")
        first, last = sides.index(0), len(sides) - sides[::-1].index(0)
        start, end = sides.index(1), len(sides) - sides[::-1].index(1)
        bounds = ((0, first), (first, last), (last, start), (start, end), (end, len(ids)))
        before, _, between, _, after = (tuple(ids[low:high]) for low, high in bounds)
        types = tuple(segments[low] if low < high else 0 for low, high in bounds)
        frame = _Frame(before, between, after, types)  # type: ignore[arg-type]
        room = int(tokenizer.model_max_length) - frame.size
        if room < _SMALLEST:
            raise InputError(f"{self.name}: a limit that leaves {room} tokens to a pair is too low")
        return frame

    @property
    def room(self) -> int:
        """Tokens of a pair that the model sees, special ones left out."""
        return int(self._model.tokenizer.model_max_length) - self._frame.size

    def score(
        self, query: str, texts: Sequence[str], keeps: Literal["head", "tail"] = "head"
    ) -> PairScores:
        """Score a query with each of some texts.

        A text is cut at the model's limit. So is a query that would leave it less than half of
        the room: of the query, the part that `keeps` names stays.

        Args:
            query: Its text.
            texts: Any texts.
            keeps: Which part of an over-long query the model is to see.

        Raises:
            InputError: A batch does not fit into memory.
        """
        query_ids, *text_ids = self._model.tokenizer(
            [query, *texts],
            add_special_tokens=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )["input_ids"]
        room = self.room
        pairs = [_cut(query_ids, text, room, keeps) for text in text_ids]
        rows = [self._frame.around(*pair) for pair in pairs]
        scores = np.zeros(len(texts))
        limit = room + self._frame.size
        for width, numbers in batches([len(ids) for ids, _ in rows], _ROWS, limit):
            scores[numbers] = self._forward([rows[n] for n in numbers], width)
        text_tokens = np.array([len(text) for text in text_ids], dtype=np.int64)
        seen = np.array([(len(q), len(text)) for q, text in pairs], dtype=np.int64).reshape(-1, 2)
        tokens = text_tokens + len(query_ids)
        return PairScores(
            scores, tokens, tokens - seen.sum(axis=1), text_tokens, text_tokens - seen[:, 1]
        )

    def _forward(self, rows: list[tuple[list[int], list[int]]], width: int) -> NDArray[np.float64]:
        import torch

        tokenizer = self._model.tokenizer
        shape = (_ROWS, width)
        features = {
            "input_ids": torch.full(shape, tokenizer.pad_token_id or 0, dtype=torch.long),
            "attention_mask": torch.zeros(shape, dtype=torch.long),
            "token_type_ids": torch.zeros(shape, dtype=torch.long),
        }
        filler = self._frame.around((), ())
        for number, (ids, segments) in enumerate(rows + [filler] * (_ROWS - len(rows))):
            features["input_ids"][number, : len(ids)] = torch.tensor(ids)
            features["attention_mask"][number, : len(ids)] = 1
            features["token_type_ids"][number, : len(ids)] = torch.tensor(segments)
        if "token_type_ids" not in tokenizer.model_input_names:
            del features["token_type_ids"]
        try:
            with torch.inference_mode():
                logits = self._model.model(**features).logits
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, MemoryError) or "memory" in str(error).lower():
                raise InputError(
                    f"{self.name}: {_ROWS} pairs of {width} tokens do not fit into memory"
                ) from error
            raise
        scores: NDArray[np.float64] = logits[: len(rows), 0].numpy().astype(np.float64)
        if not np.isfinite(scores).all():
            raise InputError(f"{self.name}: the model gives scores that are no finite numbers")
        return scores


def _cut(
    query: list[int], text: list[int], room: int, keeps: Literal["head", "tail"]
) -> tuple[list[int], list[int]]:
    kept = min(len(query), max(room // 2, room - len(text)))
    start = len(query) - kept if keeps == "tail" else 0
    return query[start : start + kept], text[: room - kept]
