"""The trees of commits, as corpora that share the files they have in common."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from chunkers.source import Source
from harness.building.git.objects import FOLDER
from harness.building.own_folders import OURS, is_ours
from harness.model import Corpus, Skipped
from harness.reading.reader import decode, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chunkers.errors import InputError
    from harness.building.git.objects import Objects
    from harness.building.git.repository import Repository
    from harness.reading.reader import ReadRules

_REGULAR = "100"
_OTHERS = {"120000": "link", "160000": "submodule"}
_DEEPEST = 100
_MOST_CARD = 1 << 26  # bytes of a file that may say that chunkmark wrote it
MOST_TEXT = 1 << 28
"""Characters of different files that all corpora may hold together."""
MOST_FILES = 1 << 24
"""Files that they may hold together, the same file in each counted anew."""
MOST_PLACES = 1 << 21
"""Entries of different folders, or of the same in different places, that are looked at."""

MOST_ALIKE = 1 << 14
"""Places in which one and the same folder is looked at."""

_Files = tuple[tuple[Source, ...], tuple[Skipped, ...]]


class Parents:
    """Reads trees; a folder or a file that is the same in several is read once and shared."""

    def __init__(
        self,
        repository: Repository,
        objects: Objects,
        rules: ReadRules,
        advice: str,
        most: int | None = None,
    ) -> None:
        """Read nothing yet.

        Args:
            repository: Whose commits.
            objects: Its objects.
            rules: What is indexed.
            advice: What to do where the trees together are more than is kept.
            most: Characters of different files that are kept, else `MOST_TEXT`.
        """
        self._repository, self._objects, self._rules = repository, objects, rules
        self._advice, self._most = advice, most or MOST_TEXT
        # By path and hash.
        self._read: dict[tuple[str, str], Source | Skipped] = {}
        self._folders: dict[tuple[str, str], _Files] = {}
        self._alike: Counter[str] = Counter()
        # By path and mode.
        self._refused: dict[tuple[str, str], str | None] = {}
        self._corpora: dict[str, Corpus] = {}
        self._text = self._files = self._places = 0

    def file(self, path: str, name: str) -> Source | Skipped:
        """A file by its path and the hash of its content; `refusal` has nothing against it."""
        self._load([(path, name)])
        return self._read[path, name]

    def corpus(self, commit: str) -> Corpus:
        """The tree of a commit, under its hash; files are in byte order of the path.

        Raises:
            InputError: An object is missing, or all trees together are more than is kept.
        """
        known = self._corpora.get(commit)
        if known is None:
            tree = self._objects.commit(commit).tree
            read = self._folder("", tree, 0)
            known = self._corpora[commit] = Corpus(commit, *read, repository="repo")
            self._files += len(known.sources) + len(known.skipped)
            if self._files > MOST_FILES:
                raise self._too_much(f"{MOST_FILES:,} files")
        return known

    def refusal(self, path: str, mode: str) -> str | None:
        """Why a file of a tree is not read, by its path and mode; None where it is."""
        if (path, mode) not in self._refused:
            self._refused[path, mode] = self._refusal(path, mode)
        return self._refused[path, mode]

    def _refusal(self, path: str, mode: str) -> str | None:
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            return "its name is no UTF-8"
        if not {"", ".", ".."}.isdisjoint(path.split("/")):
            return "its name is no path"
        return self._rules.refusal(path) if mode.startswith(_REGULAR) else _OTHERS.get(mode, mode)

    def _folder(self, folder: str, name: str, depth: int) -> _Files:
        """All files below a folder, whose path is empty or ends in `/`."""
        known = self._folders.get((folder, name))
        if known is not None:
            return known
        entries = self._objects.folder(name)
        # A tree of a few objects can hold more files than any memory.
        self._alike[name] += 1
        if self._alike[name] > MOST_ALIKE:
            raise self._too_much(f"{MOST_ALIKE:,} folders that are alike")
        self._places += len(entries)
        if self._places > MOST_PLACES:
            raise self._too_much(f"{MOST_PLACES:,} different files and folders")
        if depth and self._is_ours(folder, entries):
            found: _Files = (), (Skipped(shown(folder), OURS),)
        else:
            found = self._below(folder, entries, depth)
        self._folders[folder, name] = found
        return found

    def _below(self, folder: str, entries: dict[str, tuple[str, str]], depth: int) -> _Files:
        """All files below the entries of a folder."""
        below: dict[str, _Files] = {}
        wanted = []
        for part, (mode, child) in entries.items():
            path = folder + part
            if mode != FOLDER:
                reason = self.refusal(path, mode)
                if reason is None:
                    wanted.append((path, child))
            elif part in self._rules.closed:
                reason = "folder not entered"
            else:
                reason = "nested too deep" if depth == _DEEPEST else None
                if reason is None:
                    below[part] = self._folder(f"{path}/", child, depth + 1)
            if reason is not None:
                below[part] = (), (Skipped(shown(path + "/" * (mode == FOLDER)), reason),)
        self._load(wanted)
        sources: list[Source] = []
        skipped: list[Skipped] = []
        for part, (_, child) in entries.items():
            if part in below:
                sources += below[part][0]
                skipped += below[part][1]
            else:
                one = self._read[folder + part, child]
                (sources if isinstance(one, Source) else skipped).append(one)  # type: ignore[arg-type]
        return tuple(sources), tuple(skipped)

    def _is_ours(self, folder: str, entries: dict[str, tuple[str, str]]) -> bool:
        def head(name: str, most: int) -> bytes:
            mode, blob = entries[name]
            known = mode.startswith(_REGULAR) and self._objects.size(blob) <= _MOST_CARD
            return self._objects.read(blob)[:most] if known else b""

        return is_ours(folder.rsplit("/", 2)[-2], entries.__contains__, head)

    def _load(self, files: Iterable[tuple[str, str]]) -> None:
        """Read the files that were not read before."""
        new = [one for one in files if one not in self._read]
        sizes = list(self._objects.sizes([name for _, name in new]))
        most = self._rules.max_bytes
        small = [one for one, size in zip(new, sizes, strict=True) if size <= most]
        self._read.update((one, Skipped(one[0], f"larger than {most} bytes")) for one in new)
        contents = self._objects.read_all([name for _, name in small])
        for (path, name), data in zip(small, contents, strict=True):
            read = self._read[path, name] = decode(data, path, self._rules)
            self._text += len(read.text) if isinstance(read, Source) else 0
            if self._text > self._most:
                raise self._too_much(f"{self._most:,} characters")

    def _too_much(self, what: str) -> InputError:
        return self._repository.fault(
            f"the trees of its commits hold more than {what} together\n{self._advice}"
        )
