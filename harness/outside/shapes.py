"""Which format a file has, found by its first line and its suffix, and how its lines are read."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Shape = Literal["run", "qrels", "judgements", "table", "json", "jsonl"]

QUERY_COLUMNS = frozenset({"query_id", "query-id", "queryid", "qid", "query"})
"""Names of the column that holds the query, by which the first line of a table is known."""

MOST_QUERIES = 2_000_000
"""Queries with gold beyond which a few gigabytes would not do."""

_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LOOK = 1 << 20
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
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
        refuse_pipe(path)
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


def refuse_pipe(path: Path) -> None:
    """Stop where what is to be read is a pipe or the like: it may never end, or be read once only.

    Raises:
        InputError: It is.
    """
    if path.exists() and not path.is_file():
        raise InputError(f"{path} cannot be read: it is no regular file; write it to one")


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, without a byte order mark; LF ends a line.

    Raises:
        InputError: It cannot be read.
    """
    refuse_pipe(path)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield number, line if number > 1 else line.removeprefix(_MARK)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def text_of(raw: bytes, where: str) -> str:
    """Bytes as text.

    Raises:
        InputError: It is no UTF-8.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8") from None


def parse_json(raw: bytes, where: str) -> Any:
    """One JSON value, strictly: finite numbers, no key twice, no half of a surrogate pair.

    A key that stands twice with one and the same value loses nothing, and is let pass.

    Args:
        raw: UTF-8.
        where: Its place, for messages; the line is added where `raw` has several.

    Raises:
        InputError: It is none.
    """
    try:
        text = raw.decode("utf-8-sig")
        return json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once
        )
    except json.JSONDecodeError as error:
        line = f", line {error.lineno}" if b"\n" in raw.rstrip() else ""
        raise InputError(f"{where}{line}: no JSON: {error.msg} at column {error.colno}") from None
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8") from None
    except RecursionError:
        raise InputError(f"{where}: no JSON: nested too deep") from None
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def refuse_halves(found: object, raw: bytes, where: str) -> None:
    """Stop where JSON has escaped half of a surrogate pair: no tokenizer and no file holds it.

    Args:
        found: What was made of it, or the part that counts.
        raw: What it was parsed from.
        where: Its place, for messages.

    Raises:
        InputError: It has.
    """
    if _HALF.search(raw):  # most rows have none, and are not written again
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InputError(f"{where}: holds half of a surrogate pair, which is no text") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number that JSON knows; give finite numbers")


def _finite(number: str) -> float:
    found = float(number)
    if found in (float("inf"), float("-inf")):
        raise ValueError(f"{number:.40} is too large a number; give finite numbers")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        for key, value in pairs:
            if made[key] != value or type(made[key]) is not type(value):
                raise ValueError(f"{key!r:.80} stands twice with different values; give it once")
    return made


def refuse_repeats(columns: Sequence[str], where: str) -> None:
    """Stop where a heading names a column twice: one of them would not be read.

    Raises:
        InputError: It does.
    """
    repeated = next((one for one in columns if one and columns.count(one) > 1), None)
    if repeated is not None:
        raise InputError(f"{where}: the heading names {repeated!r:.60} twice; name it once")


def number_of(value: object, what: str) -> float:
    """A finite number.

    Raises:
        InputError: It is none; text such as "0.5" is no number.
    """
    if type(value) in (int, float):
        try:
            number = float(value)  # type: ignore[arg-type]  # the line above says what it is
        except OverflowError:
            number = float("inf")
        if float("-inf") < number < float("inf"):
            return number
    raise InputError(f"{what} is {value!r:.40}; a finite number is needed")


def id_of(value: object, what: str) -> str:
    """An id: text, or a whole number, which is taken as text.

    Raises:
        InputError: It is neither, or empty.
    """
    if type(value) is int or (isinstance(value, str) and value):
        return str(value)
    raise InputError(f"{what} is {value!r:.40}; an id is a text that is not empty")
