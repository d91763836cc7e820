"""Which texts have the same words, and which share a word with a name."""

from __future__ import annotations

import pytest

from harness.building.built_queries import names_overlap, same_words


def test_texts_with_the_same_words_are_alike() -> None:
    texts = {"a": "One, two!", "b": "two one", "c": "one  TWO", "d": "+ -", "e": "+  -", "f": "-"}
    assert same_words(texts) == [["a", "c"], ["d", "e"]]


@pytest.mark.parametrize(
    ("name", "summary", "overlap"),
    [
        ("C.parse_args", "Parse the arguments.", True),
        ("parse_args", "Read what was given.", False),
        ("getHTTPResponse", "Read a response", True),
        ("getHTTPResponse", "Speak http", True),
        ("Parse.run", "Parse it", False),  # the class's name gives the function not away
        ("Parse::run", "Parse it", False),
        ("Parse::run", "Run it", True),
        ("a::Parse<b::C>::run", "Parse it in b", False),
        ("Parse:run", "Parse it", False),
        ("Parse#run", "Parse it", False),
        ("a\\Parse->run", "Parse it", False),
        ("Parse.run#2", "Parse it", False),
        ("Parse::run#2", "Run it", True),
        ("insertParts:atPlace:", "Insert them", True),
        ("Parse::~Parse", "Parse it", True),
        ("operator::parse", "Parse it", True),
        ("is_in", "Whether x is in y", False),
        ("token", "As get_token does", True),
        ("b64encode", "Encode to base64", True),
        ("__eq__", "Equality of both", False),
    ],
)
def test_words_of_the_name_in_the_summary(name: str, summary: str, overlap: bool) -> None:
    assert names_overlap(name, summary) is overlap
