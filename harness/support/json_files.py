"""JSON documents and lines of JSON: written whole, read strictly, with the place of every error."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import itertools
import json
import math
import re
import zlib
from typing import TYPE_CHECKING, Any, NoReturn

from chunkers.errors import InputError
from harness.support.files import replace_file, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

AGAIN = "delete its folder, and repeat `chunkmark run`"
"""What to do about a damaged file of a run."""

_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = codecs.BOM_UTF8
_UTF16 = re.compile(rb"(?:[^\0]\0){4}|(?:\0[^\0]){4}")
_LINE_NUMBER = re.compile(r", line [0-9]+$")
_SCHEMA = re.compile(rb'\s*\{\s*"schema":\s*"(chunkmark\.[a-z/0-9.-]+)"')


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document; an interrupted call leaves the file as it was."""
    replace_file(path, json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def write_json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows, one per line; an interrupted call leaves the file as it was."""
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    replace_file(path, "".join(lines))


def stored_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file of JSON lines that chunkmark stored; malformed ones raise `ValueError`."""
    with path.open(encoding="utf-8", errors="surrogatepass", newline="\n") as lines:
        yield from map(json.loads, lines)


def read_json(path: Path, advice: str = AGAIN) -> dict[str, Any]:
    """Read a document that `write_json` wrote; `advice` ends the message of an error.

    Raises:
        InputError: The file is missing or damaged.
    """
    try:
        document = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
    except FileNotFoundError:
        raise InputError(f"{path} is missing; {advice}") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{path}, {place}: invalid JSON; {advice}") from error
    except (OSError, ValueError, RecursionError) as error:
        reason = unreadable(path, error) if isinstance(error, OSError) else f"{path} is damaged"
        raise InputError(f"{reason}; {advice}") from error
    if not isinstance(document, dict):
        raise InputError(f"{path} is not a JSON object; {advice}")
    return document


def schema_of(data: bytes) -> str:
    """The schema that a document of chunkmark begins with; empty for anything else."""
    match = _SCHEMA.match(data)
    return match[1].decode() if match else ""


def require_schema(document: Mapping[str, Any], schema: str, path: Path, advice: str = "") -> None:
    """Refuse a document of another version, which may mean something else.

    `advice` ends the message.

    Raises:
        InputError: Its schema is another one, or missing.
    """
    given = document.get("schema")
    if given != schema:
        has = "no schema" if given is None else f"the schema {given!r:.60}"
        raise InputError(
            f"{path} has {has}, but this version of chunkmark reads {schema}; another version "
            f"wrote it{'; ' if advice else ''}{advice}"
        )


def parse_json(raw: bytes, where: str) -> Any:
    """One JSON value, strictly: UTF-8, finite numbers, no key with two values.

    Args:
        raw: The document. A key that is repeated with the same value is accepted.
        where: Its place, for messages; the line is added where `raw` has several.

    Raises:
        InputError: It is not valid JSON.
    """
    try:
        return json.loads(
            raw.decode("utf-8-sig"),
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
            object_pairs_hook=_unique_keys,
        )
    except json.JSONDecodeError as error:
        # The place of a line of JSON lines has its number, and the line its line feed.
        is_line = _LINE_NUMBER.search(where) is not None
        line = "" if is_line else f", line {error.lineno}"
        end = len(error.doc.rstrip("\r\n"))
        column = min(error.pos, end) + 1 if is_line else error.colno
        ended = error.pos >= len(error.doc.rstrip())
        hint = "; it ends too early" if ended else ""
        hint = "; there is text after its end" if error.msg == "Extra data" else hint
        mark = error.doc[error.pos : error.pos + 1]
        if mark == "'" or ("property name" in error.msg and mark.isalnum()):
            hint = "; texts and names need double quotes"
        if "property name" in error.msg and mark == "}":
            hint = "; remove the comma before it"
        if "delimiter" in error.msg and not ended:
            hint = f"; expected {error.msg.split()[1]} here"
        raise InputError(f"{where}{line}, column {column}: invalid JSON{hint}") from None
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8; save it as UTF-8") from None
    except RecursionError:
        raise InputError(f"{where}: invalid JSON; nested too deep") from None
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number; give finite numbers")


def _finite_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits:.40} is too large a number; give finite numbers")
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        for key, value in pairs:
            if row[key] != value or type(row[key]) is not type(value):
                raise ValueError(f"duplicate key {key!r:.80} with different values; give it once")
    return row


def read_objects(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file of JSON lines, each with its place for messages.

    Blank lines are skipped.

    Raises:
        InputError: A row is malformed, or the file has none.
    """
    empty = True
    for number, line in numbered_lines(file):
        if not line.strip():
            continue
        empty = False
        where = f"{file}, line {number}"
        row = parse_json(line, where)
        if not isinstance(row, dict):
            raise InputError(f"{where}: a row is an object, not {row!r:.40}")
        yield where, row
    if empty:
        raise InputError(f"{file} has no rows")


def require_regular_file(path: Path) -> None:
    """Refuse pipes and devices: they may never end, or can be read only once.

    Raises:
        InputError: The path exists and is not a regular file.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a regular file; write its content to one")


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, without a byte order mark; LF ends a line.

    A file that begins with the bytes of gzip is decompressed.

    Raises:
        InputError: The file cannot be read.
    """
    require_regular_file(path)
    try:
        with path.open("rb") as raw, contextlib.ExitStack() as stack:
            zipped = raw.peek(2)[:2] == _GZIP
            file = stack.enter_context(gzip.GzipFile(fileobj=raw)) if zipped else raw
            for line in itertools.islice(file, 1):
                refuse_utf16(line, path)
                yield 1, line.removeprefix(_BYTE_ORDER_MARK)
            yield from enumerate(file, 2)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} cannot be decompressed: {error}") from error
    except OSError as error:
        raise InputError(unreadable(path, error)) from error


def refuse_utf16(head: bytes, path: Path) -> None:
    """Refuse text in UTF-16, by its mark or by the zero in each pair of its first bytes.

    Raises:
        InputError: It is; no reader of rows takes it.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or _UTF16.match(head):
        raise InputError(f"{path} is UTF-16; save it as UTF-8")


def decode_utf8(raw: bytes, where: str) -> str:
    """Bytes as text.

    Raises:
        InputError: They are not UTF-8.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8; save it as UTF-8") from None


def refuse_repeated_columns(columns: Sequence[str], where: str) -> None:
    """Refuse a heading that names a column twice: only one of the two would be read.

    Raises:
        InputError: It does.
    """
    repeated = next((name for name in columns if name and columns.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"{where}: the heading names {repeated!r:.60} twice; name it once")


def finite_number(value: object, what: str) -> float:
    """A finite number.

    Raises:
        InputError: The value is something else; text such as "0.5" is not a number.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise InputError(f"{what} is {value!r:.40}; a finite number is needed")


def id_of(value: object, what: str) -> str:
    """An id: text, or a whole number, which is read as text.

    Raises:
        InputError: It is neither, or empty.
    """
    if type(value) is int or (isinstance(value, str) and value):
        return str(value)
    raise InputError(f"{what} is {value!r:.40}; an id is a text that is not empty")
