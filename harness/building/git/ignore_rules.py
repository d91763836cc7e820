"""Which files of a folder git ignores, as libgit2 tells."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pygit2

from chunkers.errors import InputError

if TYPE_CHECKING:
    from types import TracebackType


class IgnoreRules:
    """The ignore rules of a repository: its `.gitignore` files and its `info/exclude`.

    They are copied to an empty repository, which is asked: a link in place of a `.gitignore` is
    not followed, the repository's own configuration is not read, and a folder needs none.
    """

    def __init__(self, top: Path, root: Path) -> None:
        """Read `info/exclude`; `.gitignore` files are read when they are needed.

        Args:
            top: Top folder of the repository, or `root` where there is none.
            root: The folder that paths are relative to.

        Raises:
            InputError: No temporary folder can be written.
        """
        self._top = top.resolve()
        self._below = root.resolve().relative_to(self._top)
        try:
            self._scratch = tempfile.TemporaryDirectory(prefix="chunkmark-")
            self._git = pygit2.init_repository(self._scratch.name)
        except (OSError, pygit2.GitError) as error:
            raise InputError(
                f"no temporary folder can be written: {error}\nset TMPDIR to one that can"
            ) from None
        self._folders: set[Path] = set()
        self._copy(Path(".git/info/exclude"))

    def __enter__(self) -> Self:
        """Return the rules; their copy is removed at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the copy."""
        self._git.free()
        self._scratch.cleanup()

    def ignore(self, path: str) -> bool:
        """Whether git ignores a path below the root; that of a folder ends in `/`."""
        whole = self._below / path
        for folder in whole.parents:
            if folder not in self._folders:
                self._folders.add(folder)
                self._copy(folder / ".gitignore")
        try:
            return self._git.path_is_ignored(whole.as_posix() + "/" * path.endswith("/"))
        except UnicodeEncodeError:
            return False  # pygit2 takes no such name, and no file of such a name is indexed

    def _copy(self, name: Path) -> None:
        file, copy = self._top / name, self._scratch.name / name
        try:
            if file.is_file() and file.resolve() == file:
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
        except OSError:
            return  # git reads no rules from it either
