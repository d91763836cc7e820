"""The store of vectors: a SQLite file, addressed by content, safe for two processes and a crash."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import warnings
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chunkers.errors import InputError
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_Result = TypeVar("_Result")

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
_SELECT = "SELECT text, vector, tokens, seconds, batch, check_sum FROM vectors"
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# Earlier releases wrote stores without it, and can read stores with it: the schema is the same.
_ADD_CHECK_SUM = "ALTER TABLE vectors ADD COLUMN check_sum INTEGER"


@dataclass(frozen=True)
class StoredVector:
    """The vector of one text, with its cost.

    Attributes:
        vector: As the model returned it, float32, shape (d,).
        tokens: Tokens of the whole text without special ones, seen or not.
        seconds: Wall time that the text takes if it is embedded alone.
        batch: `seconds / batch` is the text's share of the time of its batch.
    """

    vector: NDArray[np.float32]
    tokens: int
    seconds: float
    batch: float = 1


def text_key(text: str) -> bytes:
    """The address of a text: its sha256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class VectorStore:
    """Vectors by model fingerprint and text. The file is opened when it is first needed.

    Of a damaged file the vectors that can be read are moved to a new one, and a warning counts
    them. The damaged file is kept beside it, with `.damaged` added to its name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: sqlite3.Connection | None = None

    def open(self) -> None:
        """Open the file, to know early whether it is usable.

        Raises:
            InputError: The file cannot be opened, or has another schema.
        """
        self._run(lambda db: None)

    def _connect(self) -> sqlite3.Connection:
        if self._opened is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            db = _connection(self._path)
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
            self._opened = db
        return self._opened

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

    def _run(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Do some work on the file; if that is damaged, once more on what is left of it."""
        try:
            try:
                return work(self._connect())
            except sqlite3.DatabaseError as error:
                # The low byte is the kind of an error, the others are its details.
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
                    raise
                self._rebuild()
                return work(self._connect())
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"{self._path}: the store of vectors cannot be used ({error}); "
                "free the disk, or run `chunkmark cache clear`"
            ) from error

    def _rebuild(self) -> None:
        self.close()
        damaged = self._path.with_name(f"{self._path.name}.damaged")
        for suffix in ("", "-wal", "-shm"):
            damaged.with_name(damaged.name + suffix).unlink(missing_ok=True)
            part = self._path.with_name(self._path.name + suffix)
            if part.exists():
                part.replace(damaged.with_name(damaged.name + suffix))
        kept = 0
        with contextlib.closing(_connection(damaged)) as old:
            old.execute("PRAGMA writable_schema=ON")  # else SQLite reads nothing of a cut file
            models, _ = _read(old, "SELECT id, fingerprint, name FROM models")
            for model, fingerprint, name in models:
                rows = map(_checked, _all_rows(old, model))
                whole = {key: vector for key, vector in rows if vector is not None}
                self.put(fingerprint, name, whole.items())
                kept += len(whole)
        warnings.warn(
            f"{self._path}: the store of vectors was damaged; it keeps {counted(kept, 'vector')}, "
            "missing ones are embedded again",
            stacklevel=2,
        )

    def close(self) -> None:
        """Close the file."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def get(self, fingerprint: str, keys: Sequence[bytes]) -> dict[bytes, StoredVector]:
        """The stored vectors of a model, by key; keys without one are left out.

        A vector that differs from its checksum is removed with a warning, and left out.
        """
        return self._run(lambda db: self._get(db, fingerprint, keys))

    def _get(
        self, db: sqlite3.Connection, fingerprint: str, keys: Sequence[bytes]
    ) -> dict[bytes, StoredVector]:
        vectors: dict[bytes, StoredVector] = {}
        model = _model(db, fingerprint)
        damaged = []
        for at in range(0, len(keys) if model is not None else 0, _BATCH):
            part = list(keys[at : at + _BATCH])
            where = f"WHERE model=? AND text IN ({','.join('?' * len(part))})"
            for row in db.execute(f"{_SELECT} {where}", (model, *part)):
                key, vector = _checked(row)
                if vector is None:
                    damaged.append((model, key))
                else:
                    vectors[key] = vector
        if damaged:
            db.executemany("DELETE FROM vectors WHERE model=? AND text=?", damaged)
            warnings.warn(
                f"{self._path}: {counted(len(damaged), 'stored vector')} damaged; embedding again",
                stacklevel=2,
            )
        return vectors

    def width(self, fingerprints: Iterable[str]) -> int | None:
        """The width of the stored vectors of a model; None if there is none.

        Args:
            fingerprints: The model's, one for each role of its texts.
        """

        def query(db: sqlite3.Connection) -> int | None:
            for model in [_model(db, fingerprint) for fingerprint in fingerprints]:
                statement = "SELECT length(vector) / 4 FROM vectors WHERE model=? LIMIT 1"
                for (width,) in db.execute(statement, (model,)):
                    return int(width)
            return None

        return self._run(query)

    def put(self, fingerprint: str, name: str, rows: Iterable[tuple[bytes, StoredVector]]) -> None:
        """Store rows in one transaction. Rows that are stored already stay as they are."""
        values = []
        for key, row in rows:
            vector = row.vector.astype("<f4").tobytes()
            values.append((key, row.tokens, row.seconds, row.batch, vector, zlib.crc32(vector)))

        def insert(db: sqlite3.Connection) -> None:
            db.execute("BEGIN IMMEDIATE")
            try:
                db.execute(
                    "INSERT OR IGNORE INTO models(fingerprint, name) VALUES (?, ?)",
                    (fingerprint, name),
                )
                model = _model(db, fingerprint)
                db.executemany(
                    "INSERT OR IGNORE INTO vectors"
                    "(model, text, tokens, seconds, batch, vector, check_sum) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [(model, *row) for row in values],
                )
                db.execute("COMMIT")
            except BaseException:
                db.execute("ROLLBACK")
                raise

        self._run(insert)

    def counts(self) -> list[tuple[str, str, int]]:
        """Name, fingerprint and number of vectors of every model."""
        statement = (
            "SELECT name, fingerprint, (SELECT count(*) FROM vectors v WHERE v.model=m.id) "
            "FROM models m ORDER BY name, fingerprint"
        )
        return self._run(lambda db: list(db.execute(statement)))

    def remove(self, fingerprints: Iterable[str]) -> None:
        """Remove all vectors of the models with these fingerprints."""

        def delete(db: sqlite3.Connection) -> None:
            for model in [_model(db, fingerprint) for fingerprint in fingerprints]:
                db.execute("DELETE FROM vectors WHERE model=?", (model,))
                db.execute("DELETE FROM models WHERE id=?", (model,))
            db.execute("VACUUM")

        self._run(delete)


def _connection(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=60, isolation_level=None)
    db.text_factory = lambda data: data.decode(errors="replace")  # damage may make any bytes text
    return db


def _model(db: sqlite3.Connection, fingerprint: str) -> int | None:
    row = db.execute("SELECT id FROM models WHERE fingerprint=?", (fingerprint,)).fetchone()
    return int(row[0]) if row else None


def _checked(row: tuple[Any, ...]) -> tuple[bytes, StoredVector | None]:
    """Key and vector of a row; None for a vector that differs from its checksum."""
    key, vector, tokens, seconds, batch, check_sum = row
    if (
        not isinstance(vector, bytes)
        or len(vector) % 4
        or check_sum not in (None, zlib.crc32(vector))
    ):
        return key, None
    values = np.frombuffer(vector, dtype="<f4").astype(np.float32)
    return key, StoredVector(values, tokens, seconds, batch)


def _read(
    db: sqlite3.Connection, statement: str, *values: object
) -> tuple[list[tuple[Any, ...]], bool]:
    """The rows of a statement up to the first that cannot be read, and whether these are all."""
    rows = []
    try:
        for row in db.execute(statement, values):
            rows.append(row)
    except sqlite3.DatabaseError:
        return rows, False
    return rows, True


def _all_rows(
    db: sqlite3.Connection, model: int, low: int = 0, high: int = 0xFFF
) -> Iterator[tuple[Any, ...]]:
    """The rows of a model that can be read, from both sides of every damaged page.

    Args:
        db: A damaged store.
        model: The number of the model in it.
        low: First 12 bits of the lowest address of a text.
        high: Those of the highest.
    """
    ends = ((low << 4).to_bytes(2, "big"), (high << 4 | 15).to_bytes(2, "big") + b"\xff" * 30)
    statement = f"{_SELECT} WHERE model=? AND text BETWEEN ? AND ?"
    rows, whole = _read(db, f"{statement} ORDER BY text", model, *ends)
    if not whole and low < high:
        middle = (low + high) // 2
        yield from _all_rows(db, model, low, middle)
        yield from _all_rows(db, model, middle + 1, high)
        return
    if not whole:
        rows += _read(db, f"{statement} ORDER BY text DESC", model, *ends)[0]
    yield from rows


def _add_check_sums(db: sqlite3.Connection) -> None:
    def present() -> bool:
        return "check_sum" in {column[1] for column in db.execute("PRAGMA table_info(vectors)")}

    if present():
        return
    db.execute("BEGIN IMMEDIATE")
    if not present():  # another process may have added it meanwhile
        db.execute(_ADD_CHECK_SUM)
    db.execute("COMMIT")
