"""What was made last, up to a size."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The values used last, whose sizes together pass no limit; the very last is always there.

    Args:
        most: The limit, in the unit of the sizes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._values: dict[K, tuple[V, int]] = {}  # the one used last is at the end
        self._last: tuple[K, V] | None = None  # found without a look at the others
        self._lock = Lock()

    def get(self, key: K, size: int, make: Callable[[], V]) -> V:
        """The value of a key, which is made if it is not there."""
        last = self._last
        if last is not None and last[0] is key:
            return last[1]
        with self._lock:
            if (found := self._values.pop(key, None)) is not None:
                self._values[key] = found
                self._last = key, found[0]
                return found[0]
        value = make()
        with self._lock:
            self._last = key, value
            if key not in self._values:  # another thread may have made it
                self._size += size
            self._values[key] = value, size
            while self._size > self._most and len(self._values) > 1:
                self._size -= self._values.pop(next(iter(self._values)))[1]
        return value
