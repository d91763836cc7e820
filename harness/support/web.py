"""Posts JSON to a server, patiently, and never says the key; what downloads share with that.

The standard library is enough, and does what a client made for chat does not: a server on this
machine is never asked through a proxy, no redirect takes the key elsewhere, and an answer that
breaks off is asked for again.
"""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import io
import ipaddress
import json
import os
import re
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chunkers.errors import InputError

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from email.message import Message

LONGEST_WAIT = 60.0
"""Seconds between two tries, at most, whatever the server asks for."""

LARGEST = 1 << 28
"""Bytes of an answer, at most."""

SLOWEST = 10
"""Time-outs that an answer may take in all, however steadily it drips."""

HEADER = 2
"""Time-outs that the header of an answer may take in all."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PASSING = frozenset({408, 409, 425, 429})  # besides all from 500 on
_OF_THE_REQUEST = frozenset({400, 413, 422})
_SAID = 200  # characters of a server's words in a message


class RefusedError(Exception):
    """The server does not accept what this request holds; another request may be accepted."""


@dataclass(frozen=True)
class Server:
    """Where to post.

    Attributes:
        name: Who asks, for messages.
        url: The base address, without `/` at its end.
        key_env: The environment variable that holds the key; the key itself is nowhere else.
        timeout: Seconds without a byte after which a try is given up; all of an answer may take
            ten times as long.
        tries: How often a request is sent, at most.
        pause: Seconds before the second try; twice as many before each further one.
    """

    name: str
    url: str
    key_env: str
    timeout: float = 60.0
    tries: int = 6
    pause: float = 0.5


def checked_url(text: str, who: str) -> str:
    """A base address as it is used and shown.

    Args:
        text: What the user wrote.
        who: For whom, for messages, which do not quote what may hold a secret.

    Raises:
        InputError: It is no plain http(s) address, or holds credentials.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise InputError(f"{who}: the base address is none; write https://host/v1") from None
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InputError(
            f"{who}: a base address holds no credentials and no query; "
            "the key comes from the environment"
        )
    host = parts.hostname
    if parts.scheme not in ("http", "https") or not host or re.search(r"\s|[^\x21-\x7e]", text):
        raise InputError(f"{who}: the base address is none; write https://host/v1")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def key_of(variable: str, who: str) -> str:
    """The key that an environment variable holds.

    Raises:
        InputError: There is none, or what is there can be no key. The message never quotes it.
    """
    if not _VARIABLE.fullmatch(variable):
        raise InputError(f"{who}: key_env names an environment variable; it is not the key")
    key = os.environ.get(variable, "").strip()
    if not key:
        raise InputError(
            f"{who}: the environment variable {variable} holds no key; "
            f"set it (for a server that needs none, to any word)"
        )
    if re.search(r"[^\x21-\x7e]", key):
        raise InputError(f"{who}: {variable} holds white space or characters that no key has")
    return key


def post(server: Server, path: str, body: Mapping[str, Any]) -> tuple[Any, float]:
    """Post a document until an answer comes.

    Args:
        server: Where to.
        path: Behind the base address.
        body: What to post, as JSON.

    Returns:
        The answer, and the seconds that the try took which brought it.

    Raises:
        RefusedError: The request was refused for what it holds (HTTP 400, 413, 422).
        InputError: It was refused for good, or no try brought an answer.
    """
    key = key_of(server.key_env, server.name)
    data = json.dumps(body).encode()
    asking = opener(server.url)
    why = ""
    for number in range(server.tries):
        request = urllib.request.Request(  # noqa: S310 - `checked_url` lets http and https pass alone
            server.url + path,
            data,
            {"Content-Type": "application/json", "Accept": "application/json"},
        )
        request.add_unredirected_header("Authorization", f"Bearer {key}")
        wait = server.pause * 2**number
        started = time.perf_counter()
        try:
            with asking.open(request, timeout=server.timeout) as response:
                answer = json.loads(_read(response, LARGEST, SLOWEST * server.timeout))
            return answer, time.perf_counter() - started
        except urllib.error.HTTPError as error:
            with error:
                said = _said(error, key)
            if not may_pass(error.code) or "insufficient_quota" in said:
                raise _final(server, error.code, said) from None
            why = f"HTTP {error.code}{said}"
            wait = asked_wait(error.headers, time.time(), wait)
        except (OSError, http.client.HTTPException) as error:
            why = _scrubbed(f"{type(error).__name__}: {getattr(error, 'reason', error)}", key)
        except (ValueError, RecursionError):
            why = "an answer that is no whole JSON document"
        if number + 1 < server.tries:
            time.sleep(min(wait, LONGEST_WAIT))
    raise InputError(
        f"{server.name}: no answer from {server.url} in {server.tries} tries, last: {why}\n"
        "what was answered before is stored; the same command goes on from there"
    )


def _read(answer: Any, most: int, seconds: float) -> bytes:
    """The body of an answer.

    Raises:
        OSError: It is longer than `most` bytes, or takes longer than so many seconds.
    """
    parts: list[bytes] = []
    size = 0
    answer.within(seconds, "an answer")
    while part := answer.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if size > most:
            raise OSError(f"an answer of more than {most} bytes")
    return b"".join(parts)


def asked_wait(headers: Message, now: float, otherwise: float) -> float:
    """Seconds to wait before the next try, as an answer's headers say.

    Args:
        headers: `retry-after-ms`, or `Retry-After` in seconds or as a date.
        now: Seconds since the epoch.
        otherwise: Where they say nothing that can be read.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("Retry-After", 1.0)):
        said = headers.get(name) or ""
        if re.fullmatch(r"\d+(\.\d+)?", said):
            return float(said) / unit
    try:
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - now)
    except (TypeError, ValueError):
        return otherwise


def may_pass(code: int) -> bool:
    """Whether a later try may succeed where a server answers with this status."""
    return code in _PASSING or code >= 500


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Goes nowhere but to the address that was named: no key is sent on, no rule passed by."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Paced(io.RawIOBase):
    """What a server sends, up to a time: however steadily it drips, it comes to an end."""

    def __init__(self, raw: io.RawIOBase, connection: socket.socket) -> None:
        super().__init__()
        self._raw, self._connection = raw, connection
        self._idle = connection.gettimeout()
        self.within(None if self._idle is None else HEADER * self._idle, "a header")

    def within(self, seconds: float | None, what: str) -> None:
        """From now on, all that is read must come within so many seconds."""
        self._seconds, self._what = seconds, what
        self._end = None if seconds is None else time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._end is None or self._idle is None:
            return self._raw.readinto(buffer)
        left = self._end - time.monotonic()
        with contextlib.suppress(TimeoutError):
            if left > 0:
                self._connection.settimeout(min(self._idle, left))
                return self._raw.readinto(buffer)
        if time.monotonic() < self._end:
            raise TimeoutError("timed out")
        raise TimeoutError(f"{self._what} that took more than {self._seconds:g} seconds")

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    """An answer whose header, and then its body, must come within a time."""

    def __init__(self, sock: socket.socket, *args: Any, **named: Any) -> None:
        super().__init__(sock, *args, **named)
        self._paced = _Paced(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self._paced)

    def within(self, seconds: float, what: str) -> None:
        """From now on, all that is read must come within so many seconds; else `TimeoutError`."""
        self._paced.within(seconds, what)


class _Plain(http.client.HTTPConnection):
    response_class = _Answer


class _Secure(http.client.HTTPSConnection):
    response_class = _Answer


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Plain, req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Secure, req)


def opener(url: str) -> urllib.request.OpenerDirector:
    """Opens an address by the environment's proxies, but by none on this machine.

    It follows no redirect: that is an `HTTPError`, as are all other answers but success. The header
    of an answer must come within `HEADER` time-outs; `within` says by when its body must.
    """
    host = urlsplit(url).hostname or ""
    proxies = [urllib.request.ProxyHandler({})] if _is_here(host) else []
    return urllib.request.build_opener(_NoRedirect(), _Http(), _Https(), *proxies)


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _final(server: Server, code: int, said: str) -> Exception:
    if code in _OF_THE_REQUEST:
        return RefusedError(f"HTTP {code}{said}")
    if code in (401, 403):  # such answers like to quote the key, or what looks like it
        return InputError(
            f"{server.name}: {server.url} does not accept the key in {server.key_env} (HTTP {code})"
        )
    if 300 <= code < 400:
        said = ": it sends on to another address; name that one by base_url"
    return InputError(f"{server.name}: {server.url} answers HTTP {code}{said}")


def _said(error: urllib.error.HTTPError, key: str) -> str:
    """The server's own words, in one line, without the key."""
    try:
        body = _read(error, 1 << 16, SLOWEST)
    except (OSError, http.client.HTTPException):
        return ""
    try:
        found = json.loads(body)
        found = found.get("error", found)
        parts = [found[name] for name in ("code", "message") if found.get(name)]
        text = ", ".join(map(str, parts)) or json.dumps(found)
    except (ValueError, AttributeError, RecursionError):
        text = body.decode("utf-8", "replace")
    return _scrubbed(f": {text}" if text.strip() else "", key)


def _scrubbed(text: str, key: str) -> str:
    return " ".join(text.replace(key, "***").split())[:_SAID]
