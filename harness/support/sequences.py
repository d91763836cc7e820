"""Sequences that make their items when they are asked for, so that not all are in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from chunkers.lazy import np
from harness.support.arrays import ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

T_co = TypeVar("T_co", covariant=True)


class LazySequence(Sequence[T_co], Generic[T_co]):
    """A sequence of `size` items, of which `item` makes one.

    `items` makes all in order, where that is faster.
    """

    def __init__(
        self,
        size: int,
        item: Callable[[int], T_co],
        items: Callable[[], Iterator[T_co]] | None = None,
    ) -> None:
        self._size, self._item, self._items = size, item, items

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[T_co]:
        return self._items() if self._items else map(self._item, range(self._size))

    @overload
    def __getitem__(self, at: int) -> T_co: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[T_co, ...]: ...
    def __getitem__(self, at: int | slice) -> T_co | tuple[T_co, ...]:
        numbers = range(self._size)[at]
        return self._item(numbers) if isinstance(numbers, int) else tuple(map(self._item, numbers))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(other) != len(self):
            return False
        return all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


def selected(items: Sequence[T_co], numbers: Sequence[int] | NDArray[Any]) -> Sequence[T_co]:
    """Some items of a sequence, by their numbers; the sequence itself if they are all, in order."""
    if len(numbers) == len(items) and np.array_equal(numbers, np.arange(len(items))):
        return items

    def item(at: int) -> T_co:
        return items[int(numbers[at])]

    return LazySequence(len(numbers), item)


class Ragged:
    """Lists of numbers, one after another in an array.

    Attributes:
        values: The numbers of all lists, shape (m,).
        starts: The first of each list, then their count, shape (n + 1,).
    """

    def __init__(self, values: NDArray[np.int64], starts: NDArray[np.int64]) -> None:
        self.values, self.starts = values, starts

    @classmethod
    def of(cls, lists: Iterable[Sequence[int]]) -> Ragged:
        """Lists as they are."""
        values: list[int] = []
        starts = [0]
        for numbers in lists:
            values += numbers
            starts.append(len(values))
        return cls(np.array(values, np.int64), np.array(starts, np.int64))

    @classmethod
    def of_one(cls, values: NDArray[np.int64]) -> Ragged:
        """A list of one number for each."""
        return cls(values, np.arange(len(values) + 1))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many numbers each list has, shape (n,)."""
        return np.diff(self.starts)

    def through(self, lists: Ragged) -> Ragged:
        """Each number replaced by the list that has it as its number."""
        lengths = lists.lengths[self.values]
        _, places = ranges(lists.starts[:-1][self.values], lengths)
        return Ragged(lists.values[places], np.append(0, np.cumsum(lengths))[self.starts])

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, at: int) -> NDArray[np.int64]:
        at = range(len(self))[at]
        return self.values[self.starts[at] : self.starts[at + 1]]

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        return map(self.__getitem__, range(len(self)))
