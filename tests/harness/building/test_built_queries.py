"""Which texts have the same words, and which share a word with a name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chunkers.source import Source
from harness.building.built_queries import BuiltQueries, names_overlap, same_words, with_packages
from harness.model import Corpus, Query, Skipped, Target


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


@pytest.mark.parametrize(
    ("targets", "folder"),
    [
        (["web/ui/src/a.ts"], "web/ui"),
        (["web/ui/deep/er/b.ts", "web/ui/a.ts"], "web/ui"),
        (["web/c.ts"], "web"),  # the package around the inner one
        (["srv/billing/main.go"], "srv/billing"),
        (["srv/billing/main.go", "web/ui/a.ts"], "several"),
        (["srv/lib.go"], "srv"),  # of no package: the first folder
        (["packages/x/a.py"], "packages/x"),
        (["web/ui/tests/kit/a.ts"], "web/ui"),  # a package that tests use
        (["a.py"], "."),  # the package of the top is all there is
    ],
)
def test_the_folder_of_a_query_is_the_package_of_its_targets(
    targets: list[str], folder: str
) -> None:
    marks = ("package.json", "web/package.json", "web/ui/package.json", "srv/billing/go.mod")
    skipped = [Skipped(path, "json is excluded") for path in (*marks, "web/ui/tests/kit/setup.py")]
    corpus = Corpus("c", tuple(Source("", path) for path in targets), tuple(skipped))
    query = Query("q", "c", "text", tuple(map(Target, targets)), tags={"folder": "x", "a": "b"})
    (tagged,) = with_packages(BuiltQueries((corpus,), (query,))).queries
    assert tagged.tags == {"folder": folder, "a": "b"}
    plain = replace(corpus, skipped=())
    assert with_packages(BuiltQueries((plain,), (query,))).queries == (query,)
