"""Which files of a folder git ignores, by libgit2.

libgit2 drops a rule such as `!name` where no rule above it in the same file fits that name;
git keeps it. So the rules of all files are joined in one file of an empty repository, after
two rules that fit every name and cancel each other. The repository itself is not opened: its
configuration plays no part, a link in place of a `.gitignore` is not followed, and a folder
without a repository has ignore rules as well.
"""

from __future__ import annotations

import re
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pygit2

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def ignore_rules(top: Path, root: Path) -> Iterator[IgnoreRules]:
    """The ignore rules of a repository: its `.gitignore` files and its `info/exclude`.

    `top` is the repository's folder, or `root` where there is none; paths are relative to `root`.

    Raises:
        InputError: No temporary folder can be written.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="chunkmark-"))
            scratch = pygit2.init_repository(folder)
        except (OSError, pygit2.GitError) as error:
            raise unwritable(error) from None
        yield IgnoreRules(top.resolve(), root.resolve(), scratch)


class IgnoreRules:
    """Ignore rules, read folder by folder as they are needed; `ignore_rules` makes one."""

    def __init__(self, top: Path, root: Path, scratch: pygit2.Repository) -> None:
        """Read `info/exclude`; `scratch` is the repository that holds the joined rules."""
        self._top, self._below, self._scratch = top, root.relative_to(top), scratch
        self._rules = ["*", "!*"]
        self._folders: set[Path] = set()
        self._add(top / ".git/info/exclude", "")

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
            return self._scratch.path_is_ignored(whole.as_posix() + "/" * path.endswith("/"))
        except UnicodeEncodeError:
            return False  # not UTF-8: pygit2 refuses the name, and such a file is not indexed

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
        try:
            Path(self._scratch.workdir, ".gitignore").write_bytes(joined)
        except OSError as error:
            raise unwritable(error) from None


def unwritable(error: Exception) -> InputError:
    """The error that no temporary folder can be written."""
    return InputError(f"no temporary folder can be written: {error}\nset TMPDIR to one that can")


def _moved(rule: str, folder: str) -> str:
    """A rule of a folder's `.gitignore` as one of the top folder."""
    pattern = rule.removeprefix("!")
    if not folder or not pattern.strip() or rule.startswith("#"):
        return rule
    anchored = "/" in pattern.rstrip(" ").removesuffix("/")
    above = re.sub(r"([*?\[\\])", r"\\\1", folder) + "**/" * (not anchored)
    return "!" * (pattern != rule) + "/" + above + pattern.removeprefix("/")
