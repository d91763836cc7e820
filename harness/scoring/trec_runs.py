"""TREC's run files, read line by line.

A run is kept as columns, so that ten million rows take about a tenth of the memory of Python
objects; only queries with judgements are kept.
"""

from __future__ import annotations

import contextlib
import itertools
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from chunkers.errors import InputError
from harness.reading.qrels import is_comment
from harness.support.json_files import decode_utf8
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence
    from pathlib import Path

    from harness.support.arrays import Ints

_QUERY, _DOCUMENT, _SCORE = map(itemgetter, (0, 2, 4))
"""Fields of a row."""

_BLOCK = 1 << 8
"""Lines that are read at a time: so few that they are gone before the garbage collector runs."""

OUR_TAG = b"chunkmark"
"""The last field of chunkmark's own runs; their ids are percent-encoded."""


@dataclass
class _Columns:
    """The rows of a run in the order of the file.

    `number` has the number of every query that is kept, `query` that of each row's query, and `ids`
    the documents, each with a line feed after it.
    """

    number: dict[str, int] = field(default_factory=dict)
    query: array[int] = field(default_factory=lambda: array("q"))
    score: array[float] = field(default_factory=lambda: array("d"))
    line: array[int] = field(default_factory=lambda: array("q"))
    ids: bytearray = field(default_factory=bytearray)


class Run(Mapping[str, Mapping[str, float]]):
    """A run: query id -> document id -> score, in the order of the file.

    The rows of a query become a dictionary on access, and are checked then: InputError for a score
    that is not finite, an id that is not UTF-8, and a document with two different scores.

    Attributes:
        repeated: Rows that repeat another, by query, for the queries accessed so far.
    """

    def __init__(self, path: Path, columns: _Columns, *, own_format: bool) -> None:
        self._path = path
        self._own_format = own_format
        self._columns = columns
        query = np.frombuffer(columns.query, dtype=np.int64)
        self._order = np.argsort(query, kind="stable")
        counts = np.bincount(query, minlength=len(columns.number))
        # Where each row's document ends, from the end of none before the first.
        feeds = np.frombuffer(columns.ids, dtype=np.uint8) == ord("\n")
        self._ends = np.concatenate(([0], np.flatnonzero(feeds) + 1))
        self._bounds = np.concatenate(([0], np.cumsum(counts)))
        self.repeated: dict[str, int] = {}

    def __len__(self) -> int:
        """Queries that were kept."""
        return len(self._columns.number)

    def __iter__(self) -> Iterator[str]:
        """Their ids."""
        return iter(self._columns.number)

    def __contains__(self, query: object) -> bool:
        """Whether a query was kept."""
        return query in self._columns.number

    def __getitem__(self, query: str) -> dict[str, float]:
        """Document id -> score of one query."""
        number = self._columns.number[query]
        rows = self._order[self._bounds[number] : self._bounds[number + 1]]
        scores = np.frombuffer(self._columns.score, dtype=np.float64)[rows]
        if not np.isfinite(scores).all():
            at = int(np.argmin(np.isfinite(scores)))
            raise InputError(f"{self._place(rows[at])}: the score is {scores[at]}, not finite")
        ids = self._ids(rows)
        row = dict(zip(ids, scores.tolist(), strict=True))
        if len(row) < len(ids):
            self.repeated[query] = self._repeats(query, ids, rows.tolist())
        return row

    def _ids(self, rows: Ints) -> list[str]:
        if rows[-1] - rows[0] >= len(rows):  # rows of other queries are between them
            return [name for row in rows for name in self._ids(row[None])]
        raw = self._columns.ids[self._ends[rows[0]] : self._ends[rows[-1] + 1]]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            damaged = rows[raw[: error.start].count(b"\n")]
            raise InputError(f"{self._place(damaged)}: not UTF-8; save it as UTF-8") from None
        ids = text.split("\n")[:-1]
        return [unquote(name) for name in ids] if self._own_format and "%" in text else ids

    def _place(self, row: int) -> str:
        return f"{self._path}, line {self._columns.line[row]}"

    def _repeats(self, query: str, ids: Sequence[str], rows: Sequence[int]) -> int:
        first: dict[str, int] = {}
        for row, name in zip(rows, ids, strict=True):
            known = first.setdefault(name, row)
            if self._columns.score[known] != self._columns.score[row]:
                raise InputError(
                    f"{self._place(row)}: query {query} has {name} already at line "
                    f"{self._columns.line[known]}, with another score\nremove one of the two lines"
                )
        return len(ids) - len(first)


def read_run(
    path: Path,
    lines: Iterable[tuple[int, bytes]],
    wanted: Container[str] | None,
    *,
    own_format: bool,
    progress: Callable[[int], None] = lambda lines: None,
) -> tuple[Run, int]:
    """Read a TREC run: query, Q0, document, rank, score, tag. The rank is ignored.

    A tag may have spaces; an id that has some is percent-encoded. Comments are passed over.

    Queries of `wanted` are kept, or all. `own_format` says that ids are percent-encoded.
    `progress` is called now and then with the number of lines read.

    Returns:
        The run, and how many queries of the file were not kept.

    Raises:
        InputError: A damaged line, by its number. See `Run` for what is found later.
    """
    reader = _Reader(path, wanted, own_format=own_format)
    read = 0
    while block := list(itertools.islice(lines, _BLOCK)):
        numbers: Sequence[int] = range(block[0][0], block[-1][0] + 1)
        rows = [text.split() for _, text in block]
        # Most blocks are regular, and need no look at each line.
        if not {6}.issuperset(map(len, rows)) or _begins_a_comment(rows):
            rows = [_fields(text, f"{path}, line {number}") for number, text in block]
            numbers = [number for number, row in zip(numbers, rows, strict=True) if row]
            rows = [row for row in rows if row]
        if rows:
            reader.add(numbers, rows)
        read += len(block)
        if not read & 0xFFFF:
            progress(read)
    return reader.run()


def _begins_a_comment(rows: Sequence[Sequence[bytes]]) -> bool:
    return any(query.startswith(b"#") for query in set(map(_QUERY, rows)))


class _Reader:
    """Collects the rows of a run."""

    def __init__(self, path: Path, wanted: Container[str] | None, *, own_format: bool) -> None:
        self._path, self._wanted, self._own_format = path, wanted, own_format
        self._columns = _Columns()
        self._numbers: dict[bytes, int] = {}  # -1 for a query that is not kept

    def add(self, lines: Sequence[int], rows: Sequence[Sequence[bytes]]) -> None:
        """Add rows of six fields, with the numbers of their lines."""
        queries = list(map(_QUERY, rows))
        documents, texts = list(map(_DOCUMENT, rows)), list(map(_SCORE, rows))
        if not self._numbers.keys() >= set(queries):
            for query, line in zip(queries, lines, strict=True):
                if query not in self._numbers:
                    self._numbers[query] = self._number(query, line)
        numbers = list(map(self._numbers.__getitem__, queries))
        scores = _scores(texts, lines, self._path)
        if min(numbers) < 0:
            kept = [number >= 0 for number in numbers]
            numbers = list(itertools.compress(numbers, kept))
            lines = list(itertools.compress(lines, kept))
            scores = list(itertools.compress(scores, kept))
            documents = list(itertools.compress(documents, kept))
        columns = self._columns
        columns.query.extend(numbers)
        columns.score.extend(scores)
        columns.line.extend(lines)
        columns.ids += b"\n".join((*documents, b""))

    def _number(self, query: bytes, line: int) -> int:
        name = decode_utf8(query, f"{self._path}, line {line}")
        name = unquote(name) if self._own_format else name
        if self._wanted is not None and name not in self._wanted:
            return -1
        return self._columns.number.setdefault(name, len(self._columns.number))

    def run(self) -> tuple[Run, int]:
        """The run, and the number of queries that were not kept."""
        run = Run(self._path, self._columns, own_format=self._own_format)
        return run, sum(number < 0 for number in self._numbers.values())


def _fields(text: bytes, where: str) -> list[bytes]:
    """The six fields of a line; none of a blank line or a comment.

    Raises:
        InputError: The line is damaged.
    """
    fields = text.split(None, 5)
    if not fields or is_comment(text):
        return []
    if len(fields) != 6:
        raise InputError(
            f"{where}: {counted(len(fields), 'field')}; a run has query, Q0, document, rank, score "
            "and tag"
        )
    *_, rank, _, tag = fields
    if b"\r" in tag.rstrip():
        raise InputError(f"{where}: holds a carriage return; end lines with LF")
    if len(tag.split()) > 1 and not rank.isdigit():
        raise InputError(
            f"{where}: {len(text.split())} fields, and the fourth is not a rank\n"
            "write an id that holds a space percent-encoded"
        )
    return fields


def _scores(texts: Sequence[bytes], lines: Sequence[int], path: Path) -> list[float]:
    if b"_" not in b"".join(texts):  # Python takes 1_0 for a number
        with contextlib.suppress(ValueError):
            return list(map(float, texts))
    return [_score(text, path, line) for text, line in zip(texts, lines, strict=True)]


def _score(text: bytes, path: Path, number: int) -> float:
    if b"_" not in text:  # Python takes 1_0 for a number
        try:
            return float(text)
        except ValueError:
            pass
    where = f"{path}, line {number}"
    raise InputError(f"{where}: the score {decode_utf8(text, where)!r:.40} is not a number")
