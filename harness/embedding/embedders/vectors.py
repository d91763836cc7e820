"""Vectors computed elsewhere: `vectors:FOLDER`. A text without a vector is an error."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chunkers.errors import InputError
from harness.embedding.embedder import EmbedderBase
from harness.embedding.vector_store import StoredVector
from harness.support.files import file_sha256
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from harness.embedding.embedder import Role

_CACHE_FILE = "[0-9a-f][0-9a-f]/*.json"
_CACHE_DIGITS = 16
_BATCH = 1000  # vectors, which may be wide
_TABLE = ("text_sha256.txt", "vectors.npy")
_NEEDED = "give a folder with vectors.npy and text_sha256.txt"


def make(*, argument: str) -> StoredVectors:
    """Stored vectors.

    Args:
        argument: A folder with `vectors.npy` (float32, shape (n, d)) and `text_sha256.txt` (in
            line i the sha256 of the text of row i), or with code-chunk's disk cache: a file
            `xx/<first 16 hexadecimal digits of the text's sha256>.json` for each text.

    Raises:
        InputError: There is no such folder, or it has neither.
    """
    folder = Path(argument).expanduser()
    if all((folder / name).is_file() for name in _TABLE):
        return StoredVectors("vectors", folder, cache=False)
    if next(folder.glob(_CACHE_FILE), None):
        return StoredVectors("vectors", folder, cache=True)
    if not folder.is_dir():
        problem = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"vectors:{argument}: {folder} {problem}; {_NEEDED}")
    raise InputError(f"vectors:{argument}: {folder} has no stored vectors; {_NEEDED}")


@dataclass(frozen=True)
class StoredVectors(EmbedderBase):
    """An embedder that looks vectors up in a folder.

    Attributes:
        name: The spec in canonical form.
        folder: The folder.
        cache: Whether it is code-chunk's disk cache, not a table.
        windows: Long texts are looked up whole.
    """

    name: str
    folder: Path
    cache: bool
    windows: None = None

    @property
    def limit(self) -> None:
        """Unknown: the folder does not say what the model saw."""

    def identity(self, role: Role) -> dict[str, Any]:
        """The hash of the vectors; all roles share them."""
        del role
        return {"vectors": self._digest}

    @cached_property
    def _digest(self) -> str:
        paths = [self.folder / name for name in _TABLE]
        if self.cache:
            paths = sorted(path for path in self.folder.glob(_CACHE_FILE) if path.is_file())
        lines = (f"{path.name}\t{file_sha256(path)}" for path in paths)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Refused: there is no tokenizer.

        Raises:
            InputError: Always.
        """
        raise InputError(f"{self.name} has no tokenizer: choose another size unit than tokens")

    def embed(self, texts: Sequence[str], role: Role) -> Iterator[list[tuple[int, StoredVector]]]:
        """Look all texts up.

        Raises:
            InputError: A text has no vector, or a file is damaged.
        """
        del role
        digests = [
            hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts
        ]
        vectors = self._lookup(digests)
        missing = [n for n, digest in enumerate(digests) if digest not in vectors]
        if missing:
            start = " ".join(texts[missing[0]].split())[:60]
            raise InputError(
                f"{self.name} has no vector for {len(missing)} of {counted(len(texts), 'text')}, "
                f"first for sha256 {digests[missing[0]][:16]}…\nthe text starts: {start!r}"
            )
        pairs = [*enumerate(digests)]
        for at in range(0, len(pairs), _BATCH):
            batch = pairs[at : at + _BATCH]
            yield [(n, StoredVector(vectors[digest], 0, 0.0)) for n, digest in batch]

    def _lookup(self, digests: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        if not self.cache:
            return self._table
        vectors = {}
        for digest in digests:
            path = self.folder / digest[:2] / f"{digest[:_CACHE_DIGITS]}.json"
            if path.is_file():
                vectors[digest] = _float32(path)
        return vectors

    @cached_property
    def _table(self) -> dict[str, NDArray[np.float32]]:
        names = self.folder / "text_sha256.txt"
        digests = names.read_text("ascii", errors="replace").split()
        try:
            rows = np.load(self.folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError(f"{self.folder / 'vectors.npy'} cannot be read: {error}") from error
        if rows.ndim != 2 or rows.dtype != np.float32 or len(rows) != len(digests):
            raise InputError(
                f"{self.folder / 'vectors.npy'} has shape {rows.shape} and type {rows.dtype}; "
                f"{counted(len(digests), 'row is', 'rows are')} needed, of float32"
            )
        return dict(zip(digests, rows, strict=True))


def _float32(path: Path) -> NDArray[np.float32]:
    try:
        wide = np.array(json.loads(path.read_text("utf-8")), dtype=np.float64)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path} is not a vector: {error}") from error
    narrow = wide.astype(np.float32)
    if wide.ndim != 1 or not (narrow.astype(np.float64) == wide).all():
        raise InputError(f"{path} is not a list of float32 numbers")
    return narrow
