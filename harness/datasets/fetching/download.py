"""Downloads a file of known content: resumed after an interruption, checked before it is used."""

from __future__ import annotations

import contextlib
import http
import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chunkers.errors import InputError
from harness.support.addresses import is_loopback, retry_after
from harness.support.files import PARTIAL, file_sha256
from harness.support.json_files import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx2

TRIES = 5
"""Maximum number of tries in a row that bring less than `_PROGRESS` bytes."""

TIMEOUT = 30.0
"""Seconds without a byte after which a try ends."""

PAUSE = 1.0
"""Seconds before the second try; doubled before each further one."""

_LONGEST_WAIT = 60.0
_REDIRECTS = 5
_PROGRESS = 1 << 20
_PASSING = frozenset({408, 425, 429})  # and 500 and above


@dataclass(frozen=True)
class Download:
    """What to download.

    Attributes:
        url: Its address.
        partial: Where it grows, with a note of its version beside it.
        sha256: Its digest; None if its content is checked elsewhere.
        size: Its size in bytes; None if unknown.
        max_bytes: Its maximum size.
        advice: How to get it by other means, the second line of a failure.
    """

    url: str
    partial: Path
    sha256: str | None
    size: int | None
    max_bytes: int
    advice: str

    @property
    def note(self) -> Path:
        """The file with the version of the partial file."""
        return self.partial.with_name(self.partial.name + ".json")

    def version(self) -> str | None:
        """The version of the partial file; None if it is unknown, so that it cannot be resumed."""
        try:
            note = json.loads(self.note.read_bytes())
            same = (note["url"], note["sha256"]) == (self.url, self.sha256)
            return str(note["version"]) if same else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def received(self) -> int:
        """Bytes of the partial file."""
        return self.partial.stat().st_size if self.partial.exists() else 0

    def discard(self) -> None:
        """Remove the partial file and its note."""
        self.partial.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


class _RetryError(Exception):
    """Why a try failed; another may succeed, after `wait` seconds if the server names them."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class _WrongFileError(Exception):
    """The server does not have the file."""


class _UnavailableError(Exception):
    """The file cannot be downloaded now."""


def partial_of(path: Path) -> Path:
    """Where a file grows that will be placed at this path."""
    return path.with_name(PARTIAL + path.name)


@contextlib.contextmanager
def downloaded(download: Download, progress: Callable[[int, int], None]) -> Iterator[None]:
    """The whole, checked file is at `download.partial` while the context lasts.

    It may be renamed meanwhile; otherwise it is removed at the end. An interrupted download stays,
    and the next call resumes it.

    Args:
        download: The file.
        progress: Called with the number of bytes received and their total, 0 if unknown.

    Raises:
        InputError: The download failed, or the file is not the published one; or another process
            is downloading it.
    """
    try:
        with _locked(download.partial):
            _complete(download, progress)
            try:
                yield
            except InputError:
                download.discard()
                raise
            download.discard()
    except OSError as error:
        if download.version() is None:
            with contextlib.suppress(OSError):
                download.discard()
        raise InputError(
            f"{download.partial} cannot be written: {error.strerror or error}\n"
            "make room, or name another folder by --data-dir"
        ) from None


@contextlib.contextmanager
def _locked(partial: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    partial.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(partial.with_name(partial.name + ".lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(f"another process is downloading {partial}; wait until it ends") from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows removes no open file
            Path(lock.lock_file).unlink()
        lock.release()


def _complete(download: Download, progress: Callable[[int, int], None]) -> None:
    """Receive what is missing, in as many tries as needed, and check the whole file."""
    reached = download.received()
    resumed, failures, reason = reached > 0, 0, ""
    while failures < TRIES:
        wait = PAUSE * 2**failures
        try:
            if download.size is None or download.received() != download.size:
                _try(download, progress)
            digest = file_sha256(download.partial) if download.sha256 else None
            if digest == download.sha256:
                return
            if not resumed:
                raise _WrongFileError(
                    f"is not the published file: its sha256 is {digest}, not {download.sha256}"
                )
            reason, wait, resumed = "its parts are of two versions", 0.0, False
            download.discard()
        except _RetryError as error:
            reason, wait = str(error), wait if error.wait is None else error.wait
        except _UnavailableError as error:
            reason = str(error)
            break
        except _WrongFileError as error:
            download.discard()
            raise InputError(
                f"{download.url} {error}; nothing of it was kept\n{download.advice}"
            ) from None
        received = download.received()
        resumed = resumed or received > 0
        failures = 0 if received >= reached + _PROGRESS else failures + 1
        reached = max(reached, received)
        if wait > _LONGEST_WAIT:
            reason = f"{reason}; the server asks to wait {wait:.0f} seconds"
            break
        if failures < TRIES:
            time.sleep(wait)
    raise _failure(download, reason)


def _failure(download: Download, reason: str) -> InputError:
    kept = ""
    if download.received() and download.version() is not None:
        kept = (
            f"; {download.received()} bytes are kept in {download.partial}, "
            "rerun the command to resume"
        )
    else:
        download.discard()
    return InputError(f"{download.url}: download failed: {reason}{kept}\n{download.advice}")


def _try(download: Download, progress: Callable[[int, int], None]) -> None:
    """Request what is missing, once, and add it to the partial file."""
    import httpx2

    version, start = download.version(), download.received()
    if version is None or start > download.max_bytes:
        start = 0
    headers = {"Accept-Encoding": "identity", "User-Agent": "chunkmark"}
    if start:
        headers |= {"Range": f"bytes={start}-", "If-Range": str(version)}
    try:
        with (
            httpx2.Client(
                timeout=TIMEOUT,
                trust_env=not is_loopback(urlsplit(download.url).hostname or ""),
                follow_redirects=True,
                max_redirects=_REDIRECTS,
                event_hooks={"response": [_check_redirect]},
            ) as client,
            client.stream("GET", download.url, headers=headers) as response,
        ):
            start, total = _check_reply(response, download, start)
            _receive(response, download, start, total, progress)
    except httpx2.TooManyRedirects:
        raise _WrongFileError(f"redirects more than {_REDIRECTS} times") from None
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise _WrongFileError(f"is not an http(s) address: {error}") from None
    except httpx2.ConnectError as error:
        reason = str(error).rpartition("] ")[2]  # without `[Errno -2]`
        raise _UnavailableError(f"no connection: {reason}") from None
    except httpx2.HTTPError as error:
        raise _RetryError(" ".join(str(error).split()) or type(error).__name__) from None


def _check_redirect(response: httpx2.Response) -> None:
    """Allow redirects to https, and from http also to the same host and port."""
    if not response.has_redirect_location:
        return
    old, new = response.url, response.url.join(response.headers["Location"])
    if new.scheme != "https" and (old.scheme, old.netloc) != (new.scheme, new.netloc):
        raise _WrongFileError(f"redirects to {new!s:.150}, neither https nor the same host")


def _check_reply(
    response: httpx2.Response, download: Download, start: int
) -> tuple[int, int | None]:
    """Where the received bytes begin in the file, and its size if the server names it."""
    code = response.status_code
    if code == http.HTTPStatus.PARTIAL_CONTENT:
        span = re.match(rf"bytes {start}-", response.headers.get("Content-Range", ""))
        if not start or not span:
            download.discard()
            raise _RetryError("the server sent another part than was requested")
    elif code == http.HTTPStatus.OK:
        start = 0
        download.discard()
        version = _version_of(response.headers)
        if version is not None:
            note = {"url": download.url, "sha256": download.sha256, "version": version}
            write_json(download.note, note)
    elif code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        download.discard()
        raise _RetryError("the server has less of the file than was received")
    elif code in _PASSING or code >= 500:
        raise _RetryError(f"HTTP {code}", retry_after(response.headers))
    else:
        raise _UnavailableError(f"HTTP {code}")
    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdecimal() else None
    if total is not None and download.size not in (None, total):
        raise _WrongFileError(f"has {total} bytes, not {download.size} as published")
    if total is not None and total > download.max_bytes:
        raise _WrongFileError(f"has {total} bytes, more than {download.max_bytes}")
    return start, download.size if total is None else total


def _receive(
    response: httpx2.Response,
    download: Download,
    start: int,
    total: int | None,
    progress: Callable[[int, int], None],
) -> None:
    received, most = start, download.size or download.max_bytes
    with download.partial.open("ab" if start else "wb") as file:
        for piece in response.iter_raw():
            received += len(piece)
            if received > most:
                raise _WrongFileError(f"has more than {most} bytes")
            file.write(piece)
            progress(received, total or 0)


def _version_of(headers: Any) -> str | None:
    """The version of a reply's file; a weak ETag does not identify bytes."""
    tag: str = headers.get("ETag", "")
    return tag if tag.startswith('"') else headers.get("Last-Modified")
