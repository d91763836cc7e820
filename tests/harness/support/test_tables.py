"""Tables as dataclasses: what is refused, and in which words."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from harness.support.tables import Rule, Sha256, TableError, Text, read_table


@dataclass(frozen=True, kw_only=True)
class Part:
    size: Annotated[int, Rule(gt=0)]
    sums: dict[Text, Sha256] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Whole:
    name: Text
    kind: Literal["a", "b", "c"] = "a"
    only: Literal["x"] = "x"
    share: Annotated[float, Rule(ge=0, le=1)] | None = None
    flag: bool = False
    parts: Annotated[tuple[Part, ...], Rule(filled=True)] = ()
    rest: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.flag and not self.parts:
            raise ValueError("flag needs parts")


def test_a_table_is_read() -> None:
    table = {"name": "n", "share": 1, "parts": [{"size": 2, "sums": {"f": "0" * 64}}]}
    whole = read_table(table | {"rest": {"any": [1, "x"]}}, Whole)
    assert whole.parts == (Part(size=2, sums={"f": "0" * 64}),)
    assert (whole.share, type(whole.share)) == (1.0, float)
    assert (whole.kind, whole.flag, whole.rest) == ("a", False, {"any": [1, "x"]})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": None}, "name must be text, not null"),
        ({"name": ""}, "name is empty"),
        ({"name": 1, "kind": 2}, "name must be text, not a number"),
        ({"kind": "d"}, "kind must be 'a', 'b' or 'c'"),
        ({"only": "y"}, "only must be 'x'"),
        ({"share": "1"}, "share must be a number, not text"),
        ({"share": -1}, "share must be at least 0"),
        ({"share": 2.0}, "share has an invalid value"),
        ({"share": float("nan")}, "share must be at least 0"),
        ({"flag": 1}, "flag must be true or false, not a number"),
        ({"flag": True}, "flag needs parts"),
        ({"parts": []}, "parts is empty"),
        ({"parts": {}}, "parts must be a list, not an object"),
        ({"parts": [1]}, "parts: item 1 must be an object, not a number"),
        ({"parts": [{"size": 1}, {}]}, "parts, item 2: the key 'size' is missing"),
        ({"parts": [{"size": True}]}, "parts, item 1: size must be a whole number, not true"),
        ({"parts": [{"size": 0}]}, "parts, item 1: size must be above 0"),
        ({"parts": [{"size": 1, "sise": 1}]}, "parts, item 1: unknown key 'sise'"),
        ({"parts": [{"size": 1, "sums": {"f": "0"}}]}, "parts, item 1, sums: f has an invalid"),
        ({"parts": [{"size": 1, "sums": []}]}, "parts, item 1: sums must be an object, not a list"),
        ({"more": 1}, "unknown key 'more'"),
        ({"more": 1, "flag": 0}, "flag must be true or false"),
    ],
)
def test_the_first_fault_is_named(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(TableError) as error:
        read_table({"name": "n"} | changes, Whole)
    assert str(error.value).startswith(says)


def test_a_missing_key_names_one_like_it() -> None:
    with pytest.raises(TableError, match="the key 'name' is missing; rename 'Name'"):
        read_table({"Name": "n"}, Whole)
