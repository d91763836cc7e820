"""Which lines of a text a change removed, and the targets that follow from them.

Only LF ends a line. A changed line is one removed and one added. Context lines never count.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import pygit2
from pygit2.enums import DiffOption
from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from chunkers.errors import InputError
from harness.model import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from chunkers.source import LineIndex, Source

_FLAGS = DiffOption.FORCE_TEXT | DiffOption.MINIMAL | DiffOption.INDENT_HEURISTIC
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Changed:
    """What happened to the lines of an old text; lines are counted from 1.

    `removed` are first and last line of every run that was removed or changed. `inserted` are
    places where text that is not blank was added and at most blank lines were removed, as the
    number of the line above, 0 for the top. `added` is the number of lines that are not blank and
    took the place of removed ones, `new` that of those in such places.
    """

    removed: tuple[tuple[int, int], ...] = ()
    inserted: tuple[int, ...] = ()
    added: int = field(default=0, compare=False)
    new: int = field(default=0, compare=False)

    @property
    def count(self) -> int:
        """Number of lines removed or changed."""
        return sum(last - first + 1 for first, last in self.removed)


@dataclass(frozen=True, slots=True)
class ChangeGold:
    """The targets of a change, in order of path and line.

    `insert_only`: nothing was removed or changed, so they are the lines next to what was inserted.
    """

    targets: tuple[Target, ...]
    insert_only: bool


def changed_lines(old: str, new: str, comments: AbstractSet[int] | None = None) -> Changed:
    """Compare two texts line by line, as `git diff --minimal` does.

    A line end that is missing at the end of one text makes the last line another one. `comments`
    are the lines of `new` that hold nothing else; where they are given, hunks that only change
    white space or only insert comments are left out.
    """
    before, after = old.encode(), new.encode()  # named, since the patch only points into them
    patch = pygit2.Patch.create_from(before, after, flag=_FLAGS, context_lines=0, interhunk_lines=0)
    hunks = (hunk for hunk in patch.hunks if comments is None or not _is_layout(hunk, comments))
    return changed_in_hunks(
        (hunk.old_start, hunk.old_lines, [(line.origin, line.content) for line in hunk.lines])
        for hunk in hunks
    )


def _is_layout(hunk: pygit2.DiffHunk, comments: AbstractSet[int]) -> bool:
    """Whether a hunk only changes white space, or only inserts comments."""
    gone = "".join(line.content for line in hunk.lines if line.origin == "-").split()
    added = [line for line in hunk.lines if line.origin == "+"]
    if gone:
        return "".join(gone) == "".join("".join(line.content for line in added).split())
    return all(line.new_lineno in comments or not line.content.strip() for line in added)


def changed_in_hunks(hunks: Iterable[tuple[int, int, Iterable[tuple[str, str]]]]) -> Changed:
    """Sum up the hunks of one file.

    Each is its first old line, its number of old lines, and its lines, each with the mark `-`, `+`
    or a space; lines with other marks are ignored.
    """
    removed: list[tuple[int, int]] = []
    inserted: list[int] = []
    added_lines = new_lines = 0
    for start, count, lines in hunks:
        above = start - (count > 0)  # a hunk without old lines names the line above it
        marked = (line for line in lines if line[0] in {"-", "+", " "})
        for is_context, group in groupby(marked, key=lambda line: line[0] == " "):
            run = list(group)
            gone = [text for mark, text in run if mark != "+"]
            added = [text for mark, text in run if mark == "+"]
            if not is_context:
                if gone:
                    removed.append((above + 1, above + len(gone)))
                if _visible(gone):
                    added_lines += _visible(added)
                elif _visible(added):
                    inserted.append(above)
                    new_lines += _visible(added)
            above += len(gone)
    return Changed(tuple(removed), tuple(inserted), added_lines, new_lines)


def touched_lines(old: bytes, new: bytes) -> int:
    """The number of lines that were removed or added between two contents."""
    patch = pygit2.Patch.create_from(old, new, flag=_FLAGS, context_lines=0, interhunk_lines=0)
    _, added, removed = patch.line_stats
    return added + removed


def changed_chars(old: Source | None, new: Source | None) -> int:
    """The size of an edit of a file in non-white-space characters; None is no file.

    Each run of lines that another takes the place of counts as the larger of both. So inserted and
    removed lines count once, and so does a line in which a word was replaced.
    """
    if old is None or new is None:
        return sum(int(file.lines.line_nws[-1]) for file in (old, new) if file is not None)
    before, after = old.text.encode(), new.text.encode()
    # Without MINIMAL, which takes quadratic time on texts that have little in common.
    flags = DiffOption.FORCE_TEXT | DiffOption.INDENT_HEURISTIC
    patch = pygit2.Patch.create_from(before, after, flag=flags, context_lines=0, interhunk_lines=0)
    return sum(
        max(
            _chars(old.lines, hunk.old_start, hunk.old_lines),
            _chars(new.lines, hunk.new_start, hunk.new_lines),
        )
        for hunk in patch.hunks
    )


def _chars(lines: LineIndex, first: int, count: int) -> int:
    """Non-white-space characters of a run of lines, which may be empty."""
    return int(lines.line_nws[first + count - 1] - lines.line_nws[first - 1]) if count else 0


def _visible(lines: Iterable[str]) -> int:
    """The number of lines that are not blank."""
    return sum(bool(line) and not line.isspace() for line in lines)


def gold_of(files: Iterable[tuple[Source, Changed]], *, elsewhere: bool = False) -> ChangeGold:
    """The targets of a change to some files.

    They are the runs of lines that it removed or changed, without blank lines at their ends. If
    there are none in all files, they are the nearest non-blank line on each side of every place
    where it inserted something. Where a change does both, what it inserted has no target. `files`
    are the old texts of all indexed files that the change touches, each path once. `elsewhere`: it
    removed or changed lines of other files, so that it does more than insert.

    Raises:
        InputError: A line is not in its file.
    """
    ordered = sorted(files, key=lambda file: file[0].path)
    removed, beside = [], []
    for source, changed in ordered:
        _refuse_beyond(source, changed)
        for first, last in changed.removed:
            lines = _stripped(source.lines, first, last)
            if lines:
                removed.append(Target(source.path, *lines))
        for line in _neighbours(source.lines, changed.inserted):
            beside.append(Target(source.path, line, line))
    insert_only = not (removed or elsewhere)
    return ChangeGold(tuple(beside if insert_only else removed), insert_only)


def only_inserted(old: bytes, new: bytes) -> bool:
    """Whether all lines of `old` but blank ones are in `new`, in the same order."""
    after = iter(_LINE.findall(new))
    return all(line in after for line in _LINE.findall(old) if line.strip())


def _refuse_beyond(source: Source, changed: Changed) -> None:
    ends = [last for _, last in changed.removed]
    last = max([*ends, *changed.inserted], default=0)
    if last > source.lines.count:
        raise InputError(
            f"{source.path}: the change names line {last}, but the file has "
            f"{source.lines.count} lines; it is another version"
        )


def _stripped(lines: LineIndex, first: int, last: int) -> tuple[int, int] | None:
    """A run without the blank lines at its ends; None if nothing remains."""
    while first <= last and lines.blank(first):
        first += 1
    while first <= last and lines.blank(last):
        last -= 1
    return (first, last) if first <= last else None


def _neighbours(lines: LineIndex, places: Iterable[int]) -> list[int]:
    """The non-blank lines next to places between lines, in order, each once."""
    neighbours = set()
    for place in places:
        above, below = place, place + 1
        while above and lines.blank(above):
            above -= 1
        while below <= lines.count and lines.blank(below):
            below += 1
        neighbours |= {line for line in (above, below) if 1 <= line <= lines.count}
    return sorted(neighbours)


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
