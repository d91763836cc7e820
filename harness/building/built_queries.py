"""The queries that are made from a repository, and the tags that they all have."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from harness.support.paths import prefixes
from harness.support.word_runs import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from harness.model import Corpus, Query

REJECTED = "rejected by hand"
"""Why queries make none that a person left out by id."""

# Folders of a repository that hold packages, each in a folder of its own.
_OF_PACKAGES = frozenset(
    (
        "addons", "apps", "cmd", "components", "crates", "extensions", "internal", "libs",
        "modules", "packages", "pkg", "plugins", "projects", "services", "src", "workspaces",
    )
)  # fmt: skip
# Files in the top folder of a package, and folders whose packages are material of others.
_MANIFESTS = frozenset(
    (
        "Cargo.toml", "Package.swift", "build.gradle", "build.gradle.kts", "composer.json",
        "go.mod", "mix.exs", "package.json", "pom.xml", "pubspec.yaml", "pyproject.toml",
        "setup.py",
    )
)  # fmt: skip
_MATERIAL = frozenset(
    ("__fixtures__", "examples", "fixtures", "templates", "test", "testdata", "tests")
)
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SHORTEST_NAME_WORD = 3
# What comes before the last part of a name; a colon ends the parts of names in Objective-C.
_LAST_PART = re.compile(r"(?:\.|::|:(?=\w+$)|#|\\|/|->)(?=[^\W\d])")
_NUMBER = re.compile(r"#\d+$")


@dataclass(frozen=True)
class BuiltQueries:
    """Queries made from a repository.

    Attributes:
        corpora: The corpora of the queries, without the text that became a query.
        queries: Their targets are lines of the sources in `corpora`. Tags: `language`, `folder`
            (by `folder_of`) and, if the target has a name, `name-overlap` (`yes` or `no`); of doc
            comments also `name-whole`.
        left_out: Candidates that became no query: reason -> count.
        information: What a result must show, such as the commit.
    """

    corpora: tuple[Corpus, ...]
    queries: tuple[Query, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    information: Mapping[str, str] = field(default_factory=dict)


def same_words(texts: Mapping[str, str]) -> list[list[str]]:
    """The keys of texts with the same words (`words_of`), in groups of two or more.

    Two queries with the same words and different targets would each count the other's answer as
    wrong. Texts without words are compared by their characters, white space apart.
    """
    groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for key, text in texts.items():
        groups[tuple(words_of(text)) or ("", *text.split())].append(key)
    return [group for group in groups.values() if len(group) > 1]


def folder_of(path: str, depth: int | None = None) -> str:
    """The tag `folder`: the first `depth` folders of a path, `.` for a file at the top.

    By default it is the first one, or the package in a folder of packages: `services/billing`,
    `packages/@acme/ui`.
    """
    folders = path.split("/")[:-1]
    if depth is None:
        depth = 1
        if folders and folders[0] in _OF_PACKAGES:
            depth = 3 if folders[1:] and folders[1].startswith("@") else 2  # npm's scopes
    return "/".join(folders[:depth]) or "."


def common_value(values: Iterable[str]) -> str:
    """The value of a tag whose values for the targets of a query are `values`; or `several`."""
    different = set(values)
    return different.pop() if len(different) == 1 else "several"


def with_packages(built: BuiltQueries) -> BuiltQueries:
    """The same queries; where targets are in packages of their corpus, these are the tag `folder`.

    A package is a folder below the top with a file such as `package.json` or `go.mod`, indexed or
    not; the innermost counts. Those in folders of tests, fixtures, examples and templates do not.
    """
    tops = {corpus.id: _packages(corpus) for corpus in built.corpora}

    def tagged(query: Query) -> Query:
        packages = tops[query.corpus]
        if not packages:
            return query
        folders = (
            _package_of(target.path, packages) or folder_of(target.path) for target in query.targets
        )
        return replace(query, tags={**query.tags, "folder": common_value(folders)})

    return replace(built, queries=tuple(map(tagged, built.queries)))


def _packages(corpus: Corpus) -> frozenset[str]:
    """The top folders of the packages of a corpus, its own top apart."""
    paths = [*(source.path for source in corpus.sources), *(file.path for file in corpus.skipped)]
    return frozenset(
        folder
        for folder, _, name in (path.rpartition("/") for path in paths)
        if name in _MANIFESTS and folder and _MATERIAL.isdisjoint(folder.split("/"))
    )


def _package_of(path: str, packages: AbstractSet[str]) -> str | None:
    """The innermost package around a file."""
    tops = (top[:-1] for top in reversed(prefixes(path)[:-1]))
    return next((top for top in tops if top in packages), None)


def names_overlap(name: str, text: str) -> bool:
    """The tag `name-overlap`: whether a text has a word of a definition's own name.

    The own name is the last part of `Class.method`, `Class::method`, `Class#method#2` and the like.
    Names, those in the text too, are split by `name_words`. Words of under three letters, such as
    `is` or `to`, do not count.
    """
    shared = name_words(_own_name(name)) & name_words(text)
    return any(len(word) >= _SHORTEST_NAME_WORD for word in shared)


def spells_name(name: str, text: str) -> bool:
    """The tag `name-whole`: whether a text has a definition's own name as one word."""
    return _whole(name).search(text) is not None


def without_name(name: str, text: str) -> str:
    """A text without a definition's own name, and without the call's brackets after it."""
    return " ".join(_whole(name).sub(" ", text).split()).lstrip(" .:,-\u2013\u2014")


def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(_own_name(name))}(?!\w)(?:\(\))?")


def _own_name(name: str) -> str:
    return _LAST_PART.split(_NUMBER.sub("", name))[-1]


def name_words(text: str) -> set[str]:
    """The words of a name, split at underscores, digits and capitals, in lower case."""
    return {word.lower() for word in _NAME_WORD.findall(text)}


Names = Literal["kept", "stripped"]

Item = TypeVar("Item")
_DIGITS = 8
_WHOLE = 1 << (8 * _DIGITS)


def draw(
    items: Iterable[Item],
    limit: int | None,
    seed: int,
    id_of: Callable[[Item], str],
    stratum_of: Callable[[Item], str] = lambda _: "",
) -> tuple[Item, ...]:
    """Choose at most `limit` items, all with the same probability.

    The n items of a stratum are shuffled and placed at even distances between 0 and 1, from a
    seeded start; the first of all strata together are taken. So every stratum gets its share of the
    sample, to within one item. `id_of` gives unique texts: chance depends on them and the seed
    alone. The items are returned in order of id.
    """
    ordered = sorted(items, key=id_of)
    if limit is None or limit >= len(ordered):
        return tuple(ordered)
    return tuple(sorted(in_turn(ordered, seed, id_of, stratum_of)[: max(0, limit)], key=id_of))


def in_turn(
    items: Iterable[Item],
    seed: int,
    id_of: Callable[[Item], str],
    stratum_of: Callable[[Item], str] = lambda _: "",
) -> list[Item]:
    """All items in the order in which `draw` takes them; the arguments are the same."""
    strata: dict[str, list[Item]] = defaultdict(list)
    for item in sorted(items, key=id_of):
        strata[stratum_of(item)].append(item)
    placed: list[tuple[float, int, Item]] = []
    for name, members in strata.items():
        start = chance(seed, "stratum", name) / _WHOLE
        shuffled = sorted(members, key=lambda item: chance(seed, "item", id_of(item)))
        for at, item in enumerate(shuffled):
            placed.append(((at + start) / len(members), chance(seed, "tie", id_of(item)), item))
    placed.sort(key=lambda entry: entry[:2])
    return [item for _, _, item in placed]


def chance(seed: int, what: str, name: str) -> int:
    """A seeded hash of a name, below 2**64."""
    text = f"{seed}\0{what}\0{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=_DIGITS).digest(), "big")
