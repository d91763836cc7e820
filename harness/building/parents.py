"""The trees that commits changed, as corpora that share the files they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkers.source import Source
from harness.building.git import tree_of
from harness.model import Corpus, Skipped
from harness.reader import decode, in_order, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chunkers.errors import InputError
    from harness.building.git import Entry, Objects, Repository
    from harness.reader import ReadRules

_REGULAR = "100"
_OTHERS = {"120000": "link", "160000": "submodule"}
MOST_TEXT = 1 << 28
"""Characters of different files that all corpora may hold together."""
MOST_FILES = 1 << 24
"""Files that they may hold together, the same file in each counted anew."""


class Parents:
    """Reads trees, and every content that stands in them under the same path once."""

    def __init__(self, repository: Repository, objects: Objects, rules: ReadRules) -> None:
        self._repository, self._objects, self._rules = repository, objects, rules
        self._read: dict[tuple[str, str], Source | Skipped] = {}
        self._refused: dict[tuple[str, str], Skipped | None] = {}
        self._corpora: dict[str, Corpus] = {}
        self._text = self._files = 0

    def file(self, path: str, name: str) -> Source | Skipped:
        """A file by its path and the hash of its content; its path and mode are good."""
        known = self._read.get((path, name))
        if known is None:
            if self._objects.size(name) > self._rules.max_bytes:
                known = Skipped(path, f"larger than {self._rules.max_bytes} bytes")
            else:
                known = decode(self._objects.read(name), path, self._rules)
            self._read[path, name] = known
            self._text += len(known.text) if isinstance(known, Source) else 0
            if self._text > MOST_TEXT:
                raise self._too_much(f"{MOST_TEXT >> 20} million characters")
        return known

    def corpus(self, commit: str) -> Corpus:
        """The tree of a commit, under its hash."""
        known = self._corpora.get(commit)
        if known is None:
            sources, skipped = in_order(self._found(tree_of(self._repository, commit)))
            known = Corpus(commit, sources, skipped)
            self._corpora[commit] = known
            self._files += len(sources) + len(skipped)
            if self._files > MOST_FILES:
                raise self._too_much(f"{MOST_FILES >> 20} million files")
        return known

    def refusal(self, path: str, mode: str) -> str | None:
        """Why a file of a tree is not read, by its path and mode; None where it is."""
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            return "its name is no UTF-8"
        if not {"", ".", ".."}.isdisjoint(path.split("/")):
            return "its name is no path"
        return self._rules.refusal(path) if mode.startswith(_REGULAR) else _OTHERS.get(mode, mode)

    def _found(self, entries: Iterable[Entry]) -> Iterator[Source | Skipped]:
        closed = set()
        for entry in entries:
            folder = self._closed(entry.path)
            if folder:
                if folder not in closed:
                    closed.add(folder)
                    yield Skipped(shown(folder), "folder not entered")
                continue
            key = entry.path, entry.mode
            if key not in self._refused:
                reason = self.refusal(*key)
                self._refused[key] = Skipped(shown(entry.path), reason) if reason else None
            yield self._refused[key] or self.file(entry.path, entry.hash)

    def _closed(self, path: str) -> str:
        """The outermost folder of a path that is not entered, with a `/`; empty if none."""
        parts = path.split("/")
        for at, part in enumerate(parts[:-1]):
            if part in self._rules.closed:
                return "/".join(parts[: at + 1]) + "/"
        return ""

    def _too_much(self, what: str) -> InputError:
        return self._repository.fault(
            f"the files before its commits are more than {what}\nlower --limit, or give one"
        )
