"""Where large arrays are: in memory up to a limit, in files of the cache folder above it."""

from __future__ import annotations

import math
import os
import re
import tempfile
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from chunkers.errors import InputError
from chunkers.lazy import np
from harness.support.data_folders import cache_dir

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_SHARES = 5
"""So many large things may be in memory at once: texts; vectors as the model returned them, scaled,
those of one corpus, and blocks of a search; or, in place of vectors, postings and their rows."""

_BLOCK = 1 << 16  # rows that are worked on at once, at most
_ENOUGH = 512 << 20  # bytes, above which larger blocks are no faster
_LEAST = 64 << 20


@dataclass(frozen=True)
class Space:
    """The memory that texts, vectors, postings and their search may take.

    Attributes:
        limit: Bytes; infinite by default.
    """

    limit: float = math.inf

    @property
    def share(self) -> float:
        """The most bytes that one array, or all texts of a run together, may have in memory."""
        return self.limit / _SHARES

    def empty(self, shape: tuple[int, ...], dtype: Any = "float32") -> NDArray[Any]:
        """An array without values, in memory or in a file that ends with it.

        Raises:
            InputError: There is no room for the file.
        """
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size <= self.share:
            return np.empty(shape, dtype)
        with (
            _room(f"{size:,} bytes", ", or raise --memory") as folder,
            tempfile.TemporaryFile(dir=folder) as file,
        ):
            os.posix_fallocate(file.fileno(), 0, size)  # a full disk is known now
            return np.memmap(file, dtype, "w+", shape=shape)

    def taken(self, vectors: NDArray[np.float32], rows: Sequence[int] | NDArray[np.int64]) -> Any:
        """Some rows of a table, copied block by block; the table itself if they are all."""
        if len(rows) == len(vectors):
            return vectors
        copied = self.empty((len(rows), vectors.shape[1]))
        block = self.rows(vectors.itemsize * max(1, vectors.shape[1]))
        for start in range(0, len(rows), block):
            copied[start : start + block] = vectors[rows[start : start + block]]
        return copied

    def rows(self, row_bytes: int) -> int:
        """Rows of so many bytes that may be worked on at once."""
        limit = min(self.limit, _ENOUGH)
        return int(min(_BLOCK, max(1, limit // (2 * _SHARES * row_bytes))))


class Scratch:
    """Bytes that are written in order and read again, in a file that ends with the object."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def write(self, data: bytes) -> None:
        """Add bytes at the end; the first ones make the file.

        Raises:
            InputError: There is no room for the file.
        """
        with _room("a temporary file") as folder:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 # ends with this
                weakref.finalize(self, self._file.close)
            self._file.write(data)

    def rewind(self) -> None:
        """Read from the first byte on."""
        if self._file is not None:
            with _room("a temporary file"):  # for what is still to be written
                self._file.seek(0)

    def read(self, size: int) -> bytes:
        """The next bytes."""
        return b"" if self._file is None else self._file.read(size)


@contextmanager
def _room(what: str, otherwise: str = "") -> Iterator[Path]:
    """The cache folder, for a file whose errors name it."""
    folder = cache_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    except OSError as error:
        raise InputError(
            f"{folder}: no room for {what} ({error.strerror or error}); "
            f"choose another cache folder{otherwise}"
        ) from error


MEMORY = Space()
"""No limit."""


def parse_space(text: str | None) -> Space:
    """The space of a size such as 500MB or 2G; K, M, G and T are powers of 1,024.

    Raises:
        InputError: It is no size, or less than 64 MB.
    """
    if text is None:
        return MEMORY
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise InputError(f"memory {text!r}: write a size such as 500MB or 2GB")
    size = float(match[1]) * _UNITS[match[2].upper()]
    if size < _LEAST:
        units = [unit for unit in "MG" if match[1] == text and size * _UNITS[unit] >= _LEAST]
        if units:
            sizes = [f"{text}{unit}B" for unit in units]
            raise InputError(f"memory {text!r}: the unit is missing; write {' or '.join(sizes)}")
        raise InputError(f"memory {text!r}: must be at least 64MB")
    return Space(size)
