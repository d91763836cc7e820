"""Reads unified diffs by unidiff, with the names and line numbers that targets are made of."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from chunkers.errors import InputError
from harness.building.git.changes import Changed, changed_in_hunks

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOTHING = "/dev/null"
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_ESCAPED = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


@dataclass(frozen=True, slots=True)
class PatchFile:
    """What a patch does to one file.

    Paths are those before and after; None for a new and a deleted file. `changed` is empty for a
    link and a submodule; `binary` content changed without lines in the patch; `kind` is `file`,
    `link` or `submodule`; `shown` are the numbered lines of the old file in the patch.
    """

    old: str | None
    new: str | None
    changed: Changed = field(default_factory=Changed)
    binary: bool = False
    kind: str = "file"
    shown: tuple[tuple[int, str], ...] = field(default=(), compare=False, repr=False)

    def fits(self, lines: Sequence[str]) -> bool:
        """Whether a file's lines are where the patch has them, except for white space at ends."""
        return all(
            number <= len(lines) and lines[number - 1].rstrip() == line.rstrip()
            for number, line in self.shown
        )


def parse_patch(text: str) -> list[PatchFile]:
    """Read the files of a patch, in its order; names may begin with `a/` and `b/`.

    Raises:
        InputError: The patch is malformed.
    """
    try:
        patch = PatchSet(text.replace("\r\n", "\n"))
    except UnidiffParseError as error:
        raise _fault(str(error).strip()) from None
    if sum(map(len, patch)) != sum(line.startswith("@@") for line in text.split("\n")):
        raise _fault("a line that begins with @@ is not the head of a hunk")
    files = [_file(file) for file in patch]
    for path, number in Counter(file.new or file.old for file in files).items():
        if number > 1:
            raise _fault(f"it changes {path} {number} times")
    return files


def _fault(reason: str) -> InputError:
    return InputError(f"the patch is malformed: {reason}")


def _file(file: PatchedFile) -> PatchFile:
    old, new = _names(file.source_file, file.target_file)
    kind = "submodule" if file.is_submodule else "link" if file.is_symlink else "file"
    hunks = [
        (hunk.source_start, hunk.source_length, [(line.line_type, line.value) for line in hunk])
        for hunk in file
    ]
    shown = tuple(
        (line.source_line_no, line.value)
        for hunk in file
        for line in hunk
        if line.source_line_no is not None
    )
    changed = changed_in_hunks(hunks) if kind == "file" else Changed()
    return PatchFile(old, new, changed, file.is_binary_file, kind, shown)


def _names(source: str, target: str) -> tuple[str | None, str | None]:
    """The two paths without `a/` and `b/`, if both have them."""
    names = [_unquoted(source), _unquoted(target)]
    marked = zip(names, ("a/", "b/"), strict=True)
    if all(name == _NOTHING or name.startswith(mark) for name, mark in marked):
        names = [name if name == _NOTHING else name[2:] for name in names]
    old, new = (None if name == _NOTHING else name for name in names)
    for path in (old, new):
        if path is not None and not {"", ".", ".."}.isdisjoint(path.split("/")):
            raise _fault(f"{path!r} is not a path inside a repository")
    if old is None and new is None:
        raise _fault(f"both names are {_NOTHING}")
    return old, new


def _unquoted(name: str) -> str:
    """A name as it is; git writes unusual ones in quotes, their bytes as octal numbers."""
    if not (name.startswith('"') and name.endswith('"')):
        return name

    def byte(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8) if len(code) == 3 else _ESCAPED.get(code[0], code[0])])

    data = _ESCAPE.sub(byte, name[1:-1].encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")
