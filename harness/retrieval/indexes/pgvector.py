"""Vectors in PostgreSQL with the extension pgvector: `pgvector:DSN`."""

from __future__ import annotations

import hashlib
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chunkers.errors import InputError, install_command
from harness.retrieval.options import require_range
from harness.retrieval.vector_index import SPARE, Neighbours, float32_bound
from harness.support.wording import last_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_SECONDS = 10  # to connect
_WIDEST = {"exact": 16_000, "hnsw": 2_000}  # of pgvector
_SCHEMA = "chunkmark"
_LOCK = 0x63686E6B  # taken while a table is written, so that two processes write it once


class Server:
    """A PostgreSQL server with pgvector.

    Args:
        address: Connection string of libpq, or empty for the environment's.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._opened: Any = None

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A connection inside of a transaction; it is opened, again if it was lost, when needed.

        Raises:
            InputError: The server does not answer, has no pgvector, or refused a statement.
        """
        import psycopg

        try:
            if self._opened is None or self._opened.closed:
                self._opened = self._connect()
            with self._opened.transaction():
                yield self._opened
        except psycopg.Error as error:
            raise InputError(f"pgvector: the server refused: {last_line(error)}") from None

    def _connect(self) -> Any:
        import psycopg
        from pgvector.psycopg import register_vector

        try:
            connection = psycopg.connect(
                self._address,
                autocommit=True,
                connect_timeout=_SECONDS,
                application_name="chunkmark",
            )
        except psycopg.Error as error:
            raise InputError(
                f"pgvector: no connection ({_refusal(error)}); write "
                "pgvector:postgresql://USER@HOST/DATABASE, or set PGHOST"
            ) from None
        weakref.finalize(self, connection.close)
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        known: Any = connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", (_SCHEMA,))
        if not known.fetchone()[0]:  # a role may write to a schema without the right to make one
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")
        register_vector(connection)
        return connection


@dataclass(frozen=True)
class PgvectorSearch:
    """A table of unit vectors.

    Attributes:
        index: What searches it.
        table: Its name.
        shape: Number of vectors, and their width.
        nbytes: Size of the table and its indexes, in bytes.
    """

    index: Pgvector
    table: str
    shape: tuple[int, int]
    nbytes: int

    def search(self, queries: NDArray[np.float32], count: int) -> Neighbours:
        """The nearest rows, of all vectors or of those that the graph leads to.

        Raises:
            InputError: The server refused, or rows of the table are gone.
        """
        exact = self.index.search == "exact"
        count = min(self.shape[0], count + SPARE if exact else self.index.nearest)
        rows = np.full((len(queries), count), -1, dtype=np.int64)
        bounds = np.full(len(queries), -np.inf)
        statement = _sql(
            "SELECT number, vector <#> %s AS distance FROM {} ORDER BY distance LIMIT %s",
            self.table,
        )
        with self.index.server.transaction() as connection:
            if exact:
                connection.execute("SET LOCAL enable_indexscan = off")
            else:
                effort = str(max(self.index.effort, self.index.nearest))
                connection.execute("SELECT set_config('hnsw.ef_search', %s, true)", (effort,))
                connection.execute("SET LOCAL enable_seqscan = off")
            for at, query in enumerate(queries):
                nearest = connection.execute(statement, (query, count)).fetchall()
                if exact and len(nearest) < count:
                    raise InputError(
                        f"pgvector: rows of {_SCHEMA}.{self.table} are gone; run the command again"
                    )
                rows[at, : len(nearest)] = [number for number, _ in nearest]
                if exact and count < self.shape[0]:
                    bounds[at] = -nearest[-1][1]
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
        with self.server.transaction() as connection:
            extension = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
            return f"1 (pgvector {connection.execute(extension).fetchone()[0]})"

    def build(self, rows: NDArray[np.float32]) -> PgvectorSearch:
        """Write the vectors to a table, unless an earlier run wrote it.

        Raises:
            InputError: The vectors are too wide for pgvector, or the server refused.
        """
        if rows.shape[1] > _WIDEST[self.search]:
            raise InputError(
                f"pgvector: a vector has {rows.shape[1]} components, and pgvector takes "
                f"{_WIDEST[self.search]} with search={self.search}; choose --index flat"
            )
        table = self._table(rows)
        with self.server.transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            if not _is_whole(connection, table, rows.shape):
                connection.execute(_sql("DROP TABLE IF EXISTS {}", table))
                self._write(connection, table, rows)
            name = f"{_SCHEMA}.{table}"
            size = connection.execute("SELECT pg_total_relation_size(%s::regclass)", (name,))
            nbytes = int(size.fetchone()[0])
        return PgvectorSearch(self, table, (len(rows), rows.shape[1]), nbytes)

    def _table(self, rows: NDArray[np.float32]) -> str:
        """The name of the table of these vectors and this index."""
        graph = () if self.search == "exact" else (self.links, self.construction)
        digest = hashlib.sha256(f"{rows.shape} {graph}".encode())
        digest.update(np.ascontiguousarray(rows, dtype="<f4").data)
        return f"vectors_{digest.hexdigest()[:32]}"

    def _write(self, connection: Any, table: str, rows: NDArray[np.float32]) -> None:
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


def _is_whole(connection: Any, table: str, shape: tuple[int, ...]) -> bool:
    """Whether a table is there, with as many vectors of the width as were written to it."""
    name = f"{_SCHEMA}.{table}"
    known = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (name,))
    if not known.fetchone()[0]:
        return False
    facts = "SELECT count(*), min(vector_dims(vector)), max(vector_dims(vector)) FROM {}"
    count, *widths = connection.execute(_sql(facts, table)).fetchone()
    return (count, *widths) == (shape[0], shape[1], shape[1])


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
    with server.transaction():
        pass  # a server that does not answer is refused before any work
    return Pgvector(server, search, links, construction, effort, nearest)


def _sql(statement: str, table: str) -> Any:
    """A statement on a table of the schema."""
    from psycopg import sql

    return sql.SQL(statement).format(sql.Identifier(_SCHEMA, table))


def _refusal(error: Exception) -> str:
    """Why there is no connection, without the address and the hint that libpq adds."""
    lines = [line for line in str(error).splitlines() if not line.strip().startswith("Is the ")]
    reason = last_line(Exception("\n".join(lines)))
    return "no server on this machine" if "on socket" in reason else reason.split(" failed: ")[-1]
