"""Late vectors: a file is embedded whole, and a chunk's vector is pooled from its tokens there.

The hidden states of a chunk's tokens then depend on the text around it. The same chunks with and
without it tell apart what context in the vector does and what the boundaries do.

**Windows.** The tokens of a file are embedded in windows that fill the model's limit, one every
half window; the last one ends with the file. A token's state comes from the window whose middle is
nearest to it, the earlier one of two. So a token sees about a quarter of a window or more on either
side, or all there is. Every window begins with the model's special tokens and prompt, like a text.

**Tokens of a chunk.** A token is a chunk's own if the two share a character that is not white
space; of a token of white space alone, any character; one of no character counts as that at its
place. A token across a boundary is both chunks' own. What the model puts before a text, the prompt
included, belongs to the chunks that have the file's first token, what it puts after it to those
with the last. So a file of one chunk and one window has the vector that the model gives its text. A
chunk without a token has the zero vector.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from chunkers.errors import InputError
from chunkers.source import Source
from harness.embedding.embedder import EmbedderBase, Passage
from harness.embedding.model_folders import modules_of
from harness.embedding.text_vectors import unit_vectors
from harness.embedding.vector_store import StoredVector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from harness.embedding.embedder import Role
    from harness.embedding.encoder import Encoder

# To be raised whenever a change of this code may change vectors.
_POOLING = 1

_MODULES = ["Transformer", "Pooling(mean)", "Normalize"]


@dataclass(frozen=True)
class LateEncoder(EmbedderBase):
    """A model whose chunks get late vectors; queries are embedded as by the model alone.

    Attributes:
        name: The embedder's spec in canonical form.
        plain: The model.
        windows: None: its windows are those of files.
    """

    name: str
    plain: Encoder
    windows: None = None

    def with_fewer_rows(self) -> Self:
        """The same model with half the rows, which has another fingerprint."""
        return replace(self, plain=self.plain.with_fewer_rows())

    @property
    def limit(self) -> int:
        """Without bound: windows cover a file of any length."""
        return sys.maxsize

    @property
    def query_limit(self) -> int:
        """Tokens of a query that the model sees, without special ones and its prompt's."""
        return self.plain.query_limit

    def identity(self, role: Role) -> dict[str, Any]:
        """Everything that a vector of this role depends on besides the text, or the passage.

        Raises:
            InputError: The model does not pool by the mean, or does more than that.
        """
        identity = self.plain.identity(role)
        if role == "document":
            _ = self._normalises  # refused before any work
            identity["pool"] = {"late": _POOLING}
        return identity

    @cached_property
    def _normalises(self) -> bool:
        modules = modules_of(self.plain.folder, self.name)
        if modules not in (_MODULES[:2], _MODULES):
            raise InputError(
                f"{self.name}: pool=late is for models of Transformer → Pooling(mean), perhaps "
                f"→ Normalize; this one has {' → '.join(modules)}"
            )
        return modules == _MODULES

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Tokens of each whole text, without special ones and prompt, shape (n,)."""
        return self.plain.count_tokens(texts)

    def embed(self, texts: Sequence[str], role: Role) -> Iterator[list[tuple[int, StoredVector]]]:
        """Embed queries as the model does; a document is a file of one chunk."""
        if role == "document":
            return self.embed_passages([Passage(text, 0, len(text)) for text in texts])
        return self.plain.embed(texts, role)

    def embed_passages(
        self, passages: Sequence[Passage]
    ) -> Iterator[list[tuple[int, StoredVector]]]:
        """Embed chunks, a batch of windows at a time.

        Of a file only the windows that its chunks need are embedded, and of their states only
        sums are kept, until a chunk has all of its own.

        Yields:
            Pairs of a passage's index and its vector, for those that a batch completed. `tokens`
            are the chunk's own; `seconds` is its share of the time of its windows.

        Raises:
            OutOfMemoryError: A batch did not fit.
            InputError: The prompt fills the model's limit, or the tokenizer does not say where its
                tokens are.
        """
        plan = self._plan(passages)
        pools, loaded = plan.pools, self.plain.loaded
        zero = np.zeros(loaded.model.get_embedding_dimension(), dtype=np.float32)
        yield [
            (number, StoredVector(zero, 0, pool.seconds))
            for number, pool in pools.items()
            if not pool.windows
        ]
        for batch in loaded.run(plan.rows, self.plain.rows, "token_embeddings"):
            whole = []
            for n, tokens, seconds in zip(batch.numbers, batch.outputs, batch.shares, strict=True):
                taken = sum(len(positions) for _, positions in plan.takes[n])
                for number, positions in plan.takes[n]:
                    pools[number].add(tokens[positions], seconds * len(positions) / taken)
                    if not pools[number].windows:
                        whole.append(number)
            yield self._pooled([(number, pools.pop(number)) for number in whole])

    def _plan(self, passages: Sequence[Passage]) -> _Plan:
        """The windows that passages need, those of a file in order."""
        numbers: dict[str, list[int]] = {}
        for number, passage in enumerate(passages):
            numbers.setdefault(passage.text, []).append(number)
        plan = _Plan([], [], {})
        for text, own in numbers.items():
            started = time.perf_counter()
            file = self._tokenized(text)
            per_token = (time.perf_counter() - started) / max(1, file.tokens)
            needed: defaultdict[int, list[tuple[int, NDArray[np.int32]]]] = defaultdict(list)
            for number in own:
                tokens = file.tokens_of(passages[number])
                takes = file.positions(tokens)
                plan.pools[number] = _Pool(len(takes), len(tokens), len(tokens) * per_token)
                for window, positions in takes.items():
                    needed[window].append((number, positions))
            for window in sorted(needed):
                plan.rows.append(file.row(window))
                plan.takes.append(needed[window])
        return plan

    def _tokenized(self, text: str) -> _File:
        loaded, prompt = self.plain.loaded, self.plain.prompt_of("document")
        self.plain.room("document")  # refuses a prompt that leaves no room
        try:
            ids, offsets = loaded.places(prompt + text)
        except InputError as error:
            raise InputError(f"{self.name}: {error}, which pool=late needs") from None
        # A token of the prompt's last characters and the text's first is the text's.
        opening = int((offsets[:, 1] <= len(prompt)).sum()) if prompt else 0
        return _File(
            before=np.array([*loaded.before, *ids[:opening]], dtype=np.int32),
            ids=np.array(ids[opening:], dtype=np.int32),
            after=np.array(loaded.after, dtype=np.int32),
            places=_visible(np.maximum(offsets[opening:] - len(prompt), 0), text),
            room=loaded.room - opening,
        )

    def _pooled(self, pools: Sequence[tuple[int, _Pool]]) -> list[tuple[int, StoredVector]]:
        """The vectors of chunks whose states are all there."""
        if not pools:
            return []
        values = np.stack([pool.sum / pool.count for _, pool in pools])
        rows = unit_vectors(values)[0] if self._normalises else values.astype(np.float32)
        return [
            (number, StoredVector(row, pool.tokens, pool.seconds))
            for (number, pool), row in zip(pools, rows, strict=True)
        ]


def late(encoder: Encoder) -> LateEncoder:
    """A model with late vectors.

    Raises:
        InputError: It embeds long texts by windows, which are other windows.
    """
    if encoder.windows is not None:
        raise InputError(
            f"{encoder.name}: windows={encoder.windows} and pool=late exclude each other; "
            "pool=late has windows of its own"
        )
    return LateEncoder(encoder.name, encoder)


@dataclass
class _Pool:
    """The states of a chunk's tokens so far, added in float64 in the order of its windows.

    `windows` are still to come; `tokens` are the chunk's own, without special ones.
    """

    windows: int
    tokens: int
    seconds: float
    sum: NDArray[np.float64] | float = 0.0
    count: int = 0

    def add(self, states: NDArray[np.float32], seconds: float) -> None:
        """Add the states of one window, shape (n, d)."""
        self.sum = self.sum + states.astype(np.float64).sum(axis=0)
        self.count += len(states)
        self.seconds += seconds
        self.windows -= 1


@dataclass(frozen=True)
class _Plan:
    """Windows, and what chunks take of them.

    `rows` are the ids of each window; `takes` are, for each window, chunks and the positions of
    their tokens in its row; `pools` are those of the chunks.
    """

    rows: list[NDArray[np.int32]]
    takes: list[list[tuple[int, NDArray[np.int32]]]]
    pools: dict[int, _Pool]


@dataclass(frozen=True)
class _File:
    """The tokens of a file.

    Attributes:
        before: Ids before every window: special ones and the prompt's.
        ids: Ids of the text.
        after: Ids after every window.
        places: First and last visible character of each token of the text, as [start, end),
            shape (n, 2).
        room: Tokens of the text in a window.
    """

    before: NDArray[np.int32]
    ids: NDArray[np.int32]
    after: NDArray[np.int32]
    places: NDArray[np.int64]
    room: int

    @property
    def tokens(self) -> int:
        """Number of tokens of the text."""
        return len(self.ids)

    @cached_property
    def starts(self) -> list[int]:
        """The first token of each window."""
        return window_starts(self.tokens, self.room)

    @cached_property
    def window_of(self) -> NDArray[np.int64]:
        """The window of each token."""
        return nearest_window(self.tokens, self.starts, self.room)

    def row(self, window: int) -> NDArray[np.int32]:
        """The ids of a window."""
        start = self.starts[window]
        return np.concatenate([self.before, self.ids[start : start + self.room], self.after])

    def tokens_of(self, passage: Passage) -> NDArray[np.int64]:
        """The numbers of a chunk's own tokens, ascending."""
        low, high = self.places.T
        return np.flatnonzero((low < passage.end) & (high > passage.start))

    def positions(self, tokens: NDArray[np.int64]) -> dict[int, NDArray[np.int32]]:
        """By window, the positions of tokens in its row, with those before and after the text."""
        if not len(tokens):
            return {}
        first = len(self.before)
        takes = {}
        for window in np.unique(self.window_of[tokens]).tolist():
            own = tokens[self.window_of[tokens] == window] + first - self.starts[window]
            begins = np.arange(first) if tokens[0] == 0 == window else own[:0]
            ends = own[:0]
            if tokens[-1] == self.tokens - 1 and window == len(self.starts) - 1:
                ends = own[-1] + 1 + np.arange(len(self.after))
            takes[window] = np.concatenate([begins, own, ends]).astype(np.int32)
        return takes


def window_starts(tokens: int, room: int) -> list[int]:
    """The first token of each window of a file: one every half window, the last up to the end.

    Args:
        tokens: Number of tokens of the file.
        room: Tokens of a window, above 0.
    """
    if tokens <= room:
        return [0]
    return [*range(0, tokens - room, max(1, room // 2)), tokens - room]


def nearest_window(tokens: int, starts: Sequence[int], room: int) -> NDArray[np.int64]:
    """The window whose middle is nearest to each token, of two the earlier, shape (tokens,)."""
    # Twice the token halfway between the middles of neighbouring windows.
    borders = np.array(starts[:-1]) + np.array(starts[1:]) + room - 1
    return np.searchsorted(borders, 2 * np.arange(tokens), side="left")


def _visible(offsets: NDArray[np.int64], text: str) -> NDArray[np.int64]:
    """The places of tokens without the white space at their ends, shape (n, 2).

    A token of white space alone keeps its place; one of no character takes that at its place.
    """
    nws = Source(text, "").lines.nws
    low, high = offsets.T
    blank = nws[low] == nws[high]
    at = np.minimum(low, max(0, len(text) - 1))
    first = np.searchsorted(nws, nws[low], side="right") - 1
    last = np.searchsorted(nws, nws[high] - 1, side="right")
    return np.stack(
        [np.where(blank, at, first), np.where(blank, np.maximum(high, at + 1), last)], axis=1
    )
