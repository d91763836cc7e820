"""Downloads one file of known content: resumed where it broke off, checked before anybody sees it.

Whom it asks is ruled by `harness.datasets.fetching.addresses`; no server on this machine is asked
through a proxy.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import http.client
import json
import os
import re
import socket
import stat
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chunkers.errors import InputError
from harness.datasets.fetching.addresses import next_address
from harness.support.files import PARTIAL
from harness.support.json_files import write_json
from harness.support.web import LONGEST_WAIT, asked_wait, may_pass, opener

try:
    import fcntl
except ImportError:  # there is none on Windows, where two processes at once are not noticed
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from io import BufferedRandom
    from pathlib import Path

TRIES = 5
"""How often a file is asked for without getting on, at most."""

TIMEOUT = 30.0
"""Seconds without a byte after which a try is given up."""

PAUSE = 1.0
"""Seconds before the second try; twice as many before each further one."""

SLOWEST = 1024
"""Bytes a second, over any `TIMEOUT`, below which a try is given up."""

_REDIRECTS = 5
_MOVED = frozenset({301, 302, 303, 307, 308})
_PIECE = 1 << 16
_PROGRESS = 1 << 20  # bytes that make a try not count
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
_SAID = 150


@dataclass(frozen=True)
class Wanted:
    """What to download.

    Attributes:
        url: Its address.
        partial: Where it grows; beside it lies a note of which version it is.
        sha256: Its digest; None where whoever takes it checks what is in it.
        size: Its bytes; None if unknown.
        most: Its bytes, at most.
        advice: How to get it by other means, the second line of a failure.
    """

    url: str
    partial: Path
    sha256: str | None
    size: int | None
    most: int
    advice: str

    @property
    def note(self) -> Path:
        """The file beside the partial one: which version of the file it is a part of."""
        return self.partial.with_name(self.partial.name + ".json")

    @property
    def host(self) -> str:
        """Whom to ask, as shown."""
        return urlsplit(self.url).netloc


class _PassingError(Exception):
    """Why a try failed, where a further one may succeed; `wait` is what the server asks for."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class _OtherError(Exception):
    """The server does not have what is wanted; no further try helps."""


class _UnreachableError(Exception):
    """There is no way to the server, or not to this file."""


@contextlib.contextmanager
def downloaded(wanted: Wanted, tell: Callable[[int, int], None]) -> Iterator[BufferedRandom]:
    """The whole, checked file, open at its start, as long as the context lasts.

    Meanwhile it may be renamed; what is still there in the end is removed. What was interrupted
    stays and is gone on with by the next call.

    Args:
        wanted: The file.
        tell: Told how many bytes of how many are there.

    Raises:
        InputError: It cannot be had, or is not the file that is wanted; or another process is
            fetching it.
    """
    with _held(wanted) as file:
        try:
            _fill(file, wanted, tell)
            file.seek(0)
            yield file
        except InputError:
            # What can be gone on with has another type of failure here: see `_fill`.
            _forget(wanted)
            raise
        except _UnreachableError as error:
            raise InputError(str(error)) from None
        _forget(wanted)


def _forget(wanted: Wanted) -> None:
    wanted.partial.unlink(missing_ok=True)
    wanted.note.unlink(missing_ok=True)


@contextlib.contextmanager
def _held(wanted: Wanted) -> Iterator[BufferedRandom]:
    """The partial file, opened for this process alone."""
    path = wanted.partial
    busy = InputError(f"{path} is being fetched by another process; let that end first")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        raise InputError(
            f"{path.parent} cannot be written: {error.strerror}\nname another folder by --data-dir"
        ) from None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise InputError(f"{path} is no regular file; remove it")
    file = os.fdopen(number, "r+b")
    try:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                    raise busy from None  # other errors: this file system has no locks
            if not path.exists() or not os.path.samestat(os.fstat(number), path.stat()):
                raise busy  # it has just been put in place
        try:
            yield file
        except OSError as error:
            if not _goes_on(file, wanted):
                _forget(wanted)
            raise InputError(
                f"{path} cannot be written: {error.strerror or error}\n"
                "make room, or name another folder by --data-dir"
            ) from None
    finally:
        # On a full disk what is still in memory cannot be written either, which has been said.
        with contextlib.suppress(OSError):
            file.close()


def _goes_on(file: BufferedRandom, wanted: Wanted) -> bool:
    """Whether another call can go on with what is there: of another version it is of no use."""
    return os.fstat(file.fileno()).st_size > 0 and _version(wanted) is not None


def _fill(file: BufferedRandom, wanted: Wanted, tell: Callable[[int, int], None]) -> None:
    """Bring the file to its end, and check it.

    Raises:
        InputError: What is there is of no use.
        _UnreachableError: It cannot be had now; what is there can be gone on with.
    """
    reached = file.seek(0, os.SEEK_END)
    resumed, failed, why = reached > 0, 0, ""
    while failed < TRIES:
        wait = PAUSE * 2**failed
        try:
            if not _is_whole(file, wanted):
                _try(file, wanted, tell)
            found = _sha256(file) if wanted.sha256 else None
        except _PassingError as error:
            why, asked = str(error), error.wait
            wait = wait if asked is None else asked
        except _OtherError as error:
            raise InputError(f"{wanted.url} {error}; nothing of it was kept") from None
        else:
            if found == wanted.sha256:
                return
            if not resumed:
                raise InputError(
                    f"{wanted.url} is not the published file: its sha256 is {found}, not "
                    f"{wanted.sha256}; nothing of it was kept\n{wanted.advice}"
                )
            # Parts of two versions may have met; from its start it is of one.
            why, wait, resumed = "parts of two versions", 0.0, False
            _empty(file, wanted)
        have = file.seek(0, os.SEEK_END)
        resumed = resumed or have > 0
        failed = 0 if have >= reached + _PROGRESS else failed + 1
        reached = max(reached, have)
        if wait > LONGEST_WAIT:
            why = f"{why}; it asks to wait {wait:.0f} seconds"
            break
        if failed < TRIES:
            time.sleep(wait)
    raise _gone(file, wanted, why)


def _gone(file: BufferedRandom, wanted: Wanted, why: str) -> _UnreachableError:
    """The failure to get a file, which says what is kept of it."""
    have = file.seek(0, os.SEEK_END)
    if not _goes_on(file, wanted):
        _forget(wanted)
        kept = ""
    else:
        kept = f"; {have} bytes are kept in {wanted.partial}, and the same command goes on"
    return _UnreachableError(f"{wanted.url} cannot be had: {why}{kept}\n{wanted.advice}")


def _is_whole(file: BufferedRandom, wanted: Wanted) -> bool:
    return wanted.size is not None and file.seek(0, os.SEEK_END) == wanted.size


def _try(file: BufferedRandom, wanted: Wanted, tell: Callable[[int, int], None]) -> None:
    """Ask once for what is missing, and add what comes."""
    have = file.seek(0, os.SEEK_END)
    version = _version(wanted)
    if have and (version is None or have > (wanted.size or wanted.most)):
        have = _empty(file, wanted)
    asked = {"Accept-Encoding": "identity", "User-Agent": "chunkmark"}
    if have:
        asked |= {"Range": f"bytes={have}-", "If-Range": str(version)}
    try:
        with _answer(file, wanted, asked) as answer:
            total = _begin(answer, file, wanted, have)
            _receive(answer, file, wanted, total, tell)
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        # A disk that is full is no fault of the server's.
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        if isinstance(reason, socket.gaierror):
            raise _gone(file, wanted, f"{wanted.host} is not found ({reason.strerror})") from None
        raise _PassingError(" ".join(f"{reason}".split())[:_SAID] or type(error).__name__) from None


def _answer(file: BufferedRandom, wanted: Wanted, asked: Mapping[str, str]) -> Any:
    """The answer of the last address in a chain of redirects."""
    url = wanted.url
    for _ in range(_REDIRECTS + 1):
        request = urllib.request.Request(url, headers=dict(asked))  # noqa: S310 - see _next
        try:
            return opener(url).open(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _MOVED:
                    url = _moved(url, error.headers.get("Location") or "")
                elif error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                    _empty(file, wanted)
                    raise _PassingError("it has less of the file than is here") from None
                elif may_pass(error.code):
                    wait = asked_wait(error.headers, time.time(), -1.0)
                    said = f"HTTP {error.code}"
                    raise _PassingError(said, None if wait < 0 else wait) from None
                else:
                    raise _gone(file, wanted, f"HTTP {error.code}") from None
    raise _OtherError(f"sends on more than {_REDIRECTS} times")


def _moved(url: str, location: str) -> str:
    try:
        return next_address(url, location)
    except InputError as error:
        raise _OtherError(str(error)) from None


def _begin(answer: Any, file: BufferedRandom, wanted: Wanted, have: int) -> int | None:
    """Bring the file to where the answer goes on; the bytes that there will be, if told."""
    if (answer.headers.get("Content-Encoding") or "identity").lower() != "identity":
        raise _OtherError("comes in an encoding that was not asked for")
    version, length = _told(answer.headers), _number(answer.headers.get("Content-Length"))
    if answer.status == http.HTTPStatus.PARTIAL_CONTENT:
        match = _RANGE.fullmatch((answer.headers.get("Content-Range") or "").strip())
        goes_on = match is not None and int(match[1]) == have > 0
        if not goes_on or (version is not None and version != _version(wanted)):
            _empty(file, wanted)
            raise _PassingError("it sends another part than was asked for")
        total = _number(match[3]) if match else None
    else:
        # It cannot send parts, or has another version now: all of it comes.
        have, total = _empty(file, wanted), length
        if version is not None:
            note = {"url": wanted.url, "sha256": wanted.sha256, "version": version}
            write_json(wanted.note, note)
    if total is not None and wanted.size not in (None, total):
        raise _OtherError(f"has {total} bytes, not {wanted.size} as published")
    if total is not None and total > wanted.most:
        raise _OtherError(f"has {total} bytes, more than {wanted.most}")
    file.seek(have)
    return wanted.size if total is None else total


def _receive(
    answer: Any,
    file: BufferedRandom,
    wanted: Wanted,
    total: int | None,
    tell: Callable[[int, int], None],
) -> None:
    have, most = file.tell(), wanted.most if wanted.size is None else wanted.size
    since, before = time.monotonic(), have
    while piece := _piece(answer):
        have += len(piece)
        if have > most:
            raise _OtherError(f"goes on beyond {most} bytes")
        file.write(piece)
        tell(have, total or 0)
        if time.monotonic() - since > TIMEOUT:
            if have - before < SLOWEST * TIMEOUT:
                raise _PassingError(f"it sends less than {SLOWEST} bytes a second")
            since, before = time.monotonic(), have
    file.flush()
    os.fsync(file.fileno())
    if total is not None and have < total:
        raise _PassingError(f"it broke off after {have} of {total} bytes")


def _piece(answer: Any) -> bytes:
    """The next bytes; what stands around them in a chunked answer may not drip either."""
    answer.within(TIMEOUT, "a piece")
    return bytes(answer.read1(_PIECE))


def _empty(file: BufferedRandom, wanted: Wanted) -> int:
    """Begin again from nothing."""
    file.seek(0)
    file.truncate()
    wanted.note.unlink(missing_ok=True)
    return 0


def _told(headers: Any) -> str | None:
    """The version that an answer says it is of; a weak one tells no bytes apart."""
    tag = headers.get("ETag") or ""
    if re.fullmatch(r'"[\x21\x23-\x7e]*"', tag):
        return tag
    date = headers.get("Last-Modified") or ""
    return date if date and date.isascii() and date.isprintable() else None


def _version(wanted: Wanted) -> str | None:
    """Of what version the partial file is; None where that is not known."""
    try:
        if not wanted.note.is_file():
            return None
        note = json.loads(wanted.note.read_bytes())
        same = (note["url"], note["sha256"]) == (wanted.url, wanted.sha256)
        return str(note["version"]) if same else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"\d{1,18}", text) else None


def _sha256(file: BufferedRandom) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def partial_of(path: Path) -> Path:
    """Where a file grows that will lie at this path."""
    return path.with_name(PARTIAL + path.name)
