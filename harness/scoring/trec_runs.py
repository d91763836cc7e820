"""TREC's run files, read line by line.

A run is kept as columns, so that ten million rows take about a tenth of the memory of Python
objects; only queries with judgements are kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
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


OUR_TAG = b"chunkmark"
"""The last field of chunkmark's own runs; their ids are percent-encoded."""


@dataclass
class _Columns:
    """The rows of a run in the order of the file.

    `number` has the number of every query that is kept, `query` that of each row's query, `ids` the
    documents, joined, and `end` where each row's document ends.
    """

    number: dict[str, int] = field(default_factory=dict)
    query: array[int] = field(default_factory=lambda: array("q"))
    score: array[float] = field(default_factory=lambda: array("d"))
    line: array[int] = field(default_factory=lambda: array("q"))
    ids: bytearray = field(default_factory=bytearray)
    end: array[int] = field(default_factory=lambda: array("q"))


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
        ids = [self._id(row) for row in rows.tolist()]
        row = dict(zip(ids, scores.tolist(), strict=True))
        if len(row) < len(ids):
            self.repeated[query] = self._repeats(query, ids, rows.tolist())
        return row

    def _id(self, row: int) -> str:
        end = self._columns.end
        raw = self._columns.ids[end[row - 1] if row else 0 : end[row]]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{self._place(row)}: not UTF-8") from None
        return unquote(text) if self._own_format and "%" in text else text

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
    columns = _Columns()
    add_query, add_score = columns.query.append, columns.score.append
    add_line, add_end = columns.line.append, columns.end.append
    ids = columns.ids
    end = 0
    seen: dict[bytes, int | None] = {}
    for number, line in lines:
        fields = line.split(None, 5)
        if len(fields) != 6:
            if not fields or is_comment(line):
                continue
            raise InputError(
                f"{path}, line {number}: {counted(len(fields), 'field')}; a run has query, Q0, "
                "document, rank, score and tag"
            )
        query, _, document, rank, text, tag = fields
        if query.startswith(b"#") and is_comment(line):
            continue
        if b"\r" in tag.rstrip():
            raise InputError(f"{path}, line {number}: holds a carriage return; end lines with LF")
        if len(tag.split()) > 1 and not rank.isdigit():
            raise InputError(
                f"{path}, line {number}: {len(line.split())} fields, and the fourth is not a rank\n"
                "write an id that holds a space percent-encoded"
            )
        if query not in seen:
            name = decode_utf8(query, f"{path}, line {number}")
            name = unquote(name) if own_format else name
            known = columns.number
            kept = wanted is None or name in wanted
            seen[query] = known.setdefault(name, len(known)) if kept else None
        score = _score(text, path, number)
        which = seen[query]
        if which is not None:
            ids += document
            end += len(document)
            add_end(end)
            add_query(which)
            add_score(score)
            add_line(number)
        if not number & 0xFFFF:
            progress(number)
    return Run(path, columns, own_format=own_format), sum(which is None for which in seen.values())


def _score(text: bytes, path: Path, number: int) -> float:
    if b"_" not in text:  # Python takes 1_0 for a number
        try:
            return float(text)
        except ValueError:
            pass
    where = f"{path}, line {number}"
    raise InputError(f"{where}: the score {decode_utf8(text, where)!r:.40} is not a number")
