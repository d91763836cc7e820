"""Reads unified diffs, as git and diff write them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chunkers.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Run = tuple[int, "Sequence[str]", "Sequence[str]"]
"""How many old lines lie above a change, the lines removed there, the lines added."""

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?", re.ASCII)
_GIT = "diff --git "
_NOTHING = "/dev/null"
_LONG = "the hunk has more lines than its head says"
_KINDS = {"120000": "link", "160000": "submodule"}
_HEADER = re.compile(
    r"(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to"
    r"|similarity index|dissimilarity index|index) (.+)"
)
_BINARY = re.compile(r"Binary files .* differ|GIT binary patch")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_ESCAPED = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


@dataclass(frozen=True, slots=True)
class Changed:
    """What happened to the lines of an old text; they are counted from 1.

    Attributes:
        removed: First and last line of every run that was removed or changed, in order, apart.
        inserted: Where text that is not blank came in and none but blank lines went: the number
            of the line above it, 0 for the top.
    """

    removed: tuple[tuple[int, int], ...] = ()
    inserted: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """Number of lines removed or changed."""
        return sum(last - first + 1 for first, last in self.removed)


def runs_to_changed(runs: Iterable[Run]) -> Changed:
    """Sum up the runs of one file, which are in order."""
    removed, inserted = [], []
    for above, gone, come in runs:
        if gone:
            removed.append((above + 1, above + len(gone)))
        if _visible(come) and not _visible(gone):
            inserted.append(above)
    return Changed(tuple(removed), tuple(inserted))


def _visible(lines: Iterable[str]) -> bool:
    return any(line and not line.isspace() for line in lines)


@dataclass(frozen=True, slots=True)
class PatchFile:
    """What a patch does to one file.

    Attributes:
        old: Its path before; None for a new file.
        new: Its path after; None for a deleted file.
        changed: The lines of the old file; none for a link and a submodule.
        binary: Whether its content changed in a way that the patch has no lines for.
        kind: `file`, `link` or `submodule`.
        shown: Lines of the old file that the patch repeats, by their numbers.
    """

    old: str | None
    new: str | None
    changed: Changed = field(default_factory=Changed)
    binary: bool = False
    kind: str = "file"
    shown: tuple[tuple[int, str], ...] = field(default=(), compare=False, repr=False)

    def fits(self, lines: Sequence[str]) -> bool:
        """Whether lines of the old file are where the patch has them, but for white space at ends.

        Args:
            lines: All lines of the file that is to be changed.
        """
        return all(
            number <= len(lines) and lines[number - 1].rstrip() == line.rstrip()
            for number, line in self.shown
        )


def parse_patch(text: str) -> list[PatchFile]:
    """Read a patch.

    Args:
        text: The whole patch; nothing but the diffs of files may stand in it. Names may begin
            with `a/` and `b/`.

    Returns:
        The files in the order of the patch.

    Raises:
        InputError: The patch is malformed; the message has the line and what is wrong there.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    reader = _Reader(lines)
    files = []
    while reader.at < len(lines):
        files.append(_file(reader))
    changed = Counter(one.new or one.old for one in files)
    for path, number in changed.items():
        if number > 1:
            raise InputError(f"the patch is malformed: it changes {path} {number} times")
    return files


@dataclass(slots=True)
class _Reader:
    """Goes through the lines of a patch; `at` is the number of those read."""

    lines: list[str]
    at: int = 0

    def head(self) -> str:
        """The line that comes next, without a CR at its end; empty behind the last."""
        return self.lines[self.at].removesuffix("\r") if self.at < len(self.lines) else ""

    def fault(self, what: str) -> InputError:
        return InputError(f"the patch is malformed in line {self.at + 1}: {what}")


@dataclass(slots=True)
class _Head:
    """What the lines before the first hunk say."""

    line: str = ""
    values: dict[str, str] = field(default_factory=dict)
    binary: bool = False
    kind: str = "file"


def _file(reader: _Reader) -> PatchFile:
    """One file with its headers and hunks."""
    head = _Head()
    if reader.head().startswith(_GIT):
        head = _git_head(reader)
    if not reader.head().startswith("--- "):
        if not head.line:
            raise reader.fault("neither 'diff --git' nor '---' begins the diff of a file")
        old, new = _names_of_head(reader, head)
        return PatchFile(old, new, binary=head.binary, kind=head.kind)
    old, new = _names(reader)
    if head.line and not _agree(head, old, new):
        raise reader.fault(f"the names {old} and {new} are not those of {head.line!r}")
    if not reader.head().startswith("@@ "):
        raise reader.fault("no hunk follows the names of a file")
    runs: list[Run] = []
    shown: list[tuple[int, str]] = []
    seen = grown = 0
    while reader.head().startswith("@@"):
        seen, grown = _hunk(reader, seen, grown, runs, shown)
    changed = runs_to_changed(runs) if head.kind == "file" else Changed()
    return PatchFile(old, new, changed, kind=head.kind, shown=tuple(shown))


def _git_head(reader: _Reader) -> _Head:
    """The line `diff --git` and those that may follow it, contents of binary files included."""
    head = _Head(line=reader.head())
    reader.at += 1
    while match := _HEADER.fullmatch(reader.head()):
        name, value = match.groups()
        head.values[name] = value
        if "mode" in name or name == "index":
            head.kind = _KINDS.get(value.rsplit(" ", 1)[-1], head.kind)
        reader.at += 1
    if _BINARY.fullmatch(reader.head()):
        head.binary = True
        inside = reader.head().startswith("GIT")
        reader.at += 1
        while inside and reader.at < len(reader.lines) and not reader.head().startswith(_GIT):
            reader.at += 1
    return head


def _names_of_head(reader: _Reader, head: _Head) -> tuple[str | None, str | None]:
    """Names where no lines `---` and `+++` have them: nothing changed that has lines."""
    for kind in ("rename", "copy"):
        if f"{kind} from" in head.values and f"{kind} to" in head.values:
            return tuple(_path(reader, head.values[f"{kind} {end}"]) for end in ("from", "to"))  # type: ignore[return-value]
    rest = head.line[len(_GIT) :]
    pair = _QUOTED.findall(rest)
    half = len(rest) // 2
    first, second = rest[:half], rest[half + 1 :]
    if len(pair) == 2:
        first, second = (f'"{one}"' for one in pair)
    old, new = _stripped(reader, first, second)
    if old != new or rest[half : half + 1] != " ":
        raise reader.fault(f"{head.line!r} names no file that could be told")
    is_new, is_gone = "new file mode" in head.values, "deleted file mode" in head.values
    return (None if is_new else old), (None if is_gone else new)


def _agree(head: _Head, old: str | None, new: str | None) -> bool:
    """Whether the names of `---` and `+++` are those of the headers above them."""
    if (old is None) != ("new file mode" in head.values) or (new is None) != (
        "deleted file mode" in head.values
    ):
        return False
    rest, before, after = head.line[len(_GIT) :], old or new, new or old
    return '"' in rest or rest in (f"a/{before} b/{after}", f"{before} {after}")


def _names(reader: _Reader) -> tuple[str | None, str | None]:
    """The paths of the lines `---` and `+++`."""
    first = reader.head()[4:]
    reader.at += 1
    if not reader.head().startswith("+++ "):
        raise reader.fault("no line '+++' follows the line '---'")
    second = reader.head()[4:]
    old, new = _stripped(reader, first, second)
    if old is None and new is None:
        raise reader.fault(f"both names are {_NOTHING}")
    reader.at += 1
    return old, new


def _stripped(reader: _Reader, first: str, second: str) -> tuple[str | None, str | None]:
    """Two names without `a/` and `b/`, if both have them."""
    # A time may stand behind a tab; a tab in a name would be quoted.
    names = [_unquoted(reader, one.split("\t")[0]) for one in (first, second)]
    marked = zip(names, ("a/", "b/"), strict=True)
    if all(name == _NOTHING or name.startswith(mark) for name, mark in marked):
        names = [name if name == _NOTHING else name[2:] for name in names]
    old, new = (None if name == _NOTHING else _path(reader, name, quoted=False) for name in names)
    return old, new


def _path(reader: _Reader, name: str, *, quoted: bool = True) -> str:
    """A path inside the repository."""
    path = _unquoted(reader, name) if quoted else name
    parts = path.split("/")
    if not {"", ".", ".."}.isdisjoint(parts):
        raise reader.fault(f"{path!r} is no path inside a repository")
    return path


def _unquoted(reader: _Reader, name: str) -> str:
    """A name as it is; git writes unusual ones in quotes, its octets as octal numbers."""
    if not name.startswith('"'):
        return name
    match = _QUOTED.fullmatch(name)
    if not match:
        raise reader.fault(f"the quotes of {name} do not close")

    def octet(found: re.Match[bytes]) -> bytes:
        code = found.group(1)
        if len(code) == 3:
            return bytes([int(code, 8)])
        if code[0] not in _ESCAPED:
            raise reader.fault(f"{name} has an unknown escape")
        return bytes([_ESCAPED[code[0]]])

    data = _ESCAPE.sub(octet, match.group(1).encode("utf-8", "surrogateescape"))
    return data.decode("utf-8", "surrogateescape")


def _hunk(
    reader: _Reader, seen: int, grown: int, runs: list[Run], shown: list[tuple[int, str]]
) -> tuple[int, int]:
    """One hunk, whose runs are added to `runs` and its lines of the old file to `shown`.

    Args:
        reader: Before its first line.
        seen: The last line of the old file that a hunk before had.
        grown: By how many lines the new file is longer up to there.
        runs: Those of the file so far.
        shown: The same.

    Returns:
        `seen` and `grown` behind the hunk.
    """
    match = _HUNK.fullmatch(reader.head())
    if not match:
        raise reader.fault(f"{reader.head()!r} is no head of a hunk")
    old, n_old, new, n_new = (int(one) if one is not None else 1 for one in match.groups())
    # A hunk without lines of a file names the line above it.
    above, above_new = old - (n_old > 0), new - (n_new > 0)
    if above < seen or min(above, above_new) < 0:
        raise reader.fault(f"the hunk at line {old} lies before the end of another, or of the file")
    if above_new != above + grown:
        raise reader.fault(f"the hunk's lines {old} and {new} do not fit to those before them")
    reader.at += 1
    end, end_new = above + n_old, above_new + n_new
    _body(reader, above, n_old, n_new, (runs, shown))
    if reader.head().startswith("\\"):
        reader.at += 1
    if reader.head()[:1] in {"-", "+", " "} and not reader.head().startswith("--- "):
        raise reader.fault(_LONG)
    return end, end_new - end


def _body(
    reader: _Reader,
    above: int,
    n_old: int,
    n_new: int,
    into: tuple[list[Run], list[tuple[int, str]]],
) -> None:
    """The lines of a hunk with `above` old lines over it, added as `_hunk` says."""
    runs, shown = into
    end = above + n_old
    gone: list[str] = []
    come: list[str] = []
    while above < end or n_new > 0:
        if reader.at >= len(reader.lines):
            raise reader.fault("the patch ends in the middle of a hunk")
        line = reader.lines[reader.at]
        mark, body = line[:1], line[1:]
        if mark in {" ", "", "\r", "-"}:
            shown.append((above + 1, body))
        if mark in {" ", "", "\r"}:  # some programs strip blank lines
            if gone or come:
                runs.append((above - len(gone), gone, come))
                gone, come = [], []
            above, n_new = above + 1, n_new - 1
        elif mark == "-":
            gone.append(body)
            above += 1
        elif mark == "+":
            come.append(body)
            n_new -= 1
        elif mark != "\\":
            raise reader.fault(f"a line of a hunk begins with {mark!r}, not with ' ', '-' or '+'")
        if above > end or n_new < 0:
            raise reader.fault(_LONG)
        reader.at += 1
    if gone or come:
        runs.append((above - len(gone), gone, come))
