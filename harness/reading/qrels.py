"""Judgements of documents, in TREC's qrels and in BEIR's tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chunkers.errors import InputError
from harness.support.json_files import decode_utf8, finite_number
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

QUERY_COLUMNS = ("query_id", "query-id", "queryid", "qid", "query")
"""Names of the column that holds the query, by which the heading of a table is known.

Of several the first here is it: beside an id, `query` is the text.
"""

_DOCUMENT_COLUMNS = (
    "corpus-id", "corpus_id", "doc-id", "doc_id", "docid", "docno", "document_id", "document",
)  # fmt: skip
_GRADE_COLUMNS = ("score", "grade", "relevance", "rel", "label")

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
    return collect_qrels(_judgements(path, lines, layout))


def collect_qrels(judgements: Iterable[tuple[str, str, str, float]]) -> Qrels:
    """Judgements by query.

    Args:
        judgements: The place of each, for messages, its query, document and grade.

    Raises:
        InputError: A document has two different grades for a query.
    """
    grades: dict[str, dict[str, float]] = {}
    repeated = 0
    for where, query, document, grade in judgements:
        row = grades.setdefault(query, {})
        repeated += document in row
        if row.setdefault(document, grade) != grade:
            raise InputError(
                f"{where}: {query} and {document} have the grade {grade:g}, "
                f"but {row[document]:g} in an earlier line\nremove one of the two lines"
            )
    return Qrels(grades, repeated)


def _judgements(
    path: Path, lines: Iterable[tuple[int, bytes]], layout: Layout
) -> Iterator[tuple[str, str, str, float]]:
    values: dict[str, float] = {}
    first = True
    columns, count = (0, -2, -1), 4 if layout == "trec" else 3
    prefix = f"{path}, line "
    for number, line in lines:
        if not line.strip() or is_comment(line):
            continue
        where = f"{prefix}{number}"
        fields = _fields(line, where, layout)
        heading = first and layout != "trec" and _is_heading(fields)
        first = False
        if heading:
            columns, count = _columns(fields), len(fields)
            continue
        if len(fields) != count:
            size = counted(len(fields), "field")
            raise InputError(f"{where}: {size}; judgements have {_FIELDS[layout]}")
        query, document, text = (fields[column] for column in columns)
        if text not in values:
            values[text] = _grade(text, where)
        yield where, query, document, values[text]


def is_comment(line: bytes) -> bool:
    """Whether a line is a comment, as in trec_eval: it begins with `#` and has no tabs."""
    return line.startswith(b"#") and b"\t" not in line


def _fields(line: bytes, where: str, layout: Layout) -> list[str]:
    if layout == "beir" or (layout == "columns" and b"\t" in line):
        raw = line.rstrip(b"\r\n").split(b"\t")
    else:
        raw = line.split()  # at ASCII white space alone: others may be in an id
    # A line feed, which no field holds, between them.
    fields = decode_utf8(b"\n".join(raw), where).split("\n")
    fields[-1] = fields[-1].strip()
    return fields


def _is_heading(fields: list[str]) -> bool:
    names = {field.strip().lower() for field in fields}
    try:
        float(fields[-1])
    except ValueError:
        return not names.isdisjoint(QUERY_COLUMNS)
    return False


def _columns(heading: list[str]) -> tuple[int, int, int]:
    """The columns of query, document and grade, by name; first, last but one and last without."""
    names = [name.strip().lower() for name in heading]

    def column(known: tuple[str, ...], default: int) -> int:
        return next((names.index(name) for name in known if name in names), default)

    return column(QUERY_COLUMNS, 0), column(_DOCUMENT_COLUMNS, -2), column(_GRADE_COLUMNS, -1)


def _grade(text: str, where: str) -> float:
    if not _GRADE.fullmatch(text):
        advice = "a line has query, 0, document and grade"
        if re.fullmatch(r"[-+]?[0-9]*\.[0-9]+", text):
            advice = "`chunkmark score` reads fractions from qrels in JSON"
        raise InputError(f"{where}: the grade {text!r:.40} is not a whole number\n{advice}")
    return finite_number(float(text), f"{where}: the grade")
