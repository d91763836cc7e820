"""TREC's run and qrels files, and BEIR's tables of judgements, read line by line.

A run is kept as columns, so that ten million rows take about a tenth of what Python objects
would; only queries that are judged are kept at all.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from chunkers.errors import InputError
from harness.runs.record import encode_id
from harness.scoring.formats import MOST_QUERIES, QUERY_COLUMNS
from harness.support.json_files import decode_utf8, finite_number, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence
    from pathlib import Path


OUR_TAG = b"chunkmark"
"""What the last field of our own runs says; their ids are percent-encoded."""

_GRADE = re.compile(r"[+-]?[0-9]{1,15}(\.0*)?")


@dataclass
class _Columns:
    """The rows of a run in the order of the file.

    Attributes:
        number: Number of every query that is kept.
        query: Number of each row's query.
        score: Its score.
        line: Its line.
        ids: The documents, one behind the other.
        end: Where each row's document ends.
    """

    number: dict[str, int] = field(default_factory=dict)
    query: array[int] = field(default_factory=lambda: array("q"))
    score: array[float] = field(default_factory=lambda: array("d"))
    line: array[int] = field(default_factory=lambda: array("q"))
    ids: bytearray = field(default_factory=bytearray)
    end: array[int] = field(default_factory=lambda: array("q"))


class Run(Mapping[str, Mapping[str, float]]):
    """A run: query id -> document id -> score, in the order of the file.

    The rows of a query become a dictionary only when they are asked for, and are checked then:
    InputError for a score that is not finite, an id that is no UTF-8, and a document that stands
    twice with different scores.

    Attributes:
        repeated: Rows that repeat another, by query, for the queries asked for so far.
    """

    def __init__(self, path: Path, columns: _Columns, *, ours: bool) -> None:
        self._path = path
        self._ours = ours
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
        made = dict(zip(ids, scores.tolist(), strict=True))
        if len(made) < len(ids):
            self.repeated[query] = self._repeats(query, ids, rows.tolist())
        return made

    def _id(self, row: int) -> str:
        end = self._columns.end
        raw = self._columns.ids[end[row - 1] if row else 0 : end[row]]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{self._place(row)}: not UTF-8") from None
        return unquote(text) if self._ours and "%" in text else text

    def _place(self, row: int) -> str:
        return f"{self._path}, line {self._columns.line[row]}"

    def _repeats(self, query: str, ids: Sequence[str], rows: Sequence[int]) -> int:
        first: dict[str, int] = {}
        for row, one in zip(rows, ids, strict=True):
            known = first.setdefault(one, row)
            if self._columns.score[known] != self._columns.score[row]:
                raise InputError(
                    f"{self._place(row)}: query {query} has {one} already at line "
                    f"{self._columns.line[known]}, with another score"
                )
        return len(ids) - len(first)


def is_ours(path: Path) -> bool:
    """Whether the first row of a run carries our own tag."""
    for _, line in numbered_lines(path):
        if line.strip():
            return line.split()[-1] == OUR_TAG
    return False


def read_run(
    path: Path,
    wanted: Container[str] | None,
    *,
    ours: bool,
    tell: Callable[[int], None] = lambda lines: None,
) -> tuple[Run, int]:
    """Read a TREC run: query, Q0, document, rank, score, tag. The rank column is not looked at.

    Args:
        path: The file.
        wanted: Queries to keep; None for all.
        ours: Whether ids are percent-encoded.
        tell: Told now and then how many lines are read.

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
    for number, line in numbered_lines(path):
        fields = line.split()
        if len(fields) != 6:
            if not fields:
                continue
            raise InputError(
                f"{path}, line {number}: {len(fields)} fields; a run has query, Q0, document, "
                "rank, score and tag\nwrite an id that holds a space percent-encoded"
            )
        query, _, document, _, text, _ = fields
        if query not in seen:
            name = decode_utf8(query, f"{path}, line {number}")
            name = unquote(name) if ours else name
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
            tell(number)
    return Run(path, columns, ours=ours), sum(which is None for which in seen.values())


def _score(text: bytes, path: Path, number: int) -> float:
    if b"_" not in text:  # Python takes 1_0 for a number
        try:
            return float(text)
        except ValueError:
            pass
    where = f"{path}, line {number}"
    raise InputError(f"{where}: the score {decode_utf8(text, where)!r:.40} is no number")


@dataclass(frozen=True)
class Judgements:
    """Grades: query id -> document id -> grade, and how many rows repeated another."""

    grades: dict[str, dict[str, float]]
    repeated: int = 0


def read_qrels(path: Path, *, table: bool, ours: bool | None) -> Judgements:
    """Read TREC's qrels: query, iteration, document, grade; or BEIR's, without the iteration.

    Args:
        path: The file.
        table: Whether it is a table; a line with the names of the columns may stand first.
        ours: Whether ids are percent-encoded; None: where our own encoding could have made every
            id that holds `%`.

    Raises:
        InputError: A damaged line, by its number, or a document with two different grades.
    """
    grades: dict[str, dict[str, float]] = {}
    values: dict[str, float] = {}
    repeated = 0
    header = table
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        query, document, grade = _fields(decode_utf8(line, where), where, table=table)
        if header:
            header = False
            if query.strip().lower() in QUERY_COLUMNS:
                continue
        if grade not in values:
            values[grade] = _grade(grade, where)
        row = grades.setdefault(query, {})
        if len(grades) > MOST_QUERIES:
            raise InputError(f"{where}: over {MOST_QUERIES:,} queries; score them in parts")
        if document not in row:
            row[document] = values[grade]
            continue
        repeated += 1
        if row[document] != values[grade]:
            raise InputError(
                f"{where}: query {query} and {document} have the grade {values[grade]:g}, "
                f"but {row[document]:g} in a line before"
            )
    if ours or (ours is None and _all_encoded(grades)):
        grades = {
            unquote(query): {unquote(one): grade for one, grade in row.items()}
            for query, row in grades.items()
        }
    return Judgements(grades, repeated)


def _fields(line: str, where: str, *, table: bool) -> tuple[str, str, str]:
    if table:
        fields = line.rstrip("\r\n").split("\t") if "\t" in line else line.split()
        if len(fields) == 3:
            return fields[0], fields[1], fields[2].strip()
        needs = "query id, document id and grade, between tabs"
    else:
        fields = line.split()
        if len(fields) == 4:
            return fields[0], fields[2], fields[3]
        needs = "query, iteration, document and grade"
    raise InputError(f"{where}: {len(fields)} fields; judgements have {needs}")


def _grade(text: str, where: str) -> float:
    if not _GRADE.fullmatch(text):
        raise InputError(
            f"{where}: the grade {text!r:.40} is no whole number\nqrels in JSON may hold fractions"
        )
    return finite_number(float(text), f"{where}: the grade")


def _all_encoded(grades: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether our own encoding could have made every id that holds `%`."""
    ids = (one for query, row in grades.items() for one in (query, *row))
    return all(encode_id(unquote(one)) == one for one in ids if "%" in one)
