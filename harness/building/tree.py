"""Which files of a repository are indexed, and why the others are not."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from chunkers.errors import InputError
from chunkers.source import Source
from harness.building.folder import CARD, OWN, is_own_folder
from harness.model import Corpus, Skipped
from harness.reading.decoding import parse_encodings
from harness.reading.reader import EXCLUDED, UNKNOWN, ReadRules, in_order, walk_folder
from harness.reading.stored_text import bounded
from harness.support.paths import prefixes, split_patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import pygit2

Files = Literal["code", "all"]
LongLines = Literal["cut", "skip"]

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
_CORPUS = "repo"
_IGNORED = "ignored by git"
_NESTED = "a repository of its own"
_ASKED = "the questions themselves"
_LONGEST_LINK = 4096  # bytes
MOST_TEXT = 1 << 28
"""Characters that a tree may hold where all of it is kept in memory."""


@dataclass(frozen=True)
class Reading:
    """How the files of a repository are read.

    Attributes:
        files: `code`, or `all` files of known languages, data and prose included.
        languages: Pattern of a name or path -> language, as in `ReadRules`.
        include: Patterns as in .gitignore, separated by white space: files that are read although
            git ignores them, a tool wrote them or they are other people's code.
        exclude: Such patterns of files that are not read.
        encoding: `PATTERN=ENCODING`, separated by white space, for files that are not UTF-8.
        long_lines: Whether very long lines among ordinary ones are `cut`, or their files `skip`ped.
    """

    files: Files = "code"
    languages: Mapping[str, str] = field(default_factory=dict)
    include: str = ""
    exclude: str = ""
    encoding: str = ""
    long_lines: LongLines = "cut"


def rules_for(reading: Reading = Reading()) -> ReadRules:
    """The rules by which folders and commits are read.

    Raises:
        InputError: An encoding is unknown.
    """
    without = NO_CODE - set(reading.languages.values()) if reading.files == "code" else frozenset()
    return ReadRules(
        closed=_CLOSED,
        cut_lines=reading.long_lines == "cut",
        languages=reading.languages,
        without=without,
        generated=False,
        encodings=parse_encodings(split_patterns(reading.encoding)),
    )


def read_tree(root: Path, reading: Reading = Reading()) -> Corpus:
    """The files of a folder as the corpus `repo`, each in byte order of the path.

    The folder may be a repository, a part of one or neither.

    Skipped, and listed: what git ignores by the repository's own .gitignore files and its
    info/exclude, folders that hold a repository of their own, what chunkmark wrote, links, and what
    the rules refuse. Nothing outside of the repository that holds the folder is read.

    Raises:
        InputError: It is not a folder, is a bare repository, or holds nothing to index or more
            text than is kept in memory; an encoding is unknown, or a pattern fits nothing.
    """
    from harness.building.git.ignore_rules import ignore_rules
    from harness.building.git.path_marks import disk_attributes, path_marks
    from harness.building.git.repository import is_bare, repository_of

    if not (root / ".git").exists() and is_bare(root):
        raise InputError(
            f"{root} is a bare repository, without files\n"
            "use queries=commits, which reads its objects, or clone it"
        )
    if _is_own(root):
        if (root / CARD).is_file():
            raise InputError(
                f"{root} is a built data set (-d built:{root}); "
                "give a repository or a folder of code"
            )
        raise InputError(f"{root} is a run folder; give a repository or a folder of code")
    include, exclude = split_patterns(reading.include), split_patterns(reading.exclude)
    top = (repository_of(root) or root).resolve()
    below = "".join(f"{part}/" for part in root.resolve().relative_to(top).parts)
    links = _links(top, below)
    with (
        ignore_rules(top, root) as ignored,
        path_marks(include, exclude, disk_attributes(top), below) as marks,
    ):
        rules = replace(rules_for(reading), marks=marks)

        def refuse(path: str) -> str | None:
            if path.endswith("/") and os.path.lexists(root / path / ".git"):
                return _NESTED
            # With an include, folders are entered that git ignores.
            paths = prefixes(path) if include else (path,)
            if any(map(ignored.ignore, paths)) and not marks(path).included:
                return _IGNORED
            if path in links and links[path] == _small_hash(root / path):
                return "link"
            return OWN if path.endswith("/") and _is_own(root / path) else None

        sources, skipped = in_order(_bounded(root, walk_folder(root, rules, refuse)))
        for name, patterns, used in (("include", include, True), ("exclude", exclude, False)):
            if patterns and used not in marks.used:
                raise InputError(
                    f"{root}: {name}={' '.join(patterns)}: no file or folder fits\n"
                    "write patterns as in .gitignore, such as vendor/ or *_pb2.py"
                )
    if not sources:
        raise InputError(
            f"{root} has no file to index{_why(skipped) or '; is it the right folder?'}"
        )
    return Corpus(_CORPUS, sources, skipped)


@contextmanager
def read_commits(root: Path, reading: Reading) -> Iterator[ReadRules]:
    """The rules by which all commits of a repository are read, with the attributes of HEAD.

    Raises:
        InputError: There is no repository or no commit, or an encoding is unknown.
    """
    from harness.building.git.path_marks import path_marks
    from harness.building.git.repository import open_repository

    repository = open_repository(root)
    head = repository.head()

    def read(path: str) -> bytes | None:
        blob = repository.file_at(head, path)
        return None if blob is None else repository.content(blob)

    include, exclude = split_patterns(reading.include), split_patterns(reading.exclude)
    with path_marks(include, exclude, read) as marks:
        yield replace(rules_for(reading), marks=marks)
        for name, patterns, used in (("include", include, True), ("exclude", exclude, False)):
            if patterns and used not in marks.used:
                warnings.warn(
                    f"{name} {' '.join(patterns)!r} fits no file or folder of these commits; "
                    "write patterns as in .gitignore, such as vendor/ or *_pb2.py",
                    stacklevel=3,
                )


def without_file(corpus: Corpus, root: Path, file: Path) -> Corpus:
    """A corpus without the file of its questions, which is listed as skipped if it was there."""
    try:
        path = file.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return corpus
    sources = tuple(source for source in corpus.sources if source.path != path)
    if len(sources) == len(corpus.sources):
        return corpus
    return Corpus(_CORPUS, *in_order((*sources, *corpus.skipped, Skipped(path, _ASKED))))


def _links(top: Path, below: str) -> dict[str, pygit2.Oid]:
    """The links that git keeps below a folder, by path; files on disk without `core.symlinks`."""
    from harness.building.git.repository import open_repository

    try:
        links = open_repository(top).links()
    except InputError:
        return {}  # the files can be read all the same
    return {
        path.removeprefix(below): link for path, link in links.items() if path.startswith(below)
    }


def _small_hash(file: Path) -> pygit2.Oid | None:
    """Git's hash of a file as short as the text of a link; None of another one."""
    import pygit2

    try:
        return pygit2.hashfile(str(file)) if file.stat().st_size <= _LONGEST_LINK else None
    except OSError:
        return None


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
        total += file.length if isinstance(file, Source) else 0
        if total > MOST_TEXT and not bounded():
            raise InputError(
                f"{root} holds more than {MOST_TEXT // 10**6} million characters to index\n"
                "name a folder in it; chunkmark run and robust take more with --memory 2GB, "
                'load_dataset with memory="2GB"'
            )
        yield file


def _why(skipped: tuple[Skipped, ...]) -> str:
    """The reasons why files were left out, and what to do about the most frequent one."""
    paths: dict[str, list[str]] = {}
    for file in skipped:
        paths.setdefault(file.reason, []).append(file.path)
    by_count = sorted(paths.items(), key=lambda item: (-len(item[1]), item[0]))
    if not by_count:
        return ""
    reasons = "; ".join(
        f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {reason}"
        for reason, names in by_count
    )
    reason, (first, *_) = by_count[0]
    path = PurePosixPath(first)
    glob = f"*{path.suffix}" if path.suffix else path.name
    advice = {
        EXCLUDED: "remove exclude= or narrow it",
        UNKNOWN: f"name their language, as in --language '{glob}=python'",
        "markdown is excluded": "to index documentation, give the data set the option files=all",
    }
    other = f"to read it, give the data set the option include={first}"
    return f": {reasons}\n{advice.get(reason, other)}"
