"""Requests to an embedding server: their pace and retries, and errors in the server's own words."""

from __future__ import annotations

import html
import json
import re
import time
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chunkers.errors import InputError
from harness.support.addresses import is_loopback, retry_after

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FIRST_DELAY, _LONGEST_DELAY = 0.5, 8.0  # seconds before a retry; doubled each time
_PATIENCE = 120.0  # seconds for which a rate limit is waited out
_REFUSED_INPUT = frozenset({400, 413, 422})
_RETRIED = frozenset({408, 409})  # and 500 and above
_SHOWN = 200  # characters of a server's message that are shown

_WORDS = ("error", "message", "detail", "msg", "error_msg", "status_msg", "reason", "errors")
_SAID = (str, list, dict)
_RATE = re.compile(
    r"rate.?limit|too many requests|\blimit\b.{0,40}\brequests|\brequests?\b.{0,40}\blimit\b"
    r"|\b[RT]PM\b|throttl",
    re.IGNORECASE,
)
_SIZE = re.compile(
    r"length|token|\blong|large|big|maximum|\bmax|exceed|context|batch|size|input|text|content"
    r"|character|string|memory|payload|truncat",
    re.IGNORECASE,
)


class RefusedError(Exception):
    """The server refuses the content of a request; a part of it may be accepted."""


class _PassingError(Exception):
    """A request failed, and may succeed later."""

    def __init__(self, reason: str, *, delay: float | None = None, limited: bool = False) -> None:
        super().__init__(reason)
        self.delay = delay  # seconds that the server asks for
        self.limited = limited  # the rate of requests is the reason


@dataclass
class _Pace:
    """The time at which the next request may be sent, by a monotonic clock."""

    free: float = 0.0


@dataclass(frozen=True)
class Server:
    """An embedding server with the API of OpenAI.

    Attributes:
        name: The embedder's, for messages.
        url: The base address, without a final `/`.
        key_env: The environment variable that holds the key.
        key: A function that returns the key.
        timeout: Seconds without a byte after which a request is retried.
        retries: Maximum number of retries; a rate limit is waited out for two minutes.
        rpm: Maximum number of requests in a minute; None for no limit.
        tpm: Maximum number of tokens in a minute, by the server's own count.
    """

    name: str
    url: str
    key_env: str
    key: Callable[[], str] = field(repr=False)
    timeout: float
    retries: int
    rpm: float | None = None
    tpm: float | None = None
    _pace: _Pace = field(default_factory=_Pace, repr=False, compare=False)

    @cached_property
    def _client(self) -> Any:
        from openai import DefaultHttpxClient, OpenAI

        # No redirect may carry the key elsewhere, and no proxy is asked for this machine.
        proxies = not is_loopback(urlsplit(self.url).hostname or "")
        return OpenAI(
            api_key=self.key(),
            base_url=self.url,
            timeout=self.timeout,
            max_retries=0,
            http_client=DefaultHttpxClient(follow_redirects=False, trust_env=proxies),
        )

    def post(self, body: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
        """A reply with a list of vectors, and the seconds of the successful try.

        Raises:
            RefusedError: The server refuses the texts, or some of them.
            InputError: It refuses the request for another reason, or does not reply.
        """
        waited, attempt = 0.0, 0
        while True:
            try:
                return self._try(body)
            except _PassingError as error:
                delay = min(_FIRST_DELAY * 2.0**attempt, _LONGEST_DELAY)
                if error.delay is not None:
                    delay = error.delay if attempt < self.retries else max(delay, error.delay)
                more = waited + delay <= _PATIENCE if error.limited else attempt < self.retries
                if not more or delay > _PATIENCE:
                    raise self._no_reply(str(error), attempt, error.limited) from None
                if error.limited and delay >= 1:
                    warnings.warn(
                        f"{self.name}: the server limits the rate of requests; waiting. "
                        "rpm= and tpm= set a pace",
                        stacklevel=2,
                    )
            time.sleep(delay)
            waited, attempt = waited + delay, attempt + 1

    def _try(self, body: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
        import openai

        now = time.monotonic()
        if self._pace.free > now:
            time.sleep(self._pace.free - now)
        sent = time.monotonic()
        self._pace.free = sent + 60 / self.rpm if self.rpm else 0.0
        try:
            reply = self._client.embeddings.with_raw_response.create(**body)
        except openai.APIStatusError as error:
            raise self._fault(
                error.status_code, error.response.text, body, error.response.headers
            ) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise _PassingError(self._shown(f"{type(cause).__name__}: {cause}")) from None
        text = reply.content.decode(errors="replace")
        document = _json(text)
        data = document.get("data") if isinstance(document, dict) else None
        if not isinstance(data, list) or (not data and document.get("error")):
            raise self._fault(200, text, body, reply.headers)
        if self.tpm:
            tokens = _tokens(document.get("usage"), body["input"])
            self._pace.free = max(self._pace.free, sent + 60 * tokens / self.tpm)
        return document, reply.elapsed.total_seconds()

    def _fault(
        self, code: int, text: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Exception:
        """The exception for a status, or for an error in a reply with status 200."""
        document = _json(text)
        words = self._shown(words_of(document if document is not None else text))
        reason = f"HTTP {code}{words and ': '}{words}"
        inner = _inner_code(document) if code == 200 else code
        delay = retry_after(headers) or None
        if inner == 429 or (inner in (200, 403, 503) and _RATE.search(words)):
            if "insufficient_quota" not in words:
                return _PassingError(reason, delay=delay, limited=True)
            return InputError(f"{self.name}: {self.url} replied {reason}")
        if inner in _RETRIED or inner >= 500:
            return _PassingError(reason, delay=delay)
        if code in (401, 403):
            return InputError(
                f"{self.name}: {self.url} does not accept the key in {self.key_env}: "
                f"{self._without_parts(reason)}"
            )
        if 300 <= code < 400:
            reason = f"HTTP {code}: a redirect to another address; name that one by base_url"
        if code in _REFUSED_INPUT:
            advice = _advice(words, body)
            if advice is None:
                return RefusedError(reason)
            reason = f"{reason}\n{advice}"
        if code == 200:
            reason = f"{reason}\nit sent an invalid reply, without vectors; none of it is stored"
        return InputError(f"{self.name}: {self.url} replied {reason}")

    def _no_reply(self, reason: str, retries: int, limited: bool) -> InputError:
        advice = "; set a pace with rpm= or tpm=" if limited else ""
        return InputError(
            f"{self.name}: no reply from {self.url} after {retries} retries: {reason}\n"
            f"earlier vectors are stored; rerun the command to resume{advice}"
        )

    def _shown(self, text: str) -> str:
        """A text in one line, cut to a maximum length, without the key."""
        key = re.escape(self.key())
        # A key such as `x`, for a server that needs none, is part of many words.
        pattern = key if len(self.key()) > 8 else rf"(?<!\w){key}(?!\w)"
        return " ".join(re.sub(pattern, "***", text).split())[:_SHOWN]

    def _without_parts(self, text: str) -> str:
        """A text without the words that may quote a part of the key."""
        parts = {re.escape(part) for part in (self.key()[:4], self.key()[-4:])}
        return re.sub(rf"\S*(?:\*|{'|'.join(sorted(parts))})\S*", "***", text)


def words_of(body: object) -> str:
    """What a reply says: the message in a JSON document, or the text of an HTML page."""
    if isinstance(body, str):
        if re.search(r"<(!doctype|html|head|body|title)\b", body, re.IGNORECASE):
            bare = re.sub(r"(?is)<(script|style)\b.*?</\1>|<[^>]*>", " ", body)
            return " ".join(html.unescape(bare).split())
        return " ".join(body.split())
    if isinstance(body, dict):
        words = [words_of(body[key]) for key in _WORDS if isinstance(body.get(key), _SAID)]
        words = [text for text in words if text]
        if words:
            return ", ".join([str(body["code"]), *words] if body.get("code") else words)
        body = {key: value for key, value in body.items() if value not in (None, [], {})}
    return json.dumps(body, ensure_ascii=False) if body else ""


def _json(text: str) -> Any:
    """A JSON document; None for a text that is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _inner_code(document: object) -> int:
    """The status that an error in a reply names; 200 for none."""
    error = document.get("error") if isinstance(document, dict) else None
    for holder in (error, document):
        for key in ("code", "status", "status_code"):
            code = holder.get(key) if isinstance(holder, dict) else None
            if str(code).isdecimal() and 400 <= int(str(code)) < 600:
                return int(str(code))
    return 200


def _tokens(usage: object, texts: list[str]) -> float:
    """Tokens of a request as the server counts them, or a third of the texts' bytes."""
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    if isinstance(total, int) and total > 0:
        return total
    return sum(len(text.encode()) for text in texts) / 3


def _advice(words: str, body: Mapping[str, Any]) -> str | None:
    """What to change if a refusal is not about the texts; None if it may be about them."""
    if body["encoding_format"] == "base64" and re.search("base64|encoding.?format", words, re.I):
        return "the server does not know base64: set encoding=float"
    if "dimensions" in body and re.search("dimension|matryoshka", words, re.I):
        return "leave dimensions out, or set a number that the model has"
    if not words or _SIZE.search(words.replace(body["model"], "")):
        return None
    options = "check the model's name"
    if "dimensions" in body:
        options += ", leave dimensions out"
    if body["encoding_format"] == "base64":
        options += ", or set encoding=float"
    return f"{options}; the texts are not named as the reason"
