"""Seeded, stratified samples that grow: a larger one of the same seed holds the smaller."""

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
    """Choose at most `limit` items, each as likely as any other.

    The n items of a stratum are shuffled and laid at even distances on the line from 0 to 1, from
    a seeded start; those that lie first are taken. So every stratum is represented by its share
    of the items, to within one.

    Args:
        items: In any order.
        limit: How many to take; None takes all.
        seed: Another seed gives another sample.
        id_of: Unique text of an item; chance depends on it and the seed alone.
        stratum_of: Name of the group that an item belongs to.

    Returns:
        The chosen in order of id.
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
    laid: list[tuple[float, int, Item]] = []
    for name, members in strata.items():
        start = chance(seed, "stratum", name) / _WHOLE
        shuffled = sorted(members, key=lambda item: chance(seed, "item", id_of(item)))
        for at, item in enumerate(shuffled):
            laid.append(((at + start) / len(members), chance(seed, "tie", id_of(item)), item))
    laid.sort(key=lambda one: one[:2])
    return [item for _, _, item in laid]


def chance(seed: int, what: str, name: str) -> int:
    """A whole number under 2**64, seeded, that no other name is likely to get."""
    text = f"{seed}\0{what}\0{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=_DIGITS).digest(), "big")
