"""Reads files as source text: line ends are kept, skipped files are listed with a reason.

How bytes become text is in `harness.reading.decoding`.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.languages import language_of, linguist_language, pattern_of
from chunkers.source import Source
from harness.model import Skipped
from harness.reading.decoding import NotTextError, text_of
from harness.reading.generated import generated_name, says_generated
from harness.reading.notebooks import notebook_code
from harness.reading.stored_text import kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

_FOREIGN = re.compile(r"\0|\\|^[A-Za-z]:")
_ENCRYPTED = 0x1
GENERATED = "written by a tool"
"""Why a generated file is skipped."""
CLOSED = "folder not entered"
EXCLUDED = "excluded"
UNKNOWN = "no known language"
_VENDORED = "vendored, by .gitattributes"
# Files that stand for content which lies elsewhere, and how they begin.
_POINTERS = (
    (b"version https://git-lfs.github.com/spec/", "Git LFS pointer"),
    (b"version https://hawser.github.com/spec/", "Git LFS pointer"),
    (b"/annex/objects/", "git-annex pointer"),
)
_LARGEST_POINTER = 1024
_ORDINARY = 20  # lines of ordinary code for each very long one, or the file is minified
_ZIP_TOTAL = 1 << 30


@dataclass(frozen=True, slots=True)
class Marks:
    """What the user and the repository's .gitattributes say of a path; None is nothing.

    Attributes:
        included: Whether the user includes or excludes it.
        generated: Whether a tool wrote it.
        vendored: Whether it is other people's code.
        language: Its language; empty for one that is unknown here.
    """

    included: bool | None = None
    generated: bool | None = None
    vendored: bool | None = None
    language: str | None = None


_NO_MARKS = Marks()


@dataclass(frozen=True, slots=True)
class ReadRules:
    """Which files of a tree are indexed; all others are listed as skipped.

    Attributes:
        suffixes: How a file's name must end, case and all; None takes every file whose language
            `chunkers.languages` knows.
        max_bytes: Largest file.
        max_line: Longest line in characters, its LF not counted; longer ones are generated or
            minified code.
        cut_lines: Whether a longer line among 20 ordinary ones or more loses its middle; else the
            file is skipped.
        closed: Names of folders that are not entered.
        languages: Pattern of a name or path -> language, before the table of
            `chunkers.languages`; a file that one fits is taken where `suffixes` is None.
        without: Languages whose files are skipped.
        generated: Whether files that a tool wrote, by their name or first lines, are indexed.
        encodings: Pattern of a name or path -> encoding of files that are not UTF-8.
        guess: Encoding to try where nothing says it; None skips such files.
        marks: What is said of a path; that of a folder ends in `/`.
    """

    suffixes: tuple[str, ...] | None = None
    max_bytes: int = 1_000_000
    max_line: int = 10_000
    cut_lines: bool = False
    closed: frozenset[str] = frozenset(
        {".git", ".hg", ".svn", ".tox", ".venv", "__pycache__", "node_modules", "venv"}
    )
    languages: Mapping[str, str] = field(default_factory=dict, hash=False)
    without: frozenset[str] = frozenset()
    generated: bool = True
    encodings: Mapping[str, str] = field(default_factory=dict, hash=False)
    guess: str | None = None
    marks: Callable[[str], Marks] = field(default=lambda _: _NO_MARKS, hash=False)

    def refusal(self, path: str) -> str | None:
        """Why a file of this path is not indexed; None where it is.

        What the user includes is neither vendored nor generated, whatever else says so.
        """
        marks = self.marks(path)
        if marks.included is False:
            return EXCLUDED
        if not marks.included and marks.vendored:
            return _VENDORED
        opened = marks.included or marks.vendored is False
        if not opened and not self.closed.isdisjoint(path.split("/")[:-1]):
            return CLOSED
        return self._refusal_by_name(path, marks)

    def _refusal_by_name(self, path: str, marks: Marks) -> str | None:
        if self.suffixes is not None and not path.endswith(self.suffixes):
            return f"name does not end in {' or '.join(self.suffixes)}"
        language = self.language_of(path)
        if self.suffixes is None and language is None:
            return UNKNOWN
        if language in self.without:
            return f"{language} is excluded"
        refused = marks.generated or generated_name(path)
        return GENERATED if refused and self._refuses_generated(marks) else None

    def folder_refusal(self, path: str) -> str | None:
        """Why a folder, whose path ends in `/`, is not entered; None where it is."""
        marks = self.marks(path)
        if marks.included is False:
            return EXCLUDED
        opened = marks.included or marks.vendored is False
        return CLOSED if path.split("/")[-2] in self.closed and not opened else None

    def refuses_text(self, text: str, path: str) -> bool:
        """Whether a file is skipped since its first lines say that a tool wrote it."""
        return self._refuses_generated(self.marks(path)) and says_generated(text)

    def language_of(self, path: str) -> str | None:
        """The language of a file: by pattern, by .gitattributes, by the table; None if unknown."""
        marked = self.marks(path).language
        if marked is None or pattern_of(path, self.languages) is not None:
            return language_of(path, self.languages)
        return marked or None

    def encoding_of(self, path: str) -> str | None:
        """The encoding that the user gives a file; None without one."""
        pattern = pattern_of(path, self.encodings)
        return None if pattern is None else self.encodings[pattern]

    def _refuses_generated(self, marks: Marks) -> bool:
        return not (self.generated or marks.included or marks.generated is False)


def decode(data: bytes, path: str, rules: ReadRules) -> Source | Skipped:
    """Decode one file.

    Args:
        data: Its bytes.
        path: Its path inside the corpus.
        rules: The limits; the suffixes are not looked at.

    Returns:
        The source with the name of the encoding, or the reason that it is skipped.

    Raises:
        InputError: There is no room for the file of texts, see `harness.reading.stored_text`.
    """
    if len(data) > rules.max_bytes:
        return Skipped(path, f"larger than {rules.max_bytes} bytes")
    pointer = next((reason for start, reason in _POINTERS if data.startswith(start)), None)
    if pointer is not None and len(data) <= _LARGEST_POINTER:
        return Skipped(path, pointer)
    language = rules.language_of(path)
    try:
        text, encoding = text_of(data, rules.encoding_of(path), rules.guess)
        if path.lower().endswith(".ipynb") and language != "json":
            text, kernel = notebook_code(text)
            if kernel and pattern_of(path, rules.languages) is None:
                language = linguist_language(kernel) or language
    except NotTextError as reason:
        return Skipped(path, str(reason))
    whole = len(text)
    if max(map(len, text.split("\n"))) > rules.max_line:
        shorter = _shortened(text, rules.max_line) if rules.cut_lines else None
        if shorter is None:
            return Skipped(path, f"a line longer than {rules.max_line} characters")
        text = shorter
    if rules.refuses_text(text, path):
        return Skipped(path, GENERATED)
    return kept(Source(text, path, language, encoding, whole - len(text)))


def _shortened(text: str, most: int) -> str | None:
    """The text without the middle of its very long lines, so that each has `most` characters.

    None where they are too many for code with a literal in it. A line keeps both ends, and with
    them the quotes or brackets round a literal.
    """
    lines = text.split("\n")
    long = [at for at, line in enumerate(lines) if len(line) > most]
    if sum(not line.isspace() for line in lines if line) - len(long) < _ORDINARY * len(long):
        return None
    head = most - most // 2
    for at in long:
        lines[at] = lines[at][:head] + lines[at][-(most // 2) :]
    return "\n".join(lines)


def read_file(file: Path, path: str, rules: ReadRules) -> Source | Skipped:
    """Read one file of any suffix; a link is followed. `path` is its name inside the corpus."""
    try:
        # A FIFO would block when it is opened.
        if not stat.S_ISREG(file.stat().st_mode):
            return Skipped(path, "not a regular file")
        with file.open("rb") as opened:
            data = opened.read(rules.max_bytes + 1)
    except OSError as error:
        return Skipped(path, f"unreadable: {error.strerror}")
    return decode(data, path, rules)


def read_folder(root: Path, rules: ReadRules) -> tuple[tuple[Source, ...], tuple[Skipped, ...]]:
    """Read a tree of files, as `walk_folder` finds them.

    Returns:
        Sources and skipped, each in byte order of the path. Together they are all files seen;
        a link and a folder that was not entered (its path ends in `/`) count as one.

    Raises:
        InputError: `root` is not a readable folder.
    """
    return in_order(walk_folder(root, rules))


def walk_folder(
    root: Path, rules: ReadRules, refuse: Callable[[str], str | None] = lambda _: None
) -> Iterator[Source | Skipped]:
    """Read a tree of files, in no order, without leaving it: links are listed, never followed.

    Args:
        root: The folder.
        rules: What is indexed.
        refuse: Why a path below `root` is left out, or None; that of a folder ends in `/`.

    Raises:
        InputError: `root` is not a readable folder.
    """
    if not root.is_dir():
        raise InputError(f"{root} is no folder")
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(root / folder) as entries:
                children = list(entries)
        except OSError as error:
            if not folder:
                raise InputError(f"{root} cannot be read: {error.strerror}") from None
            yield Skipped(shown(folder), f"unreadable: {error.strerror}")
            continue
        for entry in children:
            path = folder + entry.name
            if entry.is_symlink():
                yield Skipped(shown(path), "link")
            elif not entry.is_dir(follow_symlinks=False):
                reason = refuse(path)
                yield Skipped(shown(path), reason) if reason else _candidate(root, path, rules)
            elif entry.name == ".git" and ".git" in rules.closed:
                continue  # git's own data is not part of the tree
            elif reason := rules.folder_refusal(path + "/") or refuse(path + "/"):
                yield Skipped(shown(path + "/"), reason)
            else:
                folders.append(path + "/")


def read_zip(
    file: Path, prefix: str, rules: ReadRules
) -> tuple[tuple[Source, ...], tuple[Skipped, ...]]:
    """Read the files below the folder `prefix` of a zip archive, in place.

    Returns:
        Sources and skipped as from `read_folder`; paths are relative to `prefix`. Both are empty
        where the archive has no such folder.

    Raises:
        InputError: It is not a zip archive, is damaged or encrypted, names a file twice or outside
            itself, or unpacks to more than 1 GiB.
    """
    start = prefix.rstrip("/") + "/" if prefix else ""
    with _open_zip(file) as archive:
        return in_order(
            _member(file, archive, member, member.filename.removeprefix(start), rules)
            for member in archive.infolist()
            if member.filename.startswith(start) and not member.is_dir()
        )


def zip_folders(file: Path) -> frozenset[str]:
    """Names of the top-level folders of a zip archive.

    Raises:
        InputError: As for `read_zip`.
    """
    with _open_zip(file) as archive:
        return frozenset(name.split("/")[0] for name in archive.namelist() if "/" in name)


def _candidate(root: Path, path: str, rules: ReadRules) -> Source | Skipped:
    """One file of a folder that is neither a link nor a folder."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return Skipped(shown(path), "its name is not UTF-8")
    reason = rules.refusal(path)
    return Skipped(path, reason) if reason else read_file(root / path, path, rules)


def shown(path: str) -> str:
    """A path that can be printed: bytes that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def in_order(
    files: Iterable[Source | Skipped],
) -> tuple[tuple[Source, ...], tuple[Skipped, ...]]:
    """Sources and skipped apart, each in byte order of the path."""
    sources: list[Source] = []
    skipped: list[Skipped] = []
    for file in files:
        if isinstance(file, Source):
            sources.append(file)
        else:
            skipped.append(file)
    # Code point order is the byte order of UTF-8.
    sources.sort(key=lambda source: source.path)
    skipped.sort(key=lambda file: file.path)
    return tuple(sources), tuple(skipped)


def _open_zip(file: Path) -> zipfile.ZipFile:
    """Open an archive whose names and sizes can be trusted."""
    try:
        archive = zipfile.ZipFile(file)
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
        raise InputError(f"{file} cannot be read as a zip archive: {error}") from None
    fault = zip_fault(archive.infolist(), _ZIP_TOTAL)
    if fault:
        archive.close()
        raise InputError(f"{file} is refused: {fault}")
    return archive


def zip_fault(members: list[zipfile.ZipInfo], most: int) -> str | None:
    """Why a zip archive is refused; None where it is not.

    Args:
        members: The members in its directory.
        most: Largest unpacked size in bytes.
    """
    repeated = [name for name, n in Counter(m.filename for m in members).items() if n > 1]
    if repeated:
        return f"it holds {repeated[0]!r} more than once"
    for member in members:
        # `orig_filename` still has what zipfile mends: a NUL, or a foreign separator.
        name = member.orig_filename
        if leaves(name.removesuffix("/")):
            return f"{name!r} is not a path inside it"
        if member.flag_bits & _ENCRYPTED:
            return f"{name!r} is encrypted"
    total = sum(member.file_size for member in members)
    if total > most:
        return f"it would unpack to {total} bytes, more than {most}"
    return None


def leaves(path: str) -> bool:
    """Whether a path, parts separated by `/`, may lead out of the folder it is meant for."""
    return not {"", ".", ".."}.isdisjoint(path.split("/")) or _FOREIGN.search(path) is not None


def _member(
    file: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: str, rules: ReadRules
) -> Source | Skipped:
    if stat.S_ISLNK(member.external_attr >> 16):
        return Skipped(path, "link")
    reason = rules.refusal(path)
    if reason:
        return Skipped(path, reason)
    if member.file_size > rules.max_bytes:
        return Skipped(path, f"larger than {rules.max_bytes} bytes")
    try:
        with archive.open(member) as opened:
            # A member never yields more than it declares, and its checksum then fails.
            data = opened.read()
    except Exception as error:  # every decompressor has errors of its own
        raise InputError(f"{file}: {member.filename!r} is damaged: {error}") from None
    return decode(data, path, rules)
