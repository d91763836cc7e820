"""Doc comments of real code, fetched from npm, PyPI and Debian, as queries."""

import re
from pathlib import Path

import pytest
from packages import fetch

from chunkers.source import Source
from harness.building.built_queries import name_words
from harness.building.docs.nodes import Piece, Tree, pieces_of
from harness.building.docs.queries import docstring_queries
from harness.building.docs.styles import STYLES
from harness.model import Corpus
from harness.reading.reader import ReadRules, read_folder
from harness.support.word_runs import leaked_queries

pytestmark = pytest.mark.slow

# Package, and the fewest queries that each language of it must give.
PACKAGES = [
    ("pypi", "JPype1==1.5.0", {"cpp": 30, "java": 70, "python": 130}),
    ("pypi", "pycryptodome==3.20.0", {"c": 20, "python": 280}),
    ("pypi", "pythonnet==3.0.3", {"csharp": 230, "python": 160}),
    ("debian", "golang-github-spf13-cobra-dev", {"go": 120}),
    ("debian", "librust-regex-dev", {"rust": 150}),
    ("debian", "nlohmann-json3-dev", {"cpp": 130}),
    ("debian", "php-twig", {"php": 130}),
    ("debian", "ruby-rack", {"ruby": 120}),
    ("npm", "lodash@4.17.21", {"javascript": 180}),
    ("npm", "rxjs@7.8.1", {"typescript": 150}),
    ("npm", "react-native@0.73.6", {"java": 780, "javascript": 70, "kotlin": 30}),
    ("npm", "@capacitor/ios@6.0.0", {"swift": 30}),
]


@pytest.mark.parametrize(("kind", "package", "fewest"), PACKAGES)
def test_doc_comments_of_real_code_are_fair_queries(
    tmp_path: Path, kind: str, package: str, fewest: dict[str, int]
) -> None:
    before = Corpus("real", *read_folder(fetch(kind, package, tmp_path), ReadRules()))
    made = docstring_queries(before)
    (after,) = made.corpora
    languages = [query.tags["language"] for query in made.queries]
    assert {one: languages.count(one) for one in fewest if languages.count(one) < fewest[one]} == {}
    texts = (source.text for source in after.sources)
    assert not leaked_queries({query.id: query.text for query in made.queries}, texts)
    for old, new in zip(before.sources, after.sources, strict=True):
        if old.text != new.text:
            assert errors(new) <= errors(old), old.path
            assert not left(new) or errors(old), old.path
    sources = {source.path: source for source in after.sources}
    for query in made.queries:
        (target,) = query.targets
        assert target.start_line is not None
        assert target.end_line is not None
        start, end = sources[target.path].lines.offsets_of(target.start_line, target.end_line)
        symbol = query.id.removeprefix(target.path + "::").split("#")[0]
        words = name_words(symbol.split(".")[-1].split("<")[0])
        assert words <= name_words(sources[target.path].text[start:end]), query.id
    assert docstring_queries(before) == made


def left(source: Source) -> list[Piece]:
    """The doc comments of a cut source: those with marks, in other languages those by place.

    A comment that was beside a marked one or above a docstring stays, and is then right above the
    definition.
    """
    tree = Tree.of(source)
    marks = STYLES[source.language or ""].marks
    if source.language == "python":
        marks = re.compile(r"[A-Za-z]*[\"']")
    pieces = [piece for piece in pieces_of(tree) if piece.role == "doc"] if tree else []
    return [piece for piece in pieces if not marks or marks.match(source.text, piece.start)]


def errors(source: Source) -> int:
    tree = Tree.of(source)
    return tree.errors() if tree else 0
