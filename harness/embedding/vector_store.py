"""The store of vectors: a SQLite file, addressed by content, safe for two processes and a crash."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_SCHEMA = 1
_BATCH = 500  # SQLite's lowest limit of variables in a statement is 999
_TABLES = """
CREATE TABLE IF NOT EXISTS models (
    id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (
    model INTEGER NOT NULL, text BLOB NOT NULL, tokens INTEGER NOT NULL, seconds REAL NOT NULL,
    batch INTEGER NOT NULL, vector BLOB NOT NULL, check_sum INTEGER, PRIMARY KEY (model, text))
    WITHOUT ROWID;
"""
# Earlier releases wrote stores without it, and can read stores with it: the schema is the same.
_ADD_CHECK_SUM = "ALTER TABLE vectors ADD COLUMN check_sum INTEGER"


@dataclass(frozen=True)
class StoredVector:
    """The vector of one text, with its cost.

    Attributes:
        vector: As the model returned it, float32, shape (d,).
        tokens: Tokens of the whole text without special ones, seen or not.
        seconds: Wall time of the text's batch; with fixed shapes the text alone takes as long.
        batch: `seconds / batch` is the text's share of that time.
    """

    vector: NDArray[np.float32]
    tokens: int
    seconds: float
    batch: float = 1


def text_key(text: str) -> bytes:
    """The address of a text: its sha256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class VectorStore:
    """Vectors by model fingerprint and text. The file is opened when it is first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: sqlite3.Connection | None = None

    def open(self) -> None:
        """Open the file, to know early whether it is usable.

        Raises:
            InputError: The file cannot be opened, is damaged, or has another schema.
        """
        if self._opened is not None:
            return
        with self._readable():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self._path, timeout=60, isolation_level=None)
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
        self._opened = db

    @property
    def _db(self) -> sqlite3.Connection:
        self.open()
        return cast("sqlite3.Connection", self._opened)

    def _prepare(self, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version not in (0, _SCHEMA):
            raise InputError(
                f"{self._path}: the store has schema {version}, this release reads {_SCHEMA}; "
                "run `chunkmark cache clear`"
            )
        db.executescript(_TABLES)
        _add_check_sums(db)
        db.execute(f"PRAGMA user_version={_SCHEMA}")

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"{self._path}: the store of vectors cannot be used ({error}); "
                "free the disk, or run `chunkmark cache clear`"
            ) from error

    def close(self) -> None:
        """Close the file."""
        if self._opened is not None:
            self._opened.close()

    def _model(self, fingerprint: str) -> int | None:
        rows = self._db.execute("SELECT id FROM models WHERE fingerprint=?", (fingerprint,))
        row = rows.fetchone()
        return int(row[0]) if row else None

    def get(self, fingerprint: str, keys: Sequence[bytes]) -> dict[bytes, StoredVector]:
        """The stored vectors of a model, by key; keys without one are left out.

        Raises:
            InputError: A vector is damaged.
        """
        vectors: dict[bytes, StoredVector] = {}
        with self._readable():
            model = self._model(fingerprint)
            if model is None:
                return vectors
            for at in range(0, len(keys), _BATCH):
                part = list(keys[at : at + _BATCH])
                marks = ",".join("?" * len(part))
                rows = self._db.execute(
                    "SELECT text, vector, tokens, seconds, batch, check_sum FROM vectors "  # noqa: S608
                    f"WHERE model=? AND text IN ({marks})",
                    (model, *part),
                )
                for text, vector, tokens, seconds, batch, check_sum in rows:
                    if len(vector) % 4 or check_sum not in (None, zlib.crc32(vector)):
                        raise InputError(
                            f"{self._path}: a stored vector is damaged; run `chunkmark cache clear`"
                        )
                    values = np.frombuffer(vector, dtype="<f4").astype(np.float32)
                    vectors[text] = StoredVector(values, tokens, seconds, batch)
        return vectors

    def put(self, fingerprint: str, name: str, rows: Iterable[tuple[bytes, StoredVector]]) -> None:
        """Store rows in one transaction. Rows that are stored already stay as they are."""
        values = []
        for key, row in rows:
            vector = row.vector.astype("<f4").tobytes()
            values.append((key, row.tokens, row.seconds, row.batch, vector, zlib.crc32(vector)))
        with self._readable():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.execute(
                    "INSERT OR IGNORE INTO models(fingerprint, name) VALUES (?, ?)",
                    (fingerprint, name),
                )
                model = self._model(fingerprint)
                self._db.executemany(
                    "INSERT OR IGNORE INTO vectors"
                    "(model, text, tokens, seconds, batch, vector, check_sum) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [(model, *row) for row in values],
                )
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise

    def counts(self) -> list[tuple[str, str, int]]:
        """Name, fingerprint and number of vectors of every model."""
        with self._readable():
            return list(
                self._db.execute(
                    "SELECT name, fingerprint, (SELECT count(*) FROM vectors v WHERE v.model=m.id) "
                    "FROM models m ORDER BY name, fingerprint"
                )
            )


def _add_check_sums(db: sqlite3.Connection) -> None:
    def present() -> bool:
        return "check_sum" in {column[1] for column in db.execute("PRAGMA table_info(vectors)")}

    if present():
        return
    db.execute("BEGIN IMMEDIATE")
    if not present():  # another process may have added it meanwhile
        db.execute(_ADD_CHECK_SUM)
    db.execute("COMMIT")
