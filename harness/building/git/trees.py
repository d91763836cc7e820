"""The trees of commits, as corpora that share the files they have in common."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from chunkers.source import Source
from harness.building.folder import OWN, is_own_folder
from harness.model import Corpus, Skipped
from harness.reading.reader import decode, shown
from harness.reading.stored_text import bounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pygit2

    from chunkers.errors import InputError
    from harness.building.git.repository import Repository, TreeEntry
    from harness.reading.reader import ReadRules

_DEEPEST = 100
MOST_TEXT = 1 << 28
"""Characters of different files that all corpora may hold together where they are in memory."""
MOST_FILES = 1 << 24
"""Files that they may hold together, the same file in each counted anew."""


class Trees:
    """Reads trees; a folder or a file that is the same in several is read once and shared."""

    def __init__(
        self, repository: Repository, rules: ReadRules, advice: str, most: int | None = None
    ) -> None:
        """Read nothing yet; `advice` is for trees over `most` characters, else `MOST_TEXT`."""
        self._repository, self._rules = repository, rules
        self._advice, self._most = advice, most or MOST_TEXT
        # By path and hash.
        self._read: dict[tuple[str, pygit2.Oid], Source | Skipped] = {}
        self._folders: dict[tuple[str, pygit2.Oid], tuple[Source | Skipped, ...]] = {}
        self._refusals: dict[tuple[str, int], str | None] = {}
        self._corpora: dict[str, Corpus] = {}
        self._characters = self._files = 0

    def file(self, path: str, blob: pygit2.Oid) -> Source | Skipped:
        """A file by its path and the hash of its content; `refusal` must allow the path.

        Raises:
            InputError: The object is missing, or all files together are too large.
        """
        if (path, blob) not in self._read:
            most = self._rules.max_bytes
            result: Source | Skipped = Skipped(path, f"larger than {most} bytes")
            if self._repository.size(blob) <= most:
                result = decode(self._repository.content(blob), path, self._rules)
            self._characters += result.length if isinstance(result, Source) else 0
            if self._characters > self._most and not bounded():
                raise self._too_large(f"{self._most:,} characters")
            self._read[path, blob] = result
        return self._read[path, blob]

    def corpus(self, commit: str) -> Corpus:
        """The tree of a commit, under its hash; files are in byte order of the path.

        Raises:
            InputError: As for `file`.
        """
        if commit not in self._corpora:
            files = self._folder("", self._repository.commit(commit).tree_id, 0)
            self._files += len(files)
            self._refuse_beyond(self._files)
            sources = tuple(file for file in files if isinstance(file, Source))
            skipped = tuple(file for file in files if isinstance(file, Skipped))
            self._corpora[commit] = Corpus(commit, sources, skipped, repository="repo")
        return self._corpora[commit]

    def changes(
        self, old: pygit2.Oid | None, new: pygit2.Oid | None, folder: str = "", depth: int = 0
    ) -> Iterator[tuple[Source | Skipped | None, Source | Skipped | None]]:
        """The files of `corpus` that differ between two trees; equal folders are not read.

        Each is the file before and after, None where there is none.

        Raises:
            InputError: An object is missing, or all files together are too large.
        """
        before, after = (self._listing(folder, tree, depth) for tree in (old, new))
        for name, is_folder in sorted(before.keys() | after.keys()):
            entries = before.get((name, is_folder)), after.get((name, is_folder))
            if entries[0] == entries[1]:
                continue
            path = folder + name
            if not is_folder:
                sides = [None if entry is None else self._leaf(path, entry) for entry in entries]
                if sides[0] != sides[1]:
                    yield sides[0], sides[1]
            elif reason := self._folder_refusal(path + "/", depth):
                skipped = Skipped(shown(path + "/"), reason)
                closed = [None if entry is None else skipped for entry in entries]
                yield closed[0], closed[1]
            else:
                trees = [None if entry is None else entry.id for entry in entries]
                yield from self.changes(trees[0], trees[1], path + "/", depth + 1)

    def _listing(
        self, folder: str, tree: pygit2.Oid | None, depth: int
    ) -> dict[tuple[str, bool], TreeEntry]:
        """The entries of a folder, by name and whether they are folders; none in one of our own."""
        entries = [] if tree is None else self._repository.entries(tree)
        if depth and self._is_own(folder, entries):
            return {}
        return {(entry.name, stat.S_ISDIR(entry.mode)): entry for entry in entries}

    def refusal(self, path: str, mode: int) -> str | None:
        """Why a file of a tree is not read, by its path and mode; None where it is."""
        key = (path, mode)
        if key not in self._refusals:
            self._refusals[key] = self._refusal(path, mode)
        return self._refusals[key]

    def _refusal(self, path: str, mode: int) -> str | None:
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            return "its name is not UTF-8"
        if not {"", ".", ".."}.isdisjoint(path.split("/")):
            return "its name is no path"
        if stat.S_ISREG(mode):
            return self._rules.refusal(path)
        return "link" if stat.S_ISLNK(mode) else "submodule"

    def _folder(self, folder: str, tree: pygit2.Oid, depth: int) -> tuple[Source | Skipped, ...]:
        """All files below a folder, whose path is empty or ends in `/`."""
        if (folder, tree) not in self._folders:
            entries = self._repository.entries(tree)
            if depth and self._is_own(folder, entries):
                files: list[Source | Skipped] = [Skipped(shown(folder), OWN)]
            else:
                files = []
                for entry in entries:
                    files += self._below(folder, entry, depth)
                    self._refuse_beyond(len(files))
            self._folders[folder, tree] = tuple(files)
        return self._folders[folder, tree]

    def _below(self, folder: str, entry: TreeEntry, depth: int) -> tuple[Source | Skipped, ...]:
        """The file that an entry of a folder is, or all files below it."""
        path = folder + entry.name
        if not stat.S_ISDIR(entry.mode):
            return (self._leaf(path, entry),)
        reason = self._folder_refusal(path + "/", depth)
        if reason is not None:
            return (Skipped(shown(path + "/"), reason),)
        return self._folder(path + "/", entry.id, depth + 1)

    def _leaf(self, path: str, entry: TreeEntry) -> Source | Skipped:
        reason = self.refusal(path, entry.mode)
        return Skipped(shown(path), reason) if reason else self.file(path, entry.id)

    def _folder_refusal(self, path: str, depth: int) -> str | None:
        """Why a folder, whose path ends in `/`, is not entered; None where it is."""
        too_deep = "nested too deep" if depth == _DEEPEST else None
        return self._rules.folder_refusal(path) or too_deep

    def _is_own(self, folder: str, entries: list[TreeEntry]) -> bool:
        blobs = {entry.name: entry.id for entry in entries if stat.S_ISREG(entry.mode)}
        names = {entry.name for entry in entries}

        def head(name: str, most: int) -> bytes:
            return self._repository.content(blobs[name])[:most] if name in blobs else b""

        return is_own_folder(folder.rsplit("/", 2)[-2], names.__contains__, head)

    def _refuse_beyond(self, files: int) -> None:
        if files > MOST_FILES:
            raise self._too_large(f"{MOST_FILES:,} files")

    def _too_large(self, what: str) -> InputError:
        return self._repository.fault(
            f"the trees of its commits hold more than {what} together\n{self._advice}"
        )
