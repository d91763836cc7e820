"""Which definitions a chunk lies in, and which ones stand beside it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chunkers.reference._code_chunk.entities import Entity

_SIBLINGS = 3


@dataclass(slots=True)
class Level:
    """Scopes beside each other, in order of start.

    Attributes:
        scopes: The scopes.
        starts: Start of each.
        reach: Largest end of each and those before it, by which a container is found at once.
    """

    scopes: list[EntityScope] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    reach: list[int] = field(default_factory=list)

    def add(self, scope: EntityScope) -> None:
        """Put a scope behind the others; none starts after it."""
        end = scope.entity.end
        self.scopes.append(scope)
        self.starts.append(scope.entity.start)
        self.reach.append(max(end, self.reach[-1]) if self.reach else end)

    def first_to(self, end: int) -> int | None:
        """Index of the first scope that reaches `end`."""
        index = bisect_left(self.reach, end)
        return index if index < len(self.scopes) else None


@dataclass(slots=True)
class EntityScope:
    """An entity, and the level of what is defined in it."""

    entity: Entity
    inner: Level = field(default_factory=Level)


def scope_tree(entities: Iterable[Entity]) -> Level:
    """The outermost level; each entity is in the deepest one that contains it."""
    outermost = Level()
    for entity in sorted(entities, key=lambda entity: entity.start):
        level = outermost
        while (index := level.first_to(entity.end)) is not None:
            level = level.scopes[index].inner
        level.add(EntityScope(entity))
    return outermost


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chunk is.

    Attributes:
        scope: Names of what it starts in, outermost first.
        before: Names of up to three definitions that start before it, nearest first.
        after: Names of up to three others.
    """

    scope: list[str]
    before: list[str]
    after: list[str]


def place_of(outermost: Level, start: int, end: int) -> Place:
    """The place of the UTF-16 code units [start, end)."""
    names: list[str] = []
    beside, current, level = outermost, None, outermost
    while True:
        index = level.first_to(start + 1)
        if index is None or level.starts[index] > start:
            break
        names.append(level.scopes[index].entity.name)
        beside, current, level = level, index, level.scopes[index].inner

    def nearest(low: int, high: int, centre: int) -> list[str]:
        others = (beside.scopes[index].entity for index in _outwards(low, high, centre))
        apart = (scope.name for scope in others if not (scope.start < end and scope.end > start))
        return list(islice(apart, _SIBLINGS))

    count, split = len(beside.scopes), bisect_left(beside.starts, start)
    low, high = (split, split - 1) if current is None else (current, current)
    return Place(names, nearest(0, split, low), nearest(split, count, high))


def _outwards(low: int, high: int, centre: int) -> Iterator[int]:
    """The indices [low, high) without `centre`, nearest to it first, the lower of two first."""
    left, right = min(centre, high) - 1, max(centre + 1, low)
    while left >= low or right < high:
        if right >= high or (left >= low and centre - left <= right - centre):
            yield left
            left -= 1
        else:
            yield right
            right += 1
