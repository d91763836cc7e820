"""What the user's patterns and the .gitattributes files of a repository say of its paths.

libgit2 matches both, in empty repositories that hold a copy of the patterns and the attributes. So
the configuration of the repository and of the user plays no part.
"""

from __future__ import annotations

import re
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pygit2
from pygit2.enums import AttrCheck

from chunkers.languages import linguist_language
from harness.building.git.ignore_rules import unwritable
from harness.reading.reader import Marks, leaves
from harness.support.paths import prefixes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_FILE = ".gitattributes"
_SLASH = re.compile(r"/(?=.)")


@contextmanager
def path_marks(
    include: Sequence[str],
    exclude: Sequence[str],
    attributes: Callable[[str], bytes | None],
    below: str = "",
) -> Iterator[PathMarks]:
    """What is said of the paths below a folder of a repository.

    Args:
        include: Patterns as in .gitignore, relative to the folder. A folder that one of them names,
            or that is on the way to what it names, is entered.
        exclude: Patterns of the same kind; they come before the others.
        attributes: The content of a .gitattributes file, or of `.git/info/attributes`, by its path
            from the top of the repository; None without one.
        below: The folder, from the top of the repository, ending in `/`; empty for the top.

    Raises:
        InputError: No temporary folder can be written.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="chunkmark-"))
            marks = PathMarks(Path(folder), include, exclude, attributes, below)
        except (OSError, pygit2.GitError) as error:
            raise unwritable(error) from None
        yield marks


class PathMarks:
    """The marks of paths; attributes are read folder by folder as they are needed."""

    def __init__(
        self,
        folder: Path,
        include: Sequence[str],
        exclude: Sequence[str],
        attributes: Callable[[str], bytes | None],
        below: str,
    ) -> None:
        """Write the patterns below `folder`, which is empty; see `path_marks`."""
        self._include = _matcher(folder / "include", include)
        self._on_the_way = _matcher(folder / "way", [p for rule in include for p in _above(rule)])
        self._exclude = _matcher(folder / "exclude", exclude)
        self._scratch = pygit2.init_repository(folder / "attributes")
        self._attributes, self._below = attributes, below
        self._folders: set[str] = set()
        self._copy(".git/info/attributes", "info/attributes", Path(self._scratch.path))
        self.used: set[bool] = set()
        """Whether an include (True) or an exclude (False) decided on a path."""

    def __call__(self, path: str) -> Marks:
        """What is said of a path; that of a folder ends in `/`."""
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            return Marks()  # such a file is not indexed
        included = False if self._exclude(path) else (self._include(path) or None)
        if included is not None:
            self.used.add(included)
        elif path.endswith("/") and self._on_the_way(path):
            included = True
        return self._marks(self._below + path, included)

    def _marks(self, path: str, included: bool | None) -> Marks:
        # What holds for all files of a folder is what holds for one of any name.
        path += "_" * path.endswith("/")
        if leaves(path) or ".git" in path.lower().split("/"):
            return Marks(included)
        for folder in ("", *prefixes(path)[:-1]):
            if folder not in self._folders:
                self._folders.add(folder)
                self._copy(folder + _FILE, folder + _FILE, Path(self._scratch.workdir))
        language = self._value(path, "linguist-language")
        return Marks(
            included,
            _truth(self._value(path, "linguist-generated")),
            _truth(self._value(path, "linguist-vendored")),
            linguist_language(language) or "" if isinstance(language, str) else None,
        )

    def _value(self, path: str, name: str) -> bool | str | None:
        return self._scratch.get_attr(path, name, AttrCheck.NO_SYSTEM)

    def _copy(self, source: str, target: str, root: Path) -> None:
        content = self._attributes(source)
        if content is not None:
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            (root / target).write_bytes(content)


def disk_attributes(top: Path) -> Callable[[str], bytes | None]:
    """Reads attributes of the working tree at `top`; links are not followed."""

    def read(path: str) -> bytes | None:
        file = top / path
        try:
            return file.read_bytes() if file.is_file() and file.resolve() == file else None
        except OSError:
            return None

    return read


def _matcher(folder: Path, patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path fits patterns as in .gitignore."""
    if not patterns:
        return lambda _: False
    matcher = pygit2.init_repository(folder)
    # See `harness.building.git.ignore_rules` for the first two.
    (folder / ".gitignore").write_text("\n".join(("*", "!*", *patterns)), encoding="utf-8")
    # libgit2 lets the second rule decide on a file before it looks at the folders above.
    return lambda path: any(map(matcher.path_is_ignored, prefixes(path)))


def _above(pattern: str) -> list[str]:
    """Patterns of the folders on the way to what a pattern names by a path."""
    parts = _SLASH.split(pattern.removeprefix("/"))
    above = ["/".join(parts[:n]) for n in range(1, len(parts))] if pattern[0] != "!" else []
    return [f"/{path}/" for path in above if path.strip("*/")]


def _truth(value: bool | str | None) -> bool | None:
    return value != "false" if isinstance(value, str) else value
