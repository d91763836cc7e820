"""Which format a file has, found by its first line and its suffix, and how its lines are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from chunkers.errors import InputError
from harness.support.json_files import require_regular_file

if TYPE_CHECKING:
    from pathlib import Path

Shape = Literal["run", "qrels", "judgements", "table", "json", "jsonl"]

QUERY_COLUMNS = frozenset({"query_id", "query-id", "queryid", "qid", "query"})
"""Names of the column that holds the query, by which the first line of a table is known."""

MOST_QUERIES = 2_000_000
"""Queries with gold beyond which a few gigabytes would not do."""

_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LOOK = 1 << 20
_BY_FIELDS: dict[int, Shape] = {6: "run", 4: "qrels", 3: "judgements"}


def shape_of(path: Path) -> Shape:
    """The format of a file.

    `run`: TREC, six fields a line. `qrels`: TREC, four fields. `judgements`: BEIR, three columns.
    `table`: tab-separated with a header. `json`: one document. `jsonl`: one object a line.

    Raises:
        InputError: It cannot be read, is empty, or looks like none of these.
    """
    head = _head(path)
    first, _, rest = head.partition(b"\n")
    if first.lstrip()[:1] in (b"{", b"["):
        if path.suffix.lower() in (".jsonl", ".ndjson"):
            return "jsonl"
        return "jsonl" if _is_object(first) and rest.strip() else "json"
    columns = [one.strip() for one in first.decode("utf-8", "replace").lower().split("\t")]
    if len(columns) > 1 and columns[0] in QUERY_COLUMNS:
        ids = {"retrieved_ids", "relevant_ids"}
        return "judgements" if ids.isdisjoint(columns) else "table"
    fields = len(columns) if len(columns) > 1 else len(first.split())
    if fields not in _BY_FIELDS:
        raise InputError(
            f"{path}: {fields} fields in the first line, which no format has that is known here\n"
            "see `chunkmark score --help` for the formats"
        )
    return _BY_FIELDS[fields]


def _head(path: Path) -> bytes:
    """The file from its first line that is not blank, as far as it is looked at."""
    try:
        require_regular_file(path)
        with path.open("rb") as file:
            head = file.read(_LOOK)
            if head.startswith(_WIDE_MARKS):
                raise InputError(f"{path} is UTF-16; save it as UTF-8")
            head = head.removeprefix(_MARK).lstrip()
            while not head and (more := file.read(_LOOK)):
                head = more.lstrip()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if not head:
        raise InputError(f"{path} is empty")
    return head


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
