"""TOML tables as dataclasses, strictly: no key is unknown, and no type is converted.

Rows of data are read by pydantic, which takes longer to import than `chunkmark list` takes.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from harness.support.json_files import first_fault

Table = TypeVar("Table")


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
    def __init__(self, kind: str, place: tuple[str | int, ...], value: object, **ctx: object):
        self._fault = {"type": kind, "loc": place, "input": value, "ctx": ctx}

    def errors(self, *, include_url: bool) -> list[Any]:
        """The fault as pydantic gives it, so that one function words both."""
        del include_url
        return [self._fault]


def read_table(table: dict[str, Any], kind: type[Table]) -> Table:
    """A table as a dataclass, whose annotations are types, not text.

    They are `str`, `int`, `float`, `bool`, `Any`, literals, dataclasses, tuples of one type, which
    are lists in TOML, dictionaries of texts, and these or None, each with or without a `Rule`.

    Raises:
        TableError: A value is missing, unknown or wrong, or the dataclass raises a ValueError.
    """
    try:
        value: Table = _value(kind, table, ())
    except _FaultError as error:
        raise TableError(first_fault(error)) from None
    return value


def _value(kind: Any, value: Any, place: tuple[str | int, ...]) -> Any:
    origin = get_origin(kind)
    if origin is Annotated:
        base, *rules = get_args(kind)
        value = _value(base, value, place)
        for rule in rules:
            _check(rule, value, place)
    elif origin in (Union, UnionType):
        (other,) = (choice for choice in get_args(kind) if choice is not NoneType)
        value = None if value is None else _value(other, value, place)
    elif origin is Literal:
        if value not in get_args(kind):
            *others, last = map(repr, get_args(kind))
            expected = f"{', '.join(others)} or {last}" if others else last
            raise _FaultError("literal_error", place, value, expected=expected)
    elif is_dataclass(kind):
        value = _dataclass(kind, value, place)
    elif origin is tuple:
        _require(isinstance(value, list), "tuple", place, value)
        value = tuple(_value(get_args(kind)[0], one, (*place, at)) for at, one in enumerate(value))
    elif origin is dict:
        _require(isinstance(value, dict), "dict", place, value)
        of_keys, of_values = get_args(kind)
        value = {
            _value(of_keys, key, (*place, key)): _value(of_values, one, (*place, key))
            for key, one in value.items()
        }
    elif kind is float and type(value) is int:
        value = float(value)
    elif kind is not Any:
        _require(type(value) is kind, "string" if kind is str else kind.__name__, place, value)
    return value


def _dataclass(kind: Any, table: Any, place: tuple[str | int, ...]) -> Any:
    _require(isinstance(table, dict), "model", place, table)
    values = {}
    for field in fields(kind):
        if field.name in table:
            values[field.name] = _value(field.type, table[field.name], (*place, field.name))
        elif field.default is MISSING and field.default_factory is MISSING:
            raise _FaultError("missing", (*place, field.name), table)
    for key in table:
        if key not in kind.__dataclass_fields__:
            raise _FaultError("extra_forbidden", (*place, key), table[key])
    try:
        return kind(**values)
    except ValueError as error:
        raise _FaultError("value_error", place, table, error=error) from None


def _require(fits: bool, kind: str, place: tuple[str | int, ...], value: object) -> None:
    if not fits:
        raise _FaultError(f"{kind}_type", place, value)


def _check(rule: Rule, value: Any, place: tuple[str | int, ...]) -> None:
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
