"""Prices of embedding: what a run's tokens cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chunkers.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def parse_prices(texts: Sequence[str], embedders: Sequence[str]) -> dict[str, float]:
    """The price of a million tokens, by embedder.

    Args:
        texts: A number for all embedders, or `EMBEDDER=NUMBER` for one.
        embedders: The names of the run's embedders.

    Raises:
        InputError: A text is not a price, an embedder is not in the run, or has two prices; or the
            run has none.
    """
    if texts and not embedders:
        raise InputError(f"--price {texts[0]} is not used: the run has no embedder; remove it")
    prices: dict[str, float] = {}
    for text in texts:
        name, _, figure = text.strip().rpartition("=")
        try:
            price = float(figure)
        except ValueError:
            price = math.nan
        if not 0 <= price < math.inf:
            raise InputError(
                f"invalid price {text!r}\n"
                "write the price of a million tokens: --price 0.02, or --price EMBEDDER=0.02"
            )
        if name and name not in embedders:
            raise InputError(
                f"--price {text}: the run has no embedder {name!r}; {suggestion(name, embedders)}"
            )
        if name in prices:
            raise InputError(f"--price {text}: a second price for {name or 'all embedders'}")
        prices[name] = price
    return {
        name: prices[name if name in prices else ""]
        for name in embedders
        if name in prices or "" in prices
    }


def with_price(cell: Mapping[str, Any], prices: Mapping[str, float]) -> dict[str, Any]:
    """The costs of a cell, with the price of embedding its corpus; None if it is unknown."""
    price, tokens = prices.get(cell["embedder"]), cell["cost"]["tokens"]
    known = price is not None and tokens is not None
    return {**cell["cost"], "price": tokens * price / 1e6 if known else None}


def uncounted(cells: Iterable[Mapping[str, Any]], prices: Mapping[str, float]) -> list[str]:
    """The embedders with a price whose tokens are not counted."""
    names = {cell["embedder"] for cell in cells if cell["cost"]["tokens"] is None}
    return sorted(names & prices.keys())
