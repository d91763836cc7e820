"""The forward pass of BERT and its relatives without padding, several texts at once.

The tokens of a batch stand one after another. What works on single tokens (the linear layers) sees
blocks of `BLOCK` tokens, whatever texts they are of; attention sees one text at a time. Dot
products are oneDNN's, with weights laid out for it once. One thread runs a batch, and others run
other batches. So a text's result depends neither on the other texts nor on the number of threads,
provided that a row of a block gets the same bits in every place. It does as far as is known:
oneDNN adds the products of a row in one order; a test compares many placements.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

BLOCK = 128
"""Tokens that a linear layer sees at once."""

_ARCHITECTURES = ("BertModel", "CamembertModel", "RobertaModel", "XLMRobertaModel")
_LINE = 16  # float32 numbers in a line of the cache, at which every token's row has to begin


@dataclass(frozen=True)
class _Layer:
    """The weights of a layer, those of matrices in oneDNN's layout."""

    qkv: tuple[Any, Any]
    mixed: tuple[Any, Any]
    mixed_norm: Any
    wide: tuple[Any, Any]
    narrow: tuple[Any, Any]
    norm: Any


class Packed:
    """A transformer that can run without padding.

    Args:
        transformer: A model for which `can_pack` holds. The weights of its layers are taken out
            of it, so that memory holds them once.
    """

    def __init__(self, transformer: Any) -> None:
        self._embeddings = transformer.embeddings
        self._width = transformer.config.hidden_size
        self._heads = transformer.config.num_attention_heads
        self._layers = [_layer(layer) for layer in transformer.encoder.layer]

    def states(self, texts: Sequence[Sequence[int] | NDArray[np.int32]]) -> list[Any]:
        """The hidden states of texts, each of one token or more.

        Args:
            texts: The ids of each text, special ones included.

        Returns:
            For each text a tensor of shape (tokens, d).
        """
        import torch

        lengths = [len(ids) for ids in texts]
        total = sum(lengths)
        rows = -(-total // BLOCK) * BLOCK
        states: Any = torch.zeros(rows, self._width)
        for ids, own in zip(texts, states[:total].split(lengths), strict=True):
            own.copy_(self._embeddings(input_ids=torch.tensor(ids, dtype=torch.long)[None])[0])
        qkv: Any = torch.empty(rows, 3 * self._width)
        mixed: Any = torch.zeros(rows, self._width)
        for layer in self._layers:
            for block, into in zip(states.split(BLOCK), qkv.split(BLOCK), strict=True):
                into.copy_(_linear(block, layer.qkv))
            each = zip(qkv[:total].split(lengths), mixed[:total].split(lengths), strict=True)
            for own, into in each:
                into.copy_(self._attention(own))
            for block, found in zip(states.split(BLOCK), mixed.split(BLOCK), strict=True):
                inner = layer.mixed_norm(_linear(found, layer.mixed).add_(block))
                wide = _linear(inner, layer.wide, "gelu")
                block.copy_(layer.norm(_linear(wide, layer.narrow).add_(inner)))
        return list(states[:total].split(lengths))

    def _attention(self, qkv: Any) -> Any:
        """What the tokens of one text take from each other, shape (tokens, d)."""
        import torch

        heads = qkv.view(1, len(qkv), 3, self._heads, -1).permute(2, 0, 3, 1, 4)
        taken = torch.nn.functional.scaled_dot_product_attention(*heads)
        return taken[0].transpose(0, 1).reshape(len(qkv), self._width)


def can_pack(transformer: Any) -> bool:
    """Whether a model can run without padding: it is a BERT, and torch has oneDNN."""
    import torch

    config, onednn = transformer.config, cast("Any", torch.backends.mkldnn)
    return bool(
        onednn.is_available()
        and type(transformer).__name__ in _ARCHITECTURES
        and type(transformer).__module__.startswith("transformers.")
        and config.hidden_act == "gelu"
        and config.hidden_size % _LINE == 0
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
        and not config.is_decoder
    )


def _layer(layer: Any) -> _Layer:
    own = layer.attention.self
    return _Layer(
        qkv=_laid_out(own.query, own.key, own.value),
        mixed=_laid_out(layer.attention.output.dense),
        mixed_norm=layer.attention.output.LayerNorm,
        wide=_laid_out(layer.intermediate.dense),
        narrow=_laid_out(layer.output.dense),
        norm=layer.output.LayerNorm,
    )


def _laid_out(*linear: Any) -> tuple[Any, Any]:
    """Weight and bias of linear layers side by side, the weight in oneDNN's layout."""
    import torch

    with torch.no_grad():
        weight = torch.cat([one.weight for one in linear])
        bias = torch.cat([one.bias for one in linear])
        for one in linear:
            del one.weight
        return torch.ops.mkldnn._reorder_linear_weight(weight, BLOCK), bias


def _linear(rows: Any, weights: tuple[Any, Any], then: str = "none") -> Any:
    import torch

    return torch.ops.mkldnn._linear_pointwise(rows, *weights, then, [], "none")


def portions(lengths: Sequence[int], most: int, threads: int) -> list[list[int]]:
    """Divide texts into batches of about equal work, in order.

    Args:
        lengths: Tokens of each text.
        most: Texts of a batch at most.
        threads: How many batches run at once; there is one for each if there are enough texts.

    Returns:
        The indices of the texts of each batch, none empty.
    """
    count = -(-len(lengths) // (most * threads)) * threads
    parts: list[list[int]] = []
    tokens, full = 0, sum(lengths) / max(1, count)
    for number, length in enumerate(lengths):
        if not parts or len(parts[-1]) == most or tokens + length / 2 > full:
            parts.append([])
            tokens = 0
        parts[-1].append(number)
        tokens += length
    return parts


def in_threads(
    work: Callable[[_Item], _Result], items: Sequence[_Item], threads: int
) -> Iterator[_Result]:
    """The results of items in order, each worked on by a single thread of torch.

    Args:
        work: What to do with an item.
        items: All items.
        threads: How many work at once.
    """
    import torch

    if not items:
        return
    before = torch.get_num_threads()
    futures: deque[Any] = deque()
    pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
    try:
        for item in items:
            futures.append(pool.submit(work, item))
            if len(futures) > threads:
                yield futures.popleft().result()
        while futures:
            yield futures.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(before)  # the pool's setting holds for every later thread
