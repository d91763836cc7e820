"""Objects of a git repository by their hashes."""

from __future__ import annotations

import codecs
import re
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING

from harness.building.git import because, command, environment, path_of
from harness.reader import NO_FILE_ENCODINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from chunkers.errors import InputError
    from harness.building.git import Repository

FOLDER = "40000"
"""Mode of a folder in a tree."""
_AT_ONCE = 500
_MOST_MESSAGE = 1 << 20  # bytes; a longer one is taken for none


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit.

    Attributes:
        hash: Of the commit.
        tree: Hash of its tree.
        time: When it was committed.
        message: As text, by the encoding that the commit names, else UTF-8, else Windows-1252.
    """

    hash: str
    tree: str
    time: datetime
    message: str


class Objects:
    """Objects by their hash, through one process that answers one question after the other."""

    def __init__(self, repository: Repository, sizes: _Pipe, contents: _Pipe) -> None:
        self._repository, self._sizes, self._contents = repository, sizes, contents

    def size(self, name: str) -> int:
        """Bytes of an object.

        Raises:
            InputError: It is not in the repository, or damaged; so with all others.
        """
        return next(self.sizes([name]))

    def read(self, name: str) -> bytes:
        """The content of an object."""
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
            yield from (self._header(self._sizes, name) for name in some)

    def commits(self, names: Sequence[str]) -> Iterator[Commit]:
        """Commits by their hashes, in their order."""
        for name, data in zip(names, self.read_all(names), strict=True):
            yield _commit(name, data)

    def commit(self, name: str) -> Commit:
        """A commit by its hash."""
        return _commit(name, self.read(name))

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

    def _send(self, pipe: _Pipe, names: Iterable[str]) -> None:
        try:
            pipe.into.write("".join(f"{name}\n" for name in names).encode("ascii"))
            pipe.into.flush()
        except OSError:
            raise self._missing(" ".join(names), pipe) from None

    def _header(self, pipe: _Pipe, name: str) -> int:
        parts = pipe.out.readline().split()
        if len(parts) != 3 or not parts[2].isdigit():
            raise self._missing(name, pipe)
        return int(parts[2])

    def _content(self, name: str) -> bytes:
        size = self._header(self._contents, name)
        data = self._contents.out.read(size + 1)
        if len(data) != size + 1:
            raise self._missing(name, self._contents)
        return data[:-1]

    def _missing(self, name: str, pipe: _Pipe) -> InputError:
        pipe.errors.seek(0)
        return self._repository.fault(
            f"the object {name} is missing or damaged{because(pipe.errors.read(10_000))}\n"
            "it may be a partial clone: clone it whole"
        )


@dataclass(frozen=True, slots=True)
class _Pipe:
    """The ends of a process that answers questions."""

    into: IO[bytes]
    out: IO[bytes]
    errors: IO[bytes]


@contextmanager
def objects_of(repository: Repository) -> Iterator[Objects]:
    """Objects of a repository, for as long as they are needed; the processes end with it."""
    with (
        _answering(repository, ["cat-file", "--batch-check"]) as sizes,
        _answering(repository, ["cat-file", "--batch"]) as contents,
    ):
        yield Objects(repository, sizes, contents)


@contextmanager
def _answering(repository: Repository, arguments: list[str]) -> Iterator[_Pipe]:
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - git, with arguments of our own
            command(repository, arguments),
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            if process.stdin is None or process.stdout is None:
                raise repository.fault("git cannot be talked to")
            yield _Pipe(process.stdin, process.stdout, errors)
        finally:
            process.kill()
            process.communicate()


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """Questions that fit into a pipe together, so that neither side waits for the other."""
    return (names[at : at + _AT_ONCE] for at in range(0, len(names), _AT_ONCE))


def _commit(name: str, data: bytes) -> Commit:
    head, _, message = data.partition(b"\n\n")
    tree, encoding, seconds = "", "utf-8", 0
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"tree":
            tree = value.decode("ascii", "replace")
        elif key == b"encoding":
            encoding = value.decode("ascii", "replace").strip()
        elif key == b"committer" and (match := re.search(rb"> (-?\d{1,15})\b", line)):
            seconds = int(match.group(1))
    return Commit(name, tree, _time(seconds), _decoded(message, encoding))


def _time(seconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _decoded(message: bytes, encoding: str) -> str:
    if len(message) > _MOST_MESSAGE:
        return ""
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
