"""Which files of a folder git ignores, as libgit2 tells.

libgit2 drops a rule such as `!name` where no rule above it in the same file fits the same name,
which git does not. So the rules of all files are joined to one file of an empty repository, after
two rules that fit every name and cancel each other. The repository itself is not opened: its
configuration plays no part, a link in place of a `.gitignore` is not followed, and a folder
without a repository has ignore rules as well.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pygit2

from chunkers.errors import InputError

if TYPE_CHECKING:
    from types import TracebackType


class IgnoreRules:
    """The ignore rules of a repository: its `.gitignore` files and its `info/exclude`."""

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
        self._rules = ["*", "!*"]
        self._folders: set[Path] = set()
        self._add(self._top / ".git/info/exclude", "")

    def __enter__(self) -> Self:
        """Return the rules; their joined file is removed at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the joined file."""
        self._git.free()
        self._scratch.cleanup()

    def ignore(self, path: str) -> bool:
        """Whether git ignores a path below the root; that of a folder ends in `/`.

        The folders above the path must not be ignored.
        """
        whole = self._below / path
        for folder in reversed(whole.parents):  # rules of deeper folders override those above
            if folder not in self._folders:
                self._folders.add(folder)
                name = folder.as_posix()
                self._add(self._top / folder / ".gitignore", "" if name == "." else name + "/")
        try:
            return self._git.path_is_ignored(whole.as_posix() + "/" * path.endswith("/"))
        except UnicodeEncodeError:
            return False  # pygit2 takes no such name, and no file of such a name is indexed

    def _add(self, file: Path, folder: str) -> None:
        """Add the rules of a file, which are relative to a folder."""
        try:
            if not file.is_file() or file.resolve() != file or "\n" in folder:
                return
            text = file.read_bytes().removeprefix(b"\xef\xbb\xbf")
        except OSError:
            return  # git reads no rules from it either
        lines = text.decode("utf-8", "surrogateescape").split("\n")
        self._rules += [_moved(line.removesuffix("\r"), folder) for line in lines]
        joined = "\n".join(self._rules).encode("utf-8", "surrogateescape")
        Path(self._scratch.name, ".gitignore").write_bytes(joined)


def _moved(rule: str, folder: str) -> str:
    """A rule of a folder's `.gitignore` as one of the top folder."""
    pattern = rule.removeprefix("!")
    if not folder or not pattern.strip() or rule.startswith("#"):
        return rule
    anchored = "/" in pattern.rstrip(" ").removesuffix("/")
    above = re.sub(r"([*?\[\\])", r"\\\1", folder) + "**/" * (not anchored)
    return "!" * (pattern != rule) + "/" + above + pattern.removeprefix("/")
