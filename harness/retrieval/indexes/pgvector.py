"""Vectors in PostgreSQL with the extension pgvector: `pgvector:DSN`."""

from __future__ import annotations

import hashlib
import weakref
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chunkers.errors import InputError, install_command
from harness.retrieval.options import require_range
from harness.retrieval.vector_index import SPARE, Neighbours, float32_bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SECONDS = 10  # to connect
_WIDEST = {"exact": 16_000, "hnsw": 2_000}  # of pgvector
_SCHEMA = "chunkmark"
_LOCK = 0x63686E6B  # taken while a table is written, so that two processes write it once


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server; its connection is opened when it is first needed.

    Attributes:
        address: Connection string of libpq, or empty for the environment's.
    """

    address: str

    @cached_property
    def connection(self) -> Any:
        """An open connection in which every statement is a transaction.

        Raises:
            InputError: The server does not answer, or has no pgvector.
        """
        import psycopg
        from pgvector.psycopg import register_vector

        try:
            connection = psycopg.connect(
                self.address,
                autocommit=True,
                connect_timeout=_SECONDS,
                application_name="chunkmark",
            )
        except psycopg.Error as error:
            raise InputError(
                f"pgvector: no connection ({_line(error)}); write pgvector:DSN, or set "
                "PGHOST and the other variables of libpq"
            ) from None
        weakref.finalize(self, connection.close)
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")
        except psycopg.Error as error:
            raise InputError(f"pgvector: the server refused: {_line(error)}") from None
        register_vector(connection)
        return connection


@dataclass(frozen=True)
class PgvectorSearch:
    """A table of unit vectors.

    Attributes:
        server: Where it is.
        table: Its name.
        index: The index that stands on the server.
        shape: Number of vectors, and their width.
        nbytes: Size of the table and its indexes, in bytes.
    """

    server: Server
    table: str
    index: Pgvector
    shape: tuple[int, int]
    nbytes: int

    def search(self, queries: NDArray[np.float32], count: int) -> Neighbours:
        """The nearest rows, of all vectors or of those that the graph leads to."""
        exact = self.index.search == "exact"
        count = min(self.shape[0], count + SPARE if exact else self.index.nearest)
        rows = np.full((len(queries), count), -1, dtype=np.int64)
        bounds = np.full(len(queries), -np.inf)
        statement = _sql(
            "SELECT number, vector <#> %s AS distance FROM {} ORDER BY distance LIMIT %s",
            self.table,
        )
        with self.server.connection.transaction():
            if exact:
                self.server.connection.execute("SET LOCAL enable_indexscan = off")
            else:
                effort = max(self.index.effort, self.index.nearest)
                self.server.connection.execute(
                    "SELECT set_config('hnsw.ef_search', %s, true)", (str(effort),)
                )
                self.server.connection.execute("SET LOCAL enable_seqscan = off")
            for at, query in enumerate(queries):
                found = self.server.connection.execute(statement, (query, count)).fetchall()
                rows[at, : len(found)] = [number for number, _ in found]
                if exact and count < self.shape[0]:
                    bounds[at] = -found[-1][1]
        return Neighbours(rows, float32_bound(bounds, self.shape[1]))


@dataclass(frozen=True)
class Pgvector:
    """The index `pgvector`."""

    server: Server
    search: Literal["exact", "hnsw"]
    links: int
    construction: int
    effort: int
    nearest: int

    @property
    def version(self) -> str:
        """Of the graph, which depends on the version of pgvector; empty for an exact search."""
        if self.search == "exact":
            return ""
        row = self.server.connection.execute(
            "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        ).fetchone()
        return f"1 (pgvector {row[0]})"

    def build(self, rows: NDArray[np.float32]) -> PgvectorSearch:
        """Write the vectors to a table, unless an earlier run wrote it.

        Raises:
            InputError: The vectors are too wide for pgvector, or the server refused.
        """
        import psycopg

        if rows.shape[1] > _WIDEST[self.search]:
            raise InputError(
                f"index pgvector: a vector has {rows.shape[1]} components, and pgvector takes "
                f"{_WIDEST[self.search]} with search={self.search}; choose --index flat"
            )
        table = self._table(rows)
        try:
            with self.server.connection.transaction():
                self.server.connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                name = f"{_SCHEMA}.{table}"
                if not self._value("SELECT to_regclass(%s) IS NOT NULL", name):
                    self._write(table, rows)
            size = self._value("SELECT pg_total_relation_size(%s::regclass)", name)
        except psycopg.Error as error:
            raise InputError(f"index pgvector: the server refused: {_line(error)}") from None
        return PgvectorSearch(self.server, table, self, (len(rows), rows.shape[1]), int(size))

    def _table(self, rows: NDArray[np.float32]) -> str:
        """The name of the table of these vectors and this index."""
        graph = () if self.search == "exact" else (self.links, self.construction)
        digest = hashlib.sha256(f"{rows.shape} {graph}".encode())
        digest.update(np.ascontiguousarray(rows, dtype="<f4").data)
        return f"vectors_{digest.hexdigest()[:32]}"

    def _value(self, statement: str, *values: object) -> Any:
        return self.server.connection.execute(statement, values).fetchone()[0]

    def _write(self, table: str, rows: NDArray[np.float32]) -> None:
        connection = self.server.connection
        columns = f"(number integer PRIMARY KEY, vector vector({rows.shape[1]}))"
        connection.execute(_sql(f"CREATE TABLE {{}} {columns}", table))
        copying = _sql("COPY {} FROM STDIN (FORMAT BINARY)", table)
        with connection.cursor() as cursor, cursor.copy(copying) as copy:
            copy.set_types(["int4", "vector"])
            for number, row in enumerate(rows):
                copy.write_row((number, row))
        if self.search == "hnsw":
            connection.execute("SET LOCAL max_parallel_maintenance_workers = 0")
            options = f"m = {self.links}, ef_construction = {self.construction}"
            graph = f"CREATE INDEX ON {{}} USING hnsw (vector vector_ip_ops) WITH ({options})"
            connection.execute(_sql(graph, table))


def make(
    *,
    argument: str = "",
    search: Literal["exact", "hnsw"] = "exact",
    links: int = 16,
    construction: int = 64,
    effort: int = 40,
    nearest: int = 100,
) -> Pgvector:
    """Vectors in a table of the schema `chunkmark`, named by their content and used again.

    Source: https://github.com/pgvector/pgvector

    Args:
        argument: Connection string of libpq, such as postgresql://user@host/database; without it,
            the environment's. It is stored nowhere.
        search: `exact` compares all vectors, `hnsw` follows a graph. The server draws the graph at
            random, so two builds can differ.
        links: Links of a vector in each layer of the graph, called m.
        construction: Candidates while the graph is built, called ef_construction.
        effort: Candidates while it is searched, called ef_search; at least `nearest`.
        nearest: Vectors that a search of the graph returns. Chunks without one of them are not
            ranked.

    Raises:
        InputError: The packages are missing, or the server does not answer or has no pgvector.
    """
    require_range("pgvector: links", links, 2, 100)
    require_range("pgvector: construction", construction, 4, 1000)
    require_range("pgvector: effort", effort, 1, 1000)
    require_range("pgvector: nearest", nearest, 1, 1000)
    try:
        import pgvector.psycopg  # noqa: F401
    except ImportError:
        raise InputError(
            f"pgvector: the package is not installed; {install_command('pgvector')}"
        ) from None
    server = Server(argument)
    _ = server.connection  # a server that does not answer is refused before any work
    return Pgvector(server, search, links, construction, effort, nearest)


def _sql(statement: str, table: str) -> Any:
    """A statement on a table of the schema."""
    from psycopg import sql

    return sql.SQL(statement).format(sql.Identifier(_SCHEMA, table))


def _line(error: Exception) -> str:
    """The first line of an error of the server."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
