"""Reads records of an outside system: JSON lines, a JSON array, or a table with a header.

memorybench's EvalResults are taken as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from chunkers.errors import InputError
from harness.scoring.evalresults import from_eval_result
from harness.scoring.formats import QUERY_COLUMNS
from harness.scoring.values import Item, Place, Record
from harness.support.json_files import (
    Id,
    StrictModel,
    decode_utf8,
    numbered_lines,
    parse_json,
    refuse_repeated_columns,
    validated,
)
from harness.support.paths import plain_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


_Line = Annotated[int, Field(ge=1)]


class _Item(StrictModel):
    id: Id | None = None
    text: str | None = None
    score: float | None = None
    path: str | None = None
    start_line: _Line | None = None
    end_line: _Line | None = None


class _Target(StrictModel):
    path: str
    start_line: _Line | None = None
    end_line: _Line | None = None
    grade: Annotated[float, Field(gt=0)] = 1.0


class _Record(StrictModel):
    query_id: Id
    retrieved_ids: list[Id] | None = None
    retrieved: list[_Item] | None = None
    relevant_ids: list[Id] | None = None
    targets: list[_Target] | None = None
    expected: str | None = None
    actual: str | None = None
    correct: bool | None = None
    k: Annotated[int, Field(ge=1)] | None = None


def rows_of(document: Any) -> list[Any] | None:
    """The records in a JSON document: an array, one record, or an object with `results`.

    None where it is something else, such as a dictionary of rankings.
    """
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        return None
    if any(isinstance(document.get(key), str | int) for key in ("query_id", "itemId")):
        return [document]
    results = document.get("results")
    if isinstance(results, list) and results and all(isinstance(one, dict) for one in results):
        return results
    return None


def from_array(rows: Iterable[Any], path: Path, root: str) -> Iterator[Record]:
    """The records of a JSON document.

    Args:
        rows: From `rows_of`.
        path: The file, for messages.
        root: Below which paths are made relative, or nothing.

    Raises:
        InputError: A damaged record, by its number from 1.
    """
    for number, row in enumerate(rows, 1):
        yield _record(row, f"{path}, record {number}", root)


def from_lines(path: Path, root: str) -> Iterator[Record]:
    """The records of a file of JSON lines.

    Raises:
        InputError: A damaged record, by its line.
    """
    for number, line in numbered_lines(path):
        if line.strip():
            where = f"{path}, line {number}"
            yield _record(parse_json(line, where), where, root)


def from_table(path: Path) -> Iterator[Record]:
    """The rows of a table: query_id, retrieved_ids, relevant_ids, k, between tabs.

    Ids in a cell are separated by spaces. Other columns are not looked at.

    Raises:
        InputError: A damaged row, by its line, or a header without the columns.
    """
    columns: list[str] = []
    for number, line in numbered_lines(path):
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
            raise InputError(f"{where}: {len(cells)} cells, but the header has {len(columns)}")
        yield _row(dict(zip(columns, cells, strict=True)), where)


def _row(cells: dict[str, str], where: str) -> Record:
    query = cells["query_id"].strip()
    if not query:
        raise InputError(f"{where}: no query id")
    k = cells.get("k", "").strip()
    if k and not (k.isascii() and k.isdigit() and int(k[:10]) > 0):
        raise InputError(f"{where}: k is {k!r:.40}; a positive whole number is needed")
    return Record(
        query=query,
        where=where,
        items=tuple(Item(id=one) for one in cells.get("retrieved_ids", "").split()),
        relevant=frozenset(cells.get("relevant_ids", "").split()),
        k=int(k[:10]) if k else None,
    )


def _record(row: Any, where: str, root: str) -> Record:
    if not isinstance(row, dict):
        raise InputError(f"{where}: a record is an object, not {row!r:.40}")
    if "itemId" in row and "query_id" not in row:
        return from_eval_result(row, where, root)
    found = validated(_Record, row, where)
    if (found.retrieved is None) == (found.retrieved_ids is None):
        both = "both" if found.retrieved is not None else "neither"
        raise InputError(f"{where}: it has {both} of retrieved and retrieved_ids; give one of them")
    if found.retrieved is None:
        items = tuple(Item(id=one) for one in found.retrieved_ids or ())
    else:
        items = tuple(
            Item(one.id, one.text, None if one.path is None else _place(one, where, root))
            for one in found.retrieved
        )
    return Record(
        query=found.query_id,
        where=where,
        items=items,
        relevant=frozenset(found.relevant_ids or ()),
        targets=tuple((_place(one, where, root), one.grade) for one in found.targets or ()),
        expected=found.expected,
        answer=found.actual,
        correct=found.correct,
        k=found.k,
    )


def _place(found: _Item | _Target, where: str, root: str) -> Place:
    first, last = found.start_line, found.end_line
    if (first is None) != (last is None):
        raise InputError(f"{where}: {found.path} has one of start_line and end_line; give both")
    if first is not None and last is not None and first > last:
        raise InputError(f"{where}: lines {first}-{last} of {found.path} are no range")
    return Place(plain_path(found.path or "", where, root), first, last)
