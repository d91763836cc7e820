"""Rows of data and tables of cards, which msgspec checks: no type is converted.

What is wrong is said in the words of the file: its key or item, what is needed, what is given.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from abc import ABC
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from chunkers.errors import InputError
from harness.support.json_files import read_objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Kind = TypeVar("Kind")

MOST = sys.float_info.max

Text = Annotated[str, Meta(min_length=1)]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Number = Annotated[float, Meta(ge=-MOST, le=MOST)]
"""A finite number."""

if TYPE_CHECKING:
    AnyId = str
    Id = str
else:
    # msgspec asks `_id` for a type that it does not know, and whether the answer is of that type.

    class AnyId(ABC):  # noqa: B024
        """A text, or a whole number, which is read as text."""

    class Id(AnyId):
        """The same, not empty."""

    Id.register(str)


def key_hints(*names: str, example: object = None) -> Meta:
    """What a message on a missing key says, as a second annotation of its type.

    Args:
        names: What other programs call the key.
        example: A value.
    """
    return Meta(extra={"names": names, "example": example})


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Row(Struct, frozen=True):
    """An object in which unknown keys are ignored."""


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """An object in which unknown keys are refused."""


AnyRow = TypeVar("AnyRow", bound=Row)


def read_rows(file: Path, kind: type[Kind]) -> Iterator[tuple[str, Kind]]:
    """The rows of a file of JSON lines, each with its place for messages; blank lines are skipped.

    Raises:
        InputError: A row is malformed, or the file has none.
    """
    for where, row in read_objects(file):
        yield where, validated(kind, row, where)


def validated(kind: type[Kind], value: object, where: str) -> Kind:
    """A parsed value as a row, a table, or another type that msgspec knows.

    Raises:
        InputError: A value is missing, unknown or of a wrong type; the message names the first.
    """
    try:
        record: Kind = _converted(kind, value)
    except _REFUSED:
        raise InputError(f"{where}: {_first_fault(kind, value, ())}") from None
    return record


_ENCODER = msgspec.json.Encoder()
_REFUSED = (msgspec.ValidationError, UnicodeEncodeError)


def _converted(kind: Any, value: object) -> Any:
    record = msgspec.convert(value, kind, strict=True, dec_hook=_id)
    _ENCODER.encode(record)  # refuses half of a surrogate pair, which no tokenizer or file can hold
    return record


def _id(kind: Any, value: object) -> object:
    if value == "" and kind is Id:
        raise ValueError(_EMPTY_ID)
    return str(value) if type(value) is int else value


_EMPTY_ID = "Expected `str` of length >= 1"
_BOUND = re.escape(str(MOST))
_FAULTS = (  # the first that matches a message of msgspec
    (r"Object contains unknown field `(.*)`", "{inside}unknown key {0!r}"),
    (r"Expected `\w+` of length >= 1", "{key} is empty"),
    (r"Expected `array` of length (\d+), got (\d+)", "{key} must have {0} items, not {1}"),
    (rf"Number out of range|Expected `float` [<>]= -?{_BOUND}", "{key} must be a finite number"),
    (r"Expected `\w+` >= (.+?)(?:\.0)?", "{key} must be at least {0}"),
    (r"Expected `\w+` > (.+?)(?:\.0)?", "{key} must be above {0}"),
    (r"Expected `\w+` <= (.+?)(?:\.0)?", "{key} must be at most {0}"),
    (r"Expected `\w+` matching regex .*", "{key} has an invalid value"),
)
_NEEDED = {
    "AnyId": "text", "Id": "text", "array": "a list", "bool": "true or false", "float": "a number",
    "int": "a whole number", "object": "an object", "str": "text",
}  # fmt: skip
_GIVEN = {
    bool: "true or false", dict: "an object", float: "a number", int: "a number", list: "a list",
    str: "text", type(None): "null",
}  # fmt: skip
_MOST_KEYS = 6  # that a message lists
_Place = tuple[str, ...]


def _first_fault(kind: Any, value: Any, place: _Place) -> str:
    """The first fault of a value that msgspec refuses; no value is quoted.

    Msgspec names the first in the order of the row, and no choices and no keys of dictionaries.
    """
    for key, part_kind, part in _parts(kind, value):
        if part is msgspec.NODEFAULT:
            return f"{_inside(place)}the key {key!r} is missing{_near_key(key, value, kind)}"
        try:
            _converted(part_kind, part)
        except _REFUSED:
            return _first_fault(part_kind, part, (*place, key))
    try:
        _converted(kind, value)
    except msgspec.ValidationError as error:
        return _worded(str(error), kind, value, place)
    except UnicodeEncodeError:
        return f"{_named(place)} has half of a surrogate pair"
    raise AssertionError(f"{place} is valid")


def _parts(kind: Any, value: Any) -> Iterator[tuple[str, Any, Any]]:
    """The parts of an object or a list: name, type and value, or NODEFAULT where it is missing."""
    for each in _choices(kind):
        origin, types = get_origin(each), get_args(each)
        if isinstance(value, dict) and hasattr(each, "__struct_fields__"):
            for field in fields(each):
                if field.encode_name in value:
                    yield field.encode_name, field.type, value[field.encode_name]
                elif field.required:
                    yield field.encode_name, field.type, msgspec.NODEFAULT
        elif isinstance(value, dict) and origin is dict:
            for key, part in value.items():
                yield repr(key), types[0], key
                yield str(key), types[1], part
        elif isinstance(value, list) and origin in (list, tuple):
            same = origin is list or types[-1] is ...
            kinds = itertools.repeat(types[0]) if same else types
            for number, (part_kind, part) in enumerate(zip(kinds, value, strict=False), 1):
                yield f"item {number}", part_kind, part


def _choices(kind: Any) -> list[Any]:
    """The types that a value may have."""
    if get_origin(kind) is Annotated:
        return _choices(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [choice for each in get_args(kind) for choice in _choices(each)]
    return [kind]


def _worded(message: str, kind: Any, value: object, place: _Place) -> str:
    """A message of msgspec about a value, not about a part of it, in plain words."""
    key = _named(place)
    choices = [each for each in _choices(kind) if get_origin(each) is Literal]
    if choices:
        *others, last = [repr(one) for each in choices for one in get_args(each)]
        return f"{key} must be {', '.join(others)}{' or ' if others else ''}{last}"
    if expected := re.fullmatch(r"Expected `(.+)`, got `\w+`", message):
        names = [name for name in expected[1].split(" | ") if name != "null"]
        needed = " or ".join(dict.fromkeys(_NEEDED.get(name, "another type") for name in names))
        rows = [each for each in _choices(kind) if hasattr(each, "__struct_fields__")]
        keys = [field.encode_name for each in rows for field in fields(each)]
        needed += (
            f" with {', '.join(keys)}"
            if needed == "an object" and 0 < len(keys) <= _MOST_KEYS
            else ""
        )
        return f"{key} must be {needed}, not {_GIVEN.get(type(value), 'another type')}"
    for pattern, words in _FAULTS:
        if match := re.fullmatch(pattern, message, re.DOTALL):
            return words.format(*match.groups(), key=key, inside=_inside(place))
    return _inside(place) + message  # of a `__post_init__`


def _inside(place: _Place) -> str:
    return f"{', '.join(place)}: " if place else ""


def _named(place: _Place) -> str:
    return f"{_inside(place[:-1])}{place[-1]}" if place else "it"


def _near_key(missing: str, row: dict[str, Any], kind: Any) -> str:
    """The key to rename to the missing one, or an example of it, or the keys if they are few."""
    (struct,) = (each for each in _choices(kind) if hasattr(each, "__struct_fields__"))
    known = struct.__struct_fields__
    keys = [str(key) for key in row]
    # In other rows than tables, an unknown key has a meaning to somebody else.
    unknown = [key for key in keys if issubclass(struct, Table) and key not in known]
    if advice := renaming(struct, missing, keys, unknown):
        return advice
    if example := _hints(struct)[missing].get("example"):
        return f"; add it, as in {json.dumps({missing: example})[1:-1]}"
    return f"; its keys are {', '.join(keys):.80}" if 0 < len(keys) <= _MOST_KEYS else ""


def _hints(kind: Any) -> dict[str, dict[str, Any]]:
    """The `key_hints` of every key of a row."""
    return {
        field.encode_name: {
            name: hint
            for meta in getattr(field.type, "__metadata__", ())
            for name, hint in (meta.extra or {}).items()
        }
        for field in fields(kind)
    }


def renaming(kind: Any, missing: str, keys: Sequence[str], unknown: Sequence[str]) -> str:
    """Which key should have the name of the missing one; empty if none stands out.

    Args:
        kind: The type of the row.
        missing: The missing key.
        keys: All keys; one that is like it, or often used for it, is renamed.
        unknown: Those that mean nothing; the only one may be meant.
    """
    import difflib

    usual = {key: hints.get("names", ()) for key, hints in _hints(kind).items()}
    lower = {key.lower(): key for key in keys}
    near = difflib.get_close_matches(missing.lower(), lower, n=1, cutoff=0.75)
    names = [lower[key] for key in near or usual[missing] if key in lower]
    others = {name for names in usual.values() for name in names}
    # A key of several words is the first row of a table without a heading.
    alone = len(unknown) == 1 and " " not in unknown[0].strip()
    if not names and alone and unknown[0].lower() not in others:
        names = [*unknown]
    if not names:
        return ""
    return f"; rename {' or '.join(f'{key!r:.60}' for key in names)} to {missing!r}"
