"""Judgements of documents, in TREC's qrels and in BEIR's tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chunkers.errors import InputError
from harness.support.json_files import decode_utf8, finite_number

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

QUERY_COLUMNS = frozenset({"query_id", "query-id", "queryid", "qid", "query"})
"""Names of the column that holds the query, by which the heading of a table is known."""

Layout = Literal["trec", "beir", "columns"]
"""`trec`: query, iteration, document, grade. `beir`: query, document, grade between tabs.
`columns`: the same, or between white space in a line without tabs."""

_FIELDS = {
    "trec": "query, iteration, document and grade",
    "beir": "query id, document id and grade between tabs",
    "columns": "query id, document id and grade between tabs",
}
_GRADE = re.compile(r"[+-]?[0-9]{1,15}(\.0*)?")


@dataclass(frozen=True)
class Qrels:
    """Grades: query id -> document id -> grade, and the number of rows that repeat another."""

    grades: dict[str, dict[str, float]]
    repeated: int = 0


def read_qrels(path: Path, lines: Iterable[tuple[int, bytes]], layout: Layout) -> Qrels:
    """Read judgements.

    Args:
        path: The file, for messages.
        lines: Its lines with their numbers.
        layout: The fields of a line. All but `trec` may have a heading: a first line whose first
            field names a column, and whose last is not a grade.

    Raises:
        InputError: A damaged line, by its number, or a document with two different grades.
    """
    grades: dict[str, dict[str, float]] = {}
    values: dict[str, float] = {}
    repeated = 0
    first = True
    for number, line in lines:
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        query, document, text = _fields(decode_utf8(line, where), where, layout)
        heading = first and layout != "trec" and query.strip().lower() in QUERY_COLUMNS
        first = False
        if heading and not _GRADE.fullmatch(text):
            continue
        if text not in values:
            values[text] = _grade(text, where)
        grade, row = values[text], grades.setdefault(query, {})
        if document in row:
            repeated += 1
        if row.setdefault(document, grade) != grade:
            raise InputError(
                f"{where}: {query} and {document} have the grade {grade:g}, "
                f"but {row[document]:g} in an earlier line"
            )
    return Qrels(grades, repeated)


def _fields(line: str, where: str, layout: Layout) -> tuple[str, str, str]:
    if layout == "beir" or (layout == "columns" and "\t" in line):
        fields = line.rstrip("\r\n").split("\t")
    else:
        fields = line.split()
    if len(fields) != (4 if layout == "trec" else 3):
        raise InputError(f"{where}: {len(fields)} fields; judgements have {_FIELDS[layout]}")
    return fields[0], fields[-2], fields[-1].strip()


def _grade(text: str, where: str) -> float:
    if not _GRADE.fullmatch(text):
        raise InputError(
            f"{where}: the grade {text!r:.40} is not a whole number\n"
            "`chunkmark score` reads fractions from qrels in JSON"
        )
    return finite_number(float(text), f"{where}: the grade")
