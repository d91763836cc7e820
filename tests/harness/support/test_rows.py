"""Rows and tables: what is refused, and in which words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from chunkers.errors import InputError
from harness.support.rows import AnyId, Id, Number, Row, Sha256, Table, Text, read_rows, validated

if TYPE_CHECKING:
    from pathlib import Path


class Part(Table, kw_only=True):
    size: Annotated[int, Meta(gt=0)]
    sums: dict[Text, Sha256] = msgspec.field(default_factory=dict)


class Whole(Table, kw_only=True):
    name: Text
    kind: Literal["a", "b", "c"] = "a"
    only: Literal["x"] | None = None
    share: Annotated[float, Meta(ge=0, le=1)] | None = None
    weight: Number = 1.0
    above: Annotated[float, Meta(gt=0.5)] = 1.0
    flag: bool = False
    parts: Annotated[tuple[Part, ...], Meta(min_length=1)] = ()
    pair: tuple[str, int | None] = ("", 1)
    either: str | list[float] = ""
    count: int | None = None
    id: Id = "id"
    ids: list[AnyId] = msgspec.field(default_factory=list)
    other: str = msgspec.field(name="other-key", default="")
    rest: dict[str, Any] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.flag and not self.parts:
            raise ValueError("flag needs parts")


def whole(**changes: Any) -> Whole:
    return validated(Whole, {"name": "n"} | changes, "here")


def test_a_table_is_read() -> None:
    made = whole(share=1, parts=[{"size": 2, "sums": {"f": "0" * 64}}], rest={"any": [1, "x"]})
    assert made.parts == (Part(size=2, sums={"f": "0" * 64}),)
    assert (made.share, type(made.share)) == (1.0, float)
    assert (made.kind, made.flag, made.rest) == ("a", False, {"any": [1, "x"]})


def test_an_id_is_a_text() -> None:
    made = whole(id=10**20, ids=[0, "", "a", -1])
    assert (made.id, type(made.id), made.ids) == (f"1{'0' * 20}", str, ["0", "", "a", "-1"])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": None}, "name must be text, not null"),
        ({"name": ""}, "name is empty"),
        ({"kind": 2, "name": 1}, "name must be text, not a number"),
        ({"name": "\ud800"}, "name has half of a surrogate pair"),
        ({"ids": ["\U0001f600", "\udfff"]}, "ids: item 2 has half of a surrogate pair"),
        ({"kind": "\ud800"}, "kind has half of a surrogate pair"),
        ({"\ud800": 1}, "it has half of a surrogate pair"),
        ({"parts": [{"size": 1, "\ud800": 1}]}, "parts: item 1 has half of a surrogate pair"),
        ({"name": 1, "\ud800": 1}, "name must be text"),
        ({"rest": {"\ud800": 1}}, "rest: '\\ud800' has half of a surrogate pair"),
        ({"kind": "d"}, "kind must be 'a', 'b' or 'c'"),
        ({"kind": 2}, "kind must be 'a', 'b' or 'c'"),
        ({"only": "y"}, "only must be 'x'"),
        ({"share": "1"}, "share must be a number, not text"),
        ({"share": True}, "share must be a number, not true or false"),
        ({"share": -1}, "share must be at least 0"),
        ({"share": 2.0}, "share must be at most 1"),
        ({"share": float("nan")}, "share must be at least 0"),
        ({"weight": float("nan")}, "weight must be a finite number"),
        ({"weight": float("inf")}, "weight must be a finite number"),
        ({"weight": float("-inf")}, "weight must be a finite number"),
        ({"weight": 10**400}, "weight must be a finite number"),
        ({"above": 0.5}, "above must be above 0.5"),
        ({"flag": 1}, "flag must be true or false, not a number"),
        ({"flag": True}, "flag needs parts"),
        ({"parts": []}, "parts is empty"),
        ({"parts": {}}, "parts must be a list, not an object"),
        ({"parts": [1]}, "parts: item 1 must be an object with size, sums, not a number"),
        ({"parts": [{"size": 1}, {}]}, "parts, item 2: the key 'size' is missing"),
        ({"parts": [{"size": True}]}, "parts, item 1: size must be a whole number, not true"),
        ({"parts": [{"size": 1.0}]}, "parts, item 1: size must be a whole number, not a number"),
        ({"parts": [{"size": 0}]}, "parts, item 1: size must be at least 1"),
        ({"parts": [{"size": 1, "sise": 1}]}, "parts, item 1: unknown key 'sise'"),
        ({"parts": [{"size": 1, "sums": {"f": "0"}}]}, "parts, item 1, sums: f has an invalid"),
        ({"parts": [{"size": 1, "sums": {"f": f"{'0' * 64}\n"}}]}, "parts, item 1, sums: f has"),
        ({"parts": [{"size": 1, "sums": {"": ""}}]}, "parts, item 1, sums: '' is empty"),
        ({"parts": [{"size": 1, "sums": []}]}, "parts, item 1: sums must be an object, not a list"),
        ({"pair": ["a"]}, "pair must have 2 items, not 1"),
        ({"pair": ["a", "b"]}, "pair: item 2 must be a whole number, not text"),
        ({"either": 3}, "either must be text or a list, not a number"),
        ({"either": [1.0, "2"]}, "either: item 2 must be a number, not text"),
        ({"count": "3"}, "count must be a whole number, not text"),
        ({"id": ""}, "id is empty"),
        ({"id": 1.5}, "id must be text, not a number"),
        ({"id": True}, "id must be text, not true or false"),
        ({"id": None}, "id must be text, not null"),
        ({"ids": ["a", []]}, "ids: item 2 must be text, not a list"),
        ({"other-key": 1}, "other-key must be text, not a number"),
        ({"other": "a"}, "unknown key 'other'"),
        ({"more": 1}, "unknown key 'more'"),
        ({"a`\nb": 1}, "unknown key 'a`\\nb'"),
        ({"more": 1, "flag": 0}, "flag must be true or false"),
    ],
)
def test_the_first_fault_is_named(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as error:
        whole(**changes)
    assert str(error.value).startswith(f"here: {says}")


def test_a_value_that_is_no_object_is_named() -> None:
    with pytest.raises(InputError, match="here: it must be an object, not a list"):
        validated(Whole, [], "here")


def test_a_missing_key_names_one_like_it() -> None:
    for row, advice in (
        ({"Name": "n", "title": ""}, "rename 'Name' to 'name'"),
        ({"title": "n", "count": 3}, "rename 'title' to 'name'"),
        ({"title": "n", "text": ""}, "its keys are title, text"),
        ({"title": "n", "text": "", "line": 1}, "its keys are title, text, line"),
    ):
        with pytest.raises(InputError, match=f"the key 'name' is missing; {advice}$"):
            validated(Whole, row, "here")
    with pytest.raises(InputError, match="the key '_id' is missing; its keys are text, more"):
        validated(Line, {"text": "a", "more": "b"}, "here")


class Line(Row):
    id: Id = msgspec.field(name="_id")
    text: str


def test_rows_have_their_places_and_may_have_more_keys(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"_id": 1, "text": "a", "more": "\\ud800"}\n\n{"_id": "b", "text": ""}\n')
    rows = [(f"{file}, line 1", Line("1", "a")), (f"{file}, line 3", Line("b", ""))]
    assert list(read_rows(file, Line)) == rows
    file.write_text(json.dumps({"_id": "a", "text": "\ud83d"}))
    with pytest.raises(InputError, match="line 1: text has half of a surrogate pair"):
        list(read_rows(file, Line))
