"""Seeded, stratified samples: a larger one of the same seed contains the smaller."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Item = TypeVar("Item")
_DIGITS = 8
_WHOLE = 1 << (8 * _DIGITS)


def draw(
    items: Iterable[Item],
    limit: int | None,
    seed: int,
    id_of: Callable[[Item], str],
    stratum_of: Callable[[Item], str] = lambda _: "",
) -> tuple[Item, ...]:
    """Choose at most `limit` items, all with the same probability.

    The n items of a stratum are shuffled and placed at even distances between 0 and 1, from a
    seeded start; the first of all strata together are taken. So every stratum gets its share of the
    sample, to within one item. `id_of` gives unique texts: chance depends on them and the seed
    alone. The items are returned in order of id.
    """
    ordered = sorted(items, key=id_of)
    if limit is None or limit >= len(ordered):
        return tuple(ordered)
    return tuple(sorted(in_turn(ordered, seed, id_of, stratum_of)[: max(0, limit)], key=id_of))


def in_turn(
    items: Iterable[Item],
    seed: int,
    id_of: Callable[[Item], str],
    stratum_of: Callable[[Item], str] = lambda _: "",
) -> list[Item]:
    """All items in the order in which `draw` takes them; the arguments are the same."""
    strata: dict[str, list[Item]] = defaultdict(list)
    for item in sorted(items, key=id_of):
        strata[stratum_of(item)].append(item)
    placed: list[tuple[float, int, Item]] = []
    for name, members in strata.items():
        start = chance(seed, "stratum", name) / _WHOLE
        shuffled = sorted(members, key=lambda item: chance(seed, "item", id_of(item)))
        for at, item in enumerate(shuffled):
            placed.append(((at + start) / len(members), chance(seed, "tie", id_of(item)), item))
    placed.sort(key=lambda entry: entry[:2])
    return [item for _, _, item in placed]


def chance(seed: int, what: str, name: str) -> int:
    """A seeded hash of a name, below 2**64."""
    text = f"{seed}\0{what}\0{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=_DIGITS).digest(), "big")
