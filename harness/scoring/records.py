"""Records of an outside system: JSON lines, a JSON array, or a table with a heading.

memorybench's EvalResults are taken as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from chunkers.errors import InputError
from harness.reading.qrels import QUERY_COLUMNS
from harness.support.json_files import decode_utf8, parse_json, refuse_repeated_columns
from harness.support.paths import plain_path
from harness.support.rows import MOST, AnyId, Id, Number, Row, key_hints, validated
from harness.support.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


_ALL_LINES = (-(2**62), 2**62)
"""The lines of a file as a whole."""


@dataclass(frozen=True, slots=True)
class Location:
    """A file, or lines of it, both included; `last` is None exactly where `first` is.

    Lines that end before they begin overlap nothing.
    """

    path: str
    first: int | None = None
    last: int | None = None

    @property
    def lines(self) -> tuple[int, int]:
        """First line and the one after the last; all lines of a file without lines."""
        if self.first is None or self.last is None:
            return _ALL_LINES
        return self.first, max(self.first, self.last + 1)

    def shared(self, other: Location) -> int:
        """Number of shared lines."""
        (begin, end), (other_begin, other_end) = self.lines, other.lines
        return max(0, min(end, other_end) - max(begin, other_begin)) * (self.path == other.path)


@dataclass(frozen=True, slots=True)
class RetrievedItem:
    """Something retrieved; each part may be missing."""

    id: str | None = None
    text: str | None = None
    place: Location | None = None


@dataclass(frozen=True)
class QueryRecord:
    """One query.

    Attributes:
        query: Its id.
        where: Its place in a file, for messages.
        items: What was retrieved, in rank order.
        relevant: Ids of what is relevant; empty where the record does not say.
        targets: Locations of what is relevant, with grades above 0.
        expected: The expected answer.
        answer: The answer given.
        correct: Whether it was judged correct.
        k: Where the ranking is cut.
        raw: An EvalResult as written; None for another record.
    """

    query: str
    where: str
    items: tuple[RetrievedItem, ...]
    relevant: frozenset[str] = frozenset()
    targets: tuple[tuple[Location, float], ...] = ()
    expected: str | None = None
    answer: str | None = None
    correct: bool | None = None
    k: int | None = None
    raw: dict[str, Any] | None = None


_Line = Annotated[int, Meta(ge=1)]


class _Item(Row):
    id: Id | None = None
    text: str | None = None
    score: Number | None = None
    path: str | None = None
    start_line: _Line | None = None
    end_line: _Line | None = None


class _Target(Row):
    path: Annotated[str, key_hints("file")]
    start_line: _Line | None = None
    end_line: _Line | None = None
    grade: Annotated[float, Meta(gt=0, le=MOST)] = 1.0


class _Record(Row):
    query_id: Annotated[Id, key_hints("id", "qid", example="q1")]
    retrieved_ids: list[Id] | None = None
    retrieved: list[_Item] | None = None
    relevant_ids: list[Id] | None = None
    targets: list[_Target] | None = None
    expected: str | None = None
    actual: str | None = None
    correct: bool | None = None
    k: Annotated[int, Meta(ge=1)] | None = None


RECORD_KEYS = frozenset(_Record.__struct_fields__)
"""The keys that a record may have."""


def rows_of(document: Any) -> list[Any] | None:
    """The records in a JSON document: an array, one record, or an object with `results`.

    None for anything else, such as a dictionary of rankings.
    """
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        return None
    if any(isinstance(document.get(key), str | int) for key in ("query_id", "itemId")):
        return [document]
    results = document.get("results")
    if isinstance(results, list) and results and all(isinstance(row, dict) for row in results):
        return results
    return None


def from_array(rows: Iterable[Any], path: Path, root: str) -> Iterator[QueryRecord]:
    """The records of a JSON document; `root` is a folder that paths are made relative to, or empty.

    Raises:
        InputError: A damaged record, by its number from 1.
    """
    for number, row in enumerate(rows, 1):
        yield _record(row, f"{path}, record {number}", root)


def from_lines(path: Path, lines: Iterable[tuple[int, bytes]], root: str) -> Iterator[QueryRecord]:
    """The records of a file of JSON lines.

    Raises:
        InputError: A damaged record, by its line.
    """
    for number, line in lines:
        if line.strip():
            where = f"{path}, line {number}"
            yield _record(parse_json(line, where), where, root)


def from_table(path: Path, lines: Iterable[tuple[int, bytes]]) -> Iterator[QueryRecord]:
    """The rows of a table: query_id, retrieved_ids, relevant_ids, k, between tabs.

    Ids in a cell are separated by spaces. Other columns are ignored.

    Raises:
        InputError: A damaged row, by its line, or a header without the columns.
    """
    columns: list[str] = []
    for number, line in lines:
        where = f"{path}, line {number}"
        cells = decode_utf8(line, where).rstrip("\r\n").split("\t")
        if not any(cell.strip() for cell in cells):
            continue
        if not columns:
            columns = [cell.strip().lower() for cell in cells]
            columns[0] = "query_id" if columns[0] in QUERY_COLUMNS else columns[0]
            refuse_repeated_columns(columns, where)
            continue
        if len(cells) != len(columns):
            raise InputError(
                f"{where}: {counted(len(cells), 'cell')}, but the header has {len(columns)}"
            )
        yield _row(dict(zip(columns, cells, strict=True)), where)


def _row(cells: dict[str, str], where: str) -> QueryRecord:
    query = cells["query_id"].strip()
    if not query:
        raise InputError(f"{where}: no query id")
    k = cells.get("k", "").strip()
    if k and not (k.isascii() and k.isdigit() and int(k[:10]) > 0):
        raise InputError(f"{where}: k is {k!r:.40}; it must be a positive whole number")
    return QueryRecord(
        query=query,
        where=where,
        items=tuple(RetrievedItem(id=name) for name in cells.get("retrieved_ids", "").split()),
        relevant=frozenset(cells.get("relevant_ids", "").split()),
        k=int(k[:10]) if k else None,
    )


def _record(row: Any, where: str, root: str) -> QueryRecord:
    if not isinstance(row, dict):
        raise InputError(
            f"{where}: a record must be an object, not {row!r:.40}\n"
            'write {"query_id": "q1", "retrieved_ids": ["d1"]}; rankings and judgements are '
            '{"q1": {"d1": 1}}'
        )
    if "itemId" in row and "query_id" not in row:
        return _from_eval_result(row, where, root)
    found = row.get("retrieved")
    if isinstance(found, list) and found and all(isinstance(one, str) for one in found):
        raise InputError(
            f"{where}: retrieved must be a list of objects; write a list of ids as retrieved_ids"
        )
    record = validated(_Record, row, where)
    if (record.retrieved is None) == (record.retrieved_ids is None):
        both = record.retrieved is not None
        has = "both retrieved and" if both else "neither retrieved nor"
        raise InputError(f"{where}: the record has {has} retrieved_ids; give one of them")
    items = [RetrievedItem(id=name) for name in record.retrieved_ids or ()]
    for item in record.retrieved or ():
        place = None if item.path is None else _location(item, where, root)
        items.append(RetrievedItem(item.id, item.text, place))
    return QueryRecord(
        query=record.query_id,
        where=where,
        items=tuple(items),
        relevant=frozenset(record.relevant_ids or ()),
        targets=tuple(
            (_location(target, where, root), target.grade) for target in record.targets or ()
        ),
        expected=record.expected,
        answer=record.actual,
        correct=record.correct,
        k=record.k,
    )


def _location(row: _Item | _Target, where: str, root: str) -> Location:
    first, last = row.start_line, row.end_line
    if (first is None) != (last is None):
        raise InputError(f"{where}: {row.path} has one of start_line and end_line; give both")
    if first is not None and last is not None and first > last:
        raise InputError(
            f"{where}: lines {first}-{last} of {row.path}: the end is before the start"
        )
    return Location(plain_path(row.path or "", where, root), first, last)


class _Camel(Row, rename="camel"):
    pass


class _Span(_Camel):
    filepath: str | None = None
    file: str | None = None
    start_line: int | None = None
    end_line: int | None = None


class _Context(_Camel):
    id: AnyId | None = None
    content: str | None = None
    metadata: _Span | None = None


class _Metadata(_Camel):
    relevant_ids: list[AnyId] | None = None
    relevant_chunk_ids: list[AnyId] | None = None
    ground_truth_ids: list[AnyId] | None = None
    qrels: list[AnyId] | None = None
    ground_truth: _Span | None = None
    modified_files: list[str] | None = None
    dependency_files: list[str] | None = None
    ground_truth_files: list[str] | None = None


class _EvalResult(_Camel, kw_only=True):
    item_id: Id
    expected: str | None = None
    actual: str | None = None
    correct: bool | None = None
    retrieved_context: list[_Context]
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def _from_eval_result(row: dict[str, Any], where: str, root: str) -> QueryRecord:
    """One EvalResult as a record.

    Its gold is the first that it names: ids, the lines of `groundTruth`, or files. Lines are
    compared as given, whether they count from 0 or from 1; a range that ends before it begins
    overlaps nothing.

    Raises:
        InputError: A field has the wrong type.
    """
    result = validated(_EvalResult, row, where)
    known = result.metadata
    ids = (known.relevant_ids, known.relevant_chunk_ids, known.ground_truth_ids, known.qrels)
    files = known.modified_files or known.dependency_files or known.ground_truth_files or []
    targets = [(Location(_path(file, where, root)), 1.0) for file in files]
    if known.ground_truth is not None and known.ground_truth.file:
        targets = [(_span(known.ground_truth.file, known.ground_truth, where, root), 1.0)]
    return QueryRecord(
        query=result.item_id,
        where=where,
        items=tuple(_context(context, where, root) for context in result.retrieved_context),
        relevant=next(
            filter(None, (frozenset(filter(str.strip, row or ())) for row in ids)), frozenset()
        ),
        targets=tuple(targets),
        expected=result.expected,
        answer=result.actual,
        correct=result.correct,
        raw=row,
    )


def _context(context: _Context, where: str, root: str) -> RetrievedItem:
    at = context.metadata
    place = _span(at.filepath, at, where, root) if at is not None and at.filepath else None
    return RetrievedItem(context.id, context.content, place)


def _span(path: str, lines: _Span, where: str, root: str) -> Location:
    first, last = lines.start_line, lines.end_line
    if first is None or last is None:
        return Location(_path(path, where, root))
    return Location(_path(path, where, root), first, last)


def _path(text: str, where: str, root: str) -> str:
    try:
        return plain_path(text, where, root)
    except InputError:
        return text  # it names no file of a corpus, so it overlaps none
