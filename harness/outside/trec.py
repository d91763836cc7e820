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
from harness.outside.shapes import QUERY_COLUMNS, numbered, text_of
from harness.runs.record import encode_id

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from pathlib import Path

OUR_TAG = b"chunkmark"
"""What the last field of our own runs says; their ids are percent-encoded."""

_GRADE = re.compile(r"[+-]?[0-9]{1,15}(\.0*)?")


class _Rows:
    """The rows of one query: ids with a line feed behind each, scores, line numbers."""

    __slots__ = ("ids", "lines", "scores")

    def __init__(self) -> None:
        self.ids = bytearray()
        self.scores = array("d")
        self.lines = array("Q")


@dataclass
class Run(Mapping[str, Mapping[str, float]]):
    """A run: query id -> document id -> score, in the order of the file.

    The rows of a query become a dictionary only when they are asked for, and are checked then:
    InputError for a score that is not finite, an id that is no UTF-8, and a document that stands
    twice with different scores.

    Attributes:
        path: The file.
        ours: Whether ids are decoded.
        rows: By query.
        unjudged: Queries of the file that were not kept.
        repeated: Rows that repeat another, by query, for the queries asked for so far.
    """

    path: Path
    ours: bool
    rows: dict[str, _Rows] = field(default_factory=dict)
    unjudged: int = 0
    repeated: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        """Queries that were kept."""
        return len(self.rows)

    def __iter__(self) -> Iterator[str]:
        """Their ids."""
        return iter(self.rows)

    def __getitem__(self, query: str) -> dict[str, float]:
        """Document id -> score of one query."""
        rows = self.rows[query]
        scores = np.frombuffer(rows.scores, dtype=np.float64)
        if not np.isfinite(scores).all():
            at = int(np.argmin(np.isfinite(scores)))
            raise InputError(
                f"{self.path}, line {rows.lines[at]}: the score is {scores[at]}; "
                "a finite number is needed"
            )
        ids = self._ids(rows)
        made = dict(zip(ids, scores.tolist(), strict=True))
        if len(made) < len(ids):
            self.repeated[query] = self._repeats(query, ids, rows)
        return made

    def _ids(self, rows: _Rows) -> list[str]:
        try:
            ids = rows.ids.decode("utf-8").split("\n")[:-1]
        except UnicodeDecodeError as error:
            at = rows.ids.count(b"\n", 0, error.start)
            raise InputError(f"{self.path}, line {rows.lines[at]}: not UTF-8") from None
        return [unquote(one) if "%" in one else one for one in ids] if self.ours else ids

    def _repeats(self, query: str, ids: list[str], rows: _Rows) -> int:
        first: dict[str, int] = {}
        for at, one in enumerate(ids):
            known = first.setdefault(one, at)
            if rows.scores[known] != rows.scores[at]:
                raise InputError(
                    f"{self.path}, line {rows.lines[at]}: query {query} has {one} already at "
                    f"line {rows.lines[known]}, with another score"
                )
        return len(ids) - len(first)


def is_ours(path: Path) -> bool:
    """Whether the first row of a run carries our own tag."""
    for _, line in numbered(path):
        if line.strip():
            return line.split()[-1] == OUR_TAG
    return False


def read_run(
    path: Path,
    wanted: Container[str],
    *,
    ours: bool,
    tell: Callable[[int], None] = lambda lines: None,
) -> Run:
    """Read a TREC run: query, Q0, document, rank, score, tag. The rank column is not looked at.

    Args:
        path: The file.
        wanted: Queries to keep.
        ours: Whether ids are percent-encoded.
        tell: Told now and then how many lines are read.

    Raises:
        InputError: A damaged line, by its number. See `Run` for what is found later.
    """
    run = Run(path, ours)
    seen: dict[bytes, _Rows | None] = {}
    for number, line in numbered(path):
        fields = line.split()
        if len(fields) != 6:
            if not fields:
                continue
            raise InputError(
                f"{path}, line {number}: {len(fields)} fields; a run has query, Q0, document, "
                "rank, score and tag\nwrite an id that holds a space percent-encoded"
            )
        query, _, document, _, score, _ = fields
        if query not in seen:
            name = _id(query, path, number, ours=ours)
            seen[query] = run.rows.setdefault(name, _Rows()) if name in wanted else None
        try:
            value = float(score)
        except ValueError:
            value = None
        if value is None or b"_" in score:  # Python takes 1_0 for a number
            shown = text_of(score, path, number)
            raise InputError(f"{path}, line {number}: the score {shown!r:.40} is no number")
        rows = seen[query]
        if rows is not None:
            rows.ids += document
            rows.ids += b"\n"
            rows.scores.append(value)
            rows.lines.append(number)
        if not number & 0xFFFF:
            tell(number)
    run.unjudged = sum(rows is None for rows in seen.values())
    return run


def _id(raw: bytes, path: Path, number: int, *, ours: bool) -> str:
    text = text_of(raw, path, number)
    return unquote(text) if ours and "%" in text else text


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
    for number, line in numbered(path):
        if not line.strip():
            continue
        query, document, grade = _fields(text_of(line, path, number), path, number, table=table)
        if header:
            header = False
            if query.strip().lower() in QUERY_COLUMNS:
                continue
        if grade not in values:
            values[grade] = _grade(grade, path, number)
        row = grades.setdefault(query, {})
        if document not in row:
            row[document] = values[grade]
            continue
        repeated += 1
        if row[document] != values[grade]:
            raise InputError(
                f"{path}, line {number}: query {query} and {document} have the grade "
                f"{values[grade]:g}, but {row[document]:g} in a line before"
            )
    if ours or (ours is None and _all_encoded(grades)):
        grades = {
            unquote(query): {unquote(one): grade for one, grade in row.items()}
            for query, row in grades.items()
        }
    return Judgements(grades, repeated)


def _fields(line: str, path: Path, number: int, *, table: bool) -> tuple[str, str, str]:
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
    raise InputError(f"{path}, line {number}: {len(fields)} fields; judgements have {needs}")


def _grade(text: str, path: Path, number: int) -> float:
    if not _GRADE.fullmatch(text):
        raise InputError(
            f"{path}, line {number}: the grade {text!r:.40} is no whole number\n"
            "qrels in JSON may hold fractions"
        )
    return float(text)


def _all_encoded(grades: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether our own encoding could have made every id that holds `%`."""
    ids = (one for query, row in grades.items() for one in (query, *row))
    return all(encode_id(unquote(one)) == one for one in ids if "%" in one)
