"""Trees of many commits of a few repositories: archives, folders, or clones."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.source import Source
from harness.building.git import open_repository, tree_of
from harness.building.objects import objects_of
from harness.model import Skipped
from harness.reader import ReadRules, decode, read_folder, read_zip

if TYPE_CHECKING:
    from harness.building.git import Entry
    from harness.building.objects import Objects

RULES = ReadRules(suffixes=(".py",))
"""Archives hold no other files, and the same tree is to be the same corpus wherever it lies."""

_LINK, _SUBMODULE = "120000", "160000"
Read = tuple[tuple[Source, ...], tuple[Skipped, ...]]


@dataclass(frozen=True)
class Worktrees:
    """Where trees lie.

    Attributes:
        folder: Of `<instance>.zip`, which holds a folder of that name, or of such folders.
        clones: Of `<owner>__<name>`, repositories with the commits.
    """

    folder: Path
    clones: Path
    # Commits of one repository share most of their files.
    _known: dict[tuple[str, str], Source | Skipped] = field(default_factory=dict)

    @staticmethod
    def beside(file: Path, clones: str) -> Worktrees:
        """Those in the folder of a file.

        Raises:
            InputError: `clones` is given and no folder.
        """
        named = Path(clones).expanduser() if clones else file.parent / "clones"
        if clones and not named.is_dir():
            raise InputError(f"clones={clones} is no folder")
        return Worktrees(file.parent / "worktrees", named)

    def read(self, instance: str, repo: str, commit: str) -> Read | str:
        """The tree of an instance as from `harness.reader.read_folder`, or why there is none.

        Raises:
            InputError: What is there is damaged, or holds nothing.
        """
        unpacked, archive = self.folder / instance, self.folder / f"{instance}.zip"
        clone = self.clones / repo.replace("/", "__")
        if unpacked.is_dir():
            return read_folder(unpacked, RULES)
        if archive.is_file():
            read = read_zip(archive, instance, RULES)
            if read == ((), ()):
                raise InputError(f"{archive} holds no folder {instance}, or nothing in it")
            return read
        if clone.is_dir():
            return self._read_clone(clone, commit)
        return "neither a worktree nor a clone is there"

    def _read_clone(self, clone: Path, commit: str) -> Read | str:
        repository = open_repository(clone)
        with objects_of(repository) as objects:
            try:
                objects.size(commit)
            except InputError:
                return f"the clone {clone.name} lacks its commit"
            found = [self._one(clone.name, entry, objects) for entry in tree_of(repository, commit)]
        sources = (one for one in found if isinstance(one, Source))
        skipped = (one for one in found if isinstance(one, Skipped))
        return (
            tuple(sorted(sources, key=lambda one: one.path)),
            tuple(sorted(skipped, key=lambda one: one.path)),
        )

    def _one(self, clone: str, entry: Entry, objects: Objects) -> Source | Skipped:
        try:
            entry.path.encode("utf-8")
        except UnicodeEncodeError:
            octets = entry.path.encode("utf-8", "surrogateescape")
            return Skipped(octets.decode("utf-8", "backslashreplace"), "its name is no UTF-8")
        if entry.mode in (_LINK, _SUBMODULE):
            return Skipped(entry.path, "link" if entry.mode == _LINK else "submodule")
        if not RULES.closed.isdisjoint(entry.path.split("/")[:-1]):
            return Skipped(entry.path, "folder not entered")
        if not RULES.takes(entry.path):
            return Skipped(entry.path, "name does not end in .py")
        if entry.size > RULES.max_bytes:
            return Skipped(entry.path, f"larger than {RULES.max_bytes} bytes")
        key = (entry.path, f"{clone}/{entry.hash}")
        if key not in self._known:
            self._known[key] = decode(objects.read(entry.hash), entry.path, RULES)
        return self._known[key]
