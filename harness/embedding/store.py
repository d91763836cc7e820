"""The store of vectors: content-addressed, one SQLite file, safe for two processes and a crash."""

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
# Stores of earlier releases lack it, and they read a store that has it: no other schema.
_LATER = "ALTER TABLE vectors ADD COLUMN check_sum INTEGER"


@dataclass(frozen=True)
class Embedded:
    """What the store keeps of one text.

    Attributes:
        vector: As the model gave it, float32, shape (d,).
        tokens: Tokens of the whole text without special ones, seen or not.
        seconds: Wall time of the batch that the text went through: with fixed shapes this is
            what the text alone would have taken.
        batch: `seconds` over it is the text's share of what its batch took.
    """

    vector: NDArray[np.float32]
    tokens: int
    seconds: float
    batch: float = 1


def text_key(text: str) -> bytes:
    """The address of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class VectorStore:
    """Vectors by model fingerprint and text, in a file that is opened when it is first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: sqlite3.Connection | None = None

    def open(self) -> None:
        """Open the file now, so that it is known to be usable; nothing where it is open.

        Raises:
            InputError: It cannot be opened, is damaged, or is of another schema.
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
        _complete(db)
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
        row = self._db.execute("SELECT id FROM models WHERE fingerprint=?", (fingerprint,))
        found = row.fetchone()
        return int(found[0]) if found else None

    def get(self, fingerprint: str, keys: Sequence[bytes]) -> dict[bytes, Embedded]:
        """What is stored of `keys` under a model, by key; absent keys are left out.

        Raises:
            InputError: A vector is damaged.
        """
        found: dict[bytes, Embedded] = {}
        with self._readable():
            model = self._model(fingerprint)
            if model is None:
                return found
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
                    found[text] = Embedded(values, tokens, seconds, batch)
        return found

    def put(self, fingerprint: str, name: str, rows: Iterable[tuple[bytes, Embedded]]) -> None:
        """Store rows in one transaction. A row that is there already stays as it is."""
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


def _complete(db: sqlite3.Connection) -> None:
    if _has_check_sums(db):
        return
    db.execute("BEGIN IMMEDIATE")
    if not _has_check_sums(db):  # another process may have been here
        db.execute(_LATER)
    db.execute("COMMIT")


def _has_check_sums(db: sqlite3.Connection) -> bool:
    columns = db.execute("PRAGMA table_info(vectors)")
    return "check_sum" in {column[1] for column in columns}
