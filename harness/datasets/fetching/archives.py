"""Unpacks zip and tar archives, after a check of the names and sizes of all members.

zipfile and tarfile never write more of a member than it declares, so the declared sizes bound what
is written.
"""

from __future__ import annotations

import stat
import tarfile
import zipfile
from typing import TYPE_CHECKING, NamedTuple

from chunkers.errors import InputError
from harness.reading.reader import leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

MOST_MEMBERS = 100_000
"""Maximum number of members of an archive."""


class _RefusedError(Exception):
    """Why an archive is not unpacked."""


class _Member(NamedTuple):
    path: str
    size: int
    plain: bool  # a regular file or a folder


def unpack(
    file: Path,
    name: str,
    target: Path,
    max_bytes: int,
    wanted: Callable[[str], bool] = lambda path: True,
) -> None:
    """Unpack a zip archive, or a tar archive that is plain or compressed.

    Args:
        file: The archive.
        name: Its name, for messages.
        target: An empty folder. After a failure it may hold a part.
        max_bytes: Maximum size of all members together.
        wanted: Whether to write the file of this path; all members are checked.

    Raises:
        InputError: It is not an archive, is damaged or encrypted, names a path outside itself or
            a path twice, has links or special files, or exceeds a limit.
    """
    try:
        if zipfile.is_zipfile(file):
            _unzip(file, target, max_bytes, wanted)
        else:
            _untar(file, target, max_bytes, wanted)
    except _RefusedError as error:
        raise InputError(f"{name} is refused: {error}") from None
    except OSError as error:
        if error.errno is None:
            raise InputError(f"{name} is damaged: {error}") from None
        raise InputError(f"{name} cannot be unpacked in {target}: {error.strerror}") from None
    except Exception as error:  # every decompressor has errors of its own
        reason = str(error).split("\n", maxsplit=1)[0].rstrip(":")
        raise InputError(f"{name} is damaged, or not a zip or tar archive: {reason}") from None


def _unzip(file: Path, target: Path, max_bytes: int, wanted: Callable[[str], bool]) -> None:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        # `orig_filename` still has what zipfile changes: a NUL, or a foreign separator.
        _check(
            (
                _Member(
                    member.orig_filename.removesuffix("/"),
                    member.file_size,
                    stat.S_IFMT(member.external_attr >> 16) in (0, stat.S_IFREG, stat.S_IFDIR),
                )
                for member in members
            ),
            max_bytes,
        )
        archive.extractall(  # noqa: S202 - all names were checked
            target,
            [item.filename for item in members if not item.is_dir() and wanted(item.filename)],
        )


def _untar(file: Path, target: Path, max_bytes: int, wanted: Callable[[str], bool]) -> None:
    files = []

    def members(archive: tarfile.TarFile) -> Iterable[_Member]:
        for member in archive:
            path = member.name.removeprefix("./").rstrip("/")
            if member.isdir() and path in ("", "."):
                continue
            if member.isreg() and wanted(path):
                files.append(member)
            yield _Member(path, member.size, member.isreg() or member.isdir())

    with tarfile.open(file) as archive:
        _check(members(archive), max_bytes)
        archive.extractall(target, files, filter=_data_without_mode)  # noqa: S202


def _data_without_mode(member: tarfile.TarInfo, target: str) -> tarfile.TarInfo:
    return tarfile.data_filter(member, target).replace(mode=0o644, deep=False)


def _check(members: Iterable[_Member], max_bytes: int) -> None:
    """Refuse an archive by the names, kinds and sizes of its members."""
    paths: set[str] = set()
    total = 0
    for member in members:
        if leaves(member.path):
            raise _RefusedError(f"{member.path!r:.200} is not a path inside it")
        if not member.plain:
            raise _RefusedError(f"{member.path!r:.200} is a link or a special file")
        if member.path in paths:
            raise _RefusedError(f"it has {member.path!r:.200} more than once")
        paths.add(member.path)
        total += member.size
        if total > max_bytes:
            raise _RefusedError(f"it would unpack to more than {max_bytes} bytes")
        if len(paths) > MOST_MEMBERS:
            raise _RefusedError(f"it has more than {MOST_MEMBERS} members")
    if not paths:
        raise _RefusedError("it is empty")
