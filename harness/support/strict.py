"""Strict reading of lines, JSON and rows: what is malformed is an error that names its place."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_MARK = b"\xef\xbb\xbf"
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")

Text = Annotated[str, Field(min_length=1)]

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _as_text(value: object) -> object:
    return str(value) if type(value) is int else value


AnyId = Annotated[str, BeforeValidator(_as_text)]
"""A text, or a whole number, which is taken as text."""

Id = Annotated[AnyId, Field(min_length=1)]
"""The same, not empty."""


class Strict(BaseModel):
    """Takes no text for a number; keys that it does not know are not looked at."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False)


Model = TypeVar("Model", bound=Strict)


def refuse_pipe(path: Path) -> None:
    """Stop where what is to be read is a pipe or the like: it may never end, or be read once only.

    Raises:
        InputError: It is.
    """
    if path.exists() and not path.is_file():
        raise InputError(f"{path} cannot be read: it is no regular file; write it to one")


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


def valid(model: type[Model], row: dict[str, Any], where: str) -> Model:
    """A row as a model.

    Raises:
        InputError: The first part that is wrong, by its key.
    """
    try:
        return model.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where}: {key}: {first['msg']}") from None


def rows(file: Path, model: type[Model]) -> Iterator[tuple[str, Model]]:
    """The rows of a file, each with its place for messages; blank lines are none.

    Raises:
        InputError: A row is malformed, by its file, line and part, or there is none.
    """
    empty = True
    for number, line in numbered(file):
        if not line.strip():
            continue
        empty = False
        where = f"{file}, line {number}"
        raw = parse_json(line, where)
        if not isinstance(raw, dict):
            raise InputError(f"{where}: a row is an object, not {raw!r:.40}")
        found = valid(model, raw, where)
        refuse_halves(found.model_dump(), line, where)
        yield where, found
    if empty:
        raise InputError(f"{file} holds no row")
