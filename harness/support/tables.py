"""TOML tables and JSON objects as dataclasses, strictly: no type is converted.

The rows of large data sets are read by pydantic, which is faster once it is imported; that takes as
long as all that `chunkmark list` does.
"""

from __future__ import annotations

import functools
import re
from dataclasses import MISSING, Field, asdict, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from chunkers.errors import InputError
from harness.support.json_files import first_fault, read_objects, refuse_lone_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Table = TypeVar("Table")
_Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Rule:
    """What a value must be beside its type, in an `Annotated`.

    Attributes:
        pattern: What a text must match from its first to its last character.
        ge: The least number.
        gt: What a number must be above.
        le: The largest number.
        filled: Whether a text or a list may not be empty.
    """

    pattern: str = ""
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    filled: bool = False


Text = Annotated[str, Rule(filled=True)]
Sha256 = Annotated[str, Rule(pattern=r"[0-9a-f]{64}")]


class TableError(ValueError):
    """The first fault of a table, in words."""


class _FaultError(Exception):
    def __init__(self, kind: str, place: _Place, value: object, **ctx: object) -> None:
        self._fault = {"type": kind, "loc": place, "input": value, "ctx": ctx}

    def errors(self, *, include_url: bool) -> list[Any]:
        """The fault as pydantic gives it, so that one function words both."""
        del include_url
        return [self._fault]


def read_table(table: dict[str, Any], kind: type[Table], *, more: bool = False) -> Table:
    """A table as a dataclass.

    Types are `str`, `int`, `float`, `bool`, `Any`, literals, dataclasses, tuples of one type, which
    are lists in TOML, dictionaries of texts, and these or None, each with or without a `Rule`. A
    field may have another key too: `field(metadata={"or": KEY})`.

    Args:
        table: The table.
        kind: The dataclass.
        more: Whether it may have unknown keys, which are ignored.

    Raises:
        TableError: A value is missing, unknown or wrong, or the dataclass raises a ValueError.
    """
    try:
        value: Table = _value(kind, table, (), more)
    except _FaultError as error:
        raise TableError(first_fault(error)) from None
    return value


def read_table_rows(file: Path, kind: type[Table]) -> Iterator[tuple[str, Table]]:
    """The rows of a file of JSON lines as dataclasses, each with its place for messages.

    Unknown keys are ignored.

    Raises:
        InputError: A row is malformed, or the file has none.
    """
    for where, row, line in read_objects(file):
        try:
            record = read_table(row, kind, more=True)
        except TableError as error:
            raise InputError(f"{where}: {error}") from None
        refuse_lone_surrogates(asdict(record), line, where)  # type: ignore[call-overload]
        yield where, record


def _value(kind: Any, value: Any, place: _Place, more: bool) -> Any:
    origin = get_origin(kind)
    if origin is Annotated:
        base, *rules = get_args(kind)
        value = _value(base, value, place, more)
        for rule in rules:
            _check(rule, value, place)
    elif origin in (Union, UnionType):
        (other,) = (choice for choice in get_args(kind) if choice is not NoneType)
        value = None if value is None else _value(other, value, place, more)
    elif origin is Literal:
        if value not in get_args(kind):
            *others, last = map(repr, get_args(kind))
            expected = f"{', '.join(others)} or {last}" if others else last
            raise _FaultError("literal_error", place, value, expected=expected)
    elif is_dataclass(kind):
        value = _dataclass(kind, value, place, more)
    elif origin is tuple:
        _require(isinstance(value, list), "tuple", place, value)
        each = get_args(kind)[0]
        value = tuple(_value(each, one, (*place, at), more) for at, one in enumerate(value))
    elif origin is dict:
        _require(isinstance(value, dict), "dict", place, value)
        of_keys, of_values = get_args(kind)
        value = {
            _value(of_keys, key, (*place, key), more): _value(of_values, one, (*place, key), more)
            for key, one in value.items()
        }
    elif kind is float and type(value) is int:
        value = float(value)
    elif kind is not Any:
        _require(type(value) is kind, "string" if kind is str else kind.__name__, place, value)
    return value


def _dataclass(kind: Any, table: Any, place: _Place, more: bool) -> Any:
    _require(isinstance(table, dict), "model", place, table)
    values = {}
    for field, field_type in _typed_fields(kind):
        key = field.name if field.name in table else field.metadata.get("or", field.name)
        if key in table:
            values[field.name] = _value(field_type, table[key], (*place, key), more)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise _FaultError("missing", (*place, field.name), table)
    unknown = [key for key in table if key not in kind.__dataclass_fields__]
    if unknown and not more:
        raise _FaultError("extra_forbidden", (*place, unknown[0]), table[unknown[0]])
    try:
        return kind(**values)
    except ValueError as error:
        raise _FaultError("value_error", place, table, error=error) from None


@functools.cache
def _typed_fields(kind: Any) -> list[tuple[Field[Any], Any]]:
    types = get_type_hints(kind, include_extras=True)
    return [(field, types[field.name]) for field in fields(kind)]


def _require(fits: bool, kind: str, place: _Place, value: object) -> None:
    if not fits:
        raise _FaultError(f"{kind}_type", place, value)


def _check(rule: Rule, value: Any, place: _Place) -> None:
    if rule.filled and not value:
        kind = "string_too_short" if isinstance(value, str) else "too_short"
        raise _FaultError(kind, place, value)
    if rule.pattern and not re.fullmatch(rule.pattern, value):
        raise _FaultError("string_pattern_mismatch", place, value)
    if rule.ge is not None and not value >= rule.ge:
        raise _FaultError("greater_than_equal", place, value, ge=rule.ge)
    if rule.gt is not None and not value > rule.gt:
        raise _FaultError("greater_than", place, value, gt=rule.gt)
    if rule.le is not None and not value <= rule.le:
        raise _FaultError("less_than_equal", place, value)
