"""Which files of a repository are indexed, and why the others are not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chunkers.errors import InputError
from chunkers.source import Source
from harness.building.folder import OWN, is_own_folder
from harness.model import Skipped
from harness.reading.reader import ReadRules, in_order, walk_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

Files = Literal["code", "all"]

NO_CODE = frozenset({"dot", "json", "markdown", "restructuredtext", "toml", "xml", "yaml"})
"""Languages of data and prose, which `files=code` leaves out."""

_CLOSED = ReadRules().closed | {
    # Other people's code.
    "3rdparty", "_vendor", "_vendored", "bower_components", "Carthage", "Godeps", "jspm_packages",
    "Pods", "site-packages", "third-party", "third_party", "thirdparty", "vendor", "vendored",
    # What tools write.
    ".eggs", ".gradle", ".mypy_cache", ".next", ".nox", ".nuxt", ".pytest_cache", ".ruff_cache",
    ".terraform", ".yarn", "dist",
}  # fmt: skip
_IGNORED = "ignored by git"
_NESTED = "a repository of its own"
_ASKED = "the questions themselves"
MOST_TEXT = 1 << 28
"""Characters that a tree may hold, for all of it is kept in memory."""


@dataclass(frozen=True)
class WorkingTree:
    """The files of a working tree, sources and skipped files each in byte order of the path."""

    sources: tuple[Source, ...]
    skipped: tuple[Skipped, ...]


def rules_for(files: Files = "code", languages: Mapping[str, str] | None = None) -> ReadRules:
    """The rules by which folders and commits are read; `all` files include data and prose."""
    overrides = languages or {}
    without = NO_CODE - set(overrides.values()) if files == "code" else frozenset()
    return ReadRules(closed=_CLOSED, languages=overrides, without=without, generated=False)


def read_tree(root: Path, rules: ReadRules) -> WorkingTree:
    """Read the files of a folder, which may be a repository, a part of one or neither.

    Skipped, and listed: what git ignores by the repository's own .gitignore files and its
    info/exclude, folders that hold a repository of their own, what chunkmark wrote, links, and what
    the rules refuse. Nothing outside of the repository that holds the folder is read.

    Raises:
        InputError: It is not a folder, is a bare repository, or holds nothing to index or more
            text than is kept in memory.
    """
    if not (root / ".git").exists() and is_bare(root):
        raise InputError(
            f"{root} is a bare repository, without files\n"
            "use queries=commits, which reads its objects, or clone it"
        )
    from harness.building.git.ignore_rules import ignore_rules
    from harness.building.git.repository import repository_of

    with ignore_rules(repository_of(root) or root, root) as ignored:

        def refuse(path: str) -> str | None:
            if path.endswith("/") and os.path.lexists(root / path / ".git"):
                return _NESTED
            if ignored.ignore(path):
                return _IGNORED
            return OWN if path.endswith("/") and _is_own(root / path) else None

        sources, skipped = in_order(_bounded(root, walk_folder(root, rules, refuse)))
    if not sources:
        raise InputError(f"{root} has no file to index{_why(skipped)}")
    return WorkingTree(sources, skipped)


def without_file(tree: WorkingTree, root: Path, file: Path) -> WorkingTree:
    """A tree without the file of its questions, which is listed as skipped if it was there."""
    try:
        path = file.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return tree
    sources = tuple(source for source in tree.sources if source.path != path)
    if len(sources) == len(tree.sources):
        return tree
    return WorkingTree(*in_order((*sources, *tree.skipped, Skipped(path, _ASKED))))


def is_bare(folder: Path) -> bool:
    """Whether a folder looks like a repository without a working tree."""
    return (
        (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
    )


def _is_own(folder: Path) -> bool:
    def holds(name: str) -> bool:
        return os.path.lexists(folder / name)

    def head(name: str, most: int) -> bytes:
        file = folder / name
        try:
            if file.is_symlink() or not file.is_file():
                return b""
            with file.open("rb") as opened:
                return opened.read(most)
        except OSError:
            return b""

    return is_own_folder(folder.name, holds, head)


def _bounded(root: Path, files: Iterable[Source | Skipped]) -> Iterator[Source | Skipped]:
    total = 0
    for file in files:
        total += len(file.text) if isinstance(file, Source) else 0
        if total > MOST_TEXT:
            raise InputError(
                f"{root} holds more than {MOST_TEXT >> 20} million characters to index; "
                "name a folder in it"
            )
        yield file


def _why(skipped: tuple[Skipped, ...]) -> str:
    paths: dict[str, list[str]] = {}
    for file in skipped:
        paths.setdefault(file.reason, []).append(file.path)
    reasons = ", ".join(
        f"{len(names)} {reason} ({names[0]}{', …' if len(names) > 1 else ''})"
        for reason, names in sorted(paths.items())
    )
    return f": {reasons}\nname a folder itself to have it read" if reasons else ""
