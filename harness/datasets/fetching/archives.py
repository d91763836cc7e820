"""Unpacks archives of other people into a folder of our own, and tells trees by their digests.

Nothing is written outside of the folder, no link, device or other special file is made, no modes
are taken over, and what is unpacked is counted while it comes, whatever the archive declares.
An archive that holds anything of the kind is refused whole.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import lzma
import os
import stat
import tarfile
import zipfile
from typing import TYPE_CHECKING, BinaryIO

from chunkers.errors import InputError
from harness.reading.reader import leaves, zip_fault
from harness.support.files import file_sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

MOST_FILES = 100_000
"""Members of an archive, at most."""

_PIECE = 1 << 16
_HEADER = 1 << 20  # bytes that one read of a tar archive may ask for, its longest header included


# What a path alone is to blame for.
_OF_A_NAME = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ)


class _RefusedError(Exception):
    """Why an archive is not unpacked."""


def unpack(
    file: BinaryIO,
    name: str,
    into: Path,
    most: int,
    wants: Callable[[str], bool] = lambda path: True,
) -> int:
    """Unpack a zip archive, or a tar archive that is plain or packed by gzip or xz.

    Args:
        file: The archive, open for reading.
        name: Its name, for messages.
        into: A folder that is empty. After a failure it may hold a part.
        most: Bytes that the whole archive may unpack to.
        wants: Whether a file of this path is written; all members are checked.

    Returns:
        How many files were written.

    Raises:
        InputError: It is no archive, is damaged or encrypted, would write outside of the folder,
            brings links or special files, or unpacks to more than `most`.
    """
    try:
        file.seek(0)
        head = file.read(6)
        file.seek(0)
        if head.startswith(b"PK"):
            return _unzip(file, into, most, wants)
        if head.startswith(b"\x1f\x8b"):
            return _untar(gzip.GzipFile(fileobj=file), into, most, wants)
        if head.startswith(b"\xfd7zXZ\0"):
            return _untar(lzma.LZMAFile(file), into, most, wants)
        return _untar(file, into, most, wants)
    except _RefusedError as error:
        raise InputError(f"{name} is refused: {error}") from None
    except OSError as error:
        if error.errno is not None:
            raise InputError(f"{into} cannot be written: {error.strerror}") from None
        raise InputError(f"{name} is damaged: {error}") from None
    except Exception as error:  # every decompressor has errors of its own
        raise InputError(f"{name} is damaged: {type(error).__name__}: {error}") from None


def _unzip(file: BinaryIO, into: Path, most: int, wants: Callable[[str], bool]) -> int:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _refuse_many(len(members))
        fault = zip_fault(members, most)
        if fault:
            raise _RefusedError(fault)
        for member in members:
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _RefusedError(f"{member.filename!r} is a link or a special file")
        left, count = most, 0
        for member in members:
            if not member.is_dir() and wants(member.filename):
                with archive.open(member) as opened:
                    left = _write(opened, into, member.filename, left, most)
                count += 1
    return count


def _untar(plain: BinaryIO | gzip.GzipFile | lzma.LZMAFile, into: Path, most: int,
           wants: Callable[[str], bool]) -> int:  # fmt: skip
    count = seen = 0
    # Its own headers are 512 bytes a member, and no part of what is unpacked.
    bounded = _Forward(plain, most + 2 * 512 * MOST_FILES, most)
    with tarfile.TarFile(fileobj=bounded) as archive:  # type: ignore[arg-type]
        left = most
        while (member := archive.next()) is not None:
            seen += 1
            _refuse_many(seen)
            path = member.name.removeprefix("./").rstrip("/")
            if member.isdir() and path in ("", "."):
                continue
            if leaves(path):
                raise _RefusedError(f"{member.name!r} is no path inside it")
            plain_file = member.type in (tarfile.REGTYPE, tarfile.AREGTYPE)
            if not member.isdir() and (not plain_file or member.sparse is not None):
                raise _RefusedError(f"{member.name!r} is a link or a special file")
            if member.size > left:
                raise _RefusedError(f"it would unpack to more than {most} bytes")
            if member.isdir():
                continue
            if not wants(path):
                left -= member.size
                continue
            opened = archive.extractfile(member)
            if opened is None:
                raise _RefusedError(f"{member.name!r} is no file")
            left = _write(opened, into, path, left, most)
            count += 1
    # Only at its end is a packed stream checked; and what is behind a damaged header counts as
    # behind the end.
    while piece := bounded.read(_PIECE):
        if any(piece):
            raise _RefusedError("it goes on behind its end, or is damaged")
    if not seen:
        raise _RefusedError("it holds nothing, or is no archive")
    return count


def _refuse_many(count: int) -> None:
    if count > MOST_FILES:
        raise _RefusedError(f"it holds more than {MOST_FILES} files")


def _write(opened: object, into: Path, path: str, left: int, most: int) -> int:
    """Write one file; the bytes that are left for others."""
    try:
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        made = (into / path).open("xb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise _RefusedError(
            f"it holds {path!r:.200} more than once, or as a file and as a folder"
        ) from None
    except OSError as error:
        if error.errno not in _OF_A_NAME:
            raise
        raise _RefusedError(f"no file can have the path {path!r:.200}: {error.strerror}") from None
    with made as out:
        while piece := opened.read(_PIECE):  # type: ignore[attr-defined]
            left -= len(piece)
            if left < 0:
                raise _RefusedError(f"it would unpack to more than {most} bytes")
            out.write(piece)
    return left


class _Forward:
    """A stream that is read on and on, up to a limit, in pieces that fit in memory.

    A tar archive's headers declare sizes of their own, which `tarfile` reads in one go.
    """

    def __init__(self, stream: BinaryIO | gzip.GzipFile | lzma.LZMAFile, most: int, told: int):
        self._stream, self._most, self._told, self._at = stream, most, told, 0

    def read(self, size: int) -> bytes:
        if size > _HEADER:
            raise _RefusedError(f"a header in it declares {size} bytes")
        parts = []
        while size > 0 and (piece := self._stream.read(size)):
            parts.append(piece)
            size -= len(piece)
            self._at += len(piece)
            if self._at > self._most:
                raise _RefusedError(f"it would unpack to more than {self._told} bytes")
        return b"".join(parts)

    def tell(self) -> int:
        return self._at

    def seek(self, position: int) -> int:
        if position < self._at:
            raise _RefusedError("it cannot be read from its start to its end")
        while self._at < position and self.read(min(_PIECE, position - self._at)):
            pass
        return self._at

    def close(self) -> None:
        """Leaves the stream open: it is its owner's."""


def tree_sha256(root: Path) -> tuple[str, int]:
    """The digest of a tree's Python files, and their number.

    It is the sha256 of the lines "path, tab, sha256 of the file's bytes, line feed" in byte order
    of the paths, which are relative to the tree; of the files that are named `*.py`. Links do not
    count.
    """
    found = []
    for folder, _, names in os.walk(root):
        for name in names:
            file = root / folder / name
            if name.endswith(".py") and not file.is_symlink():
                found.append((file.relative_to(root).as_posix(), file_sha256(file)))
    return digest_of(found), len(found)


def zip_tree_sha256(file: Path, tree: str) -> str:
    """The digest of `tree_sha256`, of a folder inside a zip archive that was checked."""
    found = []
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            path = member.filename.removeprefix(f"{tree}/")
            if path != member.filename and path.endswith(".py"):
                found.append((path, hashlib.sha256(archive.read(member)).hexdigest()))
    return digest_of(found)


def digest_of(files: Iterable[tuple[str, str]]) -> str:
    """The digest of `tree_sha256`, of the path and the digest of every file."""
    ordered = sorted((os.fsencode(path), digest) for path, digest in files)
    return hashlib.sha256(
        b"".join(b"%s\t%s\n" % (path, digest.encode()) for path, digest in ordered)
    ).hexdigest()
