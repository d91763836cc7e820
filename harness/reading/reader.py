"""Decodes files as source text: line ends are kept, skipped files are listed with a reason.

Text is UTF-8, its byte order mark dropped; else what the file declares (a UTF-16 or UTF-32 byte
order mark, a PEP 263 comment in its first two lines); else Windows-1252, a superset of printable
Latin-1, where no control character speaks against text. Anything else is skipped with a reason.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chunkers.errors import InputError
from chunkers.languages import language_of
from chunkers.source import Source
from harness.model import Skipped
from harness.reading.generated import generated_name, says_generated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # The mark of UTF-32-LE begins with that of UTF-16-LE, so it is looked for first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"[ \t\f]*(?:#.*)?\r?")
# Python counts these as text encodings, but files do not use them; some take quadratic time.
NO_FILE_ENCODINGS = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_UTF8_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_FOREIGN = re.compile(r"\0|\\|^[A-Za-z]:")
_ENCRYPTED = 0x1
GENERATED = "written by a tool"
"""Why a generated file is skipped."""
_ZIP_TOTAL = 1 << 30


@dataclass(frozen=True, slots=True)
class ReadRules:
    """Which files of a tree are indexed; all others are listed as skipped.

    Attributes:
        suffixes: How a file's name must end, case and all; None takes every file whose language
            `chunkers.languages` knows.
        max_bytes: Largest file.
        max_line: Longest line in characters, its LF not counted; longer ones are generated or
            minified code.
        closed: Names of folders that are not entered.
        languages: Pattern of a name or path -> language, before the table of
            `chunkers.languages`; a file that one fits is taken where `suffixes` is None.
        without: Languages whose files are skipped.
        generated: Whether files that a tool wrote, by their name or first lines, are indexed.
    """

    suffixes: tuple[str, ...] | None = None
    max_bytes: int = 1_000_000
    max_line: int = 10_000
    closed: frozenset[str] = frozenset(
        {".git", ".hg", ".svn", ".tox", ".venv", "__pycache__", "node_modules", "venv"}
    )
    languages: Mapping[str, str] = field(default_factory=dict, hash=False)
    without: frozenset[str] = frozenset()
    generated: bool = True

    def takes(self, path: str) -> bool:
        """Whether a file of this path is indexed."""
        return self.refusal(path) is None

    def refusal(self, path: str) -> str | None:
        """Why a file of this path is not indexed; None where it is."""
        if not self.closed.isdisjoint(path.split("/")[:-1]):
            return "folder not entered"
        if self.suffixes is not None and not path.endswith(self.suffixes):
            return f"name does not end in {' or '.join(self.suffixes)}"
        language = language_of(path, self.languages)
        if self.suffixes is None and language is None:
            return "no known language"
        if language in self.without:
            return f"{language} is excluded"
        return None if self.generated or not generated_name(path) else GENERATED


class _NotTextError(Exception):
    """The reason that bytes are not text."""


def decode(data: bytes, path: str, rules: ReadRules) -> Source | Skipped:
    """Decode one file.

    Args:
        data: Its bytes.
        path: Its path inside the corpus.
        rules: The limits; the suffixes are not looked at.

    Returns:
        The source with the name of the encoding, or the reason that it is skipped.
    """
    if len(data) > rules.max_bytes:
        return Skipped(path, f"larger than {rules.max_bytes} bytes")
    try:
        text, encoding = _text_of(data)
    except _NotTextError as reason:
        return Skipped(path, str(reason))
    if max(map(len, text.split("\n"))) > rules.max_line:
        return Skipped(path, f"a line longer than {rules.max_line} characters")
    if not rules.generated and says_generated(text):
        return Skipped(path, GENERATED)
    return Source(text, path, language_of(path, rules.languages), encoding)


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
                found = list(entries)
        except OSError as error:
            if not folder:
                raise InputError(f"{root} cannot be read: {error.strerror}") from None
            yield Skipped(shown(folder), f"unreadable: {error.strerror}")
            continue
        for entry in found:
            path = folder + entry.name
            if entry.is_symlink():
                yield Skipped(shown(path), "link")
            elif not entry.is_dir(follow_symlinks=False):
                reason = refuse(path)
                yield Skipped(shown(path), reason) if reason else _candidate(root, path, rules)
            elif entry.name in rules.closed:
                if entry.name != ".git":  # git's own data is not part of the tree
                    yield Skipped(shown(path + "/"), "folder not entered")
            elif reason := refuse(path + "/"):
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


def _text_of(data: bytes) -> tuple[str, str]:
    """The text and the encoding that it was decoded by."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decoded(data, encoding, "its byte order mark says"), encoding
    if b"\0" in data:
        raise _NotTextError("binary: holds NUL bytes")
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        offset = error.start
    declared = _declared(data)
    if declared is not None:
        return _decoded(data, declared, "its coding comment says"), declared
    if _CONTROL.search(data):
        raise _NotTextError("binary: control characters and no UTF-8")
    # Text in another encoding practically never holds whole UTF-8 characters: this was UTF-8.
    if _UTF8_CHARACTER.search(data):
        raise _NotTextError(f"damaged UTF-8 at byte {offset}")
    try:
        return data.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        raise _NotTextError(
            "unknown encoding: neither UTF-8 nor Windows-1252, and none declared"
        ) from None


def _decoded(data: bytes, encoding: str, says: str) -> str:
    try:
        text = data.decode(encoding)
        text.encode("utf-8")  # lone surrogates are not text
    except (UnicodeError, ValueError):
        raise _NotTextError(f"not {encoding}, as {says}") from None
    if "\0" in text:
        raise _NotTextError("binary: holds NUL characters")
    return text


def _declared(data: bytes) -> str | None:
    """The encoding that a comment in the first two lines declares (PEP 263), in Python's name."""
    for line in data.split(b"\n", 2)[:2]:
        match = _COOKIE.match(line)
        if match:
            name = match.group(1).decode("ascii", "replace")
            try:
                found = codecs.lookup(name)
                b" ".decode(name)  # codecs that are not text encodings refuse this
            except (LookupError, UnicodeError):
                raise _NotTextError(f"declares the unknown encoding {name}") from None
            if found.name in NO_FILE_ENCODINGS:
                raise _NotTextError(f"declares {name}, which is not an encoding of files")
            return found.name
        if not _BLANK_OR_COMMENT.fullmatch(line):
            break
    return None


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
