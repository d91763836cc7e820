"""Trees of many commits of a few repositories: archives, folders, or clones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from harness.building.git.repository import open_repository
from harness.building.git.trees import Trees
from harness.reading.reader import ReadRules, read_folder, read_zip
from harness.reading.stored_text import bounded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chunkers.source import Source
    from harness.building.git.repository import Repository
    from harness.model import Skipped

    Read = tuple[tuple[Source, ...], tuple[Skipped, ...]]

RULES = ReadRules(suffixes=(".py",), guess="cp1252")
"""Archives hold no other files; a tree must be the same corpus from any source."""

MOST_TEXT = 1 << 30
"""Characters of different files that all trees may hold together where they are in memory."""
_ADVICE = "take fewer: name some by instances=, or repositories by repos="


class Worktrees:
    """The folders of trees, and the trees read so far.

    Attributes:
        folder: Holds `<instance>.zip`, with a folder of that name inside, or such folders.
        clones: Holds `<owner>__<name>`, repositories with the commits.
    """

    def __init__(self, folder: Path, clones: Path) -> None:
        self.folder, self.clones = folder, clones
        self._known: dict[Path, tuple[Repository, Trees]] = {}
        # Commits of one repository share most of their files.
        self._kept: dict[Source, Source] = {}
        self._text = 0

    @staticmethod
    def beside(file: Path, clones: str) -> Worktrees:
        """The trees in the folder of a file.

        Raises:
            InputError: `clones` is given and not a folder.
        """
        repositories = Path(clones).expanduser() if clones else file.parent / "clones"
        if clones and not repositories.is_dir():
            raise InputError(f"clones={clones} is not a folder")
        return Worktrees(file.parent / "worktrees", repositories)

    def read(self, instance: str, repo: str, commit: str) -> Read | str:
        """The tree of an instance as from `read_folder`, or the reason that it is absent.

        Raises:
            InputError: The tree is damaged or empty, or all trees that were read are more than is
                kept in memory.
        """
        tree = self._read(instance, repo, commit)
        return tree if isinstance(tree, str) else (self._shared(tree[0]), tree[1])

    def _shared(self, sources: Iterable[Source]) -> tuple[Source, ...]:
        """The sources, shared with other trees that have the same ones."""
        shared = []
        for source in sources:
            if source not in self._kept:
                self._text += source.length
                if self._text > MOST_TEXT and not bounded():
                    raise InputError(
                        f"the trees in {self.folder} and {self.clones} hold more than "
                        f"{MOST_TEXT:,} characters together\n{_ADVICE}"
                    )
            shared.append(self._kept.setdefault(source, source))
        return tuple(shared)

    def _read(self, instance: str, repo: str, commit: str) -> Read | str:
        unpacked, archive = self.folder / instance, self.archive(instance)
        clone = self.clones / repo.replace("/", "__")
        if unpacked.is_dir():
            return read_folder(unpacked, RULES)
        if archive is not None:
            tree = read_zip(archive, instance, RULES)
            if tree == ((), ()):
                raise InputError(f"{archive} holds no folder {instance}, or nothing in it")
            return tree
        if clone.is_dir():
            return self._read_clone(clone, commit)
        return "neither a worktree nor a clone was found"

    def archive(self, instance: str) -> Path | None:
        """The archive that the tree of an instance is read from, if it is."""
        file = self.folder / f"{instance}.zip"
        return file if file.is_file() and not (self.folder / instance).is_dir() else None

    def _read_clone(self, clone: Path, commit: str) -> Read | str:
        if clone not in self._known:
            repository = open_repository(clone)
            self._known[clone] = repository, Trees(repository, RULES, _ADVICE, MOST_TEXT)
        repository, trees = self._known[clone]
        try:
            repository.commit(commit)
        except InputError:
            return f"the clone {clone.name} lacks its commit"
        corpus = trees.corpus(commit)
        return corpus.sources, tuple(sorted(corpus.skipped, key=lambda skipped: skipped.path))
