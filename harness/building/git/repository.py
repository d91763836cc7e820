"""Reads a git repository by libgit2, which starts no hook, filter, pager or other program.

Only objects, references and the links of the index are read: the working tree and the user's own
configuration play no part, and nothing is written or fetched.
"""

from __future__ import annotations

import codecs
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pygit2
from pygit2.enums import (
    ConfigLevel,
    DeltaStatus,
    DiffFind,
    DiffOption,
    FileMode,
    RepositoryOpenFlag,
)

from chunkers.errors import InputError
from harness.reading.decoding import NO_FILE_ENCODINGS
from harness.support.paths import refuse_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chunkers.source import Source

RENAMED = 50
"""Percentage of a file's lines that must be the same for it to count as renamed."""

# Nothing in a repository is run, so that it may belong to another user. Missing objects of a
# partial clone are not fetched.
pygit2.settings.owner_validation = False
pygit2.settings.set_extensions(["partialclone"])
for _level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
    pygit2.settings.search_path[_level] = ""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """An entry of a folder in a tree; bytes of its name that are not UTF-8 are surrogates."""

    name: str
    mode: int
    id: pygit2.Oid


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit did to one file.

    `path` is that before the commit. The mode is 0 where there is no file: before for an added one,
    after for a deleted one.
    """

    path: str
    old_mode: int
    new_mode: int
    old_id: pygit2.Oid
    new_id: pygit2.Oid


class Repository:
    """A repository.

    Every method raises `InputError` where an object is missing or damaged.
    """

    def __init__(self, path: Path, git: pygit2.Repository) -> None:
        """Wrap an open repository; `open_repository` makes one."""
        self.path, self._git = path, git

    def fault(self, what: str) -> InputError:
        """An error that names the repository."""
        return InputError(f"{self.path}: {what}")

    def head(self) -> pygit2.Commit:
        """The commit that is checked out, or that HEAD names in a bare repository.

        Raises:
            InputError: There is no commit.
        """
        with self._reading("commit of HEAD"):
            if not self._git.head_is_unborn:
                return self._git.head.peel(pygit2.Commit)
        raise self.fault("the repository has no commit")

    def history(self, most: int) -> tuple[list[pygit2.Commit], int]:
        """The newest ancestors of HEAD, which is the first, and the number of older ones."""
        head = self.head().id
        commits: list[pygit2.Commit] = []
        older = 0
        with self._reading(f"history of {head}"):
            for commit in self._git.walk(head):
                if len(commits) < most:
                    commits.append(commit)
                else:
                    older += 1
        return commits, older

    def mainline(self, most: int) -> list[pygit2.Commit]:
        """HEAD and up to `most` commits before it, newest first: of a merge its first parent."""
        commits = [self.head()]
        while len(commits) <= most and commits[-1].parent_ids:
            commits.append(self.commit(commits[-1].parent_ids[0]))
        return commits

    def commit(self, name: str | pygit2.Oid) -> pygit2.Commit:
        """A commit by its hash."""
        with self._reading(f"commit {name}"):
            return self._git[name].peel(pygit2.Commit)

    def changes(self, old: pygit2.Oid, new: pygit2.Oid, most: int) -> list[Change] | None:
        """The files that changed between two commits, in byte order of the path.

        A file that was renamed counts once. None where more than `most` files changed.
        """
        before, after = self.commit(old), self.commit(new)
        with self._reading(f"content of commit {new} or {old}"):
            diff = before.tree.diff_to_tree(after.tree, DiffOption.INCLUDE_TYPECHANGE)
            if len(diff) > 2 * most:  # finding renames halves the number at best
                return None
            flags = DiffFind.FIND_RENAMES | DiffFind.FIND_DONT_IGNORE_WHITESPACE
            diff.find_similar(flags, rename_threshold=RENAMED, rename_limit=2 * most)
        if len(diff) > most:
            return None
        deltas = sorted(diff.deltas, key=lambda delta: delta.old_file.raw_path)
        return [
            Change(_path(old.raw_path), old.mode, new.mode, old.id, new.id)
            for old, new in ((delta.old_file, delta.new_file) for delta in deltas)
        ]

    def renames(self, old: pygit2.Oid, new: pygit2.Oid) -> dict[str, str]:
        """The files that were renamed between two trees: path after -> path before."""
        with self._reading(f"content of the tree {new} or {old}"):
            diff = self._git[old].peel(pygit2.Tree).diff_to_tree(self._git[new].peel(pygit2.Tree))
            flags = DiffFind.FIND_RENAMES | DiffFind.FIND_DONT_IGNORE_WHITESPACE
            diff.find_similar(flags, rename_threshold=RENAMED)
            moved = (delta for delta in diff.deltas if delta.status == DeltaStatus.RENAMED)
            return {_path(d.new_file.raw_path): _path(d.old_file.raw_path) for d in moved}

    def entries(self, tree: pygit2.Oid) -> list[TreeEntry]:
        """The entries of a folder, in byte order of the paths of all files below."""
        with self._reading(f"tree {tree}"):
            entries = self._git[tree].peel(pygit2.Tree)
            return [
                TreeEntry(_path(item.raw_name or b""), item.filemode, item.id) for item in entries
            ]

    def file_at(self, commit: pygit2.Commit, path: str) -> pygit2.Oid | None:
        """Hash of the file at a path of a commit; None without a file there, or for a link."""
        try:
            entry = commit.tree[path]
        except (KeyError, ValueError, pygit2.GitError):
            return None
        return entry.id if entry.filemode in (FileMode.BLOB, FileMode.BLOB_EXECUTABLE) else None

    def links(self) -> dict[str, pygit2.Oid]:
        """The links of the index: path -> hash of the link's text."""
        with self._reading("index"):
            index = self._git.index
            return {entry.path: entry.id for entry in index if entry.mode == FileMode.LINK}

    def size(self, blob: pygit2.Oid) -> int:
        """Size of a file's content in bytes."""
        with self._reading(f"object {blob}"):
            return self._git.odb.read_header(blob)[1]

    def content(self, blob: pygit2.Oid) -> bytes:
        """A file's content."""
        with self._reading(f"object {blob}"):
            return self._git[blob].peel(pygit2.Blob).data

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        try:
            yield
        except (KeyError, ValueError, pygit2.GitError):
            raise self.fault(
                f"the {what} is missing or damaged\n"
                "if this is a partial clone, clone the whole repository"
            ) from None


def open_repository(path: Path) -> Repository:
    """Open the repository whose top folder is `path`, bare or not.

    Raises:
        InputError: There is no repository, or one that reads files outside of it.
    """
    if not path.exists():
        refuse_address(path)
        raise InputError(f"{path} does not exist; give a git repository")
    dot = path / ".git"
    if dot.is_symlink():
        raise InputError(f"{path}: .git is a link, which is not followed; name the linked folder")
    if not dot.exists() and not is_bare(path):
        raise InputError(
            f"{path} is not a git repository: it has no .git and is not a bare repository\n"
            f"name the top folder of a clone{f': {top}' if (top := repository_of(path)) else ''}"
        )
    top = dot if dot.exists() else path
    fault = ownership_fault(path, top)
    if fault is not None:
        raise InputError(f"{path}: {fault}")
    try:
        return Repository(path, pygit2.Repository(str(top), RepositoryOpenFlag.NO_SEARCH))
    except (KeyError, ValueError, pygit2.GitError) as error:
        if "sha256" in str(error):
            raise InputError(f"{path}: only sha1 repositories can be read, not sha256") from None
        raise InputError(f"{path}: the repository cannot be opened: {error}") from None


def is_bare(folder: Path) -> bool:
    """Whether a folder looks like a repository without a working tree."""
    return (
        (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
    )


def message_of(commit: pygit2.Commit) -> str:
    """A commit's message, decoded as the commit declares, else as UTF-8, else as Windows-1252."""
    data = commit.raw_message
    for encoding in (commit.message_encoding or "utf-8", "utf-8", "cp1252"):
        try:
            if codecs.lookup(encoding).name not in NO_FILE_ENCODINGS:
                text = data.decode(encoding)
                text.encode("utf-8")  # some encodings let lone surrogates through
                return text
        except (LookupError, UnicodeError, ValueError):
            continue
    return data.decode("latin-1")


def time_of(commit: pygit2.Commit) -> datetime | None:
    """When a commit was committed; None for a date outside the years 1 to 9999."""
    try:
        return datetime.fromtimestamp(commit.commit_time, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def ignored_commits(repository: Repository) -> frozenset[str]:
    """The hashes in `.git-blame-ignore-revs` of HEAD; empty where there is no such file."""
    blob = repository.file_at(repository.head(), ".git-blame-ignore-revs")
    text = repository.content(blob).decode("utf-8", "replace") if blob else ""
    return frozenset(re.findall(r"^\s*([0-9a-f]{40})\b", text, re.M))


_CONFIGURATIONS = ("config.worktree", "config")  # the first overrides the second
_READ = ("HEAD", "commondir", "packed-refs", "shallow", *_CONFIGURATIONS)
# A section may follow another on its line, but not a comment.
_INCLUDE = re.compile(r"^[^#;\n]*?\[[ \t]*include(?:if)?[ \t\]\".]", re.I | re.M)


def ownership_fault(path: Path, dot: Path) -> str | None:
    """Why the repository of a folder must not be read, such as objects elsewhere; None if it may.

    Linked working trees and submodules may be read, since their repository names them back.
    `dot` is the `.git` of the folder, not a link, or the folder itself if the repository is bare.
    """
    git_dir = _target(dot) if dot.is_file() else dot.resolve()
    if git_dir is None or not git_dir.is_dir():
        return ".git does not name an existing folder"
    name = _text(git_dir / "commondir")
    common = (git_dir / name).resolve() if name else git_dir
    for folder in dict.fromkeys((git_dir, common)):
        for file in (folder / name for name in _CONFIGURATIONS):
            if _INCLUDE.search(_text(file)):
                return (
                    f"{file} includes other files, which are not read\n"
                    "remove the include, or clone the repository"
                )
    within = all(folder.is_relative_to(path.resolve()) for folder in (git_dir, common))
    if not (within or _is_worktree(dot, git_dir, common) or _is_submodule(path, git_dir, common)):
        return (
            f"its objects are in {common}, a repository that does not name this folder as its own\n"
            "name that repository, or clone it"
        )
    return _outside(git_dir, common)


def _text(file: Path) -> str:
    """The text of a small file without its last line end; empty where it cannot be read."""
    try:
        return os.fsdecode(file.read_bytes()).strip("\r\n") if file.is_file() else ""
    except OSError:
        return ""


def _target(dot: Path) -> Path | None:
    """The folder that a `.git` file names."""
    key, colon, name = _text(dot).partition(":")
    return (dot.parent / name.strip()).resolve() if key == "gitdir" and colon else None


def _is_worktree(dot: Path, git_dir: Path, common: Path) -> bool:
    """Whether `git worktree` made this working tree, and the repository lists it."""
    name = _text(git_dir / "gitdir")
    return (
        git_dir.parent == common / "worktrees"
        and bool(name)
        and (git_dir / name).resolve() == dot.resolve()
    )


def _is_submodule(path: Path, git_dir: Path, common: Path) -> bool:
    """Whether the configuration of a repository names this folder as its working tree."""
    if git_dir != common:
        return False
    for file in (git_dir / name for name in _CONFIGURATIONS):
        try:
            name = pygit2.Config(str(file))["core.worktree"]
        except (KeyError, OSError, ValueError, pygit2.GitError):
            continue
        return bool(name) and (git_dir / str(name)).resolve() == path.resolve()
    return False


def _outside(git_dir: Path, common: Path) -> str | None:
    """What a repository reads outside of itself; None for nothing."""
    lines = _text(common / "objects/info/alternates").splitlines()
    others = [line for line in lines if line.strip() and not line.startswith("#")]
    if others:
        return (
            f"it borrows objects from {others[0]}, which is not read\n"
            "run git repack -ad in it and remove its objects/info/alternates, or clone it whole"
        )
    paths = [folder / name for folder in (git_dir, common) for name in (*_READ, "objects", "refs")]
    for top in (common / "objects", common / "refs"):
        for folder, folders, files in os.walk(top):
            paths += [Path(folder, name) for name in (*folders, *files)]
    for path in paths:
        if path.is_symlink() and not path.resolve().is_relative_to(common):
            return f"{path} is a link out of the repository, which is not followed; clone it"
    return None


def repository_of(folder: Path) -> Path | None:
    """The top folder of the working tree that holds a folder; None where there is none."""
    folder = folder.resolve()
    return next((top for top in (folder, *folder.parents) if (top / ".git").exists()), None)


def state_of(root: Path, sources: Sequence[Source]) -> dict[str, str]:
    """The state of the folder that a data set was made from.

    `commit` is that of HEAD, `none` where there is no repository, `unknown` where it cannot be
    read. `files not as committed` is the number of sources that differ from it, new ones included.
    """
    top = repository_of(root)
    if top is None:
        return {"commit": "none"}
    try:
        repository = open_repository(top)
        commit = repository.head()
    except InputError:
        return {"commit": "unknown"}  # the files can be read all the same
    below = root.resolve().relative_to(top)

    def is_committed(path: str) -> bool:
        try:
            content = (root / path).read_bytes()
        except OSError:
            return False
        return repository.file_at(commit, (below / path).as_posix()) == pygit2.hash(content)

    changed = sum(not is_committed(source.path) for source in sources)
    return {"commit": str(commit.id), "files not as committed": str(changed)}


def _path(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
