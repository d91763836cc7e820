"""Objects of a git repository by their hashes."""

from __future__ import annotations

import codecs
import re
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from harness.building.git.git_process import running
from harness.building.git.repository import path_of
from harness.reading.reader import NO_FILE_ENCODINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chunkers.errors import InputError
    from harness.building.git.git_process import Git
    from harness.building.git.repository import Repository

FOLDER = "40000"
"""Mode of a folder in a tree."""
MOST_COMMIT = 1 << 20
"""Bytes of a commit, message and signatures, that are read."""
_AT_ONCE = 60
_MOST = 1 << 26  # bytes of any object


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit.

    Attributes:
        hash: Of the commit.
        tree: Hash of its tree.
        time: When it was committed; None where it does not say so, or no calendar has the day.
        message: As text, by the encoding that the commit names, else UTF-8, else Windows-1252;
            None where the commit is larger than `MOST_COMMIT`, so that only its tree is known.
    """

    hash: str
    tree: str
    time: datetime | None
    message: str | None


class Objects:
    """Objects by their hash, through one process that answers one question after the other."""

    def __init__(self, repository: Repository, sizes: Git, contents: Git) -> None:
        self._repository, self._sizes, self._contents = repository, sizes, contents

    def size(self, name: str) -> int:
        """Bytes of an object.

        Raises:
            InputError: It is not in the repository, or damaged; so with all others.
        """
        return next(self.sizes([name]))

    def read(self, name: str) -> bytes:
        """The content of an object; of one over 64 MiB an error."""
        return next(self.read_all([name]))

    def read_all(self, names: Sequence[str]) -> Iterator[bytes]:
        """The contents of objects, in their order; faster than one by one."""
        for some in _batches(names):
            self._send(self._contents, some)
            yield from (self._content(name) for name in some)

    def sizes(self, names: Sequence[str]) -> Iterator[int]:
        """The sizes of objects, in their order; faster than one by one."""
        for some in _batches(names):
            self._send(self._sizes, some)
            yield from (self._header(self._sizes, name)[1] for name in some)

    def commits(self, names: Sequence[str]) -> Iterator[Commit]:
        """Commits by their hashes, in their order."""
        for some in _batches(names):
            sizes = dict(zip(some, self.sizes(some), strict=True))
            small = [name for name in some if sizes[name] <= MOST_COMMIT]
            large = [name for name in some if sizes[name] > MOST_COMMIT]
            found = dict(zip(small, map(_commit, small, self.read_all(small)), strict=True))
            for name, tree in zip(large, self.trees(large), strict=True):
                found[name] = Commit(name, tree, None, None)
            yield from (found[name] for name in some)

    def commit(self, name: str) -> Commit:
        """A commit by its hash."""
        return next(self.commits([name]))

    def trees(self, names: Sequence[str]) -> Iterator[str]:
        """The hashes of the trees of commits, in their order."""
        for some in _batches(names):
            asked = [f"{name}^{{tree}}" for name in some]
            self._send(self._sizes, asked)
            yield from (self._header(self._sizes, name)[0] for name in asked)

    def folder(self, name: str) -> dict[str, tuple[str, str]]:
        """One folder of a tree by its hash: name of an entry -> mode and hash.

        They are in the order of the paths of all files below; a name that stands twice, which git
        itself writes nowhere, counts once.
        """
        data, at, length = self.read(name), 0, len(name) // 2
        found: dict[str, tuple[str, str]] = {}
        while at < len(data):
            space, end = data.find(b" ", at), data.find(b"\0", at)
            if not at < space < end or len(data) < end + 1 + length:
                raise self._missing(name, self._contents)
            mode = data[at:space].decode("ascii", "replace").lstrip("0")
            at = end + 1 + length
            found.setdefault(path_of(data[space + 1 : end]), (mode, data[end + 1 : at].hex()))
        return dict(sorted(found.items(), key=lambda one: one[0] + "/" * (one[1][0] == FOLDER)))

    def _send(self, git: Git, names: Sequence[str]) -> None:
        try:
            git.send("".join(f"{name}\n" for name in names).encode("ascii"))
        except OSError:
            raise self._missing(names[0], git) from None

    def _header(self, git: Git, name: str) -> tuple[str, int]:
        parts = (git.until(b"\n") or b"").decode("ascii", "replace").split()
        if len(parts) != 3 or not parts[2].isdigit():
            raise self._missing(name, git)
        return parts[0], int(parts[2])

    def _content(self, name: str) -> bytes:
        _, size = self._header(self._contents, name)
        if size > _MOST:
            raise self._repository.fault(
                f"the object {name} has {size:,} bytes, more than {_MOST:,}, and is not read"
            )
        data = self._contents.read(size + 1)
        if len(data) != size + 1:
            raise self._missing(name, self._contents)
        return data[:-1]

    def _missing(self, name: str, git: Git) -> InputError:
        return self._repository.fault(
            f"the object {name} is missing or damaged{git.said()}\n"
            "it may be a partial clone: clone it whole"
        )


@contextmanager
def objects_of(repository: Repository) -> Iterator[Objects]:
    """Objects of a repository, for as long as they are needed; the processes end with it."""
    with (
        running(repository, ["cat-file", "--batch-check"]) as sizes,
        running(repository, ["cat-file", "--batch"]) as contents,
    ):
        yield Objects(repository, sizes, contents)


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """Questions that fit into the smallest pipe, so that neither side waits for the other."""
    return (names[at : at + _AT_ONCE] for at in range(0, len(names), _AT_ONCE))


def _commit(name: str, data: bytes) -> Commit:
    head, _, message = data.partition(b"\n\n")
    tree, encoding, time = "", "utf-8", None
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"tree":
            tree = value.decode("ascii", "replace")
        elif key == b"encoding":
            encoding = value.decode("ascii", "replace").strip()
        elif key == b"committer" and (match := re.search(rb"> (-?\d{1,15})\b", line)):
            time = _time(int(match.group(1)))
    return Commit(name, tree, time, _decoded(message, encoding))


def _time(seconds: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _decoded(message: bytes, encoding: str) -> str:
    for one in (encoding, "utf-8", "cp1252"):
        try:
            if codecs.lookup(one).name in NO_FILE_ENCODINGS:
                continue
            text = message.decode(one)
            text.encode("utf-8")  # a lone surrogate is no text
        except (LookupError, UnicodeError, ValueError):
            continue
        return text
    return message.decode("latin-1")
